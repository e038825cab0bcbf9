#include "results/plots/axis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>

#include "core/utf8.hpp"

namespace evolve::results {

namespace {

/// The most parts of a gene's axis, and the pixels of a character below it.
constexpr int gene_parts = 4;
constexpr double character = 8.5;
/// Up to so many pixels a label reaches beyond the panel: half of what is between two panels.
constexpr double beyond = 12;

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

double width_of(const std::pair<double, std::string>& tick) {
  const auto& [value, name] = tick;
  const auto label = name.empty() ? fmt::format("{:g}", value) : name;
  return character * static_cast<double>(core::characters(label));
}

/// Whether the labels below a panel of this width do not touch.
bool has_room(const Axis& axis, double width) {
  for (std::size_t i = 1; i < axis.ticks.size(); ++i) {
    const auto &left = axis.ticks[i - 1], &right = axis.ticks[i];
    const double apart = (axis.place(right.first) - axis.place(left.first)) * width;
    if (apart < (width_of(left) + width_of(right)) / 2 + character) return false;
  }
  return true;
}

/// With as many ticks as there is room for: `with_parts` makes the axis with at most so many parts.
template <class WithParts>
Axis roomy(int parts, double width, const WithParts& with_parts) {
  Axis axis = with_parts(parts);
  while (parts > 1 && !has_room(axis, width)) axis = with_parts(--parts);
  std::erase_if(axis.ticks, [&](const auto& tick) {
    const double middle = axis.place(tick.first) * width, half = width_of(tick) / 2;
    return middle - half < -beyond || middle + half > width + beyond;
  });
  return axis;
}

/// With powers of ten, between them 3, 30, … where these are few.
Axis log_axis(double low, double high, int parts) {
  const double pad = std::exp(0.06 * std::max(std::log(high) - std::log(low), std::log(1.01)));
  using Limits = std::numeric_limits<double>;
  Axis axis{.low = std::max(low / pad, Limits::min()),
            .high = std::min(high * pad, Limits::max()),
            .log = true};
  if (high / 5 < low) return with_round_ticks(axis, parts);
  const double first = std::log10(axis.low), last = std::log10(axis.high);
  const int every = static_cast<int>(std::ceil((last - first) / parts));
  for (int k = static_cast<int>(std::floor(first)); k < last; ++k) {
    for (const double digit : {1.0, 3.0}) {
      const double value = digit * std::pow(10, k);
      const bool wanted = digit == 1 ? k % every == 0 : last - first < 0.45 * parts;
      if (wanted && axis.low <= value && value <= axis.high) axis.ticks.emplace_back(value, "");
    }
  }
  return axis;
}

/// Each whole value has a place of its own.
Axis of_places(double low, double high) {
  return {.low = low - 0.5, .high = high + 0.5};
}

/// With the names of choices, shortened where they would touch; of many every second, third, ….
Axis with_choices(Axis axis, const hyp::Gene& gene, double width) {
  constexpr double wide = 10.5;  // letters are wider than digits
  constexpr double least = 5;    // characters
  const double each = width / wide / (axis.high - axis.low);
  const double every = std::max(1.0, std::ceil(least / each));
  const auto room = static_cast<std::size_t>(every * each) - 1;
  std::map<std::string, int> beginnings;
  for (double index = std::ceil(axis.low); index < axis.high; index += every) {
    axis.ticks.emplace_back(index, value_name(index, &gene));
    ++beginnings[core::without_end(axis.ticks.back().second, room)];
  }
  for (auto& [index, name] : axis.ticks) {
    const auto beginning = core::without_end(name, room);
    name = beginnings[beginning] == 1 ? beginning : core::without_beginning(name, room);
  }
  return axis;
}

}  // namespace

double Axis::place(double value) const {
  if (log) return std::log(value / low) / std::log(high / low);
  return (value - low) / (high - low);
}

Axis linear_axis(double low, double high, int parts) {
  constexpr double most = 1e300;  // beyond that gnuplot's own sums overflow
  low = std::clamp(low, -most, most);
  high = std::clamp(high, -most, most);
  Axis axis = padded(low, high, 0.06);
  if (low < high) return with_round_ticks(axis, parts);
  axis.ticks.emplace_back(low, "");
  return axis;
}

Axis counting_axis(double first, double last, int parts) {
  return with_round_ticks(padded(first, last, 0.01), parts, 1);
}

Axis gene_axis(const hyp::Gene* gene, double low, double high, double width) {
  if (gene && is_categorical(*gene)) return with_choices(of_places(low, high), *gene, width);
  const bool is_whole = gene && gene->kind == hyp::Gene::Kind::integer;
  if (is_whole && high - low < most_places)
    return roomy(most_places, width,
                 [&](int parts) { return with_round_ticks(of_places(low, high), parts, 1); });
  if (gene && gene->scale == hyp::Gene::Scale::log && low > 0)
    return roomy(gene_parts, width, [&](int parts) { return log_axis(low, high, parts); });
  if (is_whole)
    return roomy(2 * gene_parts, width,
                 [&](int parts) { return with_round_ticks(padded(low, high, 0.06), parts, 1); });
  return roomy(gene_parts + 1, width, [&](int parts) { return linear_axis(low, high, parts); });
}

std::string value_name(double value, const hyp::Gene* gene) {
  if (gene && is_categorical(*gene) && value >= 0 &&
      value < static_cast<double>(gene->choices.size()))
    return gene->choices[static_cast<std::size_t>(value)];
  // YOLOv5's tables have whole ones before they are rounded.
  const bool is_whole =
      gene && gene->kind == hyp::Gene::Kind::integer && value == std::round(value);
  if (is_whole) return fmt::format("{:.0f}", value);
  // 0.999999, which is no 1 where that is out of bounds.
  const auto inside = [&](double one) { return !gene || (gene->low <= one && one <= gene->high); };
  int digits = 4;
  auto text = fmt::format("{:.{}g}", value, digits);
  while (inside(value) && !inside(std::strtod(text.c_str(), nullptr)))
    text = fmt::format("{:.{}g}", value, ++digits);
  return text;
}

}  // namespace evolve::results
