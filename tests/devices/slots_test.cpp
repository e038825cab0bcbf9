#include "devices/slots.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.hpp"

namespace evolve::devices {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::Not;
using testing::Pair;

const Machine five{.cores = {0, 1, 4, 5, 8}, .usable_cores = 5};
const Machine two{.cores = {0, 1}, .usable_cores = 2};

std::vector<std::string> names(const std::vector<core::Slot>& slots) {
  std::vector<std::string> all;
  for (const auto& slot : slots) all.push_back(slot.name);
  return all;
}

/// Of the built-in trainer.
std::vector<core::Slot> slots_of(const std::string& spec, const Machine& machine) {
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
  try {
    choose_one("cpu:0,cpu:1", five, {});
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "--devices cpu:0,cpu:1: one training has one device; name one of them, such as "
                 "cpu:0, or join those of a kind, as in cuda:0+cuda:1");
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
  EXPECT_EQ(complaint("-1"), "--devices -1: there is no GPU here; choose among cpu, cpu:0, cpu:1");
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

/// A machine with two cores, these devices, and a note of the kinds whose drivers were asked.
struct WithGpus {
  WithGpus(std::vector<Accelerator> cuda, std::vector<Accelerator> xpu) {
    machine = two;
    machine.discover = [this, cuda, xpu](const std::string& kind) {
      asked += kind + " ";
      return Discovery{.devices = kind == "cuda" ? cuda : xpu};
    };
  }
  Machine machine;
  std::string asked;
};

Accelerator gpu(const std::string& kind, int index) {
  return {.kind = kind,
          .index = index,
          .name = "a card",
          .uuid = kind + "-" + std::to_string(index),
          .pci = "0000:03:00.0",
          .mask = {{"MASK", std::to_string(index)}}};
}

TEST(Slots, OfAGpuHaveItsMaskItsIdentityAndAllCores) {
  const WithGpus here({}, {gpu("xpu", 0), gpu("xpu", 1)});
  const auto slots = choose("xpu:1,cpu:0", here.machine, {}).slots;
  ASSERT_THAT(names(slots), ElementsAre("xpu:1", "cpu:0"));
  EXPECT_THAT(slots[0].identities, ElementsAre(core::DeviceIdentity{"xpu-1", "0000:03:00.0"}));
  EXPECT_TRUE(slots[0].cores.empty());
  EXPECT_THAT(slots[0].environment,
              ElementsAre(Pair("EVOLVE_DEVICE", "xpu:1"), Pair("OMP_NUM_THREADS", "1"),
                          Pair("MKL_NUM_THREADS", "1"), Pair("OPENBLAS_NUM_THREADS", "1"),
                          Pair("OMP_WAIT_POLICY", "passive"), Pair("GOMP_SPINCOUNT", "1000"),
                          Pair("CUDA_VISIBLE_DEVICES", "-1"), Pair("HIP_VISIBLE_DEVICES", "-1"),
                          Pair("MASK", "1")));
  EXPECT_THAT(slots[1].cores, ElementsAre(0, 1));
}

TEST(Slots, OfAGroupHaveTheCoresOfAllAndEachOnesThreads) {
  const auto slots = slots_of("cpu:0+cpu:1,cpu:4", five);
  ASSERT_THAT(names(slots), ElementsAre("cpu:0+cpu:1", "cpu:4"));
  EXPECT_THAT(slots[0].cores, ElementsAre(0, 1));
  EXPECT_THAT(slots[0].environment, Contains(Pair("OMP_NUM_THREADS", "1")));
  EXPECT_THAT(slots[0].environment, Contains(Pair("EVOLVE_DEVICE", "cpu:0+cpu:1")));
  EXPECT_THAT(slots[1].cores, ElementsAre(4));
}

TEST(Slots, OfAGroupOfGpusShowThemInTheirOrder) {
  auto first = gpu("xpu", 0), second = gpu("xpu", 1);
  first.number = "4", second.number = "7";
  first.mask.emplace_back("HIERARCHY", "FLAT"), second.mask.emplace_back("HIERARCHY", "FLAT");
  const WithGpus here({}, {first, second});
  const auto choice = choose("xpu:1+xpu:0", here.machine, {});
  ASSERT_THAT(names(choice.slots), ElementsAre("xpu:1+xpu:0"));
  const auto& slot = choice.slots.front();
  EXPECT_THAT(slot.environment, Contains(Pair("MASK", "1,0")));
  EXPECT_THAT(slot.environment, Contains(Pair("HIERARCHY", "FLAT")));
  EXPECT_THAT(slot.environment, Contains(Pair("EVOLVE_INDEX", "7,4")));
  EXPECT_THAT(slot.environment, Contains(Pair("OMP_NUM_THREADS", "1")));
  EXPECT_THAT(slot.identities, ElementsAre(core::DeviceIdentity{"xpu-1", "0000:03:00.0"},
                                           core::DeviceIdentity{"xpu-0", "0000:03:00.0"}));
  EXPECT_THAT(choice.accelerators, ElementsAre(second, first));
}

TEST(Slots, OfAGroupNeedDevicesThatExist) {
  EXPECT_EQ(complaint("cpu:0+cpu:2"),
            "--devices cpu:0+cpu:2: there is no cpu:2 here; choose among cpu, cpu:0, cpu:1");
  const WithGpus here({}, {gpu("xpu", 0), gpu("xpu", 1)});
  EXPECT_EQ(complaint("xpu:1+xpu:2", here.machine),
            "--devices xpu:1+xpu:2: there is no xpu:2 here; choose among cpu, cpu:0, "
            "cpu:1, xpu:0, xpu:1");
  EXPECT_EQ(complaint("0,xpu:0+xpu:1", here.machine),
            "--devices 0,xpu:0+xpu:1: 0 and xpu:0+xpu:1 name the same device; choose among cpu, "
            "cpu:0, cpu:1, xpu:0, xpu:1");
  EXPECT_EQ(choose_one("xpu:0+xpu:1", here.machine, {}).slots.front().name, "xpu:0+xpu:1");
}

TEST(Slots, AskOnlyTheDriversOfTheKindsNamed) {
  const auto asked = [](const std::string& spec) {
    WithGpus here({gpu("cuda", 0)}, {gpu("xpu", 0)});
    try {
      choose(spec, here.machine, {});
    } catch (const Error&) {
    }
    return here.asked;
  };
  for (const std::string spec : {"cpu", "cpu:0,cpu:1", "cpu:7", "cpu:x", "cpu:*"})
    EXPECT_EQ(asked(spec), "") << spec;
  for (const std::string spec : {"xpu", "xpu:*", "xpu:0,cpu:0", "xpu:7", "xpu:x", "xpu:0,xpu:0"})
    EXPECT_EQ(asked(spec), "xpu ") << spec;
  for (const std::string spec : {"cuda:0", "cuda:0*2", "CUDA:7", "0", "-1", "auto"})
    EXPECT_EQ(asked(spec), "cuda ") << spec;
}

/// Three cards that a run has, of which the driver has lost the first, and numbers the others anew.
class Renumbered : public testing::Test {
 protected:
  static Accelerator now(int before, int index) {
    auto card = gpu("cuda", before);
    card.index = index;
    return card;
  }
  /// What slots of a run that has those in `had` are now: names and UUIDs.
  std::vector<std::string> again(const std::string& spec, const std::string& had) const {
    const auto slots = choose(had, before.machine, {}).slots;
    std::vector<std::string> all;
    try {
      for (const auto& slot : choose(spec, after.machine, {}, slots).slots) {
        std::string text = slot.name;
        for (const auto& identity : slot.identities) text += " " + identity.uuid;
        all.push_back(text);
      }
    } catch (const Error& error) {
      all.push_back(error.what());
    }
    return all;
  }
  const WithGpus before{{gpu("cuda", 0), gpu("cuda", 1), gpu("cuda", 2)}, {}};
  const WithGpus after{{now(1, 0), now(2, 1)}, {}};
};

TEST_F(Renumbered, DevicesOfARunKeepTheirNames) {
  EXPECT_THAT(again("cuda:1,cuda:2", "cuda:*"), ElementsAre("cuda:1 cuda-1", "cuda:2 cuda-2"));
  EXPECT_THAT(again("cuda:2*2", "cuda:*"), ElementsAre("cuda:2 cuda-2", "cuda:2 cuda-2"));
  EXPECT_THAT(again("cuda:*", "cuda:*"), ElementsAre("cuda:1 cuda-1", "cuda:2 cuda-2"));
  EXPECT_THAT(again("1", "cuda:*"), ElementsAre("cuda:1 cuda-1"));
  EXPECT_THAT(again("cuda:2+cuda:1", "cuda:2+cuda:1"), ElementsAre("cuda:2+cuda:1 cuda-2 cuda-1"));
  EXPECT_THAT(again("cuda:2+cuda:1", "cuda:*"), ElementsAre("cuda:2+cuda:1 cuda-2 cuda-1"));
}

TEST_F(Renumbered, DevicesOfARunStayThoughTheyAreNotThereNow) {
  EXPECT_THAT(again("cuda:0,cuda:2", "cuda:*"), ElementsAre("cuda:0 cuda-0", "cuda:2 cuda-2"));
  EXPECT_THAT(again("cuda:0+cuda:1", "cuda:0+cuda:1"), ElementsAre("cuda:0+cuda:1 cuda-0 cuda-1"));
}

TEST_F(Renumbered, DevicesOfARunHaveNoOtherName) {
  const std::string why =
      " here (the driver has numbered its devices anew, the run keeps its numbers); choose among "
      "cpu, cpu:0, cpu:1, cuda:1, cuda:2";
  EXPECT_THAT(again("cuda:0,cuda:1", "cuda:1,cuda:2"),
              ElementsAre("--devices cuda:0,cuda:1: there is no cuda:0" + why));
  EXPECT_THAT(again("cuda:0+cuda:1", "cuda:*"),
              ElementsAre("--devices cuda:0+cuda:1: there is no cuda:0" + why));
}

TEST_F(Renumbered, ANewDeviceGetsANumberThatNoneOfTheRunHas) {
  auto more = after;
  more.machine.discover = [](const std::string&) {
    return Discovery{.devices = {now(1, 0), now(2, 1), now(7, 2)}};
  };
  const auto had = choose("cuda:*", before.machine, {}).slots;
  const auto slots = choose("cuda:1,cuda:3", more.machine, {}, had).slots;
  ASSERT_THAT(names(slots), ElementsAre("cuda:1", "cuda:3"));
  EXPECT_EQ(slots[1].identities.front().uuid, "cuda-7");
}

/// A machine with two cores and no GPU, whose drivers say why.
Machine without_drivers() {
  auto machine = two;
  machine.discover = [](const std::string& kind) {
    return Discovery{.remark = kind == "cuda" ? "no NVML" : "no Level Zero"};
  };
  return machine;
}

TEST(Slots, ThatAreNotThereAreRefusedWithWhatTheDriversSay) {
  const auto machine = without_drivers();
  const std::string others = "; choose among cpu, cpu:0, cpu:1";
  EXPECT_EQ(complaint("cuda:0", machine),
            "--devices cuda:0: there is no cuda:0 here (no NVML)" + others);
  EXPECT_EQ(complaint("xpu:*", machine),
            "--devices xpu:*: there is no xpu here (no Level Zero)" + others);
  EXPECT_EQ(complaint("0", machine),
            "--devices 0: there is no GPU 0 here (no NVML; no Level Zero)" + others);
  EXPECT_EQ(complaint("-1,-1", machine),
            "--devices -1,-1: there is no GPU here (no NVML; no Level Zero)" + others);
}

TEST(Slots, PassOverWhatTheTrainerCannotUseWhenAutomaticOnly) {
  const TrainerTraits cpu_only{.drives = [](const std::string&) { return false; }};
  const WithGpus here({gpu("cuda", 0)}, {});
  const auto choice = choose("auto", here.machine, cpu_only);
  EXPECT_THAT(names(choice.slots), ElementsAre("cpu:0", "cpu:1"));
  EXPECT_THAT(choice.notes,
              ElementsAre("auto: found 1 cuda device, which the built-in trainer's libtorch cannot "
                          "use (docs/libtorch.md)",
                          "auto: training on the CPU, a slot per core (2)"));
  for (const std::string spec : {"cuda:0", "0", "-1", "cuda:*"})
    EXPECT_EQ(
        complaint(spec, here.machine, cpu_only),
        "--devices " + spec +
            ": the built-in trainer's libtorch has no cuda devices (docs/libtorch.md); choose "
            "among cpu, cpu:0, cpu:1, cuda:0");
}

TEST(Slots, OfOtherKindsAreForOtherTrainers) {
  EXPECT_EQ(complaint("gcu:3"),
            "--devices gcu:3: the built-in trainer knows no gcu, an external one may "
            "(--trainer-command); choose among cpu, cpu:0, cpu:1");
  auto machine = two;
  machine.environment = {{"TOPS_VISIBLE_DEVICES", "6,7"}};
  EXPECT_THAT(choose("gcu:1", machine, {.external = true}).slots.front().environment,
              Contains(Pair("TOPS_VISIBLE_DEVICES", "7")));
  EXPECT_THAT(names(choose("gcu:*", machine, {.external = true}).slots),
              ElementsAre("gcu:0", "gcu:1"));
  EXPECT_EQ(complaint("gcu:2", machine, {.external = true}),
            "--devices gcu:2: there is no gcu:2 here (TOPS_VISIBLE_DEVICES=6,7); choose among cpu, "
            "cpu:0, cpu:1");
  EXPECT_THAT(choose("hip:1", two, {.external = true, .device_env = "ROCR_VISIBLE_DEVICES"})
                  .slots.front()
                  .environment,
              Contains(Pair("ROCR_VISIBLE_DEVICES", "1")));
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
  const auto refused = [](const std::string& spec, const std::string& value) {
    auto machine = two;
    machine.environment = {{"TOPS_VISIBLE_DEVICES", value}};
    return complaint(spec, machine, {.external = true});
  };
  const std::string others = "; choose among cpu, cpu:0, cpu:1";
  EXPECT_EQ(refused("gcu:0", ""),
            "--devices gcu:0: there is no gcu:0 here (TOPS_VISIBLE_DEVICES='')" + others);
  EXPECT_EQ(refused("gcu:0", "-1"),
            "--devices gcu:0: there is no gcu:0 here (TOPS_VISIBLE_DEVICES=-1)" + others);
  EXPECT_EQ(refused("gcu:1", "3,-1"),
            "--devices gcu:1: there is no gcu:1 here (TOPS_VISIBLE_DEVICES=3,-1)" + others);
  EXPECT_EQ(refused("gcu:*", "-1"),
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
  EXPECT_EQ(complaint("hip:1", two, {.drives = [](const std::string&) { return false; }}),
            "--devices hip:1: the built-in trainer knows no hip, an external one may "
            "(--trainer-command); choose among cpu, cpu:0, cpu:1");
}

TEST(Slots, OfAmdsGpusAreToldTheirName) {
  for (const std::string spec : {"rocm:0", "amd:0"}) {
    const auto kind = spec.substr(0, spec.find(':'));
    EXPECT_EQ(complaint(spec),
              "--devices " + spec + ": the built-in trainer knows no " + kind +
                  " (AMD's GPUs are named hip:0), an external one may (--trainer-command); choose "
                  "among cpu, cpu:0, cpu:1");
    EXPECT_EQ(complaint(spec, two, {.external = true}),
              "--devices " + spec + ": the variable that shows a process one " + kind +
                  " (AMD's GPUs are named hip:0) is not known, name it (--device-env); choose "
                  "among cpu, cpu:0, cpu:1");
  }
  EXPECT_EQ(choose("rocm:0", two, {.external = true, .device_env = "ROCR_VISIBLE_DEVICES"})
                .slots.front()
                .name,
            "rocm:0");
}

TEST(Slots, OfCudaOrAutoTellWhereAmdsDriverIs) {
  auto machine = without_drivers();
  machine.has_amd = true;
  const std::string others = "; choose among cpu, cpu:0, cpu:1";
  EXPECT_EQ(
      complaint("cuda:0", machine),
      "--devices cuda:0: there is no cuda:0 here (no NVML; AMD's GPUs are named hip:0)" + others);
  EXPECT_EQ(complaint("xpu:0", machine),
            "--devices xpu:0: there is no xpu:0 here (no Level Zero)" + others);
  EXPECT_THAT(choose("auto", machine, {}).notes,
              ElementsAre("auto: AMD's GPUs are named hip:0",
                          "auto: found no CUDA device and no XPU, training on the CPU, a slot per "
                          "core (2)"));
  WithGpus here({gpu("cuda", 0)}, {});
  here.machine.has_amd = true;
  EXPECT_EQ(choose("auto", here.machine, {}).notes.front(),
            "auto: found 1 cuda device, training on it");
}

TEST(Slots, OfASlurmJobWithoutGpusAreItsCores) {
  auto machine = two;
  machine.environment = {{"SLURM_JOB_ID", "7"}, {"CUDA_VISIBLE_DEVICES", "NoDevFiles"}};
  EXPECT_THAT(names(choose("slurm", machine, {}).slots), ElementsAre("cpu:0", "cpu:1"));
}

}  // namespace
}  // namespace evolve::devices
