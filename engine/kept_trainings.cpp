#include "engine/kept_trainings.hpp"

#include <system_error>

#include "core/durable_file.hpp"
#include "hyp/trial_folder.hpp"

namespace evolve::engine {

// Where nothing is paused nothing is kept.
KeptTrainings::KeptTrainings(std::filesystem::path root, const RunState& state)
    : root_(std::move(root)), swept_(state.evolution().pausing() ? 0 : state.ended().size()) {}

void KeptTrainings::update(const RunState& state) {
  remove_ended(state);
  remove_given_up(state);
}

void KeptTrainings::remove(int trial) const {
  const auto kept = root_ / hyp::trial_folder(trial) / hyp::kept_training;
  std::error_code gone_already;
  std::filesystem::remove(kept, gone_already);
  // Of a worker that was killed while it wrote.
  std::filesystem::remove(core::temporary_of(kept), gone_already);
}

void KeptTrainings::remove_ended(const RunState& state) {
  for (; swept_ < state.ended().size(); ++swept_) remove(state.ended()[swept_]);
}

void KeptTrainings::remove_given_up(const RunState& state) {
  const auto& evolution = state.evolution();
  for (const auto& [trial, paused] : state.paused()) {
    const bool given_up = !evolution.pausing() || evolution.given_up(trial);
    if (given_up && removed_.insert(trial).second) remove(trial);
  }
}

}  // namespace evolve::engine
