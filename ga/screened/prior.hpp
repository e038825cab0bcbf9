// What is expected before anything was trained: the start is good in some of its genes.
//
// A hyp file that someone chose is knowledge. Each gene is as likely to be best near its start as
// anywhere: half of the prior is normal around the start's coordinate, half is even over the
// gene's range. Nobody says whether someone chose it, so it is trusted as far as it does well.
#pragma once

#include <Eigen/Core>
#include <span>

#include "ga/model/unit_cube.hpp"
#include "ga/random/rng.hpp"
#include "hyp/space.hpp"

namespace evolve::ga {

/// Standard deviation of the normal half, as a share of a gene's range.
inline constexpr double prior_sd = 0.2;

/// How far the start can be trusted while nothing has been trained.
inline constexpr double first_trust = 0.5;

/// How far the start can be trusted, in [0, 0.9], when so large a share of the space seems to be
/// better than it is: the probability that someone chose it who knew. Of a start that was chosen
/// the share is as Beta(1, 9) has it, a tenth on the average; of one that was not, anything,
/// evenly. Either is as likely before anything is known (`first_trust`).
double trust_in_start(double share_better);

/// Points as the prior has them: [genes, count], each gene near the start with probability
/// `trust` / 2. Where it is anywhere it is on Sobol's sequence.
Points prior_points(std::span<const hyp::Gene> space, Eigen::Index count, double trust, Rng& rng);

/// The start, each number times a factor that is normal around 1 with a deviation of 0.2, between
/// 0.3 and 3: what changes a hyperparameter by a fifth leaves a training that works one that works,
/// where a fifth of its range need not. A 0 stays a 0 and a choice that choice (YOLOv5's mutation;
/// there the deviation is 0.2 times that of a second, even factor and a gene's gain).
hyp::Genes varied_start(std::span<const hyp::Gene> space, Rng& rng);

}  // namespace evolve::ga
