#include "ga/importance.hpp"

#include <algorithm>

#include "ga/random/sobol.hpp"

namespace evolve::ga {

using Eigen::ArrayXd;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

Importance importance(const Function& function, Index dimensions, Index samples) {
  Rng rng(0);
  const MatrixXd points = sobol_points(2 * dimensions, samples, rng);
  const MatrixXd a = points.topRows(dimensions), b = points.bottomRows(dimensions);
  ArrayXd at_a = function(a), at_b = function(b);
  const double mean = (at_a.mean() + at_b.mean()) / 2;
  at_a -= mean;  // a smaller error of the first-order indices, and the same indices
  at_b -= mean;

  Importance result{VectorXd::Zero(dimensions), VectorXd::Zero(dimensions),
                    (at_a.square().mean() + at_b.square().mean()) / 2};
  if (!(result.variance > 0)) return result;
  for (Index i = 0; i < dimensions; ++i) {
    MatrixXd mixed = a;
    mixed.row(i) = b.row(i);
    const ArrayXd at_mixed = function(mixed).array() - mean;
    const double total = (at_a - at_mixed).square().mean() / 2 / result.variance;
    const double alone = (at_b * (at_mixed - at_a)).mean() / result.variance;
    result.total[i] = std::min(total, 1.0);
    result.alone[i] = std::clamp(alone, 0.0, result.total[i]);
  }
  return result;
}

}  // namespace evolve::ga
