// What is believed before anything was trained: the start is good in some of its genes.
//
// A hyp file that someone chose is knowledge. Each gene is as likely to be best near its start as
// anywhere: half of the prior is normal around the start's coordinate, half is even over the
// gene's range.
#pragma once

#include <Eigen/Core>
#include <span>

#include "ga/rng.hpp"
#include "ga/unit_cube.hpp"

namespace evolve::ga {

/// Standard deviation of the normal half, as a share of a gene's range.
inline constexpr double belief_sd = 0.2;

/// The logarithm of the prior's density at each point: [points]. The normal half is not corrected
/// for what lies beyond the bounds, so a gene that starts at one is believed in a little less.
Eigen::VectorXd log_belief(std::span<const hyp::Gene> space, const Points& points);

/// Points as the prior has them: [genes, count]. The even half is Sobol's sequence.
Points believed_points(std::span<const hyp::Gene> space, Eigen::Index count, Rng& rng);

}  // namespace evolve::ga
