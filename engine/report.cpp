#include "engine/report.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "core/error.hpp"
#include "engine/explanation.hpp"
#include "engine/extension.hpp"
#include "ga/random/rng.hpp"

namespace evolve::engine {
namespace {

results::RunReport::Expected expected_of(const ga::Candidate& candidate) {
  const auto& [mean, low, high] = candidate.expectation;
  return {mean, low, high};
}

std::optional<results::RunReport::Recommended> recommended(const RunState& state) {
  const auto recommendation = state.recommendation();
  if (!recommendation) return {};
  results::RunReport::Recommended recommended{.trial =
                                                  state.completed()[recommendation->row].trial};
  recommended.is_start = have_one_set(state, recommended.trial, 0);
  if (const auto& standing = recommendation->standing; standing && !all_alike(state)) {
    recommended.expected = expected_of(standing->best);
    recommended.noise = standing->noise;
    recommended.luck_seen = luck_was_seen(state);
    recommended.better = standing->better;
    recommended.enough = ga::least_probability_better;
    if (standing->start) recommended.start = expected_of(*standing->start);
  }
  return recommended;
}

}  // namespace

bool have_one_set(const RunState& state, int trial, int other) {
  return state.evolution().genes(trial) == state.evolution().genes(other);
}

std::vector<double> trainings_of(const RunState& state, int trial) {
  const auto is_it = [&](int other) { return have_one_set(state, other, trial); };
  std::vector<double> trainings;
  std::set<std::pair<int, double>> told;
  for (const auto& one : state.completed())
    if (is_it(one.trial) && told.emplace(ga::seed_number(one.trial, 0), one.fitness).second)
      trainings.push_back(one.fitness);
  for (const auto& one : state.repeats().completed())
    if (is_it(one.trial)) trainings.push_back(one.again);
  return trainings;
}

bool all_alike(const RunState& state) {
  const auto& trials = state.completed();
  return trials.size() > 1 && std::ranges::adjacent_find(trials, std::ranges::not_equal_to(),
                                                         &CompletedTrial::fitness) == trials.end();
}

bool luck_was_seen(const RunState& state) {
  std::set<hyp::Genes> seen;
  return !state.repeats().completed().empty() ||
         std::ranges::any_of(state.completed(), [&](const CompletedTrial& trial) {
           return !seen.insert(state.evolution().genes(trial.trial)).second;
         });
}

results::RunReport report_of(const RunState& state, const results::RunSettings& settings,
                             results::Timeline timeline, const std::string& name) {
  results::RunReport report{
      .name = name,
      .settings = settings,
      .finished = state.finished(),
      .planned = state.most_epochs() ? state.evolution().asked() : state.evolution().planned(),
      .epochs_trained = state.epochs_trained(),
      .timeline = std::move(timeline),
      .recommended = recommended(state),
      .repeats = state.repeats().completed()};
  report.settings.options = with_bounds(settings.options, state);
  for (const auto& [trial, ignored] : report.timeline.trials)
    report.genes.push_back(state.evolution().genes(trial));
  return report;
}

std::optional<results::Explanation> explanation_if_any(const RunState& state) {
  try {
    return explain(state, "");
  } catch (const Error&) {
    return {};
  }
}

}  // namespace evolve::engine
