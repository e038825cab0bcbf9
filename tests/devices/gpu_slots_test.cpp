// Slots of CUDA and Intel GPUs.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "core/slot_environment.hpp"
#include "devices/numbering.hpp"
#include "tests/devices/slots.hpp"

namespace evolve::devices {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::Pair;
using testing::StartsWith;

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

TEST(Slots, OfTheIdlestGpusAreLastWhereTheDriverDoesNotTell) {
  auto silent = gpu("cuda", 0), busy = gpu("cuda", 1), half_told = gpu("cuda", 2),
       idle = gpu("cuda", 3);
  for (auto* told : {&busy, &idle}) told->memory_total_bytes = 100, told->memory_free_bytes = 10;
  busy.load_percent = 90, half_told.load_percent = 0, idle.load_percent = 0;
  const WithGpus here({silent, busy, half_told, idle}, {});
  EXPECT_THAT(names(choose("-1,-1,-1,-1", here.machine, {}).slots),
              ElementsAre("cuda:3", "cuda:2", "cuda:1", "cuda:0"));
}

// It is the run itself that keeps its own busy.
TEST(Slots, OfTheIdlestGpusAreFirstThoseThatTheRunHas) {
  auto own = gpu("cuda", 0), idle = gpu("cuda", 1);
  own.load_percent = 99, idle.load_percent = 0;
  const WithGpus here({own, idle}, {});
  const auto had = choose("cuda:0", here.machine, {}).slots;
  EXPECT_THAT(names(choose("-1", here.machine, {}).slots), ElementsAre("cuda:1"));
  EXPECT_THAT(names(choose("-1", here.machine, {}, {.slots = had}).slots), ElementsAre("cuda:0"));
}

TEST(Slots, OfGpusShareTheCores) {
  const WithGpus here({}, {gpu("xpu", 0)});
  const auto threads = [&](const std::string& spec) {
    const auto slots = choose(spec, here.machine, {}).slots;
    return *core::variable(slots.back(), "OMP_NUM_THREADS");
  };
  EXPECT_EQ(threads("xpu:0"), "2");
  EXPECT_EQ(threads("xpu:0*2"), "1");
  EXPECT_EQ(threads("xpu:0*3"), "1") << "0 would be an error, or all";
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
  EXPECT_EQ(refused("cpu:0+cpu:2"),
            "--devices cpu:0+cpu:2: there is no cpu:2 here; choose among cpu, cpu:0, cpu:1");
  const WithGpus here({}, {gpu("xpu", 0), gpu("xpu", 1)});
  EXPECT_EQ(refused("xpu:1+xpu:2", here.machine),
            "--devices xpu:1+xpu:2: there is no xpu:2 here; choose among cpu, cpu:0, "
            "cpu:1, xpu:0, xpu:1");
  EXPECT_EQ(refused("0,xpu:0+xpu:1", here.machine),
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
      for (const auto& slot : choose(spec, after.machine, {}, {slots, true}).slots) {
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
      " here (the driver has renumbered its devices; the run keeps its own numbers); choose among "
      "cpu, cpu:0, cpu:1, cuda:1, cuda:2";
  EXPECT_THAT(again("cuda:0,cuda:1", "cuda:1,cuda:2"),
              ElementsAre("--devices cuda:0,cuda:1: there is no cuda:0" + why));
  EXPECT_THAT(again("cuda:0+cuda:1", "cuda:*"),
              ElementsAre("--devices cuda:0+cuda:1: there is no cuda:0" + why));
}

// As Level Zero's masks are, and the number of which a command is told.
class RenumberedMasks : public Renumbered {
 protected:
  static Accelerator numbered(Accelerator card) {
    card.number = std::to_string(card.index);
    card.mask = {{"MASK", card.number}};
    return card;
  }
  const WithGpus had{{numbered(now(0, 0)), numbered(now(1, 1)), numbered(now(2, 2))}, {}};
  const WithGpus left{{numbered(now(1, 0)), numbered(now(2, 1))}, {}};
};

TEST_F(RenumberedMasks, DevicesOfARunGetTheMasksThatShowThemNow) {
  for (const bool by_number : {false, true}) {
    const TrainerTraits trainer{.by_number = by_number};
    const auto before = choose("cuda:*", had.machine, trainer).slots;
    const auto slots = choose("cuda:1,cuda:2", left.machine, trainer, {before, true}).slots;
    ASSERT_THAT(names(slots), ElementsAre("cuda:1", "cuda:2"));
    for (const int i : {0, 1}) {
      EXPECT_THAT(slots[i].environment, Contains(Pair("EVOLVE_INDEX", std::to_string(i))));
      if (!by_number) {
        EXPECT_THAT(slots[i].environment, Contains(Pair("MASK", std::to_string(i))));
      }
      EXPECT_EQ(slots[i].identities, before[i + 1].identities);
    }
  }
  const auto group = choose("cuda:2+cuda:1", had.machine, {}).slots;
  const auto slots = choose("cuda:2+cuda:1", left.machine, {}, {group, true}).slots;
  EXPECT_THAT(slots.front().environment, Contains(Pair("MASK", "1,0")));
}

TEST_F(RenumberedMasks, ADeviceOfARunThatIsGoneIsRefusedWhereItsMaskShowsAnother) {
  const auto before = choose("cuda:*", had.machine, {}).slots;
  EXPECT_THAT(test::refusal([&] {
                choose("cuda:0,cuda:2", left.machine, {}, {before, true});
              }),
              StartsWith("--devices cuda:0,cuda:2: there is no cuda:0 here (the driver has "
                         "renumbered its devices; the run keeps its own numbers)"));
}

TEST_F(RenumberedMasks, SlotsAreKnownThatWouldShowAnotherDeviceThanTheirOwn) {
  const auto shown = [](const std::string& spec, const WithGpus& then, const WithGpus& now,
                        bool by_number) {
    const auto slots = choose(spec, then.machine, {.by_number = by_number}).slots;
    return shown_to(slots.front(), now.machine.discover("cuda").devices);
  };
  for (const bool by_number : {false, true}) {
    EXPECT_EQ(shown("cuda:1", had, had, by_number), Shown::own);
    EXPECT_EQ(shown("cuda:1", had, left, by_number), Shown::others);
    EXPECT_EQ(shown("cuda:0", had, left, by_number), Shown::missing);
    EXPECT_EQ(shown("cuda:2+cuda:1", had, had, by_number), Shown::own);
    EXPECT_EQ(shown("cuda:2+cuda:1", had, left, by_number), Shown::others);
    EXPECT_EQ(shown("cuda:0+cuda:1", had, left, by_number), Shown::missing);
    EXPECT_EQ(shown("cuda:1", had, WithGpus({}, {}), by_number), Shown::own) << "nobody tells";
  }
}

TEST_F(RenumberedMasks, OfAGroupTheDeviceIsNamedThatIsGone) {
  const auto slots = choose("cuda:1+cuda:0", had.machine, {}).slots;
  EXPECT_EQ(missing_of(slots.front(), had.machine.discover("cuda").devices), "");
  EXPECT_EQ(missing_of(slots.front(), left.machine.discover("cuda").devices), "cuda:0");
}

TEST_F(Renumbered, NoDriverIsAskedOfDevicesThatARunHas) {
  const auto had = choose("cuda:*", before.machine, {}).slots;
  WithGpus hangs({}, {});
  EXPECT_EQ(choose("cuda:0,cuda:2", hangs.machine, {}, {had}).slots, (std::vector{had[0], had[2]}));
  EXPECT_EQ(hangs.asked, "");
}

TEST_F(Renumbered, ANewDeviceGetsANumberThatNoneOfTheRunHas) {
  auto more = after;
  more.machine.discover = [](const std::string&) {
    return Discovery{.devices = {now(1, 0), now(2, 1), now(7, 2)}};
  };
  const auto had = choose("cuda:*", before.machine, {}).slots;
  const auto slots = choose("cuda:1,cuda:3", more.machine, {}, {had, true}).slots;
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
  EXPECT_EQ(refused("cuda:0", machine),
            "--devices cuda:0: there is no cuda:0 here (no NVML)" + others);
  EXPECT_EQ(refused("xpu:*", machine),
            "--devices xpu:*: there is no xpu here (no Level Zero)" + others);
  EXPECT_EQ(refused("0", machine),
            "--devices 0: there is no GPU 0 here (no NVML; no Level Zero)" + others);
  EXPECT_EQ(refused("-1,-1", machine),
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
        refused(spec, here.machine, cpu_only),
        "--devices " + spec +
            ": the built-in trainer's libtorch has no cuda devices (docs/libtorch.md); choose "
            "among cpu, cpu:0, cpu:1, cuda:0");
}

TEST(Slots, AreCoresWithAWordOnTheCardThatIsOutOfOrder) {
  auto lost = gpu("cuda", 0);
  lost.state = "lost";
  const WithGpus here({lost}, {});
  const std::string left_out = "left out: cuda:0, " + lost.name + ", lost";
  EXPECT_THAT(choose("auto", here.machine, {}).notes,
              ElementsAre(left_out, "auto: training on the CPU, a slot per core (2)"));
  EXPECT_EQ(refused("cuda:*", here.machine), "--devices cuda:*: cuda:0 (" + lost.name +
                                                 ") is out of order: lost; choose among cpu, "
                                                 "cpu:0, cpu:1");
  EXPECT_EQ(refused("-1", here.machine),
            "--devices -1: there are 0 working cuda devices here, 1 asked for; choose among cpu, "
            "cpu:0, cpu:1");
}

TEST(Slots, AreRefusedWhereNobodyKnowsWhichAreHiddenUnlessTheTrainerCanUseNone) {
  auto machine = two;
  machine.discover = [](const std::string& kind) {
    if (kind == "cuda") return Discovery{.remark = "no NVML"};
    return Discovery{.remark = "SELECTOR is more", .failed = true, .not_followed = true};
  };
  EXPECT_THAT(refused("auto", machine), StartsWith("--devices auto: SELECTOR is more; choose"));
  const TrainerTraits cpu_only{.drives = [](const std::string&) { return false; }};
  EXPECT_THAT(names(choose("auto", machine, cpu_only).slots), ElementsAre("cpu:0", "cpu:1"));
}

TEST(Slots, OfCudaOrAutoTellWhereAmdsDriverIs) {
  auto machine = without_drivers();
  machine.has_amd = true;
  const std::string others = "; choose among cpu, cpu:0, cpu:1";
  EXPECT_EQ(
      refused("cuda:0", machine),
      "--devices cuda:0: there is no cuda:0 here (no NVML; AMD's GPUs are named hip:0)" + others);
  EXPECT_EQ(refused("xpu:0", machine),
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

// A driver goes on counting it, without a word on which it was.
TEST(Numbers, AreNotMovedByALostCardThatDoesNotSayWhichItIs) {
  Accelerator lost{.kind = "cuda", .index = 1, .state = "lost"};
  std::vector<Accelerator> found{gpu("cuda", 0), lost, gpu("cuda", 2), gpu("cuda", 3)};
  const Identities had{{"cuda:0", {.uuid = "cuda-0", .pci = ""}},
                       {"cuda:1", {.uuid = "cuda-1", .pci = ""}}};
  EXPECT_FALSE(keep_numbers(found, had));
  for (int i = 0; i < 4; ++i) EXPECT_EQ(found[static_cast<std::size_t>(i)].index, i);
}

TEST(Numbers, AreGivenOnceThoughOneIsLostWhileOthersAreNumberedAnew) {
  Accelerator lost{.kind = "cuda", .index = 1, .state = "lost"};
  std::vector<Accelerator> found{gpu("cuda", 0), lost, gpu("cuda", 2), gpu("cuda", 3)};
  keep_numbers(found, {{"cuda:0", {.uuid = "cuda-2", .pci = ""}}});
  std::set<int> numbers;
  for (const auto& device : found) numbers.insert(device.index);
  EXPECT_EQ(numbers.size(), 4U);
  EXPECT_EQ(found[2].index, 0);
}

}  // namespace
}  // namespace evolve::devices
