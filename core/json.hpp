// How values become JSON, and JSON text, and what a line of JSON holds.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

namespace evolve::core {

/// What a visitor V of the keys of a T visits: one that it fills (V::reads), or one that it writes.
template <class V, class T>
using Of = std::conditional_t<V::reads, T, const T>;

/// An absent value is null.
template <class T>
nlohmann::ordered_json json_or_null(const std::optional<T>& value) {
  return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json();
}

/// Null is nothing. Throws nlohmann's exception where it is no T.
template <class T, class Json>
std::optional<T> value_or_nothing(const Json& json) {
  return json.is_null() ? std::nullopt : std::optional<T>(json.template get<T>());
}

/// JSON as text in one line. What is not UTF-8 in it is replaced: such a text may come from
/// anywhere.
template <class Json>
std::string json_text(const Json& json) {
  return json.dump(-1, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace);
}

/// A line of JSON with quotes around NaN, Infinity and -Infinity, which Python writes and JSON does
/// not have; a number too large for a double (1e999) becomes one of them. So what is no number can
/// be named.
std::string with_quoted_nans(std::string_view line);

/// Whether a value is a text that with_quoted_nans() makes: "NaN", "Infinity", "-Infinity".
bool is_quoted_nan(const nlohmann::ordered_json& value);

/// So many keys of an object are read.
inline constexpr std::size_t most_keys = 4000;

/// The JSON in a text that may come from anywhere, "discarded" where it is none. Throws
/// std::length_error: "is nested too deeply", for values are copied and compared by recursion, or
/// "has too many keys", for an ordered_json looks through all keys of an object for each new one.
nlohmann::ordered_json bounded_json(std::string_view text);

/// The JSON in a line, with texts for what Python writes and JSON does not have (see above), and
/// U+FFFD for half a character. As bounded_json(), but however deep: such values are neither copied
/// nor compared.
nlohmann::ordered_json json_in(std::string_view line);

}  // namespace evolve::core
