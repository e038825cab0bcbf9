#include "trainer/checkpoint/pickle.hpp"

#include <bit>
#include <stdexcept>
#include <unordered_map>

#include "trainer/checkpoint/byte_reader.hpp"

namespace evolve::pickle {
namespace {

/// Of a class and its module.
constexpr std::size_t longest_name = 1000;

/// A little-endian number of `bytes` bytes in two's complement.
std::int64_t signed_number(trainer::ByteReader& reader, int bytes) {
  if (bytes == 0) return 0;
  const int unused = 64 - 8 * bytes;
  return static_cast<std::int64_t>(reader.number(bytes) << unused) >> unused;
}

double big_endian_double(trainer::ByteReader& reader) {
  std::uint64_t bits = 0;
  for (const char byte : reader.take(8)) bits = bits << 8 | static_cast<unsigned char>(byte);
  return std::bit_cast<double>(bits);
}

/// The pickle machine: a stack, marks in it, a memo. Each group of opcodes has its function, which
/// says whether the opcode was one of its own.
class Machine {
 public:
  explicit Machine(std::string_view bytes) : bytes_(bytes, "the pickle") {
    document_.size = bytes.size();
  }

  Document run() {
    for (;;) {
      const std::size_t position = bytes_.position();
      const char opcode = bytes_.take(1).front();
      if (opcode == '.') break;
      if (!framing(opcode) && !atom(opcode) && !text(opcode) && !container(opcode) &&
          !memo(opcode) && !object(opcode)) {
        throw std::runtime_error("opcode " + std::to_string(static_cast<unsigned char>(opcode)) +
                                 " at byte " + std::to_string(position) + " is unknown");
      }
    }
    document_.root = pop();
    return std::move(document_);
  }

 private:
  template <class T>
  Value* make(T&& data) {
    return &document_.values.emplace_back(Value{std::forward<T>(data)});
  }

  template <class T>
  bool push(T&& data) {
    stack_.push_back(make(std::forward<T>(data)));
    return true;
  }

  Value* top() const {
    if (stack_.empty() || (!marks_.empty() && stack_.size() <= marks_.back())) {
      throw std::runtime_error("the pickle takes from an empty stack");
    }
    return stack_.back();
  }

  Value* pop() {
    Value* value = top();
    stack_.pop_back();
    return value;
  }

  std::vector<Ref> pop_to_mark() {
    if (marks_.empty()) throw std::runtime_error("the pickle lacks a mark");
    const auto begin = stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back());
    std::vector<Ref> items(begin, stack_.end());
    stack_.erase(begin, stack_.end());
    marks_.pop_back();
    return items;
  }

  bool framing(char opcode) {
    switch (opcode) {
      case '\x80':  // PROTO
        if (const auto protocol = bytes_.number(1); protocol < 2 || protocol > 5) {
          throw std::runtime_error("pickle protocol " + std::to_string(protocol) + " is unknown");
        }
        return true;
      case '\x95':  // FRAME
        bytes_.number(8);
        return true;
      case '(':  // MARK
        marks_.push_back(stack_.size());
        return true;
      case '0':  // POP
        pop();
        return true;
      case '1':  // POP_MARK
        pop_to_mark();
        return true;
      case '2':  // DUP
        stack_.push_back(top());
        return true;
      default:
        return false;
    }
  }

  bool atom(char opcode) {
    switch (opcode) {
      case 'N':
        return push(None{});
      case '\x88':
        return push(true);
      case '\x89':
        return push(false);
      case 'J':  // BININT
        return push(signed_number(bytes_, 4));
      case 'K':  // BININT1
        return push(static_cast<std::int64_t>(bytes_.number(1)));
      case 'M':  // BININT2
        return push(static_cast<std::int64_t>(bytes_.number(2)));
      case '\x8a': {  // LONG1
        const auto length = bytes_.number(1);
        if (length > 8) throw std::runtime_error("a whole number has more than 64 bits");
        return push(signed_number(bytes_, static_cast<int>(length)));
      }
      case 'G':  // BINFLOAT
        return push(big_endian_double(bytes_));
      default:
        return false;
    }
  }

  bool text(char opcode) {
    switch (opcode) {
      case 'U':     // SHORT_BINSTRING
      case 'C':     // SHORT_BINBYTES
      case '\x8c':  // SHORT_BINUNICODE
        return push(std::string(bytes_.take(bytes_.number(1))));
      case 'T':  // BINSTRING
      case 'B':  // BINBYTES
      case 'X':  // BINUNICODE
        return push(std::string(bytes_.take(bytes_.number(4))));
      case '\x8d':  // BINUNICODE8
      case '\x8e':  // BINBYTES8
        return push(std::string(bytes_.take(bytes_.number(8))));
      default:
        return false;
    }
  }

