// The smallest module that has parameters of every group.
#pragma once

#include <torch/torch.h>

#include <memory>

namespace evolve::test {

/// A bias, a weight and a batch norm weight of one number each.
struct Tiny : torch::nn::Module {
  Tiny() {
    auto bn = register_module("bn", std::make_shared<torch::nn::Module>());
    bn->register_parameter("weight", torch::ones(1));
    bn->register_parameter("bias", torch::ones(1));
    register_parameter("weight", torch::ones({1, 1, 1, 1}));
    bn->register_buffer("running_mean", torch::full(1, 7.F));
    bn->register_buffer("num_batches_tracked", torch::ones({}, torch::kLong));
  }
};

}  // namespace evolve::test
