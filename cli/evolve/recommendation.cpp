#include "cli/evolve/recommendation.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "cli/screen/text.hpp"
#include "engine/longer_trainings.hpp"
#include "engine/run_facts.hpp"
#include "ga/evolution.hpp"
#include "ga/recommendation.hpp"

namespace evolve::cli {
namespace {

namespace fs = std::filesystem;

/// "0.2131 (0.1902 to 0.2380)"
std::string text_of(const ga::Expectation& expectation) {
  return fmt::format("{} ({} to {})", fitness_text(expectation.mean), fitness_text(expectation.low),
                     fitness_text(expectation.high));
}

/// A probability, never so sure as to be 0 or 1.
std::string text_of(double probability) {
  return fmt::format("{:.0f} %", 100 * std::clamp(probability, 0.01, 0.99));
}

std::string observed(const engine::CompletedTrial& trial) {
  return fmt::format("fitness {} (mAP50 {:.3f}, mAP50-95 {:.3f})", fitness_text(trial.fitness),
                     trial.metrics.map50, trial.metrics.map50_95);
}

/// "; it gave 0.2390, 0.2277", by trainings with other seeds; nothing where there was one.
std::string gave(const engine::Trainings& trainings) {
  if (trainings.fitness.size() < 2) return "";
  std::vector<std::string> texts;
  for (const double fitness : trainings.fitness) texts.push_back(fitness_text(fitness));
  return fmt::format("; it gave {}", fmt::join(texts, ", "));
}

/// "1 of 4 failed"; "": none did.
std::string failures_of(const engine::Trainings& trainings) {
  return trainings.failed == 0
             ? ""
             : fmt::format("{} of {} failed", trainings.failed, trainings.ended());
}

/// "; 1 of 4 collapsed, this is for those that do not": what is expected leaves such trainings out,
/// and those that failed.
std::string left_out(const engine::Trainings& trainings, const ga::Standing& standing) {
  constexpr const char* words = ", this is for those that do not";
  std::string text;
  if (const int count = engine::collapsed(trainings, standing.best, standing.training_sd))
    text += fmt::format("; {} of {} collapsed{}", count, trainings.fitness.size(), words);
  if (trainings.failed > 0) text += "; " + failures_of(trainings) + words;
  return text;
}

/// Of a set that fails, or ends at 0, as often as not: "1 of 2 ended at 0, 1 of 3 failed".
std::optional<std::string> fails_often(const engine::Trainings& trainings) {
  const auto failures = failures_of(trainings);
  const auto at_0 = std::ranges::count(trainings.fitness, 0);
  const auto good = std::ssize(trainings.fitness) - at_0;
  if (trainings.failed + at_0 < std::max<std::ptrdiff_t>(good, 1)) return {};
  if (at_0 == 0) return failures;
  return fmt::format("{} of {} ended at 0", at_0, trainings.ended()) +
         (failures.empty() ? "" : ", " + failures);
}

/// Why the trial of highest fitness is not recommended.
std::string why_not(const engine::Trainings& of_highest, bool start_is_recommended) {
  if (const auto often = fails_often(of_highest)) return *often;
  const auto failures = failures_of(of_highest);
  return (start_is_recommended ? "not likely enough to beat the start" : "less is expected of it") +
         (failures.empty() ? "" : "; " + failures);
}

/// Whether trainings of the same set differ by so much that one training says little about which
/// set is better: by half of what the best gains, and by 2 % of its fitness.
bool luck_is_strong(const ga::Standing& standing) {
  const double best = standing.best.expectation.mean;
  const double gain = standing.start ? best - standing.start->expectation.mean : 0;
  return standing.training_sd > std::max(0.5 * gain, 0.02 * best);
}

/// What more epochs would give and cost; nothing where they would give little.
std::optional<std::string> longer_trainings_line(const ga::Standing& standing,
                                                 const ga::Evolution& evolution,
                                                 const fs::path& run) {
  constexpr double worth_it = 0.85;
  if (!luck_is_strong(standing)) return {};
  const auto longer = engine::longer_trainings(evolution);
  if (!longer || longer->luck > worth_it) return {};
  return fmt::format(
      "  longer trainings       fitness still grew by {:.0f} % after epoch {}: if that goes on and "
      "luck does not grow with it, luck weighs {:.0f} % less in a new run with --epochs {} --from "
      "{}, for {:.1f} times the time",
      100 * longer->growth, longer->looked_at, 100 * (1 - longer->luck), longer->epochs,
      shell_folder(run), static_cast<double>(longer->epochs) / evolution.settings().epochs);
}

std::string luck_line(const ga::Standing& standing, bool was_seen) {
  if (standing.training_sd == 0)
    return "  luck                   none: what was trained again with another seed gave the very "
           "same fitness";
  return fmt::format("  luck                   another seed {} a fitness by ±{}{}",
                     was_seen ? "moves" : "may move", fitness_text(standing.training_sd),
                     was_seen ? ": smaller differences between two trainings mean nothing"
                              : ": no set was trained twice and learnt something, so "
                                "nobody knows yet");
}

/// Which trial may be better, and once the search is done what would decide it.
std::vector<std::string> undecided_lines(const engine::RunState& state,
                                         const ga::Standing& standing, const std::string& go_on) {
  // Rounded down: it is not as likely as what would be recommended.
  const auto line =
      fmt::format("  undecided              trial {} is better with a probability of {}",
                  standing.rival, text_of(std::floor(100 * standing.doubt) / 100));
  // Until the search is done, --repeats would take its trainings from it, or come after it.
  if (!state.evolution().done() || state.ended_for_repeats()) return {line};
  constexpr int more = 8;
  return {fmt::format("{}: train the best again, {} more trainings of {} each, with", line, more,
                      state.training_seconds() < 0.5 ? "less than a second"
                                                     : duration_text(state.training_seconds())),
          fmt::format("    {} --repeats {}", go_on, state.repeats().due() + more)};
}

/// Below this, fitness says which set makes a detector begin to learn fastest, not which makes the
/// best one.
constexpr double least_map50 = 0.05;

/// "Recommended: trial 12, fitness 0.2 (…); the start had 0.1". `compared`: a model has compared
/// the start with others.
std::string headline(const engine::RunState& state, const engine::CompletedTrial& trial,
                     bool is_start, bool compared) {
  auto line = fmt::format("Recommended: trial {}, {}", trial.trial, observed(trial));
  if (is_start && compared)
    return line + fmt::format(", the start: no other set is likely enough ({}) to beat it",
                              text_of(ga::least_probability_better));
  if (is_start) return line + ", the start";
  if (state.start_fitness()) line += "; the start had " + fitness_text(*state.start_fitness());
  return line;
}

}  // namespace

std::vector<std::string> recommendation_lines(const engine::RunState& state,
                                              const engine::Recommendation& recommendation,
                                              const fs::path& run, const std::string& go_on) {
  const auto& [row, standing] = recommendation;
  const engine::CompletedTrial& trial = state.completed()[row];
  const bool is_start = engine::have_one_set(state, trial.trial, 0);
  const bool alike = engine::all_alike(state);
  std::vector<std::string> lines = {headline(state, trial, is_start, standing && !alike)};
  if (alike) {
    lines.push_back(
        fmt::format("  all {} trials have the same fitness: {}", state.completed().size(),
                    trial.fitness == 0 ? "they learnt nothing; train for more --epochs, or start "
                                         "from trained weights"
                                       : "nothing is known of what evolves"));
    return lines;
  }
  // A fitness that has no part for it may know of more.
  if (trial.metrics.map50 > 0 && std::max(trial.metrics.map50, trial.fitness) < least_map50)
    lines.push_back(fmt::format(
        "  it has hardly learnt    mAP50 is {:.3f}: which of such trainings is best says little "
        "about real ones; train for more --epochs, or start from better weights",
        trial.metrics.map50));
  if (!standing) return lines;
  const auto trainings = engine::trainings_of(state, trial.trial);
  lines.push_back("  trained again, expect  " + text_of(standing->best.expectation) +
                  (standing->median ? " in the middle" : " on average") + ", 90 % sure" +
                  gave(trainings) + left_out(trainings, *standing));
  if (!is_start) {
    const auto of_start = engine::trainings_of(state, 0);
    if (standing->start)
      lines.push_back(fmt::format("  the start              {}; worse with a probability of {}{}",
                                  text_of(standing->start->expectation), text_of(standing->better),
                                  gave(of_start)));
    else if (const auto often = fails_often(of_start))
      lines.push_back("  the start              " + *often);
  }
  if (const auto& highest = *state.best();
      highest.fitness > trial.fitness && !engine::have_one_set(state, highest.trial, trial.trial)) {
    lines.push_back(fmt::format("  the highest            trial {}, {}: {}", highest.trial,
                                observed(highest),
                                why_not(engine::trainings_of(state, highest.trial), is_start)));
  }
  lines.push_back(luck_line(*standing, engine::luck_was_seen(state)));
  if (standing->doubt > ga::worth_deciding)
    for (auto& line : undecided_lines(state, *standing, go_on)) lines.push_back(std::move(line));
  if (const auto line = longer_trainings_line(*standing, state.evolution(), run))
    lines.push_back(*line);
  return lines;
}

}  // namespace evolve::cli
