// What a JSON object has under its keys; errors say which one is missing or wrong. Nobody outside
// this folder needs it.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "core/json.hpp"

namespace evolve::results::keys {

using Json = nlohmann::ordered_json;

// These throw std::invalid_argument where the key is missing, or its value of another kind.
const Json& value(const Json& json, const char* key);
int integer(const Json& json, const char* key);
/// From 0.
std::uint64_t natural(const Json& json, const char* key);
std::optional<int> integer_or_null(const Json& json, const char* key);
std::string text(const Json& json, const char* key);
/// JSON has no NaN: null is one.
double number(const Json& json, const char* key);
bool flag(const Json& json, const char* key);

/// Nothing where the key is missing or null. Throws nlohmann's exception where it is no T.
template <class T>
std::optional<T> optional(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found == json.end() ? std::nullopt : core::value_or_nothing<T>(*found);
}

}  // namespace evolve::results::keys
