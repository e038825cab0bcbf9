// YOLOv5's numbers on the simulated card. (On a real one: run/device_placement_test.cpp. This
// program's card has taken the place of torch's XPUs before a real library could be opened.)

#include "tests/trainer/device_parity.hpp"

#include <gtest/gtest.h>

#include "tests/trainer/accelerator/simulated_accelerator.hpp"

namespace evolve::trainer {
namespace {

TEST(ParityOnTheSimulatedCard, LossAndGradientsAreYolov5s) {
  GOLDENS_OR_SKIP(cases, "b_backprop");
  for (const test::Golden& golden : cases)
    test::expect_loss_and_gradients_of_yolov5(golden, test::simulated_card);
}

}  // namespace
}  // namespace evolve::trainer
