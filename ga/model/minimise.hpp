// Minimising a smooth function inside a box.
#pragma once

#include <Eigen/Core>
#include <functional>

namespace evolve::ga {

/// The value at a point: [n]; writes how it changes with each coordinate: [n].
using Objective = std::function<double(const Eigen::VectorXd& point, Eigen::VectorXd& gradient)>;

struct Box {
  Eigen::VectorXd low, high;
};

/// The point of least value that L-BFGS (Nocedal 1980; NLopt's) sees from `start` in that many
/// evaluations, inside the box; fewer where the value changes by less than `tolerance`. Never worse
/// than `start`, which is moved into the box. A value may be infinite.
Eigen::VectorXd minimised(const Objective& objective, const Eigen::VectorXd& start, const Box& box,
                          int evaluations, double tolerance = 0);

}  // namespace evolve::ga
