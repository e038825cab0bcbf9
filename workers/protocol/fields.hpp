// How messages and jobs are JSON objects: one list of keys for each, which writes it and reads it.
// Nobody outside this folder needs it.
#pragma once

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/json.hpp"
#include "core/utf8.hpp"
#include "workers/protocol/jobs.hpp"
#include "workers/protocol/messages.hpp"

namespace evolve::workers::fields {

using Json = nlohmann::ordered_json;
using core::Of;

// key(…) is needed; key.optional(…) is always written, but may be absent or null where it is read;
// key.unless_default(…) is written only where it is not the default; key.label(…) is optional, a
// text that only people read: anything else is taken as it is spelled.

template <class V>
void visit(const V& key, Of<V, core::DeviceIdentity>& m) {
  key.unless_default("uuid", m.uuid), key.unless_default("pci", m.pci);
}
template <class V>
void visit(const V& key, Of<V, Ready>& m) {
  key("protocol", m.protocol), key.label("device", m.device);
  visit(key, m.identity), key.unless_default("ranks", m.ranks);
  key.unless_default("can_pause", m.can_pause);
}
template <class V>
void visit(const V& key, Of<V, Epoch>& m) {
  key("trial", m.trial), key("epoch", m.epoch), key("metrics", m.metrics);
}
template <class V>
void visit(const V& key, Of<V, Result>& m) {
  key("trial", m.trial), key("metrics", m.metrics), key.unless_default("stopped", m.stopped);
  key.unless_default("paused", m.paused);
}
template <class V>
void visit(const V& key, Of<V, Failure>& m) {
  key.unless_default("trial", m.trial), key.optional("kind", m.kind);
  key.optional("message", m.message);
}
template <class V>
void visit(const V& key, Of<V, Output>& m) {
  key("trial", m.trial);
}
template <class V>
void visit(const V& key, Of<V, Alive>& m) {
  key.unless_default("trial", m.trial), key.label("preparing", m.preparing);
}
template <class V>
void visit(const V& key, Of<V, Train>& m) {
  key("trial", m.trial), key("hyp", m.hyp), key("epochs", m.epochs), key("device", m.device);
  key("seed", m.seed), key("dir", m.dir), key.optional("rungs", m.rungs);
  key.unless_default("start_epoch", m.start_epoch);
  key.optional("options", m.options);
}
template <class V>
void visit(const V& key, Of<V, Continue>& m) {
  key("trial", m.trial);
}
template <class V>
void visit(const V& key, Of<V, Stop>& m) {
  key("trial", m.trial);
}
template <class V>
void visit(const V& key, Of<V, Pause>& m) {
  key("trial", m.trial);
}
template <class V>
void visit(const V&, Of<V, Shutdown>&) {}

template <class V>
void visit(const V& key, Of<V, TrainingJob>& m) {
  key("hyp", m.hyp), key("seed", m.seed), key("dir", m.dir), key("resume", m.resume);
  key("options", m.options);
}
template <class V>
void visit(const V& key, Of<V, ValidationJob>& m) {
  key("split", m.split), key("dir", m.dir), key("rect", m.rect), key("options", m.options);
}
template <class V>
void visit(const V& key, Of<V, Losses>& m) {
  key("box", m.box), key("obj", m.obj), key("cls", m.cls);
}
template <class V>
void visit(const V& key, Of<V, BatchReport>& m) {
  key("epoch", m.epoch), key("batch", m.batch), key("batches", m.batches);
  key("losses", m.losses), key("labels", m.labels), key("imgsz", m.imgsz);
  key("memory_bytes", m.memory_bytes);
}
template <class V>
void visit(const V& key, Of<V, EpochReport>& m) {
  key("training", m.training), key("metrics", m.metrics);
  key("learning_rates", m.learning_rates), key("seconds", m.seconds);
  key("best", m.best), key("past", m.past);
}
template <class V>
void visit(const V& key, Of<V, ClassReport>& m) {
  key("name", m.name), key("labels", m.labels), key("precision", m.precision);
  key("recall", m.recall), key("mAP_0.5", m.map50), key("mAP_0.5:0.95", m.map50_95);
}
template <class V>
void visit(const V& key, Of<V, ValidationReport>& m) {
  key("metrics", m.metrics), key("images", m.images), key("labels", m.labels);
  key("classes", m.classes), key("inference_ms", m.inference_ms), key("nms_ms", m.nms_ms);
}
template <class V>
void visit(const V& key, Of<V, TrainingReport>& m) {
  key("epochs", m.epochs), key("best_epoch", m.best_epoch);
  key("stopped_early", m.stopped_early), key("validation", m.validation);
}

/// What stands inside another message.
template <class T>
concept Part = std::same_as<T, core::DeviceIdentity> || std::same_as<T, Losses> ||
    std::same_as<T, BatchReport> || std::same_as<T, ClassReport> ||
    std::same_as<T, ValidationReport>;

/// Writes the keys into `json`.
struct Writing {
  static constexpr bool reads = false;
  Json& json;

  template <class T>
  void operator()(const char* key, const T& value) const {
    json[key] = json_of(value);
  }
  template <class T>
  void optional(const char* key, const T& value) const {
    (*this)(key, value);
  }
  template <class T>
  void unless_default(const char* key, const T& value) const {
    if (value != T()) (*this)(key, value);
  }
  void label(const char* key, const std::string& value) const {
    if (!value.empty()) (*this)(key, value);
  }

