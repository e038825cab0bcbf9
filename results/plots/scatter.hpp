// The points of a scatter plot: which can be seen, and how crowded each is. gnuplot estimates
// densities in one dimension only.
#pragma once

#include <cstddef>
#include <vector>

namespace evolve::results {

/// A point to draw.
struct Dot {
  std::size_t index;
  /// Relative to the most crowded, in (0, 1].
  double density;
};

/// The points (x[i], y[i]) of the unit square without those that others cover: one (the first) in
/// each cell of a grid of `columns` by `rows`, so that a plot of 100,000 trials is drawn, and
/// opened, as fast as one of a few thousand. The most crowded come last and lie on top: the pale
/// ones around them stay visible. The density is a Gaussian kernel estimate (standard deviation
/// 1/24) on a grid of 48 by 48 cells.
std::vector<Dot> visible_dots(const std::vector<double>& x, const std::vector<double>& y,
                              double columns, double rows);

}  // namespace evolve::results
