// What JSON has for values that may be absent.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>

namespace evolve::core {

/// An absent value is null.
template <class T>
nlohmann::ordered_json json_or_null(const std::optional<T>& value) {
  return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json();
}

}  // namespace evolve::core
