#include "tests/trainer/device_parity.hpp"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "tests/trainer/formula.hpp"
#include "tests/trainer/rounding.hpp"
#include "trainer/optim/flat_parameters.hpp"

namespace evolve::test {
namespace {

using trainer::Detector;

/// The names of the gradients that a case has.
std::vector<std::string> recorded(const Golden& golden) {
  std::vector<std::string> names;
  for (const auto& [name, tensor] : golden.tensors)
    if (name.starts_with("grad.")) names.push_back(name.substr(5));
  return names;
}

/// The loss' items, and those gradients.
std::vector<torch::Tensor> compute(Detector& detector, const torch::Tensor& images,
                                   const Golden& golden) {
  const trainer::Loss loss(options_of(golden.scalars["hyp"]), detector.anchors());
  const auto value = loss(detector.forward(images), targets_of(golden["targets"]));
  value.total.backward();
  std::vector<torch::Tensor> results{value.items.cpu()};
  const auto parameters = detector.named_parameters();
  for (const auto& name : recorded(golden)) results.push_back(parameters[name].grad().cpu());
  return results;
}

}  // namespace

void expect_loss_and_gradients_of_yolov5(const Golden& golden, const torch::Device& device) {
  SCOPED_TRACE(golden.name);
  auto detector = formula_model(golden.scalars["weights"]);
  const trainer::FlatParameters parameters(detector, device);
  const auto images = golden["x"].to(device).contiguous(at::MemoryFormat::ChannelsLast);
  const auto results = compute(detector, images, golden);
  const auto scale = rounding_scale(
      {[&] { return formula_model(golden.scalars["weights"]); }, golden["x"],
       [&](Detector& exact, const torch::Tensor& x) { return compute(exact, x, golden); }});
  for (std::size_t i = 0; i < 3; ++i) {
    const double expected = golden.scalars[std::array{"lbox", "lobj", "lcls"}[i]];
    EXPECT_NEAR(results[0][static_cast<std::int64_t>(i)].item<double>(), expected,
                std::max(1e-5, 4 * scale[0]) * std::abs(expected));
  }
  const auto names = recorded(golden);
  for (std::size_t i = 0; i < names.size(); ++i)
    EXPECT_LT(relative_error(results[i + 1], golden["grad." + names[i]]),
              std::max(1e-5, 4 * scale[i + 1]))
        << names[i];
}

}  // namespace evolve::test
