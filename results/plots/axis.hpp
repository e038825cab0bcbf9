// Axes of charts, and how their values are written.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "hyp/space.hpp"

namespace evolve::results {

/// An axis: its range, a little beyond the data, and where it is labelled. gnuplot labels as many
/// round values as it likes, whatever room they have, and none of a log axis within a decade: that
/// is why it does not choose.
struct Axis {
  double low = 0, high = 1;
  bool log = false;
  /// Values from `low` to `high`; those without a text are written as numbers.
  std::vector<std::pair<double, std::string>> ticks = {};

  /// The place of a value: 0 at the low end, 1 at the high end.
  double place(double value) const;
};

/// An axis for data from `low` to `high` (equal is fine), cut into at most `parts` parts.
Axis linear_axis(double low, double high, int parts);
/// An axis for counts: whole numbers, and hardly any room beside them.
Axis counting_axis(double first, double last, int parts);
/// So many whole values at most have a place of their own on an axis, from half a step before each
/// to half a step after it.
constexpr int most_places = 12;
/// An axis for the values of a gene, for a panel of so many pixels: logarithmic where the gene is,
/// labelled with its choices or at whole numbers where it has such. A gene that is not known
/// (nullptr) has plain numbers.
Axis gene_axis(const hyp::Gene* gene, double low, double high, double width);
/// "0.01234", a whole number with all its digits where the gene has such, or the name of a choice.
std::string value_name(double value, const hyp::Gene* gene);

}  // namespace evolve::results
