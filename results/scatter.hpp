// A scatter plot's points: how crowded each is, and which can be seen.
#pragma once

#include <cstddef>
#include <vector>

namespace evolve::results {

/// Relative density at each point (x[i], y[i]) of the unit square, 1 for the most crowded: a
/// Gaussian kernel estimate (standard deviation 1/24) on a grid of 48 by 48 cells, so that 100,000
/// points take no time.
std::vector<double> density(const std::vector<double>& x, const std::vector<double>& y);

/// One point (the first) of those that share a cell of a grid of `columns` by `rows` over the unit
/// square: their positions, in order.
std::vector<std::size_t> distinct(const std::vector<double>& x, const std::vector<double>& y,
                                  double columns, double rows);

}  // namespace evolve::results
