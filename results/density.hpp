// How crowded the neighbourhood of each point of a scatter plot is.
#pragma once

#include <vector>

namespace evolve::results {

/// Relative density at each point (x[i], y[i]) of the unit square, 1 for the most crowded: a
/// Gaussian kernel estimate (standard deviation 1/24) on a grid of 48 by 48 cells, so that 100,000
/// points take no time.
std::vector<double> density(const std::vector<double>& x, const std::vector<double>& y);

}  // namespace evolve::results
