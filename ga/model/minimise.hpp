// Minimising a smooth function within bounds.
#pragma once

#include <Eigen/Core>
#include <functional>

namespace evolve::ga {

/// The value at a point: [n]; writes how it changes with each coordinate: [n].
using Objective = std::function<double(const Eigen::VectorXd& point, Eigen::VectorXd& gradient)>;

struct Bounds {
  Eigen::VectorXd low, high;
};

/// The point of least value that L-BFGS (Nocedal 1980; NLopt's) sees from `start` in that many
/// evaluations, within the bounds; fewer where the value changes by less than `tolerance`. Never
/// worse than `start`, which is moved into the bounds. A value may be infinite.
Eigen::VectorXd minimised(const Objective& objective, const Eigen::VectorXd& start,
                          const Bounds& bounds, int evaluations, double tolerance = 0);

}  // namespace evolve::ga
