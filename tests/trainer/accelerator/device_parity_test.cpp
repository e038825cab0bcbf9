// YOLOv5's numbers on the device EVOLVE_TEST_DEVICE ("cuda:0", "xpu:0"), else on the simulated
// card.

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

#include "tests/trainer/accelerator/simulated_accelerator.hpp"
#include "tests/trainer/formula.hpp"
#include "tests/trainer/golden.hpp"
#include "tests/trainer/rounding.hpp"
#include "trainer/device/open_device.hpp"
#include "trainer/optim/flat_parameters.hpp"

namespace evolve::trainer {
namespace {

using test::Golden;
using test::relative_error;

torch::Device test_device() {
  const char* named = std::getenv("EVOLVE_TEST_DEVICE");
  return named ? open_device(named) : test::simulated_card;
}

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
  const Loss loss(test::options_of(golden.scalars["hyp"]), detector.anchors());
  const auto value = loss(detector.forward(images), test::targets_of(golden["targets"]));
  value.total.backward();
  std::vector<torch::Tensor> results{value.items.cpu()};
  const auto parameters = detector.named_parameters();
  for (const auto& name : recorded(golden)) results.push_back(parameters[name].grad().cpu());
  return results;
}

/// As far from YOLOv5's numbers as rounding takes YOLOv5's own operators: a card sums in another
/// order. It would be ten thousand times that in TF32 or 16 bits.
TEST(ParityOnTheTestDevice, LossAndGradientsAreYolov5s) {
  GOLDENS_OR_SKIP(cases, "b_backprop");
  const auto device = test_device();
  for (const Golden& golden : cases) {
    SCOPED_TRACE(golden.name);
    auto detector = test::formula_model(golden.scalars["weights"]);
    const FlatParameters parameters(detector, device);
    const auto images = golden["x"].to(device).contiguous(at::MemoryFormat::ChannelsLast);
    const auto results = compute(detector, images, golden);
    const auto scale = test::rounding_scale(
        {[&] { return test::formula_model(golden.scalars["weights"]); }, golden["x"],
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
}

}  // namespace
}  // namespace evolve::trainer
