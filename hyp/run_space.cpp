#include "hyp/run_space.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "core/number.hpp"
#include "core/split.hpp"

namespace evolve::hyp {

namespace {

/// The raw value of a gene that a file has there.
double value_in_file(const Gene& gene, const Value& value, const Where& where) try {
  return raw_values({{gene}}, {{gene.name, value}}).front();
} catch (const Error& error) {
  throw Error(error.fault(), text_of(where) + ": " + error.what());
}

/// The number that the hyp file has there.
double number_in_file(const std::string& name, const Value& value, const Where& where) {
  if (const auto* number = std::get_if<double>(&value)) return *number;
  throw bad_input(where, name + " is '" + text_of(value) + "'", "write one number, such as 0.01");
}

/// `gene` started at a value of the hyp file.
Gene started(Gene gene, const Value& value, const Where& where) {
  if (is_categorical(gene)) {
    gene.start = value_in_file(gene, value, where);
    return gene;
  }
  const double start = number_in_file(gene.name, value, where);
  const auto is_outside = [&](double v) { return v < gene.low || v > gene.high; };
  const bool is_rounded = gene.kind == Gene::Kind::integer;
  if (is_outside(start) && !(is_rounded && !is_outside(std::round(start)))) {
    throw bad_input(where,
                    gene.name + " is " + text_of(value) + ", outside its bounds " +
                        core::shortest(gene.low) + " to " + core::shortest(gene.high),
                    "change it, or give it other bounds with --space");
  }
  gene.start = nearest(gene, start);
  return gene;
}

/// A name that only the hyp file has. A text stays a text, as the only choice, unless the name is
/// one of YOLOv5's.
Gene fixed_gene(const std::string& name, const Value& value, const Where& where) {
  Gene gene{.name = name, .high = 0, .evolve = false};
  const Gene* standard = default_space().find(name);
  if (const auto* text = std::get_if<std::string>(&value); text && !standard) {
    gene.kind = Gene::Kind::categorical;
    gene.choices = {*text};
    return gene;
  }
  if (standard) gene.kind = standard->kind;
  const double start = number_in_file(name, value, where);
  gene.low = gene.high = gene.start = gene.kind == Gene::Kind::integer ? std::round(start) : start;
  return gene;
}

}  // namespace

void check_values(const Space& space, const HypFile& file) {
  for (const auto& [name, value] : file.hyp)
    if (const Gene* gene = space.find(name)) value_in_file(*gene, value, file.where(name));
}

Space started_at(const Space& table, const HypFile& start) {
  Space space;
  for (const auto& [name, value] : start.hyp) {
    const Gene* gene = table.find(name);
    space.genes.push_back(gene ? started(*gene, value, start.where(name))
                               : fixed_gene(name, value, start.where(name)));
  }
  for (const Gene& gene : table.genes) {
    if (!start.hyp.find(gene.name)) space.genes.push_back(gene);
  }
  return space;
}

Space with_defaults(Space space) {
  for (Gene gene : default_space().genes) {
    if (space.find(gene.name)) continue;
    gene.evolve = false;
    space.genes.push_back(std::move(gene));
  }
  return space;
}

void select_evolved(Space& space, const std::string& names) {
  if (names == "all") {
    for (Gene& gene : space.genes) gene.evolve = has_range(gene);
    return;
  }
  for (Gene& gene : space.genes) gene.evolve = false;
  auto listed = core::split_and_trim(names, ',');
  if (!listed.empty() && listed.back().empty()) listed.pop_back();  // a comma may end the list
  for (const auto& name : listed) {
    const auto gene = std::ranges::find(space.genes, name, &Gene::name);
    if (name == "all")
      throw bad_argument("--evolve-genes " + names + ": all of them stands alone",
                         "write all, or lr0,momentum");
    if (gene == space.genes.end()) {
      std::vector<std::string> known = {"all"};
      for (const Gene& candidate : space.genes) known.push_back(candidate.name);
      throw bad_argument("--evolve-genes: there is no gene '" + name + "'",
                         fmt::format("choose among {}", fmt::join(known, ", ")));
    }
    if (!has_range(*gene)) {
      throw bad_argument("--evolve-genes: " + name + " has no bounds", "give it some with --space");
    }
    gene->evolve = true;
  }
  if (evolved_genes(space).empty())
    throw bad_argument("--evolve-genes names no gene", "write all, or lr0,momentum");
}

}  // namespace evolve::hyp
