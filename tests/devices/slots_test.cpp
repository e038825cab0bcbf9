#include "devices/slots.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/devices/slots.hpp"

namespace evolve::devices {
namespace {

using testing::_;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::Pair;

/// Of the built-in trainer.
std::vector<core::Slot> slots_of(const std::string& spec, const Machine& machine) {
  return choose(spec, machine, {}).slots;
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
                  Pair("OMP_WAIT_POLICY", "passive"), Pair("GOMP_SPINCOUNT", "1000"),
                  Pair("CUDA_VISIBLE_DEVICES", "-1"), Pair("ONEAPI_DEVICE_SELECTOR", "*:cpu"),
                  Pair("HIP_VISIBLE_DEVICES", "-1"), Pair("EVOLVE_CORES", "0,1,4,5,8")));
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
  EXPECT_EQ(test::refusal([&] { choose_one("cpu:0,cpu:1", five, {}); }),
            "--devices cpu:0,cpu:1: one training has one device; name one of them, such as "
            "cpu:0, or join those of a kind, as in cuda:0+cuda:1");
}

TEST(Slots, AreRefusedForADeviceThatDoesNotExist) {
  EXPECT_EQ(refused("cpu:0,cpu:2"),
            "--devices cpu:0,cpu:2: there is no cpu:2 here; choose among cpu, cpu:0, cpu:1");
  EXPECT_EQ(refused("xpu:0"),
            "--devices xpu:0: there is no xpu:0 here; choose among cpu, cpu:0, cpu:1");
  EXPECT_EQ(refused("mps"), "--devices mps: there is no mps here; choose among cpu, cpu:0, cpu:1");
  EXPECT_EQ(refused("0"), "--devices 0: there is no GPU 0 here; choose among cpu, cpu:0, cpu:1");
  EXPECT_EQ(refused("cuda:*"),
            "--devices cuda:*: there is no cuda here; choose among cpu, cpu:0, cpu:1");
  EXPECT_EQ(refused("-1"), "--devices -1: there is no GPU here; choose among cpu, cpu:0, cpu:1");
  EXPECT_EQ(refused("cpu:9", five),
            "--devices cpu:9: there is no cpu:9 here; choose among cpu, cpu:0 to cpu:4");
}

TEST(Slots, AreRefusedForAMalformedSpecification) {
  EXPECT_EQ(refused(""), "--devices '': it is empty; choose among cpu, cpu:0, cpu:1");
  EXPECT_EQ(refused("cpu:"), "--devices cpu:: 'cpu:' is no device; choose among cpu, cpu:0, cpu:1");
  EXPECT_EQ(refused("cpu:0*2"),
            "--devices cpu:0*2: cpu:0 runs one trial at a time, name more of them instead; "
            "choose among cpu, cpu:0, cpu:1");
}

TEST(Slots, OfAGroupHaveTheCoresOfAllAndEachOnesThreads) {
  const auto slots = slots_of("cpu:0+cpu:1,cpu:4", five);
  ASSERT_THAT(names(slots), ElementsAre("cpu:0+cpu:1", "cpu:4"));
  EXPECT_THAT(slots[0].cores, ElementsAre(0, 1));
  EXPECT_THAT(slots[0].environment, Contains(Pair("OMP_NUM_THREADS", "1")));
  EXPECT_THAT(slots[0].environment, Contains(Pair("EVOLVE_DEVICE", "cpu:0+cpu:1")));
  EXPECT_THAT(slots[1].cores, ElementsAre(4));
}

TEST(Slots, OfOtherKindsAreForOtherTrainers) {
  EXPECT_EQ(refused("gcu:3"),
            "--devices gcu:3: the built-in trainer knows no gcu, an external one may "
            "(--trainer-command); choose among cpu, cpu:0, cpu:1");
  auto machine = two;
  machine.environment = {{"TOPS_VISIBLE_DEVICES", "6,7"}};
  EXPECT_THAT(choose("gcu:1", machine, {.external = true}).slots.front().environment,
              Contains(Pair("TOPS_VISIBLE_DEVICES", "7")));
  EXPECT_THAT(names(choose("gcu:*", machine, {.external = true}).slots),
              ElementsAre("gcu:0", "gcu:1"));
  EXPECT_EQ(refused("gcu:2", machine, {.external = true}),
            "--devices gcu:2: there is no gcu:2 here (TOPS_VISIBLE_DEVICES=6,7); choose among cpu, "
            "cpu:0, cpu:1");
  EXPECT_THAT(choose("hip:1", two, {.external = true, .device_env = "ROCR_VISIBLE_DEVICES"})
                  .slots.front()
                  .environment,
              Contains(Pair("ROCR_VISIBLE_DEVICES", "1")));
}

TEST(Slots, OfAnUnknownKindNeedNoMaskWhereTheTrainerGoesByTheMachinesNumber) {
  const auto choice = choose("foo:5", two, {.external = true, .by_number = true});
  EXPECT_THAT(
      choice.notes,
      ElementsAre(
          "foo:5: evolve does not know this kind; its trainer gets the number 5 and no mask"));
  const auto& slot = choice.slots.front();
  EXPECT_THAT(slot.environment, Contains(Pair("EVOLVE_INDEX", "5")));
  EXPECT_THAT(slot.environment, Contains(Pair("EVOLVE_UNSET", "")));
  EXPECT_THAT(slot.environment, Not(Contains(Pair("", _))));
  EXPECT_THAT(choose("gcu:5", two, {.external = true, .by_number = true}).notes, ElementsAre());
  EXPECT_THAT(refused("foo:5", two, {.external = true}), HasSubstr("name it (--device-env)"));
  EXPECT_THAT(refused("rocm:5", two, {.external = true, .by_number = true}),
              HasSubstr("named hip:0"));
}

