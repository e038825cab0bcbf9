// The classic search: YOLOv5's adaptive genetic algorithm, as the way one child is bred.
#pragma once

#include <span>

#include "ga/classic/mating_pool.hpp"
#include "ga/random/rng.hpp"
#include "hyp/space.hpp"

namespace evolve::ga {

/// A child of a mating pool at `t`, the share of the run that is behind us (`schedule.hpp`): one
/// parent by tournament, with the crossover rate a second one and a single-point crossover, then
/// mutation. `space`: the evolved genes; `pool` is not empty.
///
/// YOLOv5 draws its parents from a list of tournament winners to which the elites are appended;
/// here every parent wins a tournament in a pool that holds the elites.
hyp::Genes classic_child(std::span<const hyp::Gene> space, std::span<const Individual> pool,
                         double t, Rng& rng);

}  // namespace evolve::ga
