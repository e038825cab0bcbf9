#include "results/gene_axis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace evolve::results {
namespace {

/// At most so many bytes of a choice's name.
std::string shortened(const std::string& name, std::size_t room) {
  return name.size() <= room ? name : name.substr(0, room - 1) + "…";
}

}  // namespace

std::string value_name(double value, const hyp::Gene* gene) {
  const bool is_choice = gene && gene->kind == hyp::Gene::Kind::categorical && value >= 0 &&
                         value < static_cast<double>(gene->choices.size());
  return is_choice ? gene->choices[static_cast<std::size_t>(value)] : fmt::format("{:.4g}", value);
}

Axis axis_of(const hyp::Gene* gene, double low, double high, int room) {
  if (gene && gene->scale == hyp::Gene::Scale::log && low > 0) return log_axis(low, high, room);
  Axis axis = linear_axis(low, high, room);
  if (!gene || gene->kind == hyp::Gene::Kind::real) return axis;
  keep_whole_ticks(axis);
  if (gene->kind == hyp::Gene::Kind::integer) return axis;
  axis.ticks.clear();
  for (double index = std::ceil(low); index <= high; ++index) {
    axis.ticks.emplace_back(index, value_name(index, gene));
  }
  const auto each = static_cast<std::size_t>(room) / std::max<std::size_t>(axis.ticks.size(), 1);
  for (auto& [index, label] : axis.ticks) label = shortened(label, std::max<std::size_t>(each, 3));
  return axis;
}

}  // namespace evolve::results
