// Which of many values are the greatest.
#pragma once

#include <Eigen/Core>
#include <vector>

namespace evolve::ga {

/// Positions of the greatest values, `most` at most, in order of falling value; equals keep their
/// order.
std::vector<Eigen::Index> ranking(const Eigen::VectorXd& values, Eigen::Index most);

}  // namespace evolve::ga
