// A model's numbers in one piece, so that a step of the optimizer is a handful of vector operations
// however many small tensors the model has.
#pragma once

#include <torch/nn/module.h>
#include <torch/types.h>

#include <array>
#include <cstdint>
#include <vector>

#include "trainer/optim/schedule.hpp"

namespace evolve::trainer {

/// Owns the memory of a model's parameters, gradients and batch norm statistics; the model's
/// parameters and statistics are views of it. The model must not get other tensors (load values
/// with copy_()).
///
/// Every tensor begins at a multiple of 64 bytes, as one of its own would: elsewhere kernels are
/// slower, and oneDNN's convolutions on Intel's data centre GPUs wrong (intel/torch-xpu-ops#3105).
/// The padding in between is 0, and stays so in steps, clipping and averages.
class FlatParameters {
 public:
  /// Moves the model's numbers here, to `device`, convolution weights in the layout `weights`.
  /// Parameters that do not require a gradient (frozen ones) belong to no group.
  FlatParameters(torch::nn::Module& model, const torch::Device& device,
                 at::MemoryFormat weights = at::MemoryFormat::ChannelsLast);

  struct Range {
    std::int64_t begin = 0, size = 0;
    torch::Tensor of(const torch::Tensor& flat) const { return flat.narrow(0, begin, size); }
  };

  /// Trained parameters by group, then frozen ones, then running means and variances.
  const torch::Tensor& values() const { return values_; }
  /// The gradients of the trained parameters: what collect_gradients() has added up since they were
  /// last zeroed.
  const torch::Tensor& gradients() const { return gradients_; }
  /// Takes what backward passes left in the parameters' own grad() and adds it to gradients(), all
  /// at once: adding one by one, as autograd would to a grad() that is there, is a launch each.
  void collect_gradients();
  /// gradients(), parameter by parameter in the model's order.
  const std::vector<torch::Tensor>& gradients_of_parameters() const { return parameter_gradients_; }
  /// The trained parameters' part of values().
  torch::Tensor parameters() const { return values_.narrow(0, 0, gradients_.size(0)); }
  /// The running means and variances' part of values().
  torch::Tensor statistics() const { return statistics_.of(values_); }
  Range group(Group group) const { return groups_[group]; }
  /// The numbers of a flat tensor, as values() or gradients() are, without the padding.
  torch::Tensor packed(const torch::Tensor& flat) const;
  /// Writes what packed() gave into such a flat tensor.
  void unpack(const torch::Tensor& numbers, const torch::Tensor& flat) const;

 private:
  torch::Tensor values_, gradients_;
  /// The trained ones, and their parts of gradients_.
  std::vector<torch::Tensor> parameters_, parameter_gradients_;
  std::array<Range, group_count> groups_;
  Range statistics_;
  /// Of each tensor in values(); the trained ones come first and lie alike in gradients().
  std::vector<Range> tensors_;
};

}  // namespace evolve::trainer
