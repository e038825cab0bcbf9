// YAML as plain values that know their lines: what yaml-cpp's events tell, with hostile input
// refused.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace evolve::core {

/// A node of a YAML document.
struct Yaml {
  enum class Kind { null, scalar, list, map };

  Kind kind = Kind::null;
  /// A scalar's text.
  std::string text = {};
  /// A scalar that stands without quotes, so that it may be a number.
  bool plain = true;
  /// Elements of a list, or values of a map.
  std::vector<Yaml> items = {};
  /// Names of a map's values, all different, in the file's order.
  std::vector<std::string> keys = {};
  /// From 1. A value in a map has the line of its key.
  int line = 0;
};

/// The only document of `text`; `path` is what errors say. Throws `Error` with the line for broken
/// YAML, a key that appears twice or is not a scalar, an alias, nesting deeper than 8, an empty or
/// a second document.
Yaml parse_yaml(const std::string& text, const std::string& path);

/// The value of `key` in a map, or null when there is none (or `map` is not a map).
const Yaml* yaml_value(const Yaml& map, const std::string& key);

/// The number that a plain scalar spells, in decimal as YAML 1.1 or 1.2 has it (`1e-05`, `+1`,
/// `.5`, `.nan`) or as Python does (`nan`, `inf`), or nothing.
std::optional<double> yaml_number(const Yaml& node);
/// The truth value that a plain scalar spells in YAML 1.1 (`true`, `False`, `yes`, `off`), or
/// nothing.
std::optional<bool> yaml_bool(const Yaml& node);

/// The text of a scalar; "true" or "false" of a truth value, however it is spelled.
std::string yaml_word(const Yaml& node);

/// `text` as a scalar that YAML reads back as this very text: plain, or in double quotes where it
/// has to be.
std::string yaml_text(const std::string& text);

}  // namespace evolve::core
