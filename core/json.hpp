// How values become JSON, and JSON text.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace evolve::core {

/// An absent value is null.
template <class T>
nlohmann::ordered_json json_or_null(const std::optional<T>& value) {
  return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json();
}

/// In one line. What is not UTF-8 in it is replaced: such a text may come from anywhere.
template <class Json>
std::string json_text(const Json& json) {
  return json.dump(-1, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace);
}

}  // namespace evolve::core
