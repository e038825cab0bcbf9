#include "ga/classic/classic.hpp"

#include <boost/random/uniform_01.hpp>
#include <utility>
#include <vector>

#include "ga/classic/operators.hpp"
#include "ga/classic/schedule.hpp"

namespace evolve::ga {

hyp::Genes classic_child(std::span<const hyp::Gene> space, std::span<const Individual> pool,
                         double t, Rng& rng) {
  std::vector<double> fitness;
  fitness.reserve(pool.size());
  for (const Individual& individual : pool) fitness.push_back(individual.fitness);
  const int contestants = tournament_size(t, static_cast<int>(pool.size()));
  const auto parent = [&]() -> const hyp::Genes& {
    return pool[tournament(fitness, contestants, rng)].genes;
  };

  hyp::Genes child = parent();
  boost::random::uniform_01<double> chance;
  if (chance(rng) < crossover_rate(t)) child = single_point(child, parent(), rng);
  return mutate(space, std::move(child), mutation_rate(t), rng);
}

}  // namespace evolve::ga
