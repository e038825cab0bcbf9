#include "results/timeline.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace evolve::results {
namespace {

using State = Timeline::State;
using testing::ElementsAre;
using testing::Pair;

core::Time at(int seconds) {
  return core::Time{std::chrono::hours{1}} + std::chrono::seconds{seconds};
}

hyp::Outcome outcome(int trial, decltype(hyp::Outcome::result) result, double seconds = 1) {
  return {.trial = trial, .device = "cpu:0", .seconds = seconds, .result = std::move(result)};
}

/// Of trainings of nine epochs.
Timeline timeline_of_all(const std::vector<std::pair<int, Event>>& events) {
  Timeline timeline;
  timeline.epochs = 9;
  for (const auto& [seconds, event] : events) timeline.add(event, at(seconds));
  return timeline;
}

TEST(Timeline, HasATrainingForWhatASlotDidWithoutABreak) {
  const auto timeline =
      timeline_of_all({{0, Started{.trial = 0, .device = "cpu:0", .pause_epoch = 3}},
                       {1, hyp::Rung{.trial = 0, .epoch = 3, .fitness = 0.125, .device = "cpu:0"}},
                       {2, outcome(0, hyp::Paused{3, {}, 0.25}, 2)},
                       {5, Started{.trial = 0, .device = "cpu:1", .start_epoch = 3}},
                       {9, outcome(0, hyp::Completed{{}, 0.5}, 4)}});
  ASSERT_EQ(timeline.trainings.size(), 2U);
  const auto& [first, second] = std::pair(timeline.trainings[0], timeline.trainings[1]);
  EXPECT_EQ(first.state, State::paused);
  EXPECT_EQ(first.device, "cpu:0");
  EXPECT_EQ(first.begin, at(0));
  EXPECT_EQ(first.end, at(2));
  EXPECT_EQ(first.end_epoch, 3);
  EXPECT_EQ(second.state, State::completed);
  EXPECT_EQ(second.device, "cpu:1");
  EXPECT_EQ(second.start_epoch, 3);
  EXPECT_EQ(second.end_epoch, 9);
  EXPECT_THAT(timeline.ended, ElementsAre(0, 1));
  const auto& trial = timeline.trials.at(0);
  EXPECT_EQ(trial.state, State::completed);
  EXPECT_EQ(trial.seconds, 6);
  EXPECT_THAT(trial.curve, ElementsAre(Pair(3, 0.25), Pair(9, 0.5)));
  EXPECT_EQ(timeline.begin, at(0));
  EXPECT_EQ(timeline.end, at(9));
}

TEST(Timeline, OfARunUnderWayGoesOnUntilNow) {
  Timeline timeline = timeline_of_all({{0, Started{.trial = 0, .device = "cpu:0"}}});
  timeline.go_on(at(50));
  EXPECT_EQ(timeline.end, at(50));
  timeline.go_on(at(-5));
  EXPECT_EQ(timeline.end, at(50)) << "somebody has set the clock back";
  Timeline without_times;
  without_times.add(Started{.trial = 0, .device = "cpu:0"}, {});
  without_times.go_on(at(50));
  EXPECT_EQ(without_times.end, core::Time{});
}

TEST(Timeline, HasTheProbesOfDevices) {
  const auto timeline =
      timeline_of_all({{0, Started{.trial = 0, .device = "cpu:0"}},
                       {90, Probed{.trial = 0, .device = "cpu:1", .seconds = 60}}});
  EXPECT_THAT(timeline.probes, ElementsAre(Pair(at(30), at(90))));
}

TEST(Timeline, LetsATrainingDuringWhichTheMachineSleptBeginAfterThat) {
  const auto timeline = timeline_of_all({{0, Started{.trial = 0, .device = "cpu:0"}},
                                         {0, Started{.trial = 1, .device = "cpu:1"}},
                                         {607, outcome(0, hyp::Completed{{}, 0.5}, 6)},
                                         {28800, outcome(1, hyp::Completed{{}, 0.5}, 6)}});
  EXPECT_EQ(timeline.trainings[0].begin, at(601));
  EXPECT_EQ(timeline.trainings[1].begin, at(28794));
  EXPECT_EQ(timeline.trainings[1].end, at(28800));
}

TEST(Timeline, HasATrainingWhoseWorkerTookMinutesToStartFromThatOn) {
  const auto timeline = timeline_of_all(
      {{0, Started{.trial = 0, .device = "cpu:0"}}, {606, outcome(0, hyp::Completed{{}, 0.5}, 6)}});
  EXPECT_EQ(timeline.trainings[0].begin, at(0));
}

TEST(Timeline, LetsATrainingBeginWhenItDidWhereNobodyKnowsItsSeconds) {
  const auto timeline = timeline_of_all({{0, Started{.trial = 0, .device = "cpu:0"}},
                                         {7200, outcome(0, hyp::Completed{{}, 0.5}, 0)}});
  EXPECT_EQ(timeline.trainings[0].begin, at(0));
}

TEST(Timeline, KnowsTheSlotsOfNowAndWhichAreInQuarantine) {
  const auto blamed = [](const std::string& device) {
    return DeviceBlamed{.device = device, .reason = "lost", .quarantined = true};
  };
  std::vector<std::pair<int, Event>> events = {
      {0, DevicesChanged{.slots = {"xpu:0", "xpu:1"}}}, {1, blamed("xpu:0")}, {2, blamed("xpu:1")}};
  EXPECT_EQ(timeline_of_all(events).slots, (std::vector<std::string>{"xpu:0", "xpu:1"}));
  EXPECT_THAT(timeline_of_all(events).quarantined, ElementsAre("xpu:0", "xpu:1"));
  events.emplace_back(3, DeviceBroughtBack{.device = "xpu:0"});
  EXPECT_THAT(timeline_of_all(events).quarantined, ElementsAre("xpu:1"));
  events.emplace_back(4, Started{.trial = 0, .device = "xpu:1"});
  EXPECT_THAT(timeline_of_all(events).quarantined, ElementsAre()) << "the run was resumed";
}

TEST(Timeline, GoesOnWhereTheClockWasSetBack) {
  const auto timeline = timeline_of_all({{100, Started{.trial = 0, .device = "cpu:0"}},
                                         {102, Started{.trial = 1, .device = "cpu:1"}},
                                         {12, outcome(0, hyp::Completed{{}, 0.5}, 10)},
                                         {13, outcome(1, hyp::Completed{{}, 0.5}, 9)}});
  EXPECT_EQ(timeline.trainings[0].end, at(102)) << "when the clock was set back nobody knows";
  EXPECT_EQ(timeline.trainings[1].end, at(103));
  EXPECT_EQ(timeline.begin, at(100));
  EXPECT_EQ(timeline.end, at(103));
  EXPECT_EQ(timeline.latest, at(13));
}

TEST(Timeline, KnowsTheLastEpochOfATrainingThatHasNotEnded) {
  auto timeline =
      timeline_of_all({{0, Started{.trial = 0, .device = "cpu:0"}},
                       {1, hyp::Rung{.trial = 0, .epoch = 3, .fitness = 0.25, .device = "cpu:0"}}});
  EXPECT_EQ(timeline.trainings[0].end_epoch, 3);
  timeline.stop();
  EXPECT_EQ(timeline.trainings[0].end_epoch, 3);
}

TEST(Timeline, ForgetsWhatAnAttemptLearntThatBeginsAgain) {
  const auto timeline =
      timeline_of_all({{0, Started{.trial = 0, .device = "cpu:0"}},
                       {1, hyp::Rung{.trial = 0, .epoch = 3, .fitness = 0.25, .device = "cpu:0"}},
                       {2, outcome(0, hyp::Failed{.message = "lost", .final = false, .epoch = 4})},
                       {3, Started{.trial = 0, .device = "cpu:0", .attempt = 2}}});
  EXPECT_TRUE(timeline.trials.at(0).curve.empty());
  EXPECT_EQ(timeline.trials.at(0).epoch, 0);
  EXPECT_EQ(timeline.trials.at(0).metrics, std::nullopt);
  EXPECT_EQ(timeline.trials.at(0).state, State::running);
  EXPECT_EQ(timeline.trainings[0].state, State::failed);
  EXPECT_EQ(timeline.trainings[0].end_epoch, 4);
  ASSERT_EQ(timeline.failures.size(), 1U);
  EXPECT_EQ(timeline.failures[0].first, at(2));
}

TEST(Timeline, KeepsWhatATrialHadWhereItGoesOn) {
  const Started on{.trial = 0, .start_epoch = 3};
  auto timeline = timeline_of_all({{0, Started{.trial = 0, .pause_epoch = 3}},
                                   {1, outcome(0, hyp::Paused{3, {.recall = 0.5}, 0.25})},
                                   {2, on}});
  EXPECT_EQ(timeline.trials.at(0).epoch, 3);
  EXPECT_EQ(timeline.trials.at(0).metrics, (hyp::Metrics{.recall = 0.5}));
  timeline.add(hyp::Rung{.trial = 0, .epoch = 6, .metrics = {.recall = 0.75}, .fitness = 0.5},
               at(3));
  timeline.add(on, at(4));
  EXPECT_EQ(timeline.trials.at(0).epoch, 3);
  EXPECT_EQ(timeline.trials.at(0).metrics, std::nullopt) << "those were of epoch 6";
  EXPECT_THAT(timeline.trials.at(0).curve, ElementsAre(Pair(3, 0.25)));
}

// Earlier versions wrote the seconds and the epoch of the failure there once more.
TEST(Timeline, CountsAFailureOnceThatIsSaidToBeFinalLater) {
  const auto unconfirmed = [](bool final, int epoch) {
    return hyp::Failed{.kind = hyp::FailureKind::data,
                       .message = "gone",
                       .final = final,
                       .of_surroundings = !final,
                       .unconfirmed = true,
                       .epoch = epoch};
  };
  for (const int again : {0, 4}) {
    const auto timeline = timeline_of_all({{0, Started{.trial = 0}},
                                           {2, outcome(0, unconfirmed(false, 4), 2)},
                                           {3, outcome(0, unconfirmed(true, again), again)}});
    EXPECT_EQ(timeline.trials.at(0).state, State::failed);
    EXPECT_EQ(timeline.trials.at(0).seconds, 2);
    ASSERT_EQ(timeline.failures.size(), 1U);
    EXPECT_EQ(timeline.failures[0].first, at(2));
    EXPECT_EQ(std::get<hyp::Failed>(timeline.failures[0].second.result), unconfirmed(true, 4));
  }
}

TEST(Timeline, SaysWhatWaitsAndWhatHasFailed) {
  const auto timeline = timeline_of_all({{0, Started{.trial = 0}},
                                         {0, Started{.trial = 1}},
                                         {1, outcome(0, hyp::Failed{.final = false})},
                                         {1, outcome(1, hyp::Failed{.final = true})}});
  EXPECT_EQ(timeline.trials.at(0).state, State::waiting);
  EXPECT_EQ(timeline.trials.at(1).state, State::failed);
}

// Only another process starts a trial again that has not ended.
TEST(Timeline, EndsWhatWasUnderWayWhereARunEndedWhenItGoesOn) {
  const auto timeline = timeline_of_all({{0, Started{.trial = 0}},
                                         {1, Started{.trial = 1}},
                                         {100, Started{.trial = 0}},
                                         {101, Started{.trial = 1}},
                                         {102, outcome(1, hyp::Completed{{}, 0.5})}});
  ASSERT_EQ(timeline.trainings.size(), 4U);
  for (const int i : {0, 1}) {
    EXPECT_EQ(timeline.trainings[i].state, State::interrupted);
    EXPECT_EQ(timeline.trainings[i].end, at(1));
  }
  EXPECT_EQ(timeline.trainings[2].state, State::running);
  EXPECT_EQ(timeline.trainings[3].state, State::completed);
}

TEST(Timeline, HasATrialWaitThatAResumedRunHasNotTakenUpYet) {
  auto timeline = timeline_of_all(
      {{0, Started{.trial = 0}}, {1, Started{.trial = 1}}, {100, Started{.trial = 0}}});
  EXPECT_EQ(timeline.trials.at(0).state, State::running);
  EXPECT_EQ(timeline.trials.at(1).state, State::waiting);
  timeline.stop();
  EXPECT_EQ(timeline.trials.at(0).state, State::waiting);
}

TEST(Timeline, EndsWhatWasUnderWayWhenItsRunIsStopped) {
  auto timeline = timeline_of_all({{0, Started{.trial = 0}},
                                   {1, outcome(0, hyp::Completed{{}, 0.5})},
                                   {2, Started{.trial = 1}},
                                   {3, Repeating{.trial = 0, .repeat = 1}},
                                   {9, DeviceStats{.device = "cuda:0"}}});
  timeline.stop();
  EXPECT_EQ(timeline.trials.at(0).state, State::completed);
  EXPECT_EQ(timeline.trials.at(1).state, State::waiting);
  for (const int i : {1, 2}) {
    EXPECT_EQ(timeline.trainings[i].state, State::interrupted);
    EXPECT_EQ(timeline.trainings[i].end, at(9));
  }
}

// Before it starts anything it has other bounds, and asks the drivers.
TEST(Timeline, EndsWhatWasUnderWayWhereItsProcessWasLastSeenAtWork) {
  const auto timeline = timeline_of_all({{0, Started{.trial = 0, .device = "cuda:0"}},
                                         {30, DeviceStats{.device = "cuda:0"}},
                                         {60, DeviceStats{.device = "cuda:0"}},
                                         {1000, Extended{.generations = 300}},
                                         {1000, DeviceStats{.device = "cuda:0"}},
                                         {1002, Started{.trial = 0, .device = "cuda:0"}}});
  EXPECT_EQ(timeline.trainings[0].state, State::interrupted);
  EXPECT_EQ(timeline.trainings[0].end, at(60));
}

// What waited for another attempt when the run ended is taken up first where its number is lower.
TEST(Timeline, KeepsWhatAResumedRunBeganBeforeItTookUpWhatWasUnderWay) {
  const auto timeline = timeline_of_all({{0, Started{.trial = 0}},
                                         {1, Started{.trial = 1}},
                                         {2, outcome(0, hyp::Failed{.final = false})},
                                         {3, Started{.trial = 2}},
                                         {100, Started{.trial = 0, .attempt = 2}},
                                         {101, Started{.trial = 1}},
                                         {102, outcome(0, hyp::Completed{{}, 0.5})}});
  ASSERT_EQ(timeline.trainings.size(), 5U);
  for (const int i : {1, 2}) {
    EXPECT_EQ(timeline.trainings[i].state, State::interrupted);
    EXPECT_EQ(timeline.trainings[i].end, at(3));
  }
  EXPECT_EQ(timeline.trainings[3].state, State::completed);
  EXPECT_EQ(timeline.trainings[3].end_epoch, 9);
  EXPECT_EQ(timeline.trainings[4].state, State::running);
  EXPECT_THAT(timeline.ended, ElementsAre(0, 3));
}

TEST(Timeline, KeepsARepeatApartFromItsTrial) {
  auto repeated = outcome(0, hyp::Completed{{}, 0.25}, 3);
  repeated.repeat = 1;
  const auto timeline = timeline_of_all({{0, Started{.trial = 0}},
                                         {1, outcome(0, hyp::Completed{{}, 0.5})},
                                         {2, Repeating{.trial = 0, .repeat = 1}},
                                         {5, repeated}});
  EXPECT_EQ(timeline.trainings[1].repeat, 1);
  EXPECT_EQ(timeline.trainings[1].state, State::completed);
  EXPECT_THAT(timeline.trials.at(0).curve, ElementsAre(Pair(9, 0.5)));
  EXPECT_EQ(timeline.trials.at(0).seconds, 1);
}

TEST(Timeline, LeavesATrialCompletedWhoseRepeatIsSaidToHaveFailedLater) {
  const auto failed = [](bool final) {
    auto repeat = outcome(0, hyp::Failed{.kind = hyp::FailureKind::data,
                                         .final = final,
                                         .of_surroundings = !final,
                                         .unconfirmed = true});
    repeat.repeat = 1;
    return repeat;
  };
  const auto timeline = timeline_of_all({{0, Started{.trial = 0}},
                                         {1, outcome(0, hyp::Completed{{}, 0.5})},
                                         {2, Repeating{.trial = 0, .repeat = 1}},
                                         {3, failed(false)},
                                         {4, failed(true)}});
  EXPECT_EQ(timeline.trials.at(0).state, State::completed);
  ASSERT_EQ(timeline.failures.size(), 1U);
  EXPECT_TRUE(std::get<hyp::Failed>(timeline.failures[0].second.result).final);
}

TEST(Timeline, OfAJournalWithoutTimesHasNone) {
  const JournalContents contents{
      .run = {.epochs = 9},
      .events = {Started{.trial = 0}, outcome(0, hyp::Completed{{}, 0.5})},
      .times = {core::Time{}, core::Time{}}};
  const auto timeline = timeline_of(contents);
  EXPECT_EQ(timeline.begin, core::Time{});
  EXPECT_EQ(timeline.trainings[0].begin, core::Time{});
  EXPECT_EQ(timeline.trainings[0].seconds, 1);
  EXPECT_EQ(timeline.trials.at(0).epoch, 9);
}

}  // namespace
}  // namespace evolve::results