 private:
  template <class T>
  static Json json_of(const T& value) {
    return value;
  }
  template <Part T>
  static Json json_of(const T& part) {
    Json object = Json::object();
    visit(Writing{object}, part);
    return object;
  }
  template <Part T>
  static Json json_of(const std::vector<T>& parts) {
    Json list = Json::array();
    for (const auto& part : parts) list.push_back(json_of(part));
    return list;
  }
  static Json json_of(const std::optional<int>& number) { return *number; }
  static Json json_of(const hyp::Metrics& metrics) { return to_json(metrics); }
  static Json json_of(const hyp::Hyperparameters& set) { return to_json(set); }
  static Json json_of(hyp::FailureKind kind) { return name_of(kind); }
};

/// Reads the keys of `json`, a message of that name. Throws std::invalid_argument with the key that
/// is wrong.
class Reading {
 public:
  static constexpr bool reads = true;
  Reading(std::string_view name, const Json& json) : name_(name), json_(json) {}

  template <class T>
  void operator()(const char* key, T& value) const {
    const auto found = json_.find(key);
    if (found == json_.end())
      throw std::invalid_argument("its " + name_ + " lacks \"" + key + "\"");
    read(key, *found, value);
  }
  template <class T>
  void optional(const char* key, T& value) const {
    const auto found = json_.find(key);
    if (found != json_.end() && !found->is_null()) read(key, *found, value);
  }
  template <class T>
  void unless_default(const char* key, T& value) const {
    optional(key, value);
  }
  void label(const char* key, std::string& value) const {
    const auto found = json_.find(key);
    if (found == json_.end() || !found->is_primitive() || found->is_null()) return;
    value = found->is_string() ? found->get<std::string>() : found->dump();
  }

 private:
  void require(bool right, const char* key, const std::string& otherwise) const {
    if (!right)
      throw std::invalid_argument("the \"" + std::string(key) + "\" of its " + name_ + " is " +
                                  otherwise);
  }

  /// From 0. Trainers in languages with one kind of number may write 3.0.
  template <std::integral T>
  void read(const char* key, const Json& json, T& value) const {
    std::optional<std::uint64_t> whole;
    if (json.is_number_unsigned()) {
      whole = json.get<std::uint64_t>();
    } else if (json.is_number_float()) {
      constexpr double most_exact = 9007199254740992.0;  // 2^53
      const auto number = json.get<double>();
      if (number >= 0 && number <= most_exact && number == std::trunc(number))
        whole = static_cast<std::uint64_t>(number);
    }
    require(whole && *whole <= std::uint64_t{std::numeric_limits<T>::max()}, key,
            fmt::format("no whole number from 0 to {}", std::numeric_limits<T>::max()));
    value = static_cast<T>(*whole);
  }
  void read(const char* key, const Json& json, bool& value) const {
    require(json.is_boolean(), key, "neither true nor false");
    json.get_to(value);
  }
  void read(const char* key, const Json& json, double& value) const {
    require(json.is_number(), key, "no number");
    json.get_to(value);
  }
  void read(const char* key, const Json& json, std::string& value) const {
    require(json.is_string(), key, "no text");
    json.get_to(value);
  }
  void read(const char* key, const Json& json, std::optional<int>& value) const {
    read(key, json, value.emplace());
  }
  void read(const char* key, const Json& json, hyp::FailureKind& value) const {
    std::string kind;
    read(key, json, kind);
    value = hyp::failure_kind(kind);
  }
  void read(const char* key, const Json& json, hyp::Metrics& value) const {
    require(json.is_object(), key, "no object");
    value = hyp::metrics_from_json(json);
  }
  void read(const char* key, const Json& json, hyp::Hyperparameters& value) const try {
    value = hyp::hyperparameters_from_json(json);
  } catch (const Json::exception&) {
    require(false, key, "no object of numbers and texts");
  }
  void read(const char*, const Json& json, Json& value) const { value = json; }
  template <Part T>
  void read(const char* key, const Json& json, T& part) const {
    require(json.is_object(), key, "no object");
    visit(Reading(key, json), part);
  }
  template <class T>
  void read(const char* key, const Json& json, std::vector<T>& values) const {
    require(json.is_array(), key, "no list");
    values.clear();
    for (const auto& one : json) read(key, one, values.emplace_back());
  }
  void read(const char* key, const Json& json, std::array<double, 3>& values) const {
    require(json.is_array() && json.size() == values.size(), key, "no list of three numbers");
    for (std::size_t i = 0; i < values.size(); ++i) read(key, json[i], values[i]);
  }

  std::string name_;
  const Json& json_;
};

/// A variant of messages as a line, with its newline. Text that is not UTF-8 is repaired.
template <class Message>
std::string line_of(const Message& message) {
  Json json;
  std::visit(
      [&](const auto& m) {
        json["type"] = m.type;
        visit(Writing{json}, m);
      },
      message);
  return core::json_text(json) + "\n";
}

template <class T>
T read(const Json& json) {
  T message;
  visit(Reading(T::type, json), message);
  return message;
}

template <class... Ts>
void read_one(const std::string& type, const Json& json,
              std::optional<std::variant<Ts...>>& message) {
  static_cast<void>(((type == Ts::type && (message = read<Ts>(json), true)) || ...));
}

/// The one of these messages that stands in a line; nothing for a blank line or another type.
template <class Message>
std::optional<Message> parse(std::string_view line) {
  if (line.find_first_not_of(" \t\r\n") == line.npos) return {};
  const auto wrong = [&](const std::string& what) {
    return std::invalid_argument("it wrote a line that " + what + ": " + core::excerpt(line));
  };
  Json json;
  try {
    json = core::json_in(line);
  } catch (const std::length_error& error) {
    throw wrong(error.what());
  }
  if (!json.is_object()) throw wrong("is no JSON object");
  std::string type;
  Reading("message", json)("type", type);
  std::optional<Message> message;
  read_one(type, json, message);
  return message;
}

}  // namespace evolve::workers::fields
