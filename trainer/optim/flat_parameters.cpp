#include "trainer/optim/flat_parameters.hpp"

#include <torch/torch.h>

#include <utility>
#include <vector>

namespace evolve::trainer {
namespace {

/// A model's tensors sorted by what becomes of them.
struct Sorted {
  std::array<std::vector<torch::Tensor>, group_count> groups;
  std::vector<torch::Tensor> frozen, statistics;
};

Group group_of(const std::string& name, const torch::Tensor& parameter) {
  if (name.ends_with("bias")) return bias_group;
  return parameter.dim() == 1 ? norm_group : decay_group;
}

Sorted sort(const torch::nn::Module& model) {
  Sorted sorted;
  for (const auto& item : model.named_parameters()) {
    auto& group = item.value().requires_grad() ? sorted.groups[group_of(item.key(), item.value())]
                                               : sorted.frozen;
    group.push_back(item.value());
  }
  for (const auto& item : model.named_buffers()) {
    if (item.key().find(".running_") != std::string::npos)
      sorted.statistics.push_back(item.value());
  }
  return sorted;
}

/// Elements that a tensor takes up, those after it that nobody uses included.
std::int64_t padded(const torch::Tensor& tensor) {
  constexpr std::int64_t alignment = 64;
  const auto whole = alignment / static_cast<std::int64_t>(tensor.element_size());
  return (tensor.numel() + whole - 1) / whole * whole;
}

std::int64_t padded(const std::vector<torch::Tensor>& tensors) {
  std::int64_t sum = 0;
  for (const auto& tensor : tensors) sum += padded(tensor);
  return sum;
}

/// The part of `flat` from `begin` in the shape of `like`, a convolution's weights in the layout
/// `weights`. It has a version of its own, so that a step in the flat tensor is not a change behind
/// autograd's back.
torch::Tensor part(const torch::Tensor& flat, std::int64_t begin, const torch::Tensor& like,
                   at::MemoryFormat weights) {
  const auto piece = flat.narrow(0, begin, like.numel());
  if (like.dim() != 4 || weights == at::MemoryFormat::Contiguous) {
    return piece.view(like.sizes()).variable_data();
  }
  return piece.view({like.size(0), like.size(2), like.size(3), like.size(1)})
      .permute({0, 3, 1, 2})
      .variable_data();
}

/// Moves tensors into `flat` from `begin` on; returns where they end.
std::int64_t move(std::vector<torch::Tensor>& tensors, const torch::Tensor& flat,
                  std::int64_t begin, at::MemoryFormat weights) {
  torch::NoGradGuard no_grad;
  for (auto& tensor : tensors) {
    auto view = part(flat, begin, tensor, weights);
    view.copy_(tensor);
    tensor.set_data(view);
    begin += padded(tensor);
  }
  return begin;
}

}  // namespace

FlatParameters::FlatParameters(torch::nn::Module& model, const torch::Device& device,
                               at::MemoryFormat weights) {
  Sorted sorted = sort(model);
  std::int64_t trained = 0;
  for (const auto& group : sorted.groups) trained += padded(group);
  const auto options = torch::TensorOptions(device);
  values_ = torch::zeros(trained + padded(sorted.frozen) + padded(sorted.statistics), options);
  gradients_ = torch::zeros(trained, options);
  std::int64_t end = 0;
  for (std::size_t g = 0; g < group_count; ++g) {
    const std::int64_t begin = end;
    end = move(sorted.groups[g], values_, begin, weights);
    groups_[g] = {begin, end - begin};
    std::int64_t at = begin;
    for (auto& parameter : sorted.groups[g]) {
      parameter.mutable_grad() = part(gradients_, at, parameter, weights);
      at += padded(parameter);
    }
  }
  for (auto& parameter : model.parameters()) {  // in the model's order, not by group
    if (!parameter.requires_grad()) continue;
    parameters_.push_back(parameter);
    parameter_gradients_.push_back(std::exchange(parameter.mutable_grad(), {}));
  }
  statistics_.begin = move(sorted.frozen, values_, end, weights);
  statistics_.size =
      move(sorted.statistics, values_, statistics_.begin, weights) - statistics_.begin;
  std::int64_t at = 0;
  for (const auto* tensors : {&sorted.groups[bias_group], &sorted.groups[decay_group],
                              &sorted.groups[norm_group], &sorted.frozen, &sorted.statistics}) {
    for (const auto& tensor : *tensors) {
      tensors_.push_back({at, tensor.numel()});
      at += padded(tensor);
    }
  }
  for (auto& buffer : model.buffers()) {
    if (buffer.device() != device) buffer.set_data(buffer.to(device));
  }
}

void FlatParameters::collect_gradients() {
  const torch::NoGradGuard no_grad;
  std::vector<torch::Tensor> sums, more;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    auto& gradient = parameters_[i].mutable_grad();
    if (!gradient.defined()) continue;
    sums.push_back(parameter_gradients_[i]);
    more.push_back(std::exchange(gradient, {}));
  }
  if (!sums.empty()) torch::_foreach_add_(sums, more);
}

torch::Tensor FlatParameters::packed(const torch::Tensor& flat) const {
  std::vector<torch::Tensor> parts;
  for (const Range& range : tensors_) {
    if (range.begin < flat.size(0)) parts.push_back(range.of(flat));
  }
  return torch::cat(parts);
}

void FlatParameters::unpack(const torch::Tensor& numbers, const torch::Tensor& flat) const {
  torch::NoGradGuard no_grad;
  std::int64_t taken = 0;
  for (const Range& range : tensors_) {
    if (range.begin >= flat.size(0)) break;
    range.of(flat).copy_(numbers.narrow(0, taken, range.size));
    taken += range.size;
  }
  TORCH_CHECK(taken == numbers.numel(), "a state of ", numbers.numel(), " numbers for a model of ",
              taken);
}

}  // namespace evolve::trainer
