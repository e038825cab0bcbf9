#include "hyp/space_file.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/error.hpp"
#include "core/number.hpp"
#include "core/text_file.hpp"
#include "core/yaml.hpp"
#include "hyp/hyp_file.hpp"

namespace evolve::hyp {

namespace {

constexpr const char* forms =
    "write [low, high], [evolve, low, high], or {low: 0.0, high: 1.0} with scale, type, evolve, or "
    "choices";

/// One gene of the file while it is read: its name, its node and what errors say of it.
struct Source {
  const std::string& name;
  const core::Yaml& node;
  const std::string& path;

  Error refusal(const core::Yaml& part, const std::string& what, const std::string& remedy) const {
    return bad_input({path, part.line}, name + what, remedy);
  }

  const core::Yaml* key(const std::string& wanted) const { return core::yaml_value(node, wanted); }

  double bound(const core::Yaml& part, const std::string& which) const {
    const auto number = core::yaml_number(part);
    if (!number) throw refusal(part, ": " + which + " is no number", "write one, such as 0.01");
    if (!std::isfinite(*number)) {
      throw refusal(part, ": " + which + " is " + part.text, "write a finite number");
    }
    return *number;
  }

  bool truth(const core::Yaml& part) const {
    const auto value = core::yaml_bool(part);
    if (!value) throw refusal(part, ": evolve is neither true nor false", "write true or false");
    return *value;
  }

  /// The text of key `wanted`, which is one of two words; the first one when it is absent.
  bool is_second(const std::string& wanted, const std::string& first,
                 const std::string& second) const {
    const core::Yaml* part = key(wanted);
    if (!part || (part->kind == core::Yaml::Kind::scalar && part->text == first)) return false;
    if (part->kind == core::Yaml::Kind::scalar && part->text == second) return true;
    throw refusal(*part, ": " + wanted + " is '" + part->text + "'",
                  "write " + first + " or " + second);
  }
};

void read_list(const Source& source, Gene& gene) {
  const auto& items = source.node.items;
  if (items.size() != 2 && items.size() != 3) {
    throw source.refusal(source.node, " is a list of " + std::to_string(items.size()), forms);
  }
  if (items.size() == 3) {
    const auto evolve = core::yaml_bool(items[0]);
    if (!evolve)
      throw source.refusal(items[0], ": the first of three is neither true nor false", forms);
    gene.evolve = *evolve;
  }
  gene.low = source.bound(items[items.size() - 2], "low");
  gene.high = source.bound(items[items.size() - 1], "high");
}

void read_choices(const Source& source, const core::Yaml& list, Gene& gene) {
  const std::string remedy = "list at least two different ones: choices: [SGD, Adam]";
  for (const char* key : {"low", "high", "scale", "type"}) {
    if (const core::Yaml* part = source.key(key)) {
      throw source.refusal(*part, std::string(" has choices and ") + key, "keep one of the two");
    }
  }
  gene.kind = Gene::Kind::categorical;
  if (list.kind != core::Yaml::Kind::list)
    throw source.refusal(list, ": choices is no list", remedy);
  for (const core::Yaml& item : list.items) {
    if (item.kind != core::Yaml::Kind::scalar || item.text.empty()) {
      throw source.refusal(
          item, ": choice " + std::to_string(&item - list.items.data() + 1) + " is no word",
          remedy);
    }
    if (const auto number = core::yaml_number(item); number && !std::isfinite(*number))
      throw source.refusal(item, ": a choice is " + item.text, remedy);
    gene.choices.push_back(core::yaml_word(item));
    for (std::size_t i = 0; i + 1 < gene.choices.size(); ++i) {
      if (choice(gene, i) == choice(gene, gene.choices.size() - 1)) {
        throw source.refusal(item, ": choice " + item.text + " appears twice", remedy);
      }
    }
  }
  if (gene.choices.size() < 2) {
    throw source.refusal(list, " has " + core::counted(std::ssize(gene.choices), "choice"), remedy);
  }
  gene.low = 0;
  gene.high = static_cast<double>(gene.choices.size()) - 1;
}

void read_map(const Source& source, Gene& gene) {
  static constexpr std::array known = {"low", "high", "scale", "type", "choices", "evolve"};
  for (std::size_t i = 0; i < source.node.keys.size(); ++i) {
    const std::string& key = source.node.keys[i];
    if (std::ranges::count(known, key) == 0) {
      throw source.refusal(source.node.items[i], " has an unknown key '" + key + "'",
                           "the keys are low, high, scale, type, choices, evolve");
    }
  }
  if (const core::Yaml* evolve = source.key("evolve")) gene.evolve = source.truth(*evolve);
  if (const core::Yaml* choices = source.key("choices"))
    return read_choices(source, *choices, gene);
  const core::Yaml* low = source.key("low");
  const core::Yaml* high = source.key("high");
  if (!low || !high) {
    throw source.refusal(source.node, std::string(" has no ") + (low ? "high" : "low"), forms);
  }
  gene.low = source.bound(*low, "low");
  gene.high = source.bound(*high, "high");
  if (source.is_second("type", "float", "int")) gene.kind = Gene::Kind::integer;
  if (source.is_second("scale", "linear", "log")) gene.scale = Gene::Scale::log;
}

/// YOLOv5's start where it has one inside the bounds, else the middle of the range, or the first
/// choice.
double default_start(const Gene& gene) {
  if (is_categorical(gene)) return 0;
  const Gene* standard = default_space().find(gene.name);
  if (standard && gene.low <= standard->start && standard->start <= gene.high) {
    return nearest(gene, standard->start);
  }
  return from_unit(gene, 0.5);
}

Gene read_gene(const std::string& name, const core::Yaml& node, const std::string& path) {
  const Source source{name, node, path};
  Gene gene{.name = name};
  if (node.kind == core::Yaml::Kind::list) {
    read_list(source, gene);
  } else if (node.kind == core::Yaml::Kind::map) {
    read_map(source, gene);
  } else {
    throw source.refusal(node, " has no bounds", forms);
  }
  if (const auto wrong = wrong_bounds(gene))
    throw source.refusal(node, ": " + wrong->what, wrong->remedy);
  if (!has_range(gene)) gene.evolve = false;
  gene.start = default_start(gene);
  return gene;
}

}  // namespace

Space read_space_file(const std::string& path) {
  return parse_space(core::read_text_file(path), path);
}

Space parse_space(const std::string& text, const std::string& path) {
  const core::Yaml root = core::parse_yaml(text, path);
  if (root.kind != core::Yaml::Kind::map || root.keys.empty()) {
    throw bad_input({path, root.line}, "there is no gene", "write lines such as hsv_h: [0.0, 0.1]");
  }
  check_names(root, path);
  Space space;
  for (std::size_t i = 0; i < root.keys.size(); ++i) {
    space.genes.push_back(read_gene(root.keys[i], root.items[i], path));
  }
  return space;
}

}  // namespace evolve::hyp
