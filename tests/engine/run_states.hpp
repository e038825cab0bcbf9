// The state of a run, event by event.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "tests/engine/trials.hpp"

namespace evolve::engine::run_states {

inline results::RunSettings settings(const std::string& search = "classic") {
  return {.seed = 3, .search = search, .trials = 200, .space = hyp::default_space()};
}

/// One of its data that nobody could look at.
inline hyp::Outcome unconfirmed(int trial) {
  auto outcome = prevented(trial, hyp::FailureKind::data);
  std::get<hyp::Failed>(outcome.result).unconfirmed = true;
  return outcome;
}

/// Starts the next trial.
inline results::Started start_next(RunState& state) {
  const auto event = started(*state.next_trial());
  state.apply(event);
  return event;
}

inline std::vector<int> numbers(const std::vector<const Attempt*>& attempts) {
  std::vector<int> numbers;
  for (const auto* attempt : attempts) numbers.push_back(attempt->trial.number);
  return numbers;
}

/// The trials that are held back.
inline std::vector<int> held(const RunState& state) {
  std::vector<int> held;
  for (const int number : numbers(state.open()))
    if (state.held(number)) held.push_back(number);
  return held;
}

}  // namespace evolve::engine::run_states
