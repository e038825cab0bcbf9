#include "results/event.hpp"

#include <stdexcept>

#include "core/json.hpp"
#include "results/keys.hpp"
#include "results/outcome_json.hpp"

namespace evolve::results {
namespace {

using Json = nlohmann::ordered_json;

/// The name of an event of type E; null for those that have none of their own, or several.
template <class E>
constexpr const char* event_name = nullptr;
template <class E>
requires requires {
  E::name;
}
constexpr const char* event_name<E> = E::name;
template <>
constexpr const char* event_name<hyp::Rung> = "rung";

using core::Of;

// One list of keys for each event, which writes it and reads it. key(…) is needed; key.or_null(…)
// too, but may be null; key.if_known(…) may be absent where it is read, and is null where it is
// written; key.unless_default(…) is written only where it is not the default; key.or_default(…) is
// always written, but may be absent where it is read.

template <class V>
void visit(const V& key, Of<V, Started>& e) {
  key("trial", e.trial), key("generation", e.generation), key("hyp", e.hyp);
  key("device", e.device), key("attempt", e.attempt);
  key.unless_default("start_epoch", e.start_epoch);
  key.unless_default("pause_epoch", e.pause_epoch);
}
template <class V>
void visit(const V& key, Of<V, Bred::Child>& e) {
  key("trial", e.trial), key("hyp", e.hyp);
}
template <class V>
void visit(const V& key, Of<V, Bred>& e) {
  key("trials", e.trials);
}
template <class V>
void visit(const V& key, Of<V, Repeating>& e) {
  key("trial", e.trial), key.or_default("repeat", e.repeat), key("seed", e.seed);
  key("device", e.device), key("attempt", e.attempt);
}
template <class V>
void visit(const V& key, Of<V, hyp::Rung>& e) {
  key("trial", e.trial), key("epoch", e.epoch), key("metrics", e.metrics);
  key("fitness", e.fitness), key("device", e.device);
}
template <class V>
void visit(const V& key, Of<V, Extended>& e) {
  key("generations", e.generations), key.or_null("trials", e.trials);
  key.unless_default("repeats", e.repeats);
  key.unless_default("wished_repeats", e.wished_repeats);
  key.unless_default("max_epochs", e.max_epochs);
  key.unless_default("for_repeats", e.for_repeats);
}
template <class V>
void visit(const V& key, Of<V, Expected>& e) {
  key.or_null("trainings", e.trainings);
}
template <class V>
void visit(const V&, Of<V, CannotPause>&) {}
template <class V>
void visit(const V& key, Of<V, Probed>& e) {
  key("trial", e.trial), key("device", e.device), key("seconds", e.seconds);
}
template <class V>
void visit(const V& key, Of<V, DeviceStats>& e) {
  key("device", e.device), key("state", e.state);
  key.if_known("memory_total_bytes", e.memory_total_bytes);
  key.if_known("memory_free_bytes", e.memory_free_bytes);
  key.if_known("load_percent", e.load_percent);
  key.if_known("temperature_celsius", e.temperature_celsius);
  key.if_known("power_watts", e.power_watts);
}
template <class V>
void visit(const V& key, Of<V, DeviceLimited>& e) {
  key("device", e.device), key("trials", e.trials);
}
template <class V>
void visit(const V& key, Of<V, DeviceFull>& e) {
  key("device", e.device), key("memory_total_bytes", e.memory_total_bytes);
  key("memory_free_bytes", e.memory_free_bytes);
}
template <class V>
void visit(const V& key, Of<V, DeviceBlamed>& e) {
  key("device", e.device), key("reason", e.reason);
}
template <class V>
void visit(const V& key, Of<V, DeviceBroughtBack>& e) {
  key("device", e.device);
}
template <class V>
void visit(const V& key, Of<V, DevicesChanged>& e) {
  key("slots", e.slots), key.unless_default("identities", e.identities);
}
template <class V>
void visit(const V& key, Of<V, InputsMended>& e) {
  key("inputs", e.inputs);
}

/// Writes the keys into `json`.
struct Writing {
  static constexpr bool reads = false;
  Json& json;

