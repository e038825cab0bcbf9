#include "trainer/optim/amp.hpp"

#include <fmt/format.h>
#include <torch/torch.h>

#include <cmath>

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

bool GradScaler::accept(double gradient_norm) {
  if (!active_) return true;
  constexpr int growth_interval = 2000;
  const bool finite = std::isfinite(gradient_norm);
  if (!finite) {
    scale_ /= 2;
    good_steps_ = 0;
  } else if (++good_steps_ == growth_interval) {
    scale_ *= 2;
    good_steps_ = 0;
  }
  return finite;
}

}  // namespace evolve::trainer
