#include "trainer/optim/amp.hpp"

#include <fmt/format.h>
#include <torch/torch.h>

#include "trainer/run/images.hpp"
#include "trainer/run/torch_version.hpp"

namespace evolve::trainer {
namespace {

/// The boxes of a batch, computed in `type`.
torch::Tensor boxes_in(torch::ScalarType type, Detector& detector, const torch::Tensor& images) {
  const Autocast autocast(images.device(), type);
  auto maps = detector.forward(images);
  for (auto& map : maps) map = map.to(torch::kFloat);
  return detector.decode(maps);
}

}  // namespace

torch::ScalarType fast_type(const torch::Device& device) {
  if (device.is_cuda()) return torch::kHalf;
  return device.is_cpu() ? torch::kFloat : torch::kBFloat16;
}

torch::ScalarType checked(torch::ScalarType type, Detector& detector, const data::Batch& batch) {
  if (type == torch::kFloat) return type;
  const torch::NoGradGuard no_grad;
  const bool was_training = detector.is_training();
  detector.eval();
  const auto images = images_of(batch, detector.anchors().device());
  const auto exact = boxes_in(torch::kFloat, detector, images);
  const auto fast = boxes_in(type, detector, images);
  detector.train(was_training);
  const auto difference = ((fast - exact).norm() / exact.norm()).item<double>();
  constexpr double tolerance = 0.1;
  if (difference <= tolerance) return type;  // false for NaN
  fmt::print(stderr,
             "mixed precision is off: {} differs by {:.2g} of single precision on this batch\n",
             torch::toString(type), difference);
  return torch::kFloat;
}

GradScaler::GradScaler(torch::ScalarType type, const torch::Device& device)
    : type_(type),
      scale_(torch::full({}, scales() ? 65536.0 : 1.0, torch::TensorOptions(device))),
      good_steps_(torch::zeros({}, torch::TensorOptions(device).dtype(torch::kInt))),
      left_out_(torch::zeros_like(good_steps_)) {}

torch::Tensor GradScaler::scaled(const torch::Tensor& loss) const {
  return scales() ? loss * scale_ : loss;
}

void GradScaler::unscale(torch::Tensor gradients) const {
  if (scales()) gradients.div_(scale_);
}

void GradScaler::update(const torch::Tensor& finite) {
  if (!guards()) return;
  left_out_.add_(finite.logical_not());
  if (!scales()) return;
  constexpr int growth_interval = 2000;
  good_steps_ = (good_steps_ + 1) * finite;
  const auto grows = good_steps_ == growth_interval;
  scale_ = torch::where(finite, torch::where(grows, scale_ * 2, scale_), scale_ / 2);
  good_steps_ = good_steps_ * grows.logical_not();
}

std::int64_t GradScaler::take_left_out() {
  if (!guards()) return 0;
  const auto count = left_out_.item<int>();
  left_out_.zero_();
  return count;
}

GradScaler::State GradScaler::state() const {
  return {type_, scale_.item<float>(), good_steps_.item<int>()};
}

void GradScaler::load_state(const State& state) {
  type_ = state.type;
  scale_.fill_(state.scale);
  good_steps_.fill_(state.good_steps);
}

}  // namespace evolve::trainer
