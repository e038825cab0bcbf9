// Trials of real processes that are paused and go on: epochs are the budget, and none is trained
// twice.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <random>
#include <set>
#include <sstream>

#include "process.hpp"

namespace evolve::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

/// Trials of 9 epochs.
std::vector<std::string> arguments(const std::string& devices, const std::string& output,
                                   const std::vector<std::string>& more = {},
                                   const std::string& trainer = "--pauses",
                                   const std::string& max_epochs = "150") {
  std::vector<std::string> all = {"--trainer-command", fake_trainer(trainer + " --epochs epochs"),
                                  "--devices",         devices,
                                  "--epochs",          "9",
                                  "--max-epochs",      max_epochs,
                                  "--output",          output};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

/// A fitness that is no number where nothing was learnt.
const std::vector<std::string> none_at_0 = {"--fitness", "2*P*R/(P+R)"};

/// The epochs that trainers have trained, by trial, in the order in which they were.
std::map<int, std::vector<int>> trained(const Folder& folder) {
  std::map<int, std::vector<int>> epochs;
  std::istringstream lines(read_file(folder / "epochs"));
  for (int trial = 0, epoch = 0; lines >> trial >> epoch;) epochs[trial].push_back(epoch);
  return epochs;
}

int sum(const std::map<int, std::vector<int>>& epochs) {
  int all = 0;
  for (const auto& [trial, of_trial] : epochs) all += static_cast<int>(of_trial.size());
  return all;
}

std::vector<int> up_to(int last) {
  std::vector<int> epochs;
  for (int epoch = 1; epoch <= last; ++epoch) epochs.push_back(epoch);
  return epochs;
}

/// How each trial stands at the end: its set, and the epochs that it has been trained for.
std::map<int, std::pair<json, int>> standings(const std::filesystem::path& run) {
  std::map<int, std::pair<json, int>> found;
  for (const auto& event : journal(run)) {
    const int trial = event.value("trial", -1);
    if (event["event"] == "started") found[trial].first = event["hyp"];
    if (event["event"] == "paused") found[trial].second = event["epoch"];
    if (event["event"] == "completed") found[trial].second = 9;
  }
  return found;
}

TEST(Pause, AndAFurtherAttemptLeaveATrialItsSeed) {
  Folder folder;
  const auto trainer = "--pauses --forgets --seen " + (folder / "seen").string();
  ASSERT_EQ(evolve(folder.path(), arguments("cpu:0", "run", {"--retries", "1"}, trainer)).code, 0);
  std::map<int, json> seeds;
  int again = 0;
  for (const auto& one : seen(folder)) {
    const auto [known, is_new] = seeds.emplace(one["trial"], one["seed"]);
    EXPECT_EQ(known->second, one["seed"]) << one["trial"];
    if (!is_new) ++again;
  }
  EXPECT_GE(again, 6) << "some go on, crash, and begin anew";
}

TEST(Pause, LetsTrialsThatPromiseLittleWaitAndTrainsNoEpochTwice) {
  Folder folder;
  const auto ended = evolve(folder.path(), arguments("cpu:0", "run"));
  ASSERT_EQ(ended.code, 0) << ended.err;
  const auto epochs = trained(folder);
  EXPECT_LE(sum(epochs), 150);
  EXPECT_GT(sum(epochs), 141);
  int paused = 0, completed = 0;
  for (const auto& [trial, of_trial] : epochs) {
    const int last = static_cast<int>(of_trial.size());
    EXPECT_EQ(of_trial, up_to(last)) << trial;
    EXPECT_TRUE(last == 1 || last == 3 || last == 9) << last;
    last == 9 ? ++completed : ++paused;
  }
  EXPECT_GT(paused, completed);
  EXPECT_GE(completed, 3);
  std::map<int, int> waits;
  std::set<int> gone_on;
  for (const auto& event : journal(folder / "run")) {
    const int trial = event.value("trial", -1);
    if (event["event"] == "paused") waits[trial] = event["epoch"];
    if (event["event"] != "started") continue;
    EXPECT_EQ(event.value("start_epoch", 0), waits[trial]);
    if (waits[trial] > 0) gone_on.insert(trial);
  }
  EXPECT_FALSE(gone_on.empty());
  EXPECT_EQ(lines_of(read_file(folder / "run/evolve.csv")).size(), 1u + completed);
  EXPECT_THAT(ended.out, HasSubstr("\n" + std::to_string(paused) + " of " +
                                   std::to_string(epochs.size()) + " trials are still paused, " +
                                   std::to_string(gone_on.size()) + " went on after a pause: "));
  EXPECT_THAT(prometheus(folder / "run"), HasSubstr("\nevolve_trials_planned{run=\"run\"} " +
                                                    std::to_string(epochs.size()) + "\n"));
}

TEST(Pause, NeedsAWholeTrainingAtLeast) {
  Folder folder;
  const auto ended =
      evolve(folder.path(), {"--trainer-command", fake_trainer(), "--devices", "cpu:0", "--epochs",
                             "9", "--max-epochs", "8", "--output", "run"});
  EXPECT_EQ(ended.code, 2);
  EXPECT_THAT(ended.err, HasSubstr("--max-epochs 8: too few for one whole training of 9 epochs"));
  EXPECT_THAT(ended.err, HasSubstr("write 9 or more"));
}

TEST(Pause, HappensNeitherWithNoEarlyStopNorInTheClassicSearch) {
  const std::vector<std::vector<std::string>> all = {{"--no-early-stop"}, {"--search", "classic"}};
  for (const auto& more : all) {
    Folder folder;
    const auto ended = evolve(folder.path(), arguments("cpu:0", "run", more));
    ASSERT_EQ(ended.code, 0) << ended.err;
    const auto events = journal(folder / "run");
    EXPECT_EQ(count(events, "completed"), 16) << more[0];  // 144 epochs
    EXPECT_EQ(count(events, "paused"), 0);
    EXPECT_EQ(sum(trained(folder)), 144);
  }
}

TEST(Pause, CountsTheEpochsOfRepeatsToo) {
  Folder folder;
  const auto ended =
      evolve(folder.path(), arguments("cpu:0", "run", {"--repeats", "3"}, "--pauses --noise"));
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.out, StartsWith("123 epochs of training, then 3 repeats of the best on "));
  EXPECT_EQ(count(journal(folder / "run"), "repeated"), 3);
  EXPECT_LE(sum(trained(folder)), 150);
  EXPECT_GT(sum(trained(folder)), 141);
}

