// Mixed precision: which operators may compute in 16 bits, and how small gradients survive it.
#pragma once

#include <torch/types.h>

#include <cstdint>

#include "trainer/data/batch.hpp"
#include "trainer/model/detector.hpp"

namespace evolve::trainer {

/// The 16-bit type that trains faster than single precision on a device: half on CUDA, bfloat16 on
/// XPU. Single precision on a CPU: there the fused operator in single precision is faster than
/// torch's operators in bfloat16 (docs/speed.md).
torch::ScalarType fast_type(const torch::Device& device);

/// `type` when a detector sees the same in it as in single precision: on a real batch, in
/// evaluation, boxes, objectness and classes differ by no more than 10 % of their norm. Else single
/// precision, with a line on standard error that says why. Weights and batch statistics stay as
/// they are.
torch::ScalarType checked(torch::ScalarType type, Detector& detector, const data::Batch& batch);

/// Scales the loss up before the backward pass, so that gradients do not vanish in half precision,
/// and leaves out the steps in which they overflow. Micikevicius et al., Mixed Precision Training
/// (2018), section 3.2, with the dynamic scale of torch.cuda.amp.GradScaler: 65536 at first, half
/// of it after an overflow, twice as much after 2000 steps without one.
class GradScaler {
 public:
  /// Only half precision needs it; else the scale is 1 for ever.
  explicit GradScaler(torch::ScalarType type)
      : active_(type == torch::kHalf), scale_(active_ ? 65536 : 1) {}

  double scale() const { return scale_; }
  /// To be called after each step with the norm of its unscaled gradients; whether the step may be
  /// taken.
  bool accept(double gradient_norm);

  /// Of a training that goes on later.
  struct State {
    double scale = 1;
    int good_steps = 0;
  };
  State state() const { return {scale_, good_steps_}; }
  void load_state(const State& state) { scale_ = state.scale, good_steps_ = state.good_steps; }

 private:
  bool active_;
  double scale_;
  int good_steps_ = 0;
};

}  // namespace evolve::trainer
