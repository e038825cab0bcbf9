// Early stopping of real processes: the same trials stop whatever happens to the run.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "process.hpp"

namespace evolve::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

/// 100 trials of 10 epochs; --lag 4 makes them the same in every run.
std::vector<std::string> arguments(const std::string& devices, const std::string& output,
                                   const std::string& trainer = "--rungs") {
  return {"--search",      "classic", "--trainer-command", fake_trainer(trainer),
          "--devices",     devices,   "--epochs",          "10",
          "--generations", "10",      "--population",      "10",
          "--lag",         "4",       "--output",          output};
}

/// The epoch and fitness at which each stopped trial stopped.
std::map<int, std::pair<int, double>> stops(const std::filesystem::path& run) {
  std::map<int, std::pair<int, double>> found;
  for (const auto& event : journal(run)) {
    if (event["event"] == "stopped") found[event["trial"]] = {event["epoch"], event["fitness"]};
  }
  return found;
}

TEST(EarlyStop, EndsTrialsThatFallBehindAndSaysSo) {
  Folder folder;
  const auto ended = evolve(folder.path(), arguments("cpu:0,cpu:1", "run"));
  ASSERT_EQ(ended.code, 0) << ended.err;
  const auto events = journal(folder / "run");
  const auto stopped = stops(folder / "run");
  ASSERT_GE(stopped.size(), 5u);
  EXPECT_EQ(count(events, "completed") + stopped.size(), 100u);
  int saved = 0;
  for (const auto& [trial, at] : stopped) {
    EXPECT_GT(trial, 40);
    EXPECT_NE(trial % 5, 0);
    EXPECT_TRUE(at.first == 3 || at.first == 6) << at.first;
    saved += 10 - at.first;
    EXPECT_THAT(ended.out, HasSubstr("stopped after " + std::to_string(at.first) + " of 10"));
  }
  EXPECT_THAT(ended.out, HasSubstr("\n" + std::to_string(stopped.size()) +
                                   " of 100 trials stopped early: saved " + std::to_string(saved) +
                                   " of 1000 epochs\n"));
}

TEST(EarlyStop, IsJournaledWithTheRungsBeforeIt) {
  Folder folder;
  ASSERT_EQ(evolve(folder.path(), arguments("cpu:0", "run")).code, 0);
  std::map<int, std::vector<json>> rungs;
  ASSERT_THAT(stops(folder / "run"), Not(IsEmpty()));
  for (const auto& event : journal(folder / "run")) {
    const int trial = event.value("trial", -1);
    if (event["event"] == "rung") rungs[trial].push_back(event);
    if (event["event"] == "completed" && trial <= 40) {
      EXPECT_EQ(rungs[trial].size(), 2u);
    }
    if (event["event"] != "stopped") continue;
    ASSERT_THAT(rungs[trial], Not(IsEmpty()));
    for (const auto* key : {"epoch", "metrics", "fitness", "device"}) {
      EXPECT_EQ(event[key], rungs[trial].back()[key]) << key;
    }
  }
}

TEST(EarlyStop, LeavesNoRowAndNeverTheBest) {
  Folder folder;
  ASSERT_EQ(evolve(folder.path(), arguments("cpu:0", "run")).code, 0);
  const auto events = journal(folder / "run");
  ASSERT_GT(count(events, "stopped"), 0);
  EXPECT_EQ(sorted_rows(folder / "run").size(), 1u + count(events, "completed"));
  double best = 0;
  for (const auto& event : events) {
    if (event["event"] == "completed") best = std::max(best, event["fitness"].get<double>());
  }
  char text[32];
  std::snprintf(text, sizeof text, "fitness %.4f", best);
  EXPECT_THAT(evolve(folder.path(), {"--resume", "run"}).out, HasSubstr(text));
}

TEST(EarlyStop, WithALagStopsTheSameTrialsOnAnyNumberOfSlots) {
  Folder folder;
  for (const std::string devices : {"cpu:0", "cpu:0,cpu:1", "gcu:0,gcu:1,gcu:2,gcu:3"}) {
    ASSERT_EQ(evolve(folder.path(), arguments(devices, devices)).code, 0) << devices;
    EXPECT_THAT(stops(folder / devices), Not(IsEmpty()));
    EXPECT_EQ(stops(folder / devices), stops(folder / "cpu:0")) << devices;
    EXPECT_EQ(sorted_rows(folder / devices), sorted_rows(folder / "cpu:0")) << devices;
  }
}

TEST(EarlyStop, WithALagStopsTheSameTrialsAfterKillsAtRandomMoments) {
  Folder folder;
  ASSERT_EQ(evolve(folder.path(), arguments("cpu:0,cpu:1", "whole")).code, 0);
  std::mt19937 random(21);
  const auto command = arguments("cpu:0,cpu:1", "killed", "--rungs --sleep 15");
  EXPECT_GE(killed_at_random(folder, "killed", command, 250, random), 3);
  EXPECT_EQ(stops(folder / "killed"), stops(folder / "whole"));
  EXPECT_EQ(sorted_rows(folder / "killed"), sorted_rows(folder / "whole"));
}

TEST(EarlyStop, DoesNotHappenWithNoEarlyStopNorAfterAResume) {
  Folder folder;
  auto command = arguments("cpu:0", "run");
  command.push_back("--no-early-stop");
  ASSERT_EQ(evolve(folder.path(), command).code, 0);
  EXPECT_THAT(read_file(folder / "run/opt.yaml"), HasSubstr("early_stop: false\n"));
  const auto resumed = evolve(folder.path(), {"--resume", "run", "--generations", "11"});
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  const auto events = journal(folder / "run");
  EXPECT_EQ(count(events, "completed"), 110);
  EXPECT_EQ(count(events, "rung"), 0);
  EXPECT_EQ(count(events, "stopped"), 0);
  EXPECT_THAT(resumed.out, Not(HasSubstr("stopped early")));
}

TEST(EarlyStop, OfARunCannotBeSwitchedOffLater) {
  Folder folder;
  finish_trials(folder, 2);
  const auto ended = evolve(folder.path(), {"--resume", "run", "--no-early-stop"});
  EXPECT_EQ(ended.code, 2);
  EXPECT_THAT(ended.err, HasSubstr("early-stop"));
}

}  // namespace
}  // namespace evolve::test
