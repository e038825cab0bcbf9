#include "devices/health.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace evolve::devices {
namespace {

using std::chrono::seconds;
using testing::ElementsAre;
using testing::IsEmpty;

const Clock::time_point noon{};

hyp::Outcome well(int trial, const std::string& device) {
  return {.trial = trial, .device = device, .result = hyp::Completed{}};
}

hyp::Outcome failed(int trial, const std::string& device, hyp::FailureKind kind,
                    bool failed_before_ready = false) {
  return {.trial = trial,
          .device = device,
          .result = hyp::Failed{
              .kind = kind, .message = "boom", .failed_before_ready = failed_before_ready}};
}

hyp::Outcome lost(int trial, const std::string& device) {
  return failed(trial, device, hyp::FailureKind::device_lost);
}

TEST(Health, BlamesADeviceThatIsLost) {
  Health health({"xpu:0", "xpu:1"});
  EXPECT_THAT(health.ended(lost(0, "xpu:0"), {}, noon),
              ElementsAre(Blame{"xpu:0", "it was lost: boom", false}));
}

TEST(Health, BlamesADeviceWhoseWorkerWasNeverReady) {
  Health health({"xpu:0", "xpu:1"});
  EXPECT_THAT(health.ended(failed(0, "xpu:0", hyp::FailureKind::crash, true), {}, noon),
              ElementsAre(Blame{"xpu:0", "boom", false}));
}

TEST(Health, BlamesADeviceForATrialOnlyOnceItEndedWellOnAnother) {
  Health health({"xpu:0", "xpu:1", "xpu:2"});
  EXPECT_THAT(health.ended(failed(4, "xpu:0", hyp::FailureKind::crash), {}, noon), IsEmpty());
  EXPECT_THAT(health.ended(failed(4, "xpu:1", hyp::FailureKind::hang), {"xpu:0"}, noon), IsEmpty());
  EXPECT_THAT(
      health.ended(well(4, "xpu:2"), {"xpu:0", "xpu:1"}, noon),
      ElementsAre(Blame{"xpu:0", "trial 4 failed on it and then ended well on xpu:2", false},
                  Blame{"xpu:1", "trial 4 failed on it and then ended well on xpu:2", false}));
}

TEST(Health, IsUndecidedOfADeviceOnWhichThreeTrialsFailedBeforeAnyTriedElsewhere) {
  Health health({"xpu:0", "xpu:1"});
  const auto retried = [](int trial, const std::string& device, int epoch = 0) {
    auto outcome = failed(trial, device, hyp::FailureKind::crash);
    std::get<hyp::Failed>(outcome.result).final = false;
    std::get<hyp::Failed>(outcome.result).epoch = epoch;
    return outcome;
  };
  for (const int trial : {1, 2}) health.ended(retried(trial, "xpu:0"), {}, noon);
  health.ended(retried(3, "xpu:0", /*epoch=*/1), {}, noon);
  for (const int trial : {4, 5}) health.ended(retried(trial, "xpu:0"), {}, noon);
  EXPECT_FALSE(health.undecided("xpu:0")) << "one before them has trained an epoch";
  health.ended(retried(6, "xpu:0"), {}, noon);
  EXPECT_TRUE(health.undecided("xpu:0"));
  EXPECT_FALSE(health.undecided("xpu:1"));
  health.ended(retried(5, "xpu:1"), {"xpu:0"}, noon);
  EXPECT_FALSE(health.undecided("xpu:0")) << "it was the trial";
  health.ended(retried(7, "xpu:0"), {}, noon);
  EXPECT_TRUE(health.undecided("xpu:0"));
  health.ended(well(8, "xpu:0"), {}, noon);
  EXPECT_FALSE(health.undecided("xpu:0")) << "one has ended well on it since";
}

TEST(Health, BlamesOncePerFailure) {
  Health health({"xpu:0", "xpu:1"});
  health.ended(lost(4, "xpu:0"), {}, noon);
  EXPECT_THAT(health.ended(well(4, "xpu:1"), {"xpu:0"}, noon), IsEmpty());
  health.ended(failed(5, "xpu:1", hyp::FailureKind::crash, true), {}, noon);
  EXPECT_THAT(health.ended(well(5, "xpu:0"), {"xpu:1"}, noon), IsEmpty());
}

TEST(Health, BlamesADeviceWhoseSurroundingsFailAgainWhileOthersDoWell) {
  Health health({"xpu:0", "xpu:1"});
  auto full = failed(4, "xpu:0", hyp::FailureKind::other);
  std::get<hyp::Failed>(full.result).of_surroundings = true;
  EXPECT_THAT(health.ended(full, {}, noon), IsEmpty());
  EXPECT_THAT(health.ended(full, {}, noon), IsEmpty()) << "what all devices have may have failed";
  health.ended(well(5, "xpu:1"), {}, noon);
  EXPECT_THAT(health.ended(full, {}, noon),
              ElementsAre(Blame{"xpu:0", "trials end well on others only: boom", false}));
  EXPECT_THAT(health.ended(full, {}, noon), IsEmpty());
  health.ended(well(6, "xpu:1"), {}, noon);
  EXPECT_THAT(health.ended(full, {}, noon),
              ElementsAre(Blame{"xpu:0", "trials end well on others only: boom", true}));
}

TEST(Health, BlamesNoDeviceWhoseSurroundingsFailNowAndThen) {
  Health health({"xpu:0", "xpu:1"});
  auto full = failed(4, "xpu:0", hyp::FailureKind::other);
  std::get<hyp::Failed>(full.result).of_surroundings = true;
  for (int i = 0; i < 5; ++i) {
    EXPECT_THAT(health.ended(full, {}, noon), IsEmpty());
    health.ended(well(5, "xpu:1"), {}, noon);
    health.ended(well(6, "xpu:0"), {}, noon);
  }
}

TEST(Health, BlamesNobodyForAFailureThatIsExcused) {
  Health health({"xpu:0", "xpu:1"});
  health.ended(failed(4, "xpu:0", hyp::FailureKind::oom), {}, noon);
  health.excuse(4, "xpu:0");
  EXPECT_THAT(health.ended(well(4, "xpu:1"), {"xpu:0"}, noon), IsEmpty());
}

TEST(Health, BlamesNobodyForATrialThatEndedWellOnTheSameDevice) {
  Health health({"xpu:0", "xpu:1"});
  EXPECT_THAT(health.ended(well(4, "xpu:0"), {"xpu:0"}, noon), IsEmpty());
}

TEST(Health, TakesAStopAtARungForAGoodEnd) {
  Health health({"xpu:0", "xpu:1"});
  const hyp::Outcome stopped{.trial = 4, .device = "xpu:1", .result = hyp::Stopped{}};
  EXPECT_EQ(health.ended(stopped, {"xpu:0"}, noon).size(), 1U);
}

TEST(Health, QuarantinesAtTwoBlamesInARow) {
  Health health({"xpu:0", "xpu:1"});
  health.ended(lost(0, "xpu:0"), {}, noon);
  EXPECT_FALSE(health.quarantined("xpu:0"));
  EXPECT_THAT(health.ended(lost(1, "xpu:0"), {}, noon),
              ElementsAre(Blame{"xpu:0", "it was lost: boom", true}));
  EXPECT_TRUE(health.quarantined("xpu:0"));
  EXPECT_FALSE(health.quarantined("xpu:1"));
  EXPECT_THAT(health.ended(lost(2, "xpu:0"), {}, noon), IsEmpty());
}

TEST(Health, CountsAnewAfterATrialThatEndedWell) {
  Health health({"xpu:0"});
  health.ended(lost(0, "xpu:0"), {}, noon);
  health.ended(well(1, "xpu:0"), {}, noon);
  health.ended(lost(2, "xpu:0"), {}, noon);
  EXPECT_FALSE(health.quarantined("xpu:0"));
}

TEST(Health, BlamesNoDeviceThatHasGone) {
  Health health({"xpu:0", "xpu:1"});
  health.change({"xpu:1"});
  EXPECT_THAT(health.ended(lost(0, "xpu:0"), {}, noon), IsEmpty());
}

TEST(Health, BringsADeviceBackThatWasTakenOutAndIsPutBack) {
  Health health({"xpu:0", "xpu:1"});
  for (int trial = 0; trial < 2; ++trial) health.ended(lost(trial, "xpu:0"), {}, noon);
  EXPECT_THAT(health.change({"xpu:0"}), IsEmpty()) << "it was there all the time";
  EXPECT_TRUE(health.quarantined("xpu:0"));
  EXPECT_THAT(health.change({"xpu:1"}), IsEmpty());
  EXPECT_THAT(health.change({"xpu:0", "xpu:1"}), ElementsAre("xpu:0"));
  EXPECT_FALSE(health.quarantined("xpu:0"));
  EXPECT_THAT(health.ended(lost(2, "xpu:0"), {}, noon),
              ElementsAre(Blame{"xpu:0", "it was lost: boom", true}));
}

TEST(Health, BlamesACpuOfAnotherMachineWhichMayBeDown) {
  Health health({"cpu:0", "cpu:1"}, {"cpu:1"});
  for (int trial = 0; trial < 2; ++trial)
    health.ended(failed(trial, "cpu:1", hyp::FailureKind::other, true), {}, noon);
  EXPECT_TRUE(health.quarantined("cpu:1"));
}

TEST(Health, BlamesNoDeviceForAProgramThatCannotBeStarted) {
  Health health({"xpu:0", "xpu:1"});
  auto away = failed(4, "xpu:0", hyp::FailureKind::other, true);
  std::get<hyp::Failed>(away.result).of_surroundings = true;
  std::get<hyp::Failed>(away.result).not_started = true;
  for (int i = 0; i < 5; ++i) {
    EXPECT_THAT(health.ended(away, {}, noon), IsEmpty());
    EXPECT_THAT(health.ended(well(4, "xpu:1"), {"xpu:0"}, noon), IsEmpty());
  }
  EXPECT_FALSE(health.quarantined("xpu:0"));
}

TEST(Health, BlamesNoDeviceForBeingTakenAway) {
  Health health({"xpu:0", "xpu:1"});
  auto taken = lost(0, "xpu:0");
  std::get<hyp::Failed>(taken.result).excused = true;
  EXPECT_THAT(health.ended(taken, {}, noon), IsEmpty());
}

TEST(Health, NeverBlamesACpuOfThisMachine) {
  Health health({"cpu:0", "cpu:1"});
  for (int trial = 0; trial < 3; ++trial) {
    EXPECT_THAT(health.ended(failed(trial, "cpu:0", hyp::FailureKind::crash, true), {}, noon),
                IsEmpty());
    EXPECT_THAT(health.ended(well(trial, "cpu:1"), {"cpu:0"}, noon), IsEmpty());
  }
  EXPECT_FALSE(health.quarantined("cpu:0"));
}

TEST(Health, HasNoneLeftOnceTheLastIsQuarantined) {
  Health health({"xpu:0", "xpu:1"});
  for (int trial = 0; trial < 2; ++trial) health.ended(lost(trial, "xpu:0"), {}, noon);
  EXPECT_FALSE(health.none_left());
  for (int trial = 0; trial < 2; ++trial) health.ended(lost(trial, "xpu:1"), {}, noon);
  EXPECT_TRUE(health.none_left());
}

TEST(Health, LooksAgainAfterARestThatDoubles) {
  Health health({"xpu:0", "xpu:1"});
  for (int trial = 0; trial < 2; ++trial) health.ended(lost(trial, "xpu:0"), {}, noon);
  EXPECT_THAT(health.rested(noon + seconds(14)), IsEmpty());
  EXPECT_THAT(health.rested(noon + seconds(15)), ElementsAre("xpu:0"));
  health.bring_back("xpu:0");
  EXPECT_FALSE(health.quarantined("xpu:0"));
  EXPECT_THAT(health.rested(noon + seconds(15)), IsEmpty());

  EXPECT_THAT(health.ended(lost(2, "xpu:0"), {}, noon + seconds(100)),
              ElementsAre(Blame{"xpu:0", "it was lost: boom", true}));
  EXPECT_THAT(health.rested(noon + seconds(129)), IsEmpty());
  EXPECT_THAT(health.rested(noon + seconds(130)), ElementsAre("xpu:0"));
}

TEST(Health, QuarantinesAgainAtOneBlameWhateverEndedWellMeanwhile) {
  Health health({"xpu:0", "xpu:1"});
  health.ended(lost(0, "xpu:0"), {}, noon);
  health.ended(lost(1, "xpu:0"), {}, noon);
  health.ended(well(2, "xpu:0"), {}, noon);  // another trial on it, under way at the same time
  health.bring_back("xpu:0");
  EXPECT_THAT(health.ended(lost(3, "xpu:0"), {}, noon),
              ElementsAre(Blame{"xpu:0", "it was lost: boom", true}));
}

TEST(Health, IgnoresDevicesThatTheRunDoesNotHave) {
  Health health({"xpu:0"});
  EXPECT_THAT(health.ended(well(4, "xpu:0"), {"xpu:7"}, noon), IsEmpty());
}

TEST(Health, RestsAsLongAgainWhereTheDriverSaysThatItDoesNotWork) {
  Health health({"xpu:0"});
  for (int trial = 0; trial < 2; ++trial) health.ended(lost(trial, "xpu:0"), {}, noon);
  ASSERT_THAT(health.rested(noon + seconds(15)), ElementsAre("xpu:0"));
  health.rest_again("xpu:0", noon + seconds(15));
  EXPECT_THAT(health.rested(noon + seconds(29)), IsEmpty());
  EXPECT_THAT(health.rested(noon + seconds(30)), ElementsAre("xpu:0"));
}

TEST(Health, BlamesNoDeviceForTheSurroundings) {
  Health health({"xpu:0", "xpu:1"});
  auto full_disk = failed(4, "xpu:0", hyp::FailureKind::other);
  std::get<hyp::Failed>(full_disk.result).of_surroundings = true;
  health.ended(full_disk, {}, noon);
  EXPECT_THAT(health.ended(well(4, "xpu:1"), {"xpu:0"}, noon), IsEmpty());
}

}  // namespace
}  // namespace evolve::devices
