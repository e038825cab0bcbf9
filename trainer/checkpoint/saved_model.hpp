// The weights in a pickle of torch.save, found by name: a state dict, a torch.nn.Module or one of
// YOLOv5's checkpoints. Torch-free: tensors stay described.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "trainer/checkpoint/pickle.hpp"

namespace evolve::trainer {

struct SavedModel {
  /// Descriptions of tensors, named and ordered as Python's state_dict() gives them. They belong to
  /// the pickle's document.
  std::vector<std::pair<std::string, pickle::Ref>> tensors;
  /// What the pickle says besides, null when nothing. Of a module: "yaml" (its model table as a
  /// dict), "nc" and "names" (a list, whether it was one or a dict from 0, 1, …), and "unlike", a
  /// text, where an activation is not SiLU or the eps of a batch norm not YOLOv5's. Of a
  /// checkpoint: "epoch", "updates", "best_fitness" and "date" where they are plain values.
  nlohmann::ordered_json about;
};

/// Finds the weights: in a checkpoint under "ema", which YOLOv5 prefers for evaluation, else
/// "model" or "state_dict"; these, or the pickle itself, are a module or a dict of tensors. Throws
/// std::runtime_error with one line for anything else, and for records that contain each other so
/// often that naming their tensors would take far longer than reading the pickle did.
SavedModel find_model(const pickle::Document& document);

}  // namespace evolve::trainer
