// Mixed precision: which operators may compute in 16 bits, and how small gradients survive it.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <functional>
#include <vector>

#include "trainer/data/batch.hpp"
#include "trainer/model/detector.hpp"

namespace evolve::trainer {

/// The 16-bit type that trains faster than single precision on a device: half on CUDA, bfloat16 on
/// XPU and on CPUs that multiply in it at twice the speed (docs/speed.md). Else single precision.
torch::ScalarType fast_type(const torch::Device& device);

/// The maps of `images`, in single precision, computed in `type`: on a GPU where torch's autocast
/// says so, on the CPU everywhere between the images and the maps.
std::vector<torch::Tensor> forward_in(
    torch::ScalarType type, Detector& detector, const torch::Tensor& images,
    const std::function<void()>& beat = [] {});

/// How differently a detector sees a batch in `type` and in single precision: the norm by which
/// boxes, objectness and classes in evaluation differ, as a share of their norm (NaN where they
/// overflow). Weights and batch statistics stay as they are. `beat` is called as forward() does.
double difference_in(
    torch::ScalarType type, Detector& detector, const data::Batch& batch,
    const std::function<void()>& beat = [] {});

/// Scales the loss up before the backward pass, so that gradients do not vanish in half precision,
/// and leaves out the steps in which they overflow. Micikevicius et al., Mixed Precision Training
/// (2018), section 3.2, with the dynamic scale of torch.cuda.amp.GradScaler: 65536 at first, half
/// of it after an overflow, twice as much after 2000 steps without one. In bfloat16, whose range is
/// that of single precision, the scale is 1 for ever.
///
/// The scale and whether a gradient is finite stay on the device: nothing here waits for it, except
/// take_left_out() and state().
class GradScaler {
 public:
  /// In single precision it does nothing.
  explicit GradScaler(torch::ScalarType type, const torch::Device& device = torch::kCPU);

  torch::ScalarType type() const { return type_; }
  /// Whether steps may be left out: in 16 bits.
  bool guards() const { return type_ != torch::kFloat; }

  /// `loss` as it goes into the backward pass.
  torch::Tensor scaled(const torch::Tensor& loss) const;
  void unscale(torch::Tensor gradients) const;
  /// To be called after each step that was due; `finite` (a bool on the device): whether its
  /// gradients were, and it was taken.
  void update(const torch::Tensor& finite);
  /// How many steps have been left out since the last call.
  std::int64_t take_left_out();

  /// What a training that goes on later needs of the scaler.
  struct State {
    torch::ScalarType type = torch::kFloat;
    double scale = 1;
    int good_steps = 0;
  };
  State state() const;
  void load_state(const State& state);

 private:
  bool scales() const { return type_ == torch::kHalf; }

  torch::ScalarType type_;
  /// Scalars: the scale, the steps since it changed, the steps left out.
  torch::Tensor scale_, good_steps_, left_out_;
};

}  // namespace evolve::trainer