TEST(Pause, IsNotAskedOfATrainerThatCannot) {
  Folder folder;
  const auto ended = evolve(folder.path(), arguments("cpu:0,cpu:1", "run", {}, "--rungs"));
  ASSERT_EQ(ended.code, 0) << ended.err;
  const auto events = journal(folder / "run");
  EXPECT_EQ(count(events, "cannot_pause"), 1);
  EXPECT_THAT(ended.out,
              HasSubstr("\nthe trainer does not pause: sets are trained whole from now on\n"));
  EXPECT_EQ(count(events, "paused"), 0);
  EXPECT_GE(count(events, "completed"), 15);
  EXPECT_LE(sum(trained(folder)), 150);
}

TEST(Pause, OfATrainerThatCannotIsPromisedToNoTrial) {
  const std::string devices = "gcu:0,gcu:1,gcu:2,gcu:3,gcu:4,gcu:5,gcu:6,gcu:7";
  for (const std::string trainer : {"--rungs", ""}) {
    Folder folder;
    const auto ended = evolve(folder.path(), arguments(devices, "run", {}, trainer, "40"));
    ASSERT_EQ(ended.code, 0) << ended.err;
    EXPECT_EQ(count(journal(folder / "run"), "completed"), 4) << trainer;
    EXPECT_EQ(sum(trained(folder)), 36) << trainer;
  }
}

TEST(Pause, IsAskedOfNoWorkerThatCannotThoughAnotherOneCan) {
  Folder folder;
  const auto trainer = "sh -c 'case $EVOLVE_DEVICE in npu:0) exec " + fake_trainer("--pauses") +
                       ";; *) exec " + fake_trainer("--rungs") + ";; esac'";
  const auto ended =
      evolve(folder.path(), {"--trainer-command", trainer, "--devices", "npu:0,npu:1", "--epochs",
                             "9", "--max-epochs", "180", "--output", "run"});
  EXPECT_EQ(ended.code, 0) << ended.err;
  const auto events = journal(folder / "run");
  EXPECT_EQ(count(events, "cannot_pause"), 1);
  for (const auto& event : events) {
    if (event["event"] == "paused") {
      EXPECT_EQ(event["device"], "npu:0");
    }
  }
}

TEST(Pause, LetsNoOtherSlotWaitForAWorkerThatIsNotReady) {
  Folder folder;
  const auto trainer =
      "sh -c 'case $EVOLVE_DEVICE in npu:0) until test -e go; do sleep .1; done; "
      "esac; exec " +
      fake_trainer("--pauses") + "'";
  Process process(evolve_command({"--trainer-command", trainer, "--devices", "npu:0,npu:1",
                                  "--epochs", "9", "--max-epochs", "60", "--output", "run"}),
                  folder.path());
  const auto on_the_other = [&] {
    return std::ranges::any_of(journal(folder / "run"), [](const auto& event) {
      return event["event"] == "paused" && event["device"] == "npu:1";
    });
  };
  EXPECT_TRUE(eventually(on_the_other));
  write_file(folder / "go", "");
  EXPECT_EQ(process.wait().code, 0);
}

