#include "trainer/checkpoint/tensor_pickle.hpp"

#include <torch/torch.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <stdexcept>

namespace evolve::trainer {
namespace {

struct StorageType {
  const char* name;
  torch::ScalarType type;
};
constexpr std::array<StorageType, 10> storage_types{{{"FloatStorage", torch::kFloat},
                                                     {"HalfStorage", torch::kHalf},
                                                     {"BFloat16Storage", torch::kBFloat16},
                                                     {"DoubleStorage", torch::kDouble},
                                                     {"LongStorage", torch::kLong},
                                                     {"IntStorage", torch::kInt},
                                                     {"ShortStorage", torch::kShort},
                                                     {"CharStorage", torch::kChar},
                                                     {"ByteStorage", torch::kByte},
                                                     {"BoolStorage", torch::kBool}}};

torch::ScalarType type_of(pickle::Ref value) {
  for (const StorageType& known : storage_types) {
    if (pickle::is_global(value, "torch", known.name)) return known.type;
  }
  throw std::runtime_error("a tensor has an unknown type");
}

const char* name_of(torch::ScalarType type) {
  for (const StorageType& known : storage_types) {
    if (known.type == type) return known.name;
  }
  throw std::runtime_error("a tensor has a type that cannot be written");
}

template <class T>
const T& expect(pickle::Ref value) {
  const T* data = value->as<T>();
  if (!data) throw std::runtime_error("a tensor is described in an unknown way");
  return *data;
}

std::vector<std::int64_t> numbers(pickle::Ref value) {
  constexpr std::size_t most_dimensions = 16;
  if (expect<pickle::Tuple>(value).items.size() > most_dimensions) {
    throw std::runtime_error("a tensor has too many dimensions");
  }
  std::vector<std::int64_t> result;
  for (const pickle::Ref item : expect<pickle::Tuple>(value).items) {
    result.push_back(expect<std::int64_t>(item));
    if (result.back() < 0) throw std::runtime_error("a tensor has a negative size");
  }
  return result;
}

/// Whether a view is no larger than its storage of `count` elements and lies in it.
bool fits(const std::vector<std::int64_t>& sizes, const std::vector<std::int64_t>& strides,
          std::int64_t offset, std::int64_t count) {
  if (sizes.size() != strides.size() || offset < 0) return false;
  std::int64_t last = offset;
  std::int64_t elements = 1;
  bool empty = false;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    empty = empty || sizes[i] == 0;
    const std::int64_t size = std::max<std::int64_t>(sizes[i], 1);
    std::int64_t span = 0;
    if (__builtin_mul_overflow(size - 1, strides[i], &span) ||
        __builtin_add_overflow(last, span, &last) ||
        __builtin_mul_overflow(elements, size, &elements)) {
      return false;
    }
  }
  return empty || (last < count && elements <= count);
}

}  // namespace

torch::Tensor TensorUnpickler::tensor(pickle::Ref value) {
  const auto* object = value->as<pickle::Object>();
  if (object && pickle::is_global(object->callee, "torch._utils", "_rebuild_parameter")) {
    const auto& arguments = expect<pickle::Tuple>(object->arguments).items;
    if (arguments.empty()) throw std::runtime_error("a parameter has no tensor");
    object = arguments.front()->as<pickle::Object>();
  }
  if (!object || !pickle::is_global(object->callee, "torch._utils", "_rebuild_tensor_v2"))
    return {};
  return rebuild(expect<pickle::Tuple>(object->arguments));
}

torch::Tensor TensorUnpickler::rebuild(const pickle::Tuple& arguments) {
  if (arguments.items.size() < 4) throw std::runtime_error("a tensor's description is too short");
  const auto whole = storage(arguments.items[0]);
  const auto offset = expect<std::int64_t>(arguments.items[1]);
  const auto sizes = numbers(arguments.items[2]);
  const auto strides = numbers(arguments.items[3]);
  if (!fits(sizes, strides, offset, whole.numel())) {
    throw std::runtime_error("a tensor reaches beyond its storage");
  }
  return whole.as_strided(sizes, strides, offset);
}

torch::Tensor TensorUnpickler::storage(pickle::Ref value) {
  const auto& id = expect<pickle::Tuple>(expect<pickle::Persistent>(value).id).items;
  if (id.size() < 5 || expect<std::string>(id[0]) != "storage") {
    throw std::runtime_error("a storage is described in an unknown way");
  }
  const auto type = type_of(id[1]);
  const auto& key = expect<std::string>(id[2]);
  if (const auto it = storages_.find(key); it != storages_.end()) return it->second;
  const std::string_view bytes = read_(key);
  const auto element = static_cast<std::int64_t>(torch::elementSize(type));
  const auto count = static_cast<std::int64_t>(bytes.size()) / element;
  if (count != expect<std::int64_t>(id[4]) || bytes.size() % torch::elementSize(type) != 0) {
    throw std::runtime_error("storage " + key + " has another size than announced");
  }
  auto tensor = torch::empty(count, torch::TensorOptions(type));
  std::memcpy(tensor.data_ptr(), bytes.data(), static_cast<std::size_t>(count * element));
  return storages_[key] = tensor;
}

namespace {

/// Writes the few opcodes that a dict of tensors needs. Nothing is memoised.
class Writer {
 public:
  std::string take() { return std::move(bytes_); }

  void opcode(const char* code) { bytes_ += code; }

  void little_endian(std::uint64_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) bytes_ += static_cast<char>(value >> 8 * i & 0xff);
  }

  void text(const std::string& value) {
    opcode("X");
    little_endian(value.size(), 4);
    bytes_ += value;
  }

  void number(std::int64_t value) {
    opcode("\x8a\x08");
    little_endian(static_cast<std::uint64_t>(value), 8);
  }

  void numbers(torch::IntArrayRef values) {
    opcode("(");
    for (const std::int64_t value : values) number(value);
    opcode("t");
  }

  void global(const std::string& module, const std::string& name) {
    bytes_ += "c" + module + "\n" + name + "\n";
  }

  void tensor(const torch::Tensor& tensor, const std::string& key) {
    global("torch._utils", "_rebuild_tensor_v2");
    opcode("((");
    text("storage");
    global("torch", name_of(tensor.scalar_type()));
    text(key);
    text("cpu");
    number(tensor.numel());
    opcode("tQ");
    number(0);
    numbers(tensor.sizes());
    numbers(tensor.strides());
    opcode("\x89");
    global("collections", "OrderedDict");
    opcode(")RtR");
  }

 private:
  std::string bytes_;
};

}  // namespace

std::string pickle_of(const StateDict& state) {
  Writer writer;
  writer.opcode("\x80\x02}(");
  for (std::size_t i = 0; i < state.size(); ++i) {
    writer.text(state[i].first);
    writer.tensor(state[i].second, std::to_string(i));
  }
  writer.opcode("u.");
  return writer.take();
}

}  // namespace evolve::trainer
