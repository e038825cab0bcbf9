#include "hyp/space.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "core/error.hpp"
#include "core/number.hpp"

namespace evolve::hyp {

namespace {

bool is_whole(const Gene& gene) {
  return gene.kind != Gene::Kind::real;
}

/// The raw value of `gene` in a set: its number, the index of its choice, or its start.
double raw_value(const Gene& gene, const Hyperparameters& hyp) {
  const Value* value = hyp.find(gene.name);
  if (!value) return gene.start;
  if (!is_categorical(gene)) return hyp.number(gene.name);
  const auto* quoted = std::get_if<std::string>(value);
  for (std::size_t i = 0; i < gene.choices.size(); ++i) {
    if (choice(gene, i) == *value || (quoted && *quoted == gene.choices[i]))
      return static_cast<double>(i);
  }
  throw bad_argument(gene.name + " is '" + text_of(*value) + "'",
                     fmt::format("choose among {}", fmt::join(gene.choices, ", ")));
}

}  // namespace

std::vector<Gene> evolved_genes(const Space& space) {
  std::vector<Gene> evolved;
  for (const Gene& gene : space.genes) {
    if (gene.evolve) evolved.push_back(gene);
  }
  return evolved;
}

const Gene* Space::find(const std::string& name) const {
  const auto it = std::ranges::find(genes, name, &Gene::name);
  return it == genes.end() ? nullptr : &*it;
}

std::optional<WrongBounds> wrong_bounds(const Gene& gene) {
  const std::string low = core::shortest(gene.low), high = core::shortest(gene.high);
  if (gene.low > gene.high) return {{"low " + low + " is above high " + high, "swap them"}};
  if (!std::isfinite(gene.high - gene.low))
    return {{"from " + low + " to " + high + " is too wide", "narrow it"}};
  if (gene.scale == Gene::Scale::log && gene.low <= 0)
    return {{"a log scale can't start at " + low, "give a low above 0, or scale: linear"}};
  if (least_value(gene) > greatest_value(gene))
    return {{"no whole number lies between " + low + " and " + high, "widen the bounds"}};
  return {};
}

bool is_sound(const Gene& gene) {
  if (is_categorical(gene) &&
      (gene.low != 0 || gene.high + 1 != static_cast<double>(gene.choices.size())))
    return false;
  const bool has_start = gene.low <= gene.start && gene.start <= gene.high;
  const bool has_no_bounds = !gene.evolve && !is_categorical(gene) && gene.low == gene.high;
  return !wrong_bounds(gene) && (has_start || (has_no_bounds && std::isfinite(gene.start)));
}

double least_value(const Gene& gene) {
  return is_whole(gene) ? std::ceil(gene.low) + 0.0 : gene.low;  // see nearest()
}

double greatest_value(const Gene& gene) {
  return is_whole(gene) ? std::floor(gene.high) : gene.high;
}

bool has_range(const Gene& gene) {
  return least_value(gene) < greatest_value(gene);
}

bool is_categorical(const Gene& gene) {
  return gene.kind == Gene::Kind::categorical;
}

double to_unit(const Gene& gene, double value) {
  const double low = least_value(gene), high = greatest_value(gene);
  if (!(low < high)) return 0;
  if (gene.scale == Gene::Scale::log) {
    const double width = std::log(high) - std::log(low);
    return width > 0 ? (std::log(value) - std::log(low)) / width : 0;
  }
  return (value - low) / (high - low);
}

double from_unit(const Gene& gene, double unit) {
  const double low = least_value(gene), high = greatest_value(gene);
  if (!(low < high)) return low;
  unit = std::clamp(unit, 0.0, 1.0);
  if (gene.scale == Gene::Scale::log) {
    return nearest(gene, std::exp(std::log(low) + unit * (std::log(high) - std::log(low))));
  }
  if (is_whole(gene)) return std::min(low + std::floor(unit * (high - low + 1)), high);
  return nearest(gene, low + unit * (high - low));
}

double nearest(const Gene& gene, double value) {
  if (is_whole(gene)) value = std::round(value) + 0.0;  // never -0, which is written as no integer
  return std::clamp(value, least_value(gene), greatest_value(gene));
}

Value choice(const Gene& gene, std::size_t index) {
  const std::string& text = gene.choices.at(index);
  if (const auto number = core::parse_number(text); number && std::isfinite(*number))
    return *number;
  return text;
}

Hyperparameters express(const Space& space, const Genes& genes) {
  Hyperparameters hyp;
  std::size_t next = 0;
  for (const Gene& gene : space.genes) {
    const double raw = gene.evolve ? genes.at(next++) : gene.start;
    if (is_categorical(gene)) {
      hyp.set(gene.name, choice(gene, static_cast<std::size_t>(raw)));
    } else {
      hyp.set(gene.name, raw);
    }
  }
  return hyp;
}

Genes genes_of(const Space& space, const Hyperparameters& hyp) {
  Genes genes;
  for (const Gene& gene : space.genes) {
    if (gene.evolve) genes.push_back(nearest(gene, raw_value(gene, hyp)));
  }
  return genes;
}

std::vector<double> raw_values(const Space& space, const Hyperparameters& hyp) {
  std::vector<double> values;
  for (const Gene& gene : space.genes) values.push_back(raw_value(gene, hyp));
  return values;
}

Hyperparameters start_of(const Space& space) {
  return express(space, genes_of(space, {}));
}

std::vector<Value> extreme_values(const Gene& gene) {
  std::vector<Value> values = {*start_of({{gene}}).find(gene.name)};
  if (!gene.evolve) return values;
  if (!is_categorical(gene)) values.insert(values.end(), {least_value(gene), greatest_value(gene)});
  for (std::size_t i = 0; i < gene.choices.size(); ++i) values.push_back(choice(gene, i));
  return values;
}

}  // namespace evolve::hyp