TEST(Pause, OfATrainerThatIgnoresItsRungsIsNone) {
  Folder folder;
  const auto ended = evolve(
      folder.path(), {"--trainer-command", fake_trainer("--runs-on"), "--devices", "cpu:0,cpu:1",
                      "--epochs", "9", "--max-epochs", "150", "--output", "run"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  // Each trial takes its nine epochs, wherever it was to be paused.
  EXPECT_EQ(count(journal(folder / "run"), "completed"), 150 / 9);
  EXPECT_EQ(count(journal(folder / "run"), "paused"), 0);
  EXPECT_EQ(count(journal(folder / "run"), "failed"), 0);
}

TEST(Pause, OfATrainerThatAlwaysFailsThereCostsThreeTrials) {
  Folder folder;
  const auto ended = evolve(
      folder.path(), arguments("cpu:0", "run", {"--retries", "0"}, "--pauses --crashes-at-pauses"));
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("the trainer does not pause: sets are trained whole from now"));
  const auto events = journal(folder / "run");
  EXPECT_EQ(count(events, "failed"), 3);
  EXPECT_GE(count(events, "completed"), 15);
  const auto known =
      std::ranges::find(events, "cannot_pause", [](const auto& e) { return e["event"]; });
  for (auto after = known; after != events.end(); ++after)
    EXPECT_FALSE(after->contains("pause_epoch")) << *after;
}

TEST(Pause, OfTrialsWithoutAFitnessThereIsNotWhatFails) {
  Folder folder;
  const auto ended =
      evolve(folder.path(), arguments("cpu:0", "run", none_at_0, "--pauses --learns-never 3"));
  EXPECT_EQ(ended.code, 0) << ended.err;
  const auto events = journal(folder / "run");
  EXPECT_EQ(count(events, "failed"), 3);
  EXPECT_EQ(count(events, "cannot_pause"), 0);
  EXPECT_GT(count(events, "paused"), 0);
}

TEST(Pause, IsAskedOfATrainerStillThatHasEndedATrainingByItself) {
  Folder folder;
  const auto ended = evolve(
      folder.path(), {"--trainer-command", fake_trainer("--pauses --ends-early 4"), "--devices",
                      "cpu:0", "--epochs", "27", "--max-epochs", "400", "--output", "run"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  const auto events = journal(folder / "run");
  EXPECT_EQ(count(events, "cannot_pause"), 0);
  EXPECT_GT(std::ranges::count_if(
                events,
                [](const auto& event) { return event["event"] == "paused" && event["trial"] > 4; }),
            0);
}

TEST(Pause, OfATrainerThatCannotGoOnCostsNoTrial) {
  Folder folder;
  const auto ended =
      evolve(folder.path(), arguments("cpu:0", "run", {"--retries", "1"}, "--pauses --forgets"));
  ASSERT_EQ(ended.code, 0) << ended.err;
  int continued = 0, completed = 0, failed = 0;
  std::map<int, int> crashes;
  for (const auto& event : journal(folder / "run")) {
    if (event["event"] == "started" && event.value("start_epoch", 0) > 0) ++continued;
    if (event["event"] == "completed") ++completed;
    if (event["event"] != "failed") continue;
    if (event["final"]) continue;
    ++crashes[event["trial"].get<int>()];
    ++failed;
  }
  EXPECT_GE(completed, 3);
  // Each tries once to go on, and then begins anew, as long as there are epochs for that.
  EXPECT_GE(failed, 3);
  EXPECT_LE(continued, failed + 2);
  const auto epochs = trained(folder);
  for (const auto& [trial, of_trial] : epochs)
    EXPECT_LE(std::ranges::count(of_trial, 1), 1 + crashes[trial]) << trial;
  EXPECT_LE(sum(epochs), 150);
  EXPECT_GT(sum(epochs), 141);
  EXPECT_THAT(prometheus(folder / "run"), HasSubstr("evolve_epochs_trained_total{run=\"run\"} " +
                                                    std::to_string(sum(epochs)) + "\n"));
}

TEST(Pause, EndsATrialWithTheRunAndGoesOnWhenItIsExtended) {
  Folder folder;
  ASSERT_EQ(evolve(folder.path(), arguments("cpu:0", "run", {}, "--pauses", "75")).code, 0);
  ASSERT_GT(count(journal(folder / "run"), "paused"), 0);
  const auto finished = evolve(folder.path(), {"--resume", "run"});
  EXPECT_EQ(finished.code, 0);
  EXPECT_THAT(finished.out, HasSubstr("finished; extend it with --max-epochs "));
  const auto no_more_trials = evolve(folder.path(), {"--resume", "run", "--trials", "1"});
  EXPECT_THAT(no_more_trials.out, HasSubstr("finished; extend it with --max-epochs "))
      << "those that wait go on";
  const auto ended = evolve(folder.path(), {"--resume", "run", "--max-epochs", "125"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  const auto after = trained(folder);
  EXPECT_LE(sum(after), 125);
  EXPECT_GT(sum(after), 116);
  for (const auto& [trial, epochs] : after)
    EXPECT_EQ(epochs, up_to(static_cast<int>(epochs.size()))) << trial;
}

TEST(Pause, WithALagIsOfTheSameTrialsOnAnyNumberOfSlots) {
  Folder folder;
  for (const std::string devices : {"cpu:0", "cpu:0,cpu:1", "gcu:0,gcu:1,gcu:2"}) {
    const auto command = arguments(devices, devices, {"--lag", "3"}, "--pauses", "75");
    ASSERT_EQ(evolve(folder.path(), command).code, 0) << devices;
    EXPECT_EQ(standings(folder / devices), standings(folder / "cpu:0")) << devices;
  }
  // Some trials went on.
  EXPECT_GT(count(journal(folder / "cpu:0"), "started"), std::ssize(standings(folder / "cpu:0")));
}

TEST(Pause, SurvivesKillsAtRandomMoments) {
  Folder folder;
  ASSERT_EQ(
      evolve(folder.path(), arguments("cpu:0,cpu:1", "whole", {"--lag", "2"}, "--pauses", "75"))
          .code,
      0);
  std::mt19937 random(21);
  for (const std::vector<std::string>& lag : {std::vector<std::string>{"--lag", "2"}, {}}) {
    const std::string name = lag.empty() ? "free" : "killed";
    const auto command = arguments("cpu:0,cpu:1", name, lag, "--pauses --sleep 40", "75");
    EXPECT_GE(killed_at_random(folder, name, command, 400, random), 3);
    EXPECT_THAT(standings(folder / name), Not(IsEmpty()));
  }
  EXPECT_EQ(standings(folder / "killed"), standings(folder / "whole"));
}

TEST(Pause, IsNoneWhereTheFitnessIsNotANumberYet) {
  Folder folder;
  const auto ended = evolve(
      folder.path(), {"--trainer-command", fake_trainer("--pauses --learns-late"), "--devices",
                      "cpu:0", "--epochs", "9", "--generations", "3", "--population", "8",
                      "--max-epochs", "120", "--fitness", "2*P*R/(P+R)", "--output", "run"});
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.out, Not(HasSubstr("nan")));
  const auto events = journal(folder / "run");
  EXPECT_EQ(count(events, "paused"), 0);
  EXPECT_EQ(count(events, "failed"), 0);
  EXPECT_EQ(count(events, "completed"), 13);  // 117 of 120 epochs
}

TEST(Pause, IsThereForTheOthersWhereOneTrialHadNoFitnessAtItsLook) {
  Folder folder;
  const auto ended =
      evolve(folder.path(), arguments("cpu:0", "run", none_at_0, "--pauses --late-trial 5", "200"));
  EXPECT_EQ(ended.code, 0) << ended.err;
  const auto events = journal(folder / "run");
  EXPECT_EQ(count(events, "cannot_pause"), 0);
  const auto of_the_late = [&](const std::string& name) {
    return std::ranges::count_if(
        events, [&](const auto& event) { return event["event"] == name && event["trial"] == 5; });
  };
  EXPECT_EQ(of_the_late("paused"), 0);
  EXPECT_EQ(of_the_late("completed"), 1);
  const auto late = std::ranges::find_if(events, [](const auto& event) {
    return event["event"] == "completed" && event["trial"] == 5;
  });
  EXPECT_GT(std::count_if(late, events.end(),
                          [](const auto& event) { return event["event"] == "paused"; }),
            0);
}

TEST(Pause, OfTrialsWithoutAFitnessAtTheirLookTakesNoEpochThatIsNotThere) {
  Folder folder;
  const auto ended = evolve(
      folder.path(), {"--trainer-command", fake_trainer("--pauses --learns-late --epochs epochs"),
                      "--devices", "gcu:0,gcu:1,gcu:2", "--device-env", "GCU", "--epochs", "9",
                      "--max-epochs", "21", "--fitness", "2*P*R/(P+R)", "--output", "run"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_LE(sum(trained(folder)), 21);
}

TEST(Pause, LeavesATrialNoMoreTimeInAllThanItsTimeout) {
  Folder folder;
  evolve(folder.path(), {"--trainer-command", fake_trainer("--pauses --sleep 700"), "--devices",
                         "cpu:0", "--epochs", "9", "--generations", "1", "--population", "6",
                         "--trial-timeout", "1s", "--retries", "0", "--output", "run"});
  EXPECT_EQ(event(folder, "failed")["kind"], "timeout");
}

}  // namespace
}  // namespace evolve::test
