#include "results/plots/axis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace evolve::results {

namespace {

/// A gene's panel is narrow.
constexpr int gene_parts = 4;
constexpr std::size_t gene_characters = 26;

Axis padded(double low, double high, double padding) {
  const double equal = low == 0 ? 0.5 : std::abs(low) * 0.1;
  const double pad = low < high ? padding * (high - low) : equal;
  return {.low = low - pad, .high = high + pad};
}

/// With multiples of the smallest round step (1, 2 or 5 times a power of ten) that cuts the range
/// into at most `parts` parts.
Axis with_round_ticks(Axis axis, int parts, double least_step = 0) {
  const double least = std::max((axis.high - axis.low) / parts, least_step) * (1 - 1e-9);
  const double power = std::pow(10, std::floor(std::log10(least)));
  const double step = power * (least <= 2 * power ? 2 : least <= 5 * power ? 5 : 10);
  const double first = std::ceil(axis.low / step);
  for (int i = 0; i <= parts && (first + i) * step <= axis.high; ++i)
    axis.ticks.emplace_back((first + i) * step + 0.0, "");
  return axis;
}

/// Whether the numbers below a gene's panel do not touch.
bool has_room(const Axis& axis) {
  if (axis.ticks.size() < 2) return true;
  std::size_t longest = 0;
  for (const auto& tick : axis.ticks)
    longest = std::max(longest, value_name(tick.first, nullptr).size());
  const double apart = axis.place(axis.ticks[1].first) - axis.place(axis.ticks[0].first);
  return apart * static_cast<double>(gene_characters) > static_cast<double>(longest);
}

/// With as many round ticks as there is room for.
Axis narrow_axis(double low, double high) {
  int parts = gene_parts + 1;
  Axis axis = linear_axis(low, high, parts);
  while (parts > 1 && !has_room(axis)) axis = linear_axis(low, high, --parts);
  return axis;
}

/// With powers of ten, between them 3, 30, … where these are few.
Axis log_axis(double low, double high) {
  const double pad = std::exp(0.06 * std::max(std::log(high) - std::log(low), std::log(1.01)));
  using Limits = std::numeric_limits<double>;
  Axis axis{.low = std::max(low / pad, Limits::min()),
            .high = std::min(high * pad, Limits::max()),
            .log = true};
  if (high / 5 < low) return with_round_ticks(axis, gene_parts);
  const double first = std::log10(axis.low), last = std::log10(axis.high);
  const int every = static_cast<int>(std::ceil((last - first) / gene_parts));
  for (int k = static_cast<int>(std::floor(first)); k < last; ++k) {
    for (const double digit : {1.0, 3.0}) {
      const double value = digit * std::pow(10, k);
      const bool wanted = digit == 1 ? k % every == 0 : last - first < 1.8;
      if (wanted && axis.low <= value && value <= axis.high) axis.ticks.emplace_back(value, "");
    }
  }
  return axis;
}

/// With the names of choices, shortened where they would touch.
Axis with_choices(Axis axis, const hyp::Gene& gene) {
  const double first = std::max(std::ceil(axis.low), 0.0), last = std::floor(axis.high);
  const double count = std::max(last - first + 1, 1.0);
  const auto room = std::max(gene_characters / static_cast<std::size_t>(count), std::size_t{4});
  for (double index = first; index <= last; ++index) {
    std::string name = value_name(index, &gene);
    if (name.size() > room) name = name.substr(0, room - 1) + "…";
    axis.ticks.emplace_back(index, std::move(name));
  }
  return axis;
}

}  // namespace

double Axis::place(double value) const {
  if (log) return std::log(value / low) / std::log(high / low);
  return (value - low) / (high - low);
}

Axis linear_axis(double low, double high, int parts) {
  Axis axis = padded(low, high, 0.06);
  if (low < high) return with_round_ticks(axis, parts);
  axis.ticks.emplace_back(low, "");
  return axis;
}

Axis counting_axis(double first, double last, int parts) {
  return with_round_ticks(padded(first, last, 0.01), parts, 1);
}

Axis gene_axis(const hyp::Gene* gene, double low, double high) {
  if (gene && is_categorical(*gene)) return with_choices(padded(low, high, 0.06), *gene);
  if (gene && gene->scale == hyp::Gene::Scale::log && low > 0) return log_axis(low, high);
  if (gene && gene->kind == hyp::Gene::Kind::integer)
    return with_round_ticks(padded(low, high, 0.06), 2 * gene_parts, 1);
  return narrow_axis(low, high);
}

std::string value_name(double value, const hyp::Gene* gene) {
  const bool is_choice = gene && is_categorical(*gene) && value >= 0 &&
                         value < static_cast<double>(gene->choices.size());
  return is_choice ? gene->choices[static_cast<std::size_t>(value)] : fmt::format("{:.4g}", value);
}

}  // namespace evolve::results
