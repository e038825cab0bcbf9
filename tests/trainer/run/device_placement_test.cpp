// That a training runs on its device and nowhere else, seen in a trace of torch's operators.
//
// With EVOLVE_TEST_DEVICE=cuda:0 on a machine that has one.

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

TEST(Training, RunsOnItsDeviceAndNowhereElse) {
  const char* named = std::getenv("EVOLVE_TEST_DEVICE");
  if (!named) GTEST_SKIP() << "EVOLVE_TEST_DEVICE names no device besides the CPU";
  const std::string device = named;
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
  Trainer(device, 1).train(options, hyp::express(space, hyp::genes_of(space, {})), 1, {});
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