TEST(Slots, OfAmdsGpusCountWithinCudasMaskToo) {
  auto machine = two;
  machine.environment = {{"CUDA_VISIBLE_DEVICES", "2,3"}};
  const auto choice = choose("hip:0,hip:1", machine, {.external = true});
  EXPECT_THAT(choice.slots.at(0).environment, Contains(Pair("HIP_VISIBLE_DEVICES", "2")));
  EXPECT_THAT(choice.slots.at(1).environment, Contains(Pair("HIP_VISIBLE_DEVICES", "3")));
  machine.environment["HIP_VISIBLE_DEVICES"] = "5";
  EXPECT_THAT(choose("hip:0", machine, {.external = true}).slots.at(0).environment,
              Contains(Pair("HIP_VISIBLE_DEVICES", "5")));
}

TEST(Slots, OfOtherKindsAreRefusedWhereTheirVariableHidesThem) {
  const auto refused_with = [](const std::string& spec, const std::string& value) {
    auto machine = two;
    machine.environment = {{"TOPS_VISIBLE_DEVICES", value}};
    return refused(spec, machine, {.external = true});
  };
  const std::string others = "; choose among cpu, cpu:0, cpu:1";
  EXPECT_EQ(refused_with("gcu:0", ""),
            "--devices gcu:0: there is no gcu:0 here (TOPS_VISIBLE_DEVICES='')" + others);
  EXPECT_EQ(refused_with("gcu:0", "-1"),
            "--devices gcu:0: there is no gcu:0 here (TOPS_VISIBLE_DEVICES=-1)" + others);
  EXPECT_EQ(refused_with("gcu:1", "3,-1"),
            "--devices gcu:1: there is no gcu:1 here (TOPS_VISIBLE_DEVICES=3,-1)" + others);
  EXPECT_EQ(refused_with("gcu:*", "-1"),
            "--devices gcu:*: there is no gcu here (TOPS_VISIBLE_DEVICES=-1)" + others);
}

TEST(Slots, OfKnownKindsKeepTheirMaskBesideAKindWhoseVariableIsNamed) {
  const TrainerTraits trainer{.external = true, .device_env = "FOO"};
  for (const std::string spec : {"foo:0,npu:1", "npu:1,foo:0+foo:1"}) {
    for (const auto& slot : choose(spec, two, trainer).slots) {
      const bool is_npu = slot.name == "npu:1";
      EXPECT_THAT(slot.environment,
                  Contains(Pair(is_npu ? "ASCEND_RT_VISIBLE_DEVICES" : "FOO", testing::_)));
      EXPECT_THAT(slot.environment,
                  Not(Contains(Pair(is_npu ? "FOO" : "ASCEND_RT_VISIBLE_DEVICES", testing::_))));
    }
  }
}

TEST(Slots, OfAmdsGpusAreForATorchForRocmToo) {
  const TrainerTraits rocm{.drives = [](const std::string& kind) { return kind == "hip"; }};
  const auto slot = choose("hip:1", two, rocm).slots.front();
  EXPECT_THAT(slot.environment, Contains(Pair("EVOLVE_DEVICE", "hip:1")));
  EXPECT_THAT(slot.environment, Contains(Pair("HIP_VISIBLE_DEVICES", "1")));
  EXPECT_EQ(refused("hip:1", two, {.drives = [](const std::string&) { return false; }}),
            "--devices hip:1: the built-in trainer knows no hip, an external one may "
            "(--trainer-command); choose among cpu, cpu:0, cpu:1");
}

TEST(Slots, OfAmdsGpusAreToldTheirName) {
  for (const std::string spec : {"rocm:0", "amd:0"}) {
    const auto kind = spec.substr(0, spec.find(':'));
    EXPECT_EQ(refused(spec),
              "--devices " + spec + ": the built-in trainer knows no " + kind +
                  " (AMD's GPUs are named hip:0), an external one may (--trainer-command); choose "
                  "among cpu, cpu:0, cpu:1");
    EXPECT_EQ(refused(spec, two, {.external = true}),
              "--devices " + spec + ": the environment variable that lets a process see only one " +
                  kind +
                  " (AMD's GPUs are named hip:0) is not known, name it (--device-env); choose "
                  "among cpu, cpu:0, cpu:1");
  }
  EXPECT_EQ(choose("rocm:0", two, {.external = true, .device_env = "ROCR_VISIBLE_DEVICES"})
                .slots.front()
                .name,
            "rocm:0");
}

TEST(Slots, OfASlurmJobWithoutGpusAreItsCores) {
  auto machine = two;
  machine.environment = {{"SLURM_JOB_ID", "7"}, {"CUDA_VISIBLE_DEVICES", "NoDevFiles"}};
  EXPECT_THAT(names(choose("slurm", machine, {}).slots), ElementsAre("cpu:0", "cpu:1"));
}

}  // namespace
}  // namespace evolve::devices
