// Points that fill the unit cube more evenly than random ones.
#pragma once

#include <Eigen/Core>

#include "ga/random/rng.hpp"

namespace evolve::ga {

/// The first `count` points of Sobol's sequence (Joe and Kuo's numbers, Boost), each coordinate's
/// bits flipped by a random mask of its own (a random digital shift): [dimensions, count], inside
/// (0, 1). `dimensions`: 1 … 3667.
Eigen::MatrixXd sobol_points(Eigen::Index dimensions, Eigen::Index count, Rng& rng);

}  // namespace evolve::ga
