#include "trainer/checkpoint/saved_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "core/utf8.hpp"

namespace evolve::trainer {
namespace {

using nlohmann::ordered_json;
using pickle::Ref;

/// Modules in modules, lists in lists: YOLOv5 has 7 of the former, 3 of the latter.
constexpr int deepest = 64;
/// An ordered_json looks through all its keys for a new one.
constexpr std::size_t most_keys = 256;
/// YOLOv5's model tables have 200, names of classes a few thousand.
constexpr int most_values = 100000;

/// The elements of a list or tuple, of a set as protocol 2 writes it (a call of `set` with a list),
/// else nullptr.
const std::vector<Ref>* elements(Ref value) {
  if (const auto* list = value->as<pickle::List>()) return &list->items;
  if (const auto* tuple = value->as<pickle::Tuple>()) return &tuple->items;
  const auto* object = value->as<pickle::Object>();
  if (!object || object->callee->as<pickle::Global>()->name != "set") return nullptr;
  const auto* arguments = object->arguments->as<pickle::Tuple>();
  return arguments->items.size() == 1 && !arguments->items[0]->as<pickle::Object>()
             ? elements(arguments->items[0])
             : nullptr;
}

/// Goes through a pickle's records. Each may stand in many places, so that a small pickle can
/// describe an endless tree: the work is limited by the pickle's size.
class Walk {
 public:
  explicit Walk(const pickle::Document& document)
      : work_left_((std::size_t{1} << 16) + 16 * document.size) {}

  SavedModel find(Ref root) {
    SavedModel model;
    const Ref weights = weights_in(root);
    if (const Ref state = state_of_module(weights)) {
      module(state, "", 0, model);
      describe(state, model.about);
    } else {
      dict(weights, "", model);
    }
    if (weights != root) {
      for (const auto* key : {"epoch", "updates", "best_fitness", "date"}) {
        const Ref value = get(root, key);
        if (value && is_plain(value)) model.about[key] = json(value, 0);
      }
    }
    return model;
  }

 private:
  void work(std::size_t amount) {
    if (amount > work_left_) {
      throw std::runtime_error("the file's records contain each other too often");
    }
    work_left_ -= amount;
  }

  Ref get(Ref dict, const char* key) {
    const auto* items = pickle::entries(dict);
    if (items) work(items->size());
    return pickle::find(dict, key);
  }

  /// A module is an object whose state has its submodules; that state, or nullptr.
  Ref state_of_module(Ref value) {
    const auto* object = value->as<pickle::Object>();
    return object && object->state && get(object->state, "_modules") ? object->state : nullptr;
  }

  /// `root` itself or what it has under one of the usual keys.
  Ref weights_in(Ref root) {
    if (state_of_module(root)) return root;
    for (const auto* key : {"ema", "model", "state_dict"}) {
      const Ref value = get(root, key);
      const auto* items = value ? pickle::entries(value) : nullptr;
      if (items && (!items->empty() || state_of_module(value))) return value;
    }
    return root;
  }

  void tensor(std::string name, Ref value, SavedModel& to) {
    work(64 + name.size());
    to.tensors.emplace_back(std::move(name), value);
  }

  /// Every entry but None and those that `left_out` lists.
  void dict(Ref value, const std::string& prefix, SavedModel& to, Ref left_out = nullptr) {
    const auto* items = pickle::entries(value);
    if (!items) throw std::runtime_error("the file holds no weights");
    for (const auto& [key, entry] : *items) {
      if (entry->as<pickle::None>() || (left_out && contains(left_out, text(key)))) continue;
      tensor(prefix + text(key), entry, to);
    }
  }

  /// Keeps of the first module that computes something else than its like here what is different.
  void compare(const pickle::Object& found, const std::string& name, SavedModel& to) {
    const auto* type = found.callee ? found.callee->as<pickle::Global>() : nullptr;
    if (!type || to.about.contains("unlike")) return;
    if (name.ends_with(".act") && type->name != "SiLU")
      to.about["unlike"] = core::valid_utf8(name + " is " + type->name + ", not SiLU");
    const Ref eps = type->name == "BatchNorm2d" ? get(found.state, "eps") : nullptr;
    const auto* value = eps ? eps->as<double>() : nullptr;
    if (value && *value != 1e-3)
      to.about["unlike"] =
          core::valid_utf8(fmt::format("the eps of {} is {}, not 0.001", name, *value));
  }

