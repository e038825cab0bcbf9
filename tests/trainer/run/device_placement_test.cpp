// A real device, where EVOLVE_TEST_DEVICE names one ("cuda:0", "hip:0", "xpu:0"; scripts/gpu-check
// does): that a training runs there and nowhere else, seen in a trace of torch's operators, and
// that a pass forward and backward has YOLOv5's numbers.

#include <ATen/record_function.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cstdlib>
#include <map>
#include <mutex>
#include <set>
#include <string>

#include "hyp/space.hpp"
#include "tests/trainer/device_parity.hpp"
#include "trainer/device/open_device.hpp"
#include "trainer/run/trainer.hpp"

namespace evolve::trainer {
namespace {

/// By operator, the devices of the tensors that it was given. Operators run on several threads.
struct Trace {
  std::mutex mutex;
  std::map<std::string, std::set<std::string>> devices;
};
Trace trace;

void note(const at::RecordFunction& function) {
  for (const auto& input : function.inputs()) {
    if (!input.isTensor() || !input.toTensor().defined()) continue;
    const std::lock_guard lock(trace.mutex);
    trace.devices[function.name()].insert(input.toTensor().device().str());
  }
}

/// Skips where no device is named.
#define TEST_DEVICE_OR_SKIP(named)                       \
  const char* named = std::getenv("EVOLVE_TEST_DEVICE"); \
  if (!named) GTEST_SKIP() << "EVOLVE_TEST_DEVICE names no device besides the CPU"

TEST(ParityOnTheTestDevice, LossAndGradientsAreYolov5s) {
  TEST_DEVICE_OR_SKIP(named);
  GOLDENS_OR_SKIP(cases, "b_backprop");
  const auto device = open_device(named);
  for (const test::Golden& golden : cases)
    test::expect_loss_and_gradients_of_yolov5(golden, device);
}

TEST(Training, RunsOnItsDeviceAndNowhereElse) {
  TEST_DEVICE_OR_SKIP(named);
  const auto device = open_device(named).str();  // of "hip:0" torch says "cuda:0"
  const auto callback = at::addGlobalCallback(
      at::RecordFunctionCallback(
          [](const at::RecordFunction& function) -> std::unique_ptr<at::ObserverContext> {
            note(function);
            return nullptr;
          })
          .needsInputs(true)
          .scopes({at::RecordScope::FUNCTION, at::RecordScope::BACKWARD_FUNCTION}));
  TrainOptions options;
  options.data = "shapes";
  options.cfg = "yolov5p.yaml";
  options.epochs = 1;
  options.imgsz = 64;
  const auto space = hyp::default_space();
  Trainer(named, 1).train(options, hyp::start_of(space), 1, {});
  at::removeCallback(callback);

  std::set<std::string> all;
  for (const auto& [name, devices] : trace.devices) all.insert(devices.begin(), devices.end());
  // Images and labels come from the host.
  EXPECT_EQ(all, (std::set<std::string>{"cpu", device}));
  ASSERT_TRUE(trace.devices.contains("aten::convolution"));
  EXPECT_EQ(trace.devices.at("aten::convolution"), std::set<std::string>{device});
}

}  // namespace
}  // namespace evolve::trainer
