#include "results/prometheus.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/results/folder.hpp"

namespace evolve::results {
namespace {

using State = Timeline::State;
using testing::HasSubstr;
using testing::Not;

constexpr core::Time begin{std::chrono::seconds{1000}};

TEST(Prometheus, OfARunHasItsFiguresInTheTextFormat) {
  RunReport run{.going_on = true, .planned = 8, .epochs_trained = 25};
  run.settings.slots = {"xpu:0", "xpu:2"};
  run.timeline.slots = {"xpu:0", "xpu:1"};
  run.timeline.quarantined = {"xpu:1"};
  run.timeline.trials = {{0, {.state = State::completed, .curve = {{3, 0.5}, {10, 0.25}}}},
                         {1, {.state = State::completed, .curve = {{10, 0.125}}}},
                         {2, {.state = State::paused, .curve = {{3, 0.75}}}},
                         {3, {}}};
  run.timeline.trainings = {{.trial = 0, .device = "xpu:0", .state = State::completed},
                            {.trial = 3, .device = "xpu:0"},
                            {.trial = 1, .device = "xpu:1", .state = State::completed}};
  hyp::Outcome oom{.result = hyp::Failed{.kind = hyp::FailureKind::oom}};
  run.timeline.failures = {{begin, oom}, {begin, oom}};
  run.timeline.samples = {
      {begin, {.device = "xpu:2", .memory_total_bytes = 100, .memory_free_bytes = 80}},
      {begin, {.device = "xpu:0", .memory_total_bytes = 100, .memory_free_bytes = 80}},
      {begin,
       {.device = "xpu:0",
        .memory_total_bytes = 100,
        .memory_free_bytes = 60,
        .load_percent = 50}}};
  run.timeline.latest = begin + std::chrono::milliseconds{500};
  run.recommended = {.trial = 1, .expected = RunReport::Expectation{.mean = 0.1875}};
  EXPECT_EQ(prometheus_text(run, "/runs/exp"), R"(# HELP evolve_trials Trials by state.
# TYPE evolve_trials gauge
evolve_trials{run="/runs/exp",state="running"} 1
evolve_trials{run="/runs/exp",state="waiting"} 0
evolve_trials{run="/runs/exp",state="paused"} 1
evolve_trials{run="/runs/exp",state="completed"} 2
evolve_trials{run="/runs/exp",state="stopped"} 0
evolve_trials{run="/runs/exp",state="failed"} 0
# HELP evolve_trials_planned Trials in all; with a limit of epochs, those so far.
# TYPE evolve_trials_planned gauge
evolve_trials_planned{run="/runs/exp"} 8
# HELP evolve_failures_total Attempts that failed, by kind.
# TYPE evolve_failures_total counter
evolve_failures_total{run="/runs/exp",kind="oom"} 2
# HELP evolve_epochs_trained_total Epochs of training, of all attempts.
# TYPE evolve_epochs_trained_total counter
evolve_epochs_trained_total{run="/runs/exp"} 25
# HELP evolve_best_fitness The greatest fitness of a trial.
# TYPE evolve_best_fitness gauge
evolve_best_fitness{run="/runs/exp"} 0.25
# HELP evolve_expected_fitness What is expected of the recommended set when it is trained again.
# TYPE evolve_expected_fitness gauge
evolve_expected_fitness{run="/runs/exp"} 0.1875
# HELP evolve_device_usable 0: a device is in quarantine and gets no trials.
# TYPE evolve_device_usable gauge
evolve_device_usable{run="/runs/exp",device="xpu:0"} 1
evolve_device_usable{run="/runs/exp",device="xpu:1"} 0
# HELP evolve_device_trainings Trainings that run on a device.
# TYPE evolve_device_trainings gauge
evolve_device_trainings{run="/runs/exp",device="xpu:0"} 1
evolve_device_trainings{run="/runs/exp",device="xpu:1"} 0
# HELP evolve_device_memory_total_bytes Memory of a device.
# TYPE evolve_device_memory_total_bytes gauge
evolve_device_memory_total_bytes{run="/runs/exp",device="xpu:0"} 100
# HELP evolve_device_memory_free_bytes Memory of a device that is free.
# TYPE evolve_device_memory_free_bytes gauge
evolve_device_memory_free_bytes{run="/runs/exp",device="xpu:0"} 60
# HELP evolve_device_load_ratio How busy a device is, 0 to 1.
# TYPE evolve_device_load_ratio gauge
evolve_device_load_ratio{run="/runs/exp",device="xpu:0"} 0.5
# HELP evolve_last_event_timestamp_seconds When the journal's latest event happened.
# TYPE evolve_last_event_timestamp_seconds gauge
evolve_last_event_timestamp_seconds{run="/runs/exp"} 1000.5
# HELP evolve_going_on 1: evolve is at work on the run.
# TYPE evolve_going_on gauge
evolve_going_on{run="/runs/exp"} 1
# HELP evolve_finished 1: nothing is left to be trained.
# TYPE evolve_finished gauge
evolve_finished{run="/runs/exp"} 0
)");
}

TEST(Prometheus, OfARunWithoutAModelExpectsNothing) {
  RunReport run{.recommended = RunReport::Recommended{.trial = 0}};
  run.timeline.trials = {{0, {.state = State::completed, .curve = {{10, 0.25}}}}};
  EXPECT_THAT(prometheus_text(run, "exp"), HasSubstr("evolve_best_fitness"));
  EXPECT_THAT(prometheus_text(run, "exp"), Not(HasSubstr("evolve_expected_fitness")));
}

TEST(Prometheus, OfARunInWhichNothingHasCompletedHasNoFitness) {
  const auto text = prometheus_text({.finished = true}, "exp");
  EXPECT_THAT(text, Not(HasSubstr("fitness")));
  EXPECT_THAT(text, HasSubstr("evolve_finished{run=\"exp\"} 1\n"));
}

TEST(Prometheus, OfARunThatWasInterruptedTrainsNothing) {
  RunReport run{.settings = {.slots = {"cpu:0"}}};
  run.timeline.add(Started{.trial = 0, .device = "cpu:0"}, begin);
  run.timeline.stop();
  const auto text = prometheus_text(run, "exp");
  EXPECT_THAT(text, HasSubstr("evolve_trials{run=\"exp\",state=\"running\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("evolve_trials{run=\"exp\",state=\"waiting\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("evolve_device_trainings{run=\"exp\",device=\"cpu:0\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("evolve_going_on{run=\"exp\"} 0\n"));
}

TEST(Prometheus, KeepsANameInsideItsQuotes) {
  EXPECT_THAT(prometheus_text({}, "a\"b\\c\nd"), HasSubstr(R"({run="a\"b\\c\nd"})"));
}

TEST(Prometheus, ReplacesTheFileAsAWhole) {
  const Folder folder;
  write_file(folder / "metrics.prom", "the old one");
  const RunReport run;
  write_prometheus(folder / "metrics.prom", run, "exp");
  EXPECT_EQ(read_file(folder / "metrics.prom"), prometheus_text(run, "exp"));
}

}  // namespace
}  // namespace evolve::results
