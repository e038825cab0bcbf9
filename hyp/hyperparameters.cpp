#include "hyp/hyperparameters.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "core/error.hpp"
#include "core/number.hpp"

namespace evolve::hyp {

namespace {

/// Whether `value` can be written as an integer and read back as the same double (-0 can't).
bool is_exact_integer(double value) {
  constexpr double largest = 9007199254740992.0;  // 2^53
  return std::trunc(value) == value && std::abs(value) <= largest &&
         !(value == 0 && std::signbit(value));
}

nlohmann::ordered_json to_json(const Value& value) {
  if (const auto* text = std::get_if<std::string>(&value)) {
    if (is_boolean(*text)) return *text == "true";
    return *text;
  }
  const double number = std::get<double>(value);
  if (is_exact_integer(number)) return static_cast<std::int64_t>(number);
  return number;
}

}  // namespace

bool is_boolean(const std::string& text) {
  return text == "true" || text == "false";
}

std::string text_of(const Value& value) {
  const double* number = std::get_if<double>(&value);
  return number ? core::shortest(*number) : std::get<std::string>(value);
}

const Value* Hyperparameters::find(const std::string& name) const {
  const auto it = std::ranges::find(entries_, name, &std::pair<std::string, Value>::first);
  return it == entries_.end() ? nullptr : &it->second;
}

double Hyperparameters::number(const std::string& name) const {
  const Value* value = find(name);
  if (!value)
    throw bad_argument("hyperparameter " + name + " is missing", "add it to the hyp file");
  if (const double* number = std::get_if<double>(value)) return *number;
  throw bad_argument("hyperparameter " + name + " is '" + std::get<std::string>(*value) + "'",
                     "it must be a number");
}

void Hyperparameters::set(const std::string& name, Value value) {
  const auto it = std::ranges::find(entries_, name, &std::pair<std::string, Value>::first);
  if (it == entries_.end()) {
    entries_.emplace_back(name, std::move(value));
  } else {
    it->second = std::move(value);
  }
}

nlohmann::ordered_json to_json(const Hyperparameters& hyp) {
  auto json = nlohmann::ordered_json::object();
  for (const auto& [name, value] : hyp) json[name] = to_json(value);
  return json;
}

Hyperparameters hyperparameters_from_json(const nlohmann::ordered_json& json) {
  Hyperparameters hyp;
  for (const auto& [name, value] : json.get_ref<const nlohmann::ordered_json::object_t&>()) {
    if (value.is_number()) {
      hyp.set(name, value.get<double>());
    } else if (value.is_boolean()) {
      hyp.set(name, value.dump());
    } else if (value.is_string()) {
      hyp.set(name, value.get<std::string>());
    } else {
      throw std::invalid_argument(name + " is neither a number nor a text");
    }
  }
  return hyp;
}

}  // namespace evolve::hyp
