// An axis: its range, and where it is labelled.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace evolve::results {

struct Axis {
  /// The ends, a little outside the data; low < high.
  double low = 0;
  double high = 1;
  bool log = false;
  /// Round values from `low` to `high` and their labels.
  std::vector<std::pair<double, std::string>> ticks = {};
};

/// An axis for data from `low` to `high` (equal is fine), with room for so many characters of
/// labels.
Axis linear_axis(double low, double high, int room);

/// The same on a log scale; `low` is above 0.
Axis log_axis(double low, double high, int room);

/// An axis for counts from `first` to `last`: whole numbers, and hardly any room beside them.
Axis counting_axis(double first, double last, int room);

/// Removes the ticks between whole numbers.
void keep_whole_ticks(Axis& axis);

/// The place of a value on an axis: 0 at its low end, 1 at its high end.
double place(const Axis& axis, double value);

}  // namespace evolve::results
