// The state of a training between two epochs, as a checkpoint has it.
#pragma once

#include "trainer/checkpoint/checkpoint.hpp"
#include "trainer/run/training_loop.hpp"

namespace evolve::trainer {

/// Adds weights, optimizer, moving average and counts in full precision: the tensors to
/// `checkpoint.training`, the counts to `checkpoint.about["training"]["stepper"]`.
void add_state(Checkpoint& checkpoint, const TrainingLoop::State& state);

/// The state that add_state() added. Throws nlohmann::json::exception where it did not.
TrainingLoop::State state_in(const Checkpoint& checkpoint);

}  // namespace evolve::trainer
