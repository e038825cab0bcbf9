#include "results/plots/scatter.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <utility>

namespace evolve::results {

namespace {

constexpr int cells = 48;
constexpr double deviation = 2;  // in cells
constexpr int reach = 6;

using Grid = std::array<std::array<double, cells>, cells>;  // [row][column]

std::size_t cell_of(double unit) {
  return static_cast<std::size_t>(std::clamp(unit * cells, 0.0, cells - 1.0));
}

/// The density in a cell: of its own points and those around it.
double density(const Grid& points, int row, int column) {
  double sum = 0;
  for (int i = std::max(row - reach, 0); i <= std::min(row + reach, cells - 1); ++i) {
    for (int j = std::max(column - reach, 0); j <= std::min(column + reach, cells - 1); ++j) {
      const double distance = std::hypot(i - row, j - column) / deviation;
      sum += std::exp(-0.5 * distance * distance) *
             points[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)];
    }
  }
  return sum;
}

}  // namespace

std::vector<Dot> visible_dots(const std::vector<double>& x, const std::vector<double>& y,
                              double columns, double rows) {
  Grid points{}, densities{};
  for (std::size_t i = 0; i < x.size(); ++i) ++points[cell_of(y[i])][cell_of(x[i])];
  double greatest = 0;
  for (int row = 0; row < cells; ++row) {
    for (int column = 0; column < cells; ++column) {
      const auto i = static_cast<std::size_t>(row), j = static_cast<std::size_t>(column);
      if (points[i][j] > 0) densities[i][j] = density(points, row, column);
      greatest = std::max(greatest, densities[i][j]);
    }
  }
  std::vector<Dot> dots;
  std::set<std::pair<long, long>> taken;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::pair pixel(std::lround(x[i] * columns), std::lround(y[i] * rows));
    if (taken.insert(pixel).second)
      dots.push_back({i, densities[cell_of(y[i])][cell_of(x[i])] / greatest});
  }
  std::stable_sort(dots.begin(), dots.end(),
                   [](const Dot& a, const Dot& b) { return a.density < b.density; });
  return dots;
}

}  // namespace evolve::results
