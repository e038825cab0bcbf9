#include "results/scatter.hpp"

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

using Grid = std::vector<double>;  // [row * cells + column]

int cell_of(double unit) {
  return std::clamp(static_cast<int>(unit * cells), 0, cells - 1);
}

/// The grid convolved with a Gaussian along one of its directions: `step` is 1 or `cells`.
Grid blurred(const Grid& grid, int step) {
  const int other = step == 1 ? cells : 1;
  std::array<double, 2 * reach + 1> kernel{};
  for (int k = -reach; k <= reach; ++k) {
    kernel[static_cast<std::size_t>(k + reach)] = std::exp(-0.5 * k * k / (deviation * deviation));
  }
  Grid result(grid.size());
  for (int line = 0; line < cells; ++line) {
    for (int i = 0; i < cells; ++i) {
      double& sum = result[static_cast<std::size_t>(line * other + i * step)];
      for (int j = std::max(i - reach, 0); j <= std::min(i + reach, cells - 1); ++j) {
        sum += kernel[static_cast<std::size_t>(j - i + reach)] *
               grid[static_cast<std::size_t>(line * other + j * step)];
      }
    }
  }
  return result;
}

}  // namespace

std::vector<double> density(const std::vector<double>& x, const std::vector<double>& y) {
  Grid grid(cells * cells);
  std::vector<std::size_t> cell(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    cell[i] = static_cast<std::size_t>(cell_of(y[i]) * cells + cell_of(x[i]));
    ++grid[cell[i]];
  }
  grid = blurred(blurred(grid, 1), cells);
  double greatest = 0;
  for (const auto c : cell) greatest = std::max(greatest, grid[c]);
  std::vector<double> result;
  for (const auto c : cell) result.push_back(grid[c] / greatest);
  return result;
}

std::vector<std::size_t> distinct(const std::vector<double>& x, const std::vector<double>& y,
                                  double columns, double rows) {
  std::vector<std::size_t> kept;
  std::set<std::pair<long, long>> taken;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::pair cell(std::lround(x[i] * columns), std::lround(y[i] * rows));
    if (taken.insert(cell).second) kept.push_back(i);
  }
  return kept;
}

}  // namespace evolve::results
