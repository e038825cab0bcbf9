#include "engine/report.hpp"

#include <utility>

#include "engine/extension.hpp"
#include "engine/run_facts.hpp"

namespace evolve::engine {
namespace {

results::RunReport::Expectation expected_of(const ga::Candidate& candidate) {
  const auto& [mean, low, high] = candidate.expectation;
  return {mean, low, high};
}

std::optional<results::RunReport::Recommended> recommended(const RunState& state) {
  const auto recommendation = state.recommendation();
  if (!recommendation) return {};
  results::RunReport::Recommended recommended{.trial =
                                                  state.completed()[recommendation->row].trial};
  recommended.is_start = have_one_set(state, recommended.trial, 0);
  const auto trainings = trainings_of(state, recommended.trial);
  recommended.trainings = trainings.fitness;
  recommended.failed = trainings.failed;
  if (const auto& standing = recommendation->standing; standing && !all_alike(state)) {
    recommended.collapsed = collapsed(trainings, standing->best, standing->training_sd);
    if (standing->doubt > ga::worth_deciding)
      recommended.rival.emplace(standing->rival, standing->doubt);
    recommended.expected = expected_of(standing->best);
    recommended.median = standing->median;
    recommended.noise = standing->training_sd;
    recommended.luck_seen = luck_was_seen(state);
    recommended.better = standing->better;
    recommended.enough = ga::least_probability_better;
    if (standing->start) recommended.start = expected_of(*standing->start);
  }
  return recommended;
}

}  // namespace

results::RunReport report_of(const RunState& state, const results::RunSettings& settings,
                             results::Timeline timeline, const std::string& name, bool going_on) {
  going_on ? timeline.go_on(core::now()) : timeline.stop();
  results::RunReport report{
      .name = name,
      .settings = settings,
      .finished = state.finished() && !state.ended_for_repeats(),
      .planned = state.most_epochs() ? state.evolution().asked() : state.evolution().planned(),
      .epochs_trained = state.epochs_trained(),
      .timeline = std::move(timeline),
      .recommended = recommended(state),
      .repeats = state.repeats().completed()};
  report.going_on = going_on && !report.finished;  // it may have ended meanwhile
  report.settings.options = with_bounds(settings.options, state);
  for (const auto& [trial, ignored] : report.timeline.trials)
    report.genes.push_back(state.evolution().genes(trial));
  return report;
}

}  // namespace evolve::engine
