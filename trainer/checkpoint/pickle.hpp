// Python's pickles as plain data. Nothing in a pickle is ever executed: a class or function is a
// name, a call is a record of the name and its arguments.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace evolve::pickle {

struct Value;
/// Values belong to their Document; one may stand in several places.
using Ref = const Value*;

struct None {};
/// list, set or frozenset.
struct List {
  std::vector<Ref> items;
};
struct Tuple {
  std::vector<Ref> items;
};
struct Dict {
  std::vector<std::pair<Ref, Ref>> items;
};
/// A class or function by name: "collections", "OrderedDict".
struct Global {
  std::string module, name;
};
/// What a class or function would have made of `arguments`, then been given as a list, as a dict
/// and as state.
struct Object {
  Ref callee = nullptr;
  Ref arguments = nullptr;
  Ref state = nullptr;
  List list;
  Dict dict;
};
/// An object kept outside the pickle, torch's storages for instance.
struct Persistent {
  Ref id = nullptr;
};

/// Texts are UTF-8; bytes are texts too.
struct Value {
  std::variant<None, bool, std::int64_t, double, std::string, List, Tuple, Dict, Global, Object,
               Persistent>
      data;

  template <class T>
  const T* as() const {
    return std::get_if<T>(&data);
  }
};

/// A whole pickle.
struct Document {
  std::deque<Value> values;
  Ref root = nullptr;
  /// The pickle's bytes.
  std::size_t size = 0;
};

/// Reads protocols 2 to 5. Throws std::runtime_error with one line for anything that is not such a
/// pickle: an unknown opcode, lengths beyond the end, operands that are missing or of the wrong
/// kind.
Document read(std::string_view bytes);

/// The entry of a dict (or of a dict-like object, OrderedDict for instance) under a text, or
/// nullptr.
Ref find(Ref dict, std::string_view key);
/// Entries of a dict or dict-like object; nullptr for anything else.
const std::vector<std::pair<Ref, Ref>>* entries(Ref value);
/// Whether a value is the class or function `module.name`.
bool is_global(Ref value, std::string_view module, std::string_view name);

}  // namespace evolve::pickle
