// What a run records of its trials; a small search space, and a run on it as its journal has it.
#pragma once

#include <cmath>
#include <functional>
#include <vector>

#include "engine/run_state.hpp"
#include "ga/evolution.hpp"
#include "hyp/space_file.hpp"

namespace evolve::engine {

inline results::Started started(const hyp::Trial& trial) {
  return {.trial = trial.number,
          .generation = trial.generation,
          .hyp = trial.hyp,
          .device = "cpu:0",
          .start_epoch = trial.start_epoch,
          .pause_epoch = trial.pause_epoch};
}

inline hyp::Outcome completed(int trial, double fitness = 0.5) {
  return {.trial = trial, .device = "cpu:0", .result = hyp::Completed{{}, fitness}};
}

/// A training, or a repeat of one, from its start to its end: this is its mAP50, and its fitness.
inline void train_one(RunState& state, const hyp::Trial& trial, double fitness) {
  if (trial.repeat > 0) {
    state.apply(results::Repeating{.trial = trial.number, .repeat = trial.repeat});
  } else {
    state.apply(results::Started{.trial = trial.number, .hyp = trial.hyp});
  }
  state.apply(hyp::Outcome{.trial = trial.number,
                           .repeat = trial.repeat,
                           .result = hyp::Completed{{.map50 = fitness}, fitness}});
}

inline hyp::Outcome failed(int trial, const hyp::Failed& failure, int attempt = 1) {
  return {.trial = trial, .device = "cpu:0", .attempt = attempt, .result = failure};
}

/// A failure of the surroundings.
inline hyp::Outcome prevented(int trial, hyp::FailureKind kind = hyp::FailureKind::other) {
  return failed(trial, {.kind = kind, .message = "gone", .final = false, .of_surroundings = true});
}

inline const hyp::Space small_space = hyp::parse_space(
    "idle: [0, 1]\n"
    "lr0: {low: 1.0e-4, high: 1, scale: log}\n"
    "anchors: {low: 2, high: 10, type: int}\n"
    "optimizer: {choices: [SGD, Adam, AdamW]}\n",
    "s");

inline const results::RunSettings small_run{.seed = 1, .search = "classic", .space = small_space};

// The start, then random sets: the classic search's first generation.
inline std::vector<results::Event> trials(
    int count, const std::function<double(const hyp::Hyperparameters&)>& fitness_of) {
  ga::Evolution evolution(small_space, {.search = "classic", .seed = 1});
  std::vector<results::Event> events;
  for (int i = 0; i < count; ++i) {
    const auto trial = *evolution.ask();
    const auto outcome = completed(i, fitness_of(trial.hyp));
    events.push_back(results::Started{.trial = i, .hyp = trial.hyp, .device = "cpu:0"});
    events.push_back(outcome);
    evolution.tell(outcome);
  }
  return events;
}

// lr0 matters most, then the optimizer, then the anchors; `idle` does not.
inline double depends(const hyp::Hyperparameters& hyp) {
  const double decades = std::log10(hyp.number("lr0")) + 2;
  const bool sgd = *hyp.find("optimizer") == hyp::Value("SGD");
  return 0.6 - 0.1 * decades * decades - 0.1 * sgd - 0.005 * hyp.number("anchors");
}

}  // namespace evolve::engine
