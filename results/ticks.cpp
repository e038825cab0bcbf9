#include "results/ticks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace evolve::results {

namespace {

using Ticks = std::vector<std::pair<double, std::string>>;

constexpr double padding = 0.06;

/// "0.25", "1e-5", "20000".
std::string label(double value) {
  std::string text = fmt::format("{:.6g}", value);
  const auto exponent = text.find("e-0");
  if (exponent != std::string::npos) text.erase(exponent + 2, 1);
  return text;
}

/// Multiples of `step` from `low` to `high`.
Ticks multiples(double low, double high, double step) {
  Ticks ticks;
  const double slack = step * 1e-6;  // 0.3 is a bit less than 3 * 0.1
  for (double k = std::ceil((low - slack) / step); k * step <= high + slack; ++k) {
    const double value = k == 0 ? 0 : k * step;
    ticks.emplace_back(value, label(value));
  }
  return ticks;
}

/// Whether labels touch when their ticks are `spacing` characters apart.
bool is_crowded(const Ticks& ticks, double spacing) {
  return std::any_of(ticks.begin(), ticks.end(), [&](const auto& tick) {
    return static_cast<double>(tick.second.size()) + 1 > spacing;
  });
}

/// The finest round step whose labels fit.
Ticks round_ticks(double low, double high, int room) {
  for (int exponent = static_cast<int>(std::floor(std::log10((high - low) / room)));; ++exponent) {
    for (const double digit : {1.0, 2.0, 5.0}) {
      const double step = digit * std::pow(10.0, exponent);
      const double spacing = room * step / (high - low);
      if (spacing < 2) continue;
      auto ticks = multiples(low, high, step);
      if (!is_crowded(ticks, spacing)) return ticks;
    }
  }
}

/// Powers of ten, as many as fit.
Ticks decades(double low, double high, int room) {
  const double first = std::log10(low), last = std::log10(high);
  for (int step = 1;; ++step) {
    Ticks ticks;
    for (int k = static_cast<int>(std::ceil(first)); k <= last; ++k) {
      if (k % step == 0) ticks.emplace_back(std::pow(10.0, k), label(std::pow(10.0, k)));
    }
    if (!is_crowded(ticks, room * step / (last - first))) return ticks;
  }
}

}  // namespace

Axis linear_axis(double low, double high, int room) {
  if (!(low < high)) {
    const double half = low == 0 ? 0.5 : std::abs(low) * 0.1;
    return {.low = low - half, .high = low + half, .ticks = {{low, label(low)}}};
  }
  const double pad = padding * (high - low);
  return {.low = low - pad, .high = high + pad, .ticks = round_ticks(low - pad, high + pad, room)};
}

Axis log_axis(double low, double high, int room) {
  const double pad = std::pow(std::max(high / low, 1.01), padding);
  Axis axis{.low = low / pad, .high = high * pad, .log = true};
  axis.ticks = decades(axis.low, axis.high, room);
  if (axis.ticks.size() < 2) axis.ticks = round_ticks(axis.low, axis.high, room);
  return axis;
}

void keep_whole_ticks(Axis& axis) {
  std::erase_if(axis.ticks, [](const auto& tick) { return std::trunc(tick.first) != tick.first; });
}

Axis counting_axis(double first, double last, int room) {
  Axis axis = linear_axis(first, last, room);
  keep_whole_ticks(axis);
  const double margin = 0.01 * (last - first);
  if (first < last) axis.low = first - margin, axis.high = last + margin;
  return axis;
}

double place(const Axis& axis, double value) {
  if (axis.log) return std::log(value / axis.low) / std::log(axis.high / axis.low);
  return (value - axis.low) / (axis.high - axis.low);
}

}  // namespace evolve::results
