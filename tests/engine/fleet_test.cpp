#include "engine/fleet.hpp"

#include <gtest/gtest.h>

namespace evolve::engine {
namespace {

const core::Slot slot{.name = "cuda:0"};

/// A card with this many bytes free of 100.
devices::Accelerator card(std::int64_t free_bytes) {
  return {.kind = "cuda", .memory_total_bytes = 100, .memory_free_bytes = free_bytes};
}

core::WorkerCount no_worker(const std::string&) {
  return {};
}

hyp::Outcome failure(hyp::FailureKind kind) {
  return {.trial = 0, .device = "cuda:0", .result = hyp::Failed{.kind = kind}};
}

TEST(Fleet, LendsASlotAgainThatWasLeasedForNothing) {
  Fleet fleet({slot}, {card(100)}, {}, no_worker);
  EXPECT_TRUE(fleet.lease({})) << "it returns itself";
  EXPECT_TRUE(fleet.lease({})) << "no worker was started: what the driver said still holds";
}

TEST(Fleet, WaitsForTheDriverAfterAWorkerWasStarted) {
  Fleet fleet({slot, slot}, {card(100)}, {}, no_worker);
  const auto lease = fleet.lease({});
  fleet.started("cuda:0");
  fleet.handed_over();
  EXPECT_FALSE(fleet.lease({}));
}

TEST(Fleet, KeepsToWhatEarlierRunsLearntOfMemory) {
  Fleet fleet({slot, slot}, {}, {{"cuda:0", 1}}, no_worker);
  const auto lease = fleet.lease({});
  ASSERT_TRUE(lease);
  fleet.started("cuda:0");
  fleet.handed_over();
  EXPECT_FALSE(fleet.lease({})) << "one at a time";
}

TEST(Fleet, LearnsThatTwoTrialsDoNotFit) {
  Fleet fleet({slot, slot}, {}, {}, no_worker);
  fleet.started("cuda:0");
  fleet.started("cuda:0");
  fleet.ended(failure(hyp::FailureKind::oom), {});
  const auto events = fleet.watch();
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(std::get<results::DeviceLimited>(events[0]),
            (results::DeviceLimited{.device = "cuda:0", .trials = 1}));
}

TEST(Fleet, BlamesNoDeviceForATrialThatWasOneTooManyForItsMemory) {
  Fleet fleet({slot, slot, {.name = "cuda:1"}}, {}, {}, no_worker);
  fleet.started("cuda:0");
  fleet.started("cuda:0");
  fleet.ended(failure(hyp::FailureKind::oom), {});
  fleet.watch();
  fleet.started("cuda:1");
  fleet.ended({.trial = 0, .device = "cuda:1"}, {"cuda:0"});
  EXPECT_TRUE(fleet.watch().empty());
}

TEST(Fleet, BlamesACpuWhereItIsOfAnotherMachine) {
  const auto blamed = [](const core::Slot& cpu) {
    Fleet fleet({cpu}, {}, {}, no_worker);
    fleet.started("cpu:0");
    fleet.ended({.trial = 0,
                 .device = "cpu:0",
                 .result = hyp::Failed{.kind = hyp::FailureKind::device_lost}},
                {});
    return !fleet.watch().empty();
  };
  EXPECT_FALSE(blamed({.name = "cpu:0"}));
  EXPECT_TRUE(blamed({.name = "cpu:0", .remote_shell = true}));
  EXPECT_TRUE(blamed({.name = "cpu:0", .job_step = true}));
}

TEST(Fleet, LendsADeviceAgainThatIsTooSmallForTheOnlyTrialOnIt) {
  Fleet fleet({slot}, {}, {}, no_worker);
  fleet.started("cuda:0");
  fleet.handed_over();
  fleet.ended(failure(hyp::FailureKind::oom), {});
  for (const auto& event : fleet.watch())
    EXPECT_FALSE(std::holds_alternative<results::DeviceLimited>(event)) << "none at a time";
  EXPECT_TRUE(fleet.lease({}));
}

TEST(Fleet, GivesATrialThatFailedEverywhereAnyDeviceButTheLast) {
  Fleet fleet({slot, {.name = "cuda:1"}}, {}, {}, no_worker);
  EXPECT_EQ((*fleet.lease({"cuda:0"}))->name, "cuda:1");
  EXPECT_EQ((*fleet.lease({"cuda:1", "cuda:0"}))->name, "cuda:1");
  EXPECT_EQ((*fleet.lease({"cuda:0", "cuda:1"}))->name, "cuda:0");
  Fleet alone({slot}, {}, {}, no_worker);
  EXPECT_TRUE(alone.lease({"cuda:0"})) << "there is no other";
}

TEST(Fleet, GivesATrialThatFailedADeviceOfAnotherMachineFirst) {
  const auto on = [](const std::string& name, const std::string& machine) {
    return core::Slot{.name = name, .machine = machine};
  };
  Fleet fleet({on("cuda:0", "n1"), on("cuda:1", "n1"), on("cuda:2", "n2")}, {}, {}, no_worker);
  auto busy = fleet.lease({"cuda:0"});
  EXPECT_EQ((*busy)->name, "cuda:2");
  EXPECT_FALSE(fleet.lease({"cuda:0"})) << "it waits for that one";
  busy.reset();
  EXPECT_EQ((*fleet.lease({"cuda:0", "cuda:1"}))->name, "cuda:2");
  EXPECT_EQ((*fleet.lease({"cuda:2"}))->name, "cuda:0");
  EXPECT_EQ((*fleet.lease({"cuda:0", "cuda:2"}))->name, "cuda:1") << "all have failed";
}

TEST(Fleet, GivesADeviceNothingMoreBeforeAnotherHasTriedWhatFailsOnIt) {
  Fleet fleet({{.name = "cuda:0"}, {.name = "cuda:1"}}, {}, {}, no_worker);
  const auto fails = [&](int trial, const std::string& device,
                         const std::vector<std::string>& before) {
    fleet.started(device);
    fleet.handed_over();
    fleet.ended({.trial = trial,
                 .device = device,
                 .result = hyp::Failed{.kind = hyp::FailureKind::crash, .final = false}},
                before);
  };
  const auto other = fleet.lease({"cuda:0"});  // it trains for hours
  for (const int trial : {0, 1, 2}) {
    EXPECT_TRUE(fleet.lease({}));
    fails(trial, "cuda:0", {});
  }
  EXPECT_FALSE(fleet.lease({}));
  EXPECT_EQ((*fleet.lease({"cuda:1"}))->name, "cuda:0") << "a trial of that one may be tried on it";
  EXPECT_TRUE(fleet.has_another({"cuda:1"}));
  fails(2, "cuda:1", {"cuda:0"});
  EXPECT_TRUE(fleet.lease({})) << "trial 2 itself is to blame";
}

TEST(Fleet, LendsADeviceNoSecondSlotBeforeItsFirstTrialIsHandedOver) {
  Fleet fleet({slot, slot, {.name = "cuda:1"}}, {}, {}, no_worker);
  const auto first = fleet.lease({});
  fleet.started("cuda:0");
  const auto second = fleet.lease({});
  EXPECT_EQ((*second)->name, "cuda:1");
  EXPECT_FALSE(fleet.lease({}));
  fleet.handed_over();
  EXPECT_TRUE(fleet.lease({}));
}

TEST(Fleet, LendsWhatIsAddedAndNotWhatIsTakenAway) {
  Fleet fleet({slot, slot, {.name = "npu:0"}}, {}, {}, no_worker);
  auto on_npu = fleet.lease({"cuda:0"});
  ASSERT_EQ((*on_npu)->name, "npu:0");
  const auto fewer = fleet.change({slot, {.name = "npu:1"}}, {});
  EXPECT_EQ(fewer, (std::map<std::string, int>{{"cuda:0", 1}, {"npu:0", 1}}));
  const auto one = fleet.lease({}), two = fleet.lease({});
  EXPECT_EQ((*one)->name, "cuda:0");
  EXPECT_EQ((*two)->name, "npu:1");
  on_npu.reset();
  EXPECT_FALSE(fleet.lease({}));
}

TEST(Fleet, LendsNoGroupWhoseDeviceIsStillAtItsLastTrial) {
  Fleet fleet({slot, {.name = "cuda:1"}}, {}, {}, no_worker);
  auto lease = fleet.lease({});
  fleet.started("cuda:0");
  fleet.handed_over();
  fleet.change({{.name = "cuda:0+cuda:1"}}, {});
  EXPECT_FALSE(fleet.lease({}));
  fleet.ended(failure(hyp::FailureKind::crash), {});
  EXPECT_TRUE(fleet.lease({}));
}

TEST(Fleet, LendsNoDeviceWhoseGroupIsStillAtItsLastTrial) {
  Fleet fleet({{.name = "cuda:0+cuda:1"}}, {}, {}, no_worker);
  auto lease = fleet.lease({});
  fleet.started("cuda:0+cuda:1");
  fleet.handed_over();
  fleet.change({{.name = "cuda:1"}, {.name = "cuda:2"}}, {});
  const auto other = fleet.lease({});
  ASSERT_TRUE(other);
  EXPECT_EQ((*other)->name, "cuda:2");
  EXPECT_FALSE(fleet.lease({}));
  fleet.change({{.name = "cuda:0+cuda:1"}}, {});
  lease.reset();
  EXPECT_TRUE(fleet.lease({})) << "it is back";
}

TEST(Fleet, HasAUsableDeviceAgainWhenOneIsAdded) {
  Fleet fleet({slot}, {}, {}, no_worker);
  fleet.ended(failure(hyp::FailureKind::device_lost), {});
  fleet.ended(failure(hyp::FailureKind::device_lost), {});
  ASSERT_NE(fleet.no_usable_device(), "");
  fleet.change({slot, {.name = "cuda:1"}}, {});
  EXPECT_EQ(fleet.no_usable_device(), "");
  EXPECT_EQ((*fleet.lease({}))->name, "cuda:1");
}

TEST(Fleet, HasNoUsableDeviceOnceTheLastSoundOneIsTakenAway) {
  Fleet fleet({slot, {.name = "cuda:1"}}, {}, {}, no_worker);
  fleet.ended(failure(hyp::FailureKind::device_lost), {});
  fleet.ended(failure(hyp::FailureKind::device_lost), {});
  ASSERT_EQ(fleet.no_usable_device(), "");
  fleet.change({slot}, {});
  EXPECT_EQ(fleet.no_usable_device(), "every device that is left gets no further trial");
}

TEST(Fleet, LetsADeviceRest) {
  Fleet fleet({slot}, {}, {}, no_worker);
  fleet.rest("cuda:0", devices::Clock::now() + std::chrono::hours(1));
  EXPECT_FALSE(fleet.lease({}));
  fleet.rest("cuda:0", devices::Clock::now());
  EXPECT_TRUE(fleet.lease({}));
}

TEST(Fleet, SeesAGroupAsItsFullestDevice) {
  const auto with = [](int index, std::int64_t free, double watts) {
    auto one = card(free);
    one.index = index;
    one.power_watts = watts;
    return one;
  };
  Fleet fleet({{.name = "cuda:0+cuda:1"}}, {with(0, 90, 200), with(1, 40, 100)}, {}, no_worker);
  EXPECT_TRUE(fleet.lease({}));
  const auto events = fleet.watch();
  ASSERT_EQ(events.size(), 1u);
  const auto& stats = std::get<results::DeviceStats>(events.front());
  EXPECT_EQ(stats.device, "cuda:0+cuda:1");
  EXPECT_EQ(stats.memory_free_bytes, 40);
  EXPECT_EQ(stats.power_watts, 300);
  EXPECT_EQ(stats.state, "ok");
  Fleet full({{.name = "cuda:0+cuda:1"}}, {with(0, 90, 0), with(1, 1, 0)}, {}, no_worker);
  EXPECT_FALSE(full.lease({}));
}

TEST(Fleet, ReportsADeviceThatIsFullOnce) {
  Fleet fleet({slot}, {card(1)}, {}, no_worker);
  EXPECT_FALSE(fleet.lease({}));
  EXPECT_FALSE(fleet.lease({}));
  const auto events = fleet.watch();
  int full = 0;
  for (const auto& event : events) full += std::holds_alternative<results::DeviceFull>(event);
  EXPECT_EQ(full, 1);
}

}  // namespace
}  // namespace evolve::engine
