// How the classic search cools down: from broad exploration to the refinement of what is good.
//
// `t` is the share of the run that is behind us, generation / generations, in [0, 1]. The numbers
// are those of YOLOv5's adaptive evolve.
#pragma once

namespace evolve::ga {

/// What `elite_count` comes to at the end of a run.
inline constexpr int max_elites = 5;

/// Contestants of a tournament: 10 at first (or the whole population, where that is smaller), one
/// fewer with every tenth of the run, at least 2.
int tournament_size(double t, int population);

/// Probability that a child has two parents: 1 - t, at least 0.5.
double crossover_rate(double t);

/// Probability that a gene mutates: 0.5 - t, at least 0.01.
double mutation_rate(double t);

/// Best individuals that stay in the mating pool however old they are: 2 + floor(3 t).
int elite_count(double t);

}  // namespace evolve::ga
