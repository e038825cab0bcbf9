#include "trainer/run/training_state.hpp"

#include <torch/torch.h>

namespace evolve::trainer {
namespace {

/// What torch::toString() calls so.
torch::ScalarType type_called(const std::string& name) {
  for (const auto type : {torch::kHalf, torch::kBFloat16})
    if (name == torch::toString(type)) return type;
  return torch::kFloat;
}

}  // namespace

void add_state(Checkpoint& checkpoint, const TrainingLoop::State& state) {
  const auto& [optimizer, ema, scaler, last_step] = state.step;
  checkpoint.about["training"]["stepper"] = {{"steps", optimizer.steps},
                                             {"updates", ema.updates},
                                             {"precision", torch::toString(scaler.type)},
                                             {"scale", scaler.scale},
                                             {"good_steps", scaler.good_steps},
                                             {"last_step", last_step}};
  checkpoint.training = {
      {"values", state.values}, {"average", ema.values}, {"first", optimizer.first}};
  if (optimizer.second.defined()) checkpoint.training.emplace_back("second", optimizer.second);
}

TrainingLoop::State state_in(const Checkpoint& checkpoint) {
  const auto& counts = checkpoint.about.at("training").at("stepper");
  TrainingLoop::State state;
  auto& [optimizer, ema, scaler, last_step] = state.step;
  counts.at("steps").get_to(optimizer.steps);
  counts.at("updates").get_to(ema.updates);
  scaler.type = type_called(counts.value("precision", "Float"));  // older ones were of CPUs
  counts.at("scale").get_to(scaler.scale);
  counts.at("good_steps").get_to(scaler.good_steps);
  counts.at("last_step").get_to(last_step);
  for (const auto& [name, tensor] : checkpoint.training) {
    if (name == "values") state.values = tensor;
    if (name == "average") ema.values = tensor;
    if (name == "first") optimizer.first = tensor;
    if (name == "second") optimizer.second = tensor;
  }
  return state;
}

}  // namespace evolve::trainer