  bool container(char opcode) {
    switch (opcode) {
      case ']':     // EMPTY_LIST
      case '\x8f':  // EMPTY_SET
        return push(List{});
      case ')':
        return push(Tuple{});
      case '}':
        return push(Dict{});
      case 'l':     // LIST
      case '\x91':  // FROZENSET
        return push(List{pop_to_mark()});
      case 't':
        return push(Tuple{pop_to_mark()});
      case '\x85':
      case '\x86':
      case '\x87':
        return push_tuple(static_cast<std::size_t>(static_cast<unsigned char>(opcode) - 0x84));
      case 'a':  // APPEND
        return append({pop()});
      case 'e':     // APPENDS
      case '\x90':  // ADDITEMS
        return append(pop_to_mark());
      case 's': {  // SETITEM
        const Ref value = pop();
        const Ref key = pop();
        return set_items({key, value});
      }
      case 'u':  // SETITEMS
        return set_items(pop_to_mark());
      case 'd': {  // DICT
        const auto items = pop_to_mark();
        push(Dict{});
        return set_items(items);
      }
      default:
        return false;
    }
  }

  bool push_tuple(std::size_t size) {
    Tuple tuple;
    tuple.items.resize(size);
    for (std::size_t i = size; i-- > 0;) tuple.items[i] = pop();
    return push(std::move(tuple));
  }

  bool append(const std::vector<Ref>& items) {
    Value* target = top();
    auto* list = std::get_if<List>(&target->data);
    if (auto* made = std::get_if<Object>(&target->data)) list = &made->list;
    if (!list) throw std::runtime_error("the pickle appends to something that is not a list");
    list->items.insert(list->items.end(), items.begin(), items.end());
    return true;
  }

  bool set_items(const std::vector<Ref>& items) {
    Value* target = top();
    auto* dict = std::get_if<Dict>(&target->data);
    if (auto* made = std::get_if<Object>(&target->data)) dict = &made->dict;
    if (!dict || items.size() % 2 != 0) {
      throw std::runtime_error("the pickle sets items of something that is not a dict");
    }
    for (std::size_t i = 0; i < items.size(); i += 2) {
      dict->items.emplace_back(items[i], items[i + 1]);
    }
    return true;
  }

  bool memo(char opcode) {
    switch (opcode) {
      case 'q':  // BINPUT
        memo_[bytes_.number(1)] = top();
        return true;
      case 'r':  // LONG_BINPUT
        memo_[bytes_.number(4)] = top();
        return true;
      case '\x94':  // MEMOIZE
        memo_[memo_.size()] = top();
        return true;
      case 'h':  // BINGET
        return recall(bytes_.number(1));
      case 'j':  // LONG_BINGET
        return recall(bytes_.number(4));
      default:
        return false;
    }
  }

  bool recall(std::uint64_t key) {
    const auto it = memo_.find(key);
    if (it == memo_.end()) throw std::runtime_error("the pickle refers to what it never kept");
    stack_.push_back(it->second);
    return true;
  }

  bool object(char opcode) {
    switch (opcode) {
      case 'c': {  // GLOBAL
        std::string module(bytes_.line());
        return push(Global{std::move(module), std::string(bytes_.line())});
      }
      case '\x93':  // STACK_GLOBAL
        return stack_global();
      case 'R':     // REDUCE
      case '\x81':  // NEWOBJ
        return call(1);
      case '\x92':  // NEWOBJ_EX
        return call(2);
      case 'b': {  // BUILD
        const Ref state = pop();
        auto* made = std::get_if<Object>(&top()->data);
        if (!made)
          throw std::runtime_error("the pickle gives a state to something that is not an object");
        made->state = state;
        return true;
      }
      case 'Q':  // BINPERSID
        return push(Persistent{pop()});
      default:
        return false;
    }
  }

  bool stack_global() {
    const Ref name = pop();
    const Ref module = pop();
    const auto *of_name = name->as<std::string>(), *of_module = module->as<std::string>();
    if (!of_name || !of_module) {
      throw std::runtime_error("the pickle names a class by something that is not a text");
    }
    // Both may be of the memo: five bytes of the pickle would copy them.
    if (of_name->size() + of_module->size() > longest_name)
      throw std::runtime_error("the pickle has a class of too long a name");
    return push(Global{*of_module, *of_name});
  }

  bool call(int operands) {
    if (operands == 2) pop();  // keyword arguments
    Object made;
    made.arguments = pop();
    made.callee = pop();
    if (!made.callee->as<Global>() || !made.arguments->as<Tuple>()) {
      throw std::runtime_error("the pickle calls something that is not a class");
    }
    return push(std::move(made));
  }

  trainer::ByteReader bytes_;
  Document document_;
  std::vector<Value*> stack_;
  std::vector<std::size_t> marks_;
  std::unordered_map<std::uint64_t, Value*> memo_;
};

}  // namespace

Document read(std::string_view bytes) {
  return Machine(bytes).run();
}

const std::vector<std::pair<Ref, Ref>>* entries(Ref value) {
  if (const auto* dict = value->as<Dict>()) return &dict->items;
  if (const auto* object = value->as<Object>()) return &object->dict.items;
  return nullptr;
}

Ref find(Ref dict, std::string_view key) {
  const auto* items = entries(dict);
  if (!items) return nullptr;
  for (const auto& [name, value] : *items) {
    const auto* text = name->as<std::string>();
    if (text && *text == key) return value;
  }
  return nullptr;
}

bool is_global(Ref value, std::string_view module, std::string_view name) {
  const auto* global = value->as<Global>();
  return global && global->module == module && global->name == name;
}

}  // namespace evolve::pickle