  /// torch.nn.Module.state_dict(): parameters, buffers that persist, then the submodules'.
  void module(Ref state, const std::string& prefix, int depth, SavedModel& to) {
    if (depth > deepest) throw std::runtime_error("the file's modules are nested too deeply");
    work(prefix.size());
    const Ref parameters = get(state, "_parameters");
    const Ref buffers = get(state, "_buffers");
    if (!parameters || !buffers) throw std::runtime_error("a module lacks its parameters");
    dict(parameters, prefix, to);
    dict(buffers, prefix, to, get(state, "_non_persistent_buffers_set"));
    const auto* children = pickle::entries(get(state, "_modules"));
    if (!children) throw std::runtime_error("a module lacks its submodules");
    for (const auto& [key, value] : *children) {
      work(1);
      if (value->as<pickle::None>()) continue;
      const Ref child = state_of_module(value);
      if (!child) throw std::runtime_error("a submodule is not a module");
      const auto name = prefix + text(key);
      compare(*value->as<pickle::Object>(), name, to);
      module(child, name + ".", depth + 1, to);
    }
  }

  bool contains(Ref set, const std::string& wanted) {
    const auto* items = elements(set);
    if (!items) return false;
    work(items->size());
    return std::any_of(items->begin(), items->end(), [&](Ref item) {
      const auto* name = item->as<std::string>();
      return name && *name == wanted;
    });
  }

  static const std::string& text(Ref key) {
    const auto* name = key->as<std::string>();
    if (!name) throw std::runtime_error("a tensor's name is not a text");
    return *name;
  }

  void describe(Ref state, ordered_json& about) {
    if (const Ref yaml = get(state, "yaml")) about["yaml"] = json(yaml, 0);
    if (const Ref nc = get(state, "nc"); nc && nc->as<std::int64_t>()) about["nc"] = json(nc, 0);
    if (const Ref names = get(state, "names")) about["names"] = class_names(names);
  }

  /// A list, or a dict whose keys are 0, 1, … in any order; null for anything else.
  ordered_json class_names(Ref value) {
    const auto* items = pickle::entries(value);
    if (!items || items->empty()) return json(value, 0);
    std::vector<Ref> in_order(items->size());
    for (const auto& [key, name] : *items) {
      const auto* index = key->as<std::int64_t>();
      if (!index || *index < 0 || static_cast<std::size_t>(*index) >= in_order.size()) return {};
      in_order[static_cast<std::size_t>(*index)] = name;
    }
    auto names = ordered_json::array();
    for (const Ref name : in_order) names.push_back(name ? json(name, 0) : ordered_json());
    return names;
  }

  static bool is_plain(Ref value) {
    return value->as<bool>() || value->as<std::int64_t>() || value->as<double>() ||
           value->as<std::string>();
  }

  /// Plain values, lists and dicts as JSON; objects of any class are null.
  ordered_json json(Ref value, int depth) {
    if (depth > deepest) throw std::runtime_error("the file's lists are nested too deeply");
    if (++values_ > most_values) throw std::runtime_error("the file's description is too long");
    if (const auto* flag = value->as<bool>()) return *flag;
    if (const auto* whole = value->as<std::int64_t>()) return *whole;
    if (const auto* number = value->as<double>()) return *number;
    if (const auto* words = value->as<std::string>()) {
      work(words->size());
      return core::valid_utf8(*words);
    }
    if (const auto* items = elements(value)) {
      auto array = ordered_json::array();
      for (const Ref item : *items) array.push_back(json(item, depth + 1));
      return array;
    }
    const auto* items = pickle::entries(value);
    return items ? json_object(*items, depth) : ordered_json();
  }

  ordered_json json_object(const std::vector<std::pair<Ref, Ref>>& items, int depth) {
    if (items.size() > most_keys) throw std::runtime_error("the file's description is too long");
    auto object = ordered_json::object();
    for (const auto& [key, item] : items) {
      const auto* name = key->as<std::string>();
      if (!name) continue;
      work(name->size());
      object[core::valid_utf8(*name)] = json(item, depth + 1);
    }
    return object;
  }

  std::size_t work_left_;
  int values_ = 0;
};

}  // namespace

SavedModel find_model(const pickle::Document& document) {
  return Walk(document).find(document.root);
}

}  // namespace evolve::trainer
