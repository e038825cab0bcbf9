#include "results/keys.hpp"

#include <limits>
#include <stdexcept>

namespace evolve::results::keys {

const Json& value(const Json& json, const char* key) {
  const auto it = json.find(key);
  if (it == json.end()) throw std::invalid_argument(std::string("key ") + key + " is missing");
  return *it;
}

int integer(const Json& json, const char* key) {
  const Json& number = value(json, key);
  constexpr auto most = std::numeric_limits<int>::max();
  // Compared with an int, an unsigned number of more than 63 bits would be negative.
  const bool fits = number.is_number_unsigned()
                        ? number.get<std::uint64_t>() <= most
                        : number.is_number_integer() && number >= -most && number <= most;
  if (!fits) throw std::invalid_argument(std::string(key) + " is no whole number");
  return number.get<int>();
}

std::uint64_t natural(const Json& json, const char* key) {
  const Json& number = value(json, key);
  if (!number.is_number_unsigned())
    throw std::invalid_argument(std::string(key) + " is no whole number from 0");
  return number.get<std::uint64_t>();
}

std::optional<int> integer_or_null(const Json& json, const char* key) {
  return value(json, key).is_null() ? std::nullopt : std::optional(integer(json, key));
}

std::string text(const Json& json, const char* key) {
  const Json& string = value(json, key);
  if (!string.is_string()) throw std::invalid_argument(std::string(key) + " is no text");
  return string.get<std::string>();
}

double number(const Json& json, const char* key) {
  const Json& number = value(json, key);
  if (number.is_null()) return std::numeric_limits<double>::quiet_NaN();
  if (!number.is_number()) throw std::invalid_argument(std::string(key) + " is no number");
  return number.get<double>();
}

bool flag(const Json& json, const char* key) {
  const Json& flag = value(json, key);
  if (!flag.is_boolean())
    throw std::invalid_argument(std::string(key) + " is neither true nor false");
  return flag.get<bool>();
}

}  // namespace evolve::results::keys
