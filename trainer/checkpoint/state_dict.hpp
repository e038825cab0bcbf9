// A model's state as named tensors.
#pragma once

#include <torch/nn/module.h>
#include <torch/types.h>

#include <string>
#include <utility>
#include <vector>

namespace evolve::trainer {

/// Named tensors in a fixed order.
using StateDict = std::vector<std::pair<std::string, torch::Tensor>>;

/// All parameters and buffers of a module in the order of Python's state_dict(): each module's
/// parameters, its buffers, then its children. The tensors are the module's own, detached from the
/// graph.
StateDict state_dict(const torch::nn::Module& module);

}  // namespace evolve::trainer
