#include "engine/run_facts.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "ga/random/rng.hpp"

namespace evolve::engine {

bool have_one_set(const RunState& state, int trial, int other) {
  return state.evolution().genes(trial) == state.evolution().genes(other);
}

Trainings trainings_of(const RunState& state, int trial) {
  const auto is_it = [&](int other) { return have_one_set(state, other, trial); };
  const auto& search = state.evolution();
  Trainings trainings;
  const auto count = [&](int other, const ga::Observation& observation) {
    if (observation.ending == ga::Observation::Ending::failed && is_it(other)) ++trainings.failed;
  };
  std::set<std::pair<int, double>> told;
  for (const auto& one : state.completed())
    if (is_it(one.trial) && told.emplace(ga::seed_number(one.trial, 0), one.fitness).second)
      trainings.fitness.push_back(one.fitness);
  for (const auto& one : state.repeats().completed())
    if (is_it(one.trial)) trainings.fitness.push_back(one.again);
  for (const int other : state.ended()) count(other, *search.observation(other));
  for (const auto& [other, observation] : search.ended_repeats()) count(other, observation);
  return trainings;
}

int collapsed(const Trainings& trainings, const ga::Candidate& set, double training_sd) {
  constexpr double odd = 4;
  const double least = set.expectation.mean - odd * training_sd;
  return static_cast<int>(
      std::ranges::count_if(trainings.fitness, [&](double one) { return one < least; }));
}

bool all_alike(const RunState& state) {
  const auto& trials = state.completed();
  return trials.size() > 1 && std::ranges::adjacent_find(trials, std::ranges::not_equal_to(),
                                                         &CompletedTrial::fitness) == trials.end();
}

bool luck_was_seen(const RunState& state) {
  // A training that ended at 0 learnt nothing, and says nothing of luck; a loss is never 0.
  std::set<hyp::Genes> seen;
  const auto again = [&](int trial, double fitness) {
    return fitness != 0 && !seen.insert(state.evolution().genes(trial)).second;
  };
  return std::ranges::any_of(state.completed(),
                             [&](const auto& one) { return again(one.trial, one.fitness); }) ||
         std::ranges::any_of(state.repeats().completed(),
                             [&](const auto& one) { return again(one.trial, one.again); });
}

}  // namespace evolve::engine
