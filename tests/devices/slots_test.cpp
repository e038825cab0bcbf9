#include "devices/slots.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hyp/error.hpp"

namespace evolve::devices {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::Pair;

const Machine five{.cores = {0, 1, 4, 5, 8}, .usable_cores = 5};
const Machine two{.cores = {0, 1}, .usable_cores = 2};

std::vector<std::string> names(const std::vector<hyp::Slot>& slots) {
  std::vector<std::string> all;
  for (const auto& slot : slots) all.push_back(slot.name);
  return all;
}

/// Of the built-in trainer.
std::vector<hyp::Slot> slots_of(const std::string& spec, const Machine& machine) {
  return choose(spec, machine, {}).slots;
}

std::string complaint(const std::string& spec, const Machine& machine = two,
                      const TrainerTraits& trainer = {}) {
  try {
    choose(spec, machine, trainer);
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), 2);
    return error.what();
  }
  return "none";
}

TEST(Slots, GiveTheWholeCpuAllCores) {
  const auto slots = slots_of("cpu", five);
  ASSERT_THAT(names(slots), ElementsAre("cpu"));
  EXPECT_THAT(slots[0].cores, ElementsAre(0, 1, 4, 5, 8));
  EXPECT_THAT(slots[0].environment, Contains(Pair("OMP_NUM_THREADS", "5")));
}

TEST(Slots, ShareTheCoresInTheOrderNamed) {
  const auto slots = slots_of("cpu:3,cpu:0", five);
  ASSERT_THAT(names(slots), ElementsAre("cpu:3", "cpu:0"));
  EXPECT_THAT(slots[0].cores, ElementsAre(0, 1));
  EXPECT_THAT(slots[1].cores, ElementsAre(4, 5));
}

TEST(Slots, TellTheWorkerItsThreadsAndHideEveryAccelerator) {
  const auto slots = slots_of("cpu:0,cpu:1", five);
  EXPECT_THAT(
      slots[1].environment,
      ElementsAre(Pair("EVOLVE_DEVICE", "cpu:1"), Pair("OMP_NUM_THREADS", "2"),
                  Pair("MKL_NUM_THREADS", "2"), Pair("OPENBLAS_NUM_THREADS", "2"),
                  Pair("OMP_WAIT_POLICY", "passive"), Pair("CUDA_VISIBLE_DEVICES", "-1"),
                  Pair("HIP_VISIBLE_DEVICES", "-1"), Pair("ONEAPI_DEVICE_SELECTOR", "*:cpu")));
}

TEST(Slots, StartFewerThreadsUnderAQuotaButLeaveThemRoom) {
  const Machine machine{.cores = {0, 1, 2, 3, 4, 5, 6, 7}, .usable_cores = 2};
  const auto slots = slots_of("auto", machine);
  ASSERT_THAT(names(slots), ElementsAre("cpu:0", "cpu:1"));
  EXPECT_THAT(slots[1].cores, ElementsAre(4, 5, 6, 7));
  EXPECT_THAT(slots[1].environment, Contains(Pair("OMP_NUM_THREADS", "1")));
}

TEST(Slots, AreOnePerCoreWhenAutomatic) {
  EXPECT_THAT(names(slots_of("auto", two)), ElementsAre("cpu:0", "cpu:1"));
  EXPECT_THAT(names(slots_of("cpu:*", two)), ElementsAre("cpu:0", "cpu:1"));
  Machine large;
  for (int core = 0; core < 100; ++core) large.cores.push_back(core);
  large.usable_cores = 100;
  const auto slots = slots_of("auto", large);
  ASSERT_EQ(slots.size(), 16u);
  EXPECT_EQ(slots[15].cores.size(), 6u);
  EXPECT_EQ(slots[15].cores.front(), 90);
}

TEST(Slots, OfASingleTrainingAreOne) {
  EXPECT_EQ(choose_one("auto", five, {}).slots.front().name, "cpu");
  EXPECT_THAT(choose_one(" Auto", five, {}).slots.front().cores, ElementsAre(0, 1, 4, 5, 8));
  EXPECT_EQ(choose_one("cpu:3", five, {}).slots.front().name, "cpu:3");
  try {
    choose_one("cpu:0,cpu:1", five, {});
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "--devices cpu:0,cpu:1: one training has one device; name one of them, such as "
                 "cpu:0");
  }
}

TEST(Slots, AreRefusedForADeviceThatDoesNotExist) {
  EXPECT_EQ(complaint("cpu:0,cpu:2"),
            "--devices cpu:0,cpu:2: there is no cpu:2 here; choose among cpu, cpu:0, cpu:1");
  EXPECT_EQ(complaint("xpu:0"),
            "--devices xpu:0: there is no xpu:0 here; choose among cpu, cpu:0, cpu:1");
  EXPECT_EQ(complaint("mps"),
            "--devices mps: there is no mps here; choose among cpu, cpu:0, cpu:1");
  EXPECT_EQ(complaint("0"), "--devices 0: there is no GPU 0 here; choose among cpu, cpu:0, cpu:1");
  EXPECT_EQ(complaint("cuda:*"),
            "--devices cuda:*: there is no cuda here; choose among cpu, cpu:0, cpu:1");
  EXPECT_EQ(complaint("-1"),
            "--devices -1: there are 0 GPUs here, 1 asked for; choose among cpu, cpu:0, cpu:1");
  EXPECT_EQ(complaint("cpu:9", five),
            "--devices cpu:9: there is no cpu:9 here; choose among cpu, cpu:0 to cpu:4");
}

TEST(Slots, AreRefusedForAMalformedSpecification) {
  EXPECT_EQ(complaint(""), "--devices '': it is empty; choose among cpu, cpu:0, cpu:1");
  EXPECT_EQ(complaint("cpu:"),
            "--devices cpu:: 'cpu:' is no device; choose among cpu, cpu:0, cpu:1");
  EXPECT_EQ(complaint("cpu:0*2"),
            "--devices cpu:0*2: cpu:0 runs one trial at a time, name more of them instead; "
            "choose among cpu, cpu:0, cpu:1");
}

}  // namespace
}  // namespace evolve::devices