  void operator()(const char* key, const auto& value) const { json[key] = written(value); }
  void or_null(const char* key, const auto& value) const { (*this)(key, value); }
  void if_known(const char* key, const auto& value) const { (*this)(key, value); }
  void or_default(const char* key, const auto& value) const { (*this)(key, value); }
  template <class T>
  void unless_default(const char* key, const T& value) const {
    if (value != T()) (*this)(key, value);
  }

 private:
  static Json written(const auto& value) { return value; }
  template <class T>
  static Json written(const std::optional<T>& value) {
    return core::json_or_null(value);
  }
  static Json written(const hyp::Hyperparameters& set) { return hyp::to_json(set); }
  static Json written(const hyp::Metrics& metrics) { return hyp::to_json(metrics); }
  static Json written(const std::vector<Bred::Child>& children) {
    auto list = Json::array();
    for (const auto& child : children) visit(Writing{list.emplace_back()}, child);
    return list;
  }
};

/// Reads the keys of `json`. Throws std::exception that says which one is missing or wrong.
struct Reading {
  static constexpr bool reads = true;
  const Json& json;

  void operator()(const char* key, int& value) const { value = keys::integer(json, key); }
  void operator()(const char* key, std::optional<int>& value) const {
    value = keys::integer(json, key);
  }
  void operator()(const char* key, double& value) const { value = keys::number(json, key); }
  void operator()(const char* key, std::string& value) const { value = keys::text(json, key); }
  void operator()(const char* key, hyp::Hyperparameters& value) const {
    value = hyp::hyperparameters_from_json(keys::value(json, key));
  }
  void operator()(const char* key, hyp::Metrics& value) const {
    value = hyp::metrics_from_json(keys::value(json, key));
  }
  void operator()(const char* key, std::vector<Bred::Child>& children) const {
    for (const auto& child : keys::value(json, key)) visit(Reading{child}, children.emplace_back());
  }
  template <class T>
  void operator()(const char* key, T& value) const {
    value = keys::value(json, key).get<T>();
  }
  void or_null(const char* key, std::optional<int>& value) const {
    value = keys::integer_or_null(json, key);
  }
  template <class T>
  void if_known(const char* key, std::optional<T>& value) const {
    value = keys::optional<T>(json, key);
  }
  void or_default(const char* key, auto& value) const { value = json.value(key, value); }
  void unless_default(const char* key, auto& value) const {
    if (json.contains(key)) (*this)(key, value);
  }
};

template <class E>
Json json_of(const E& event) {
  Json json = {{"event", event_name<E>}};
  visit(Writing{json}, event);
  return json;
}

Json json_of(const DeviceBlamed& blamed) {
  Json json = {{"event", blamed.quarantined ? "quarantined" : "blamed"}};
  visit(Writing{json}, blamed);
  return json;
}

Json json_of(const UnknownEvent& unknown) {
  return unknown.json;
}

template <class E>
E read(const Json& json, E event = {}) {
  visit(Reading{json}, event);
  return event;
}

/// Reads into `event` what is named so, if one of these types is.
template <class... Events>
bool read_named(const std::string& name, const Json& json, std::variant<Events...>& event) {
  const auto read_as = [&]<class E>(std::type_identity<E>) {
    if constexpr (event_name<E> != nullptr)
      if (name == event_name<E>) return event = read<E>(json), true;
    return false;
  };
  return (read_as(std::type_identity<Events>()) || ...);
}

}  // namespace

Json to_json(const Event& event) {
  return std::visit([](const auto& e) { return json_of(e); }, event);
}

Event event_from_json(const Json& json) {
  if (!json.is_object()) throw std::invalid_argument("this is no JSON object");
  const std::string name = keys::text(json, "event");
  if (is_outcome(name)) return outcome_from_json(json, name);
  if (name == "blamed" || name == "quarantined")
    return read(json,
                DeviceBlamed{.device = "", .reason = "", .quarantined = name == "quarantined"});
  Event event = UnknownEvent{json};
  read_named(name, json, event);
  return event;
}

}  // namespace evolve::results
