// A hyperparameter set as a trainer sees it: names and values, in a fixed order.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace evolve::hyp {

/// A number, or the name of a choice of a categorical gene. "true" and "false" are truth values for
/// trainers and in files.
using Value = std::variant<double, std::string>;
bool is_boolean(const std::string& text);
/// A value as a person reads it: "0.01", "Adam".
std::string text_of(const Value& value);

/// An ordered map from name to value. The order is that of evolve.csv's columns.
class Hyperparameters {
 public:
  Hyperparameters() = default;
  Hyperparameters(std::initializer_list<std::pair<std::string, Value>> entries)
      : entries_(entries) {}

  /// The value of `name`, or nullptr.
  const Value* find(const std::string& name) const;
  /// The number called `name`; throws `Error` when it is absent or not a number.
  double number(const std::string& name) const;
  /// Replaces the value of `name`, or appends it.
  void set(const std::string& name, Value value);

  auto begin() const { return entries_.begin(); }
  auto end() const { return entries_.end(); }
  std::size_t size() const { return entries_.size(); }
  bool operator==(const Hyperparameters&) const = default;

 private:
  std::vector<std::pair<std::string, Value>> entries_;
};

/// {"lr0": 0.01, "anchors": 3, "optimizer": "Adam"}: whole numbers are written as integers, so that
/// a trainer in any language can count with them.
nlohmann::ordered_json to_json(const Hyperparameters& hyp);
/// The inverse; throws nlohmann's exceptions when a value is neither a number, a text nor a truth
/// value.
Hyperparameters hyperparameters_from_json(const nlohmann::ordered_json& json);

}  // namespace evolve::hyp
