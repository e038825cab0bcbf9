#include "trainer/checkpoint/state_dict.hpp"

#include <torch/torch.h>

namespace evolve::trainer {
namespace {

void append(const torch::nn::Module& module, const std::string& prefix, StateDict& state) {
  for (const auto& item : module.named_parameters(/*recurse=*/false)) {
    state.emplace_back(prefix + item.key(), item.value().detach());
  }
  for (const auto& item : module.named_buffers(/*recurse=*/false)) {
    state.emplace_back(prefix + item.key(), item.value());
  }
  for (const auto& child : module.named_children()) {
    append(*child.value(), prefix + child.key() + ".", state);
  }
}

}  // namespace

StateDict state_dict(const torch::nn::Module& module) {
  StateDict state;
  append(module, "", state);
  return state;
}

}  // namespace evolve::trainer
