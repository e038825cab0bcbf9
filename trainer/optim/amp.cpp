#include "trainer/optim/amp.hpp"

#include <torch/torch.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "trainer/device/load.hpp"
#include "trainer/device/torch_version.hpp"

namespace evolve::trainer {
namespace {

/// Whether this processor's products of bfloat16 are twice as fast as those of floats: AMD's since
/// Zen 4, and those with AMX. Intel's AVX512_BF16 alone is as fast as its AVX512.
bool multiplies_bfloat16_faster() {
#if defined(__x86_64__)
  if (__builtin_cpu_is("amd") && __builtin_cpu_supports("avx512bf16")) return true;
  unsigned a = 0, b = 0, c = 0, d = 0;
  constexpr unsigned extended_features = 7, amx_bf16 = 1U << 22;
  return __get_cpuid_count(extended_features, 0, &a, &b, &c, &d) != 0 && (d & amx_bf16) != 0;
#else
  return false;
#endif
}

}  // namespace

torch::ScalarType fast_type(const torch::Device& device) {
  if (device.is_cuda()) return torch::kHalf;
  if (!device.is_cpu()) return torch::kBFloat16;
  return multiplies_bfloat16_faster() ? torch::kBFloat16 : torch::kFloat;
}

std::vector<torch::Tensor> forward_in(torch::ScalarType type, Detector& detector,
                                      const torch::Tensor& images,
                                      const std::function<void()>& beat) {
  const bool on_cpu = images.is_cpu();
  const Autocast autocast(images.device(), on_cpu ? torch::kFloat : type);
  auto maps = detector.forward(on_cpu ? images.to(type) : images, beat);
  for (auto& map : maps) map = map.to(torch::kFloat);
  return maps;
}

double difference_in(torch::ScalarType type, Detector& detector, const data::Batch& batch,
                     const std::function<void()>& beat) {
  const torch::NoGradGuard no_grad;
  const bool was_training = detector.is_training();
  detector.eval();
  const auto images = images_of(batch, detector.anchors().device());
  const auto exact = detector.decode(forward_in(torch::kFloat, detector, images, beat));
  const auto fast = detector.decode(forward_in(type, detector, images, beat));
  detector.train(was_training);
  return ((fast - exact).norm() / exact.norm()).item<double>();
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
