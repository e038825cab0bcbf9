#include "hyp/hyp_file.hpp"

#include <cmath>

#include "core/number.hpp"
#include "core/text_file.hpp"
#include "core/utf8.hpp"

namespace evolve::hyp {

namespace {

Value value_of(const std::string& name, const core::Yaml& node, const std::string& path) {
  const Where where{path, node.line};
  const std::string example = "write one number, such as 0.01";
  switch (node.kind) {
    case core::Yaml::Kind::null:
      throw bad_input(where, name + " has no value", example);
    case core::Yaml::Kind::list:
      throw bad_input(where, name + " is a list", example);
    case core::Yaml::Kind::map:
      throw bad_input(where, name + " is nested", example);
    case core::Yaml::Kind::scalar:
      break;
  }
  const auto number = core::yaml_number(node);
  if (!number) return core::yaml_word(node);
  if (!std::isfinite(*number)) throw bad_input(where, name + " is " + node.text, example);
  return *number;
}

void check_name(const std::string& name, const Where& where) {
  // A control character is shown as a blank.
  const bool is_forbidden = core::printable(name).find_first_of(" ,:/\"'#") != name.npos;
  if (name.empty() || is_forbidden || core::valid_utf8(name) != name)
    throw bad_input(where, "'" + name + "' can't be the name of a hyperparameter",
                    "write a name in UTF-8 without blanks, quotes, , : / and #");
}

}  // namespace

Where HypFile::where(const std::string& name) const {
  std::size_t position = 0;
  for (const auto& entry : hyp) {
    if (entry.first == name) return {path, lines[position]};
    ++position;
  }
  return {path};
}

HypFile read_hyp_file(const std::string& path) {
  return parse_hyp(core::read_text_file(path), path);
}

HypFile parse_hyp(const std::string& text, const std::string& path) {
  return hyp_from_yaml(core::parse_yaml(text, path), path);
}

HypFile hyp_from_yaml(const core::Yaml& node, const std::string& path) {
  const std::string remedy = "write lines of name: number, such as lr0: 0.01";
  if (node.kind != core::Yaml::Kind::map) {
    throw bad_input({path, node.line}, "this is no list of hyperparameters", remedy);
  }
  if (node.keys.empty()) throw bad_input({path, node.line}, "there is no hyperparameter", remedy);
  check_names(node, path);
  HypFile file{.path = path};
  for (std::size_t i = 0; i < node.keys.size(); ++i) {
    file.hyp.set(node.keys[i], value_of(node.keys[i], node.items[i], path));
    file.lines.push_back(node.items[i].line);
  }
  return file;
}

std::string hyp_lines(const Hyperparameters& hyp) {
  std::string lines;
  for (const auto& [name, value] : hyp) {
    const double* number = std::get_if<double>(&value);
    const auto text = text_of(value);
    const bool is_bare = is_boolean(text);
    lines += core::yaml_text(name) + ": " +
             (number    ? core::yaml_float(*number)
              : is_bare ? text
                        : core::yaml_text(text)) +
             "\n";
  }
  return lines;
}

void check_names(const core::Yaml& map, const std::string& path) {
  if (map.keys.size() > most_names)
    throw bad_input({path, map.items[most_names].line},
                    std::to_string(map.keys.size()) + " names are too many",
                    "write " + std::to_string(most_names) + " at most");
  for (std::size_t i = 0; i < map.keys.size(); ++i)
    check_name(map.keys[i], {path, map.items[i].line});
}

}  // namespace evolve::hyp
