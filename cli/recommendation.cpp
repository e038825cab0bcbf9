#include "cli/recommendation.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/screen.hpp"

namespace evolve::cli {
namespace {

/// "0.2131 (0.1902 to 0.2380)"
std::string text_of(const ga::Expectation& expectation) {
  return fmt::format("{:.4f} ({:.4f} to {:.4f})", expectation.mean, expectation.low,
                     expectation.high);
}

/// A probability, never so sure as to be 0 or 1.
std::string text_of(double probability) {
  return fmt::format("{:.0f} %", 100 * std::clamp(probability, 0.01, 0.99));
}

std::string observed(const engine::Finished& trial) {
  return fmt::format("fitness {:.4f} (mAP50 {:.3f}, mAP50-95 {:.3f})", trial.fitness,
                     trial.metrics.map50, trial.metrics.map50_95);
}

}  // namespace

std::vector<std::string> recommendation_lines(const engine::RunState& state) {
  const auto [row, standing] = *state.recommendation();
  const engine::Finished& trial = state.completed()[row];
  const bool is_start = trial.trial == 0;
  std::vector<std::string> lines = {
      fmt::format("Best: trial {}, {}", trial.trial, observed(trial))};
  if (is_start) {
    lines.back() += standing
                        ? fmt::format(", the start: nothing is better with a probability of {}",
                                      text_of(ga::evidence))
                        : ", the start";
  } else if (state.start_fitness()) {
    lines.back() += fmt::format("; the start had {:.4f}", *state.start_fitness());
  }
  if (!standing) return lines;
  lines.push_back("  trained again, expect  " + text_of(standing->best.expectation) +
                  ", 90 % sure");
  if (!is_start && standing->start)
    lines.push_back(fmt::format("  the start              {}; worse with a probability of {}",
                                text_of(standing->start->expectation), text_of(standing->better)));
  if (state.best()->trial != trial.trial)
    lines.push_back(fmt::format("  the luckiest           trial {}, {}: less is expected of it",
                                state.best()->trial, observed(*state.best())));
  lines.push_back(fmt::format(
      "  luck                   another seed moves a fitness by ±{:.4f}: smaller differences "
      "between two trainings mean nothing",
      standing->noise));
  constexpr double undecided = 0.2;
  constexpr int more = 8;
  if (standing->doubt > undecided)
    lines.push_back(fmt::format(
        "  undecided              another trial is better with a probability of {}: train the best "
        "again, --resume --repeats {} ({} trainings, {} each)",
        text_of(standing->doubt), state.repeats().wanted() + more, more,
        duration_text(state.training_seconds())));
  return lines;
}

}  // namespace evolve::cli
