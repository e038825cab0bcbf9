// The best trials trained again at the end of a run. In the classic search, which has no model that
// is in doubt: the best ones, each as often.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <map>
#include <set>

#include "process.hpp"

namespace evolve::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using Events = std::vector<nlohmann::json>;

std::vector<std::string> with(std::vector<std::string> arguments, const std::string& trainer) {
  arguments.insert(arguments.begin(),
                   {"--search", "classic", "--trainer-command", fake_trainer(trainer), "--output",
                    "run", "--devices", "cpu:0,cpu:1"});
  return arguments;
}

/// Fitness by trial of the events of a kind.
std::map<int, double> fitness(const Events& events, const std::string& kind) {
  std::map<int, double> fitness;
  for (const auto& event : events) {
    if (event["event"] != kind) continue;
    EXPECT_TRUE(fitness.emplace(event["trial"], event["fitness"]).second) << "twice: " << event;
  }
  return fitness;
}

/// The `count` trials of greatest fitness.
std::vector<int> best(const Events& events, std::size_t count) {
  std::vector<std::pair<double, int>> order;
  for (const auto& [trial, value] : fitness(events, "completed")) order.emplace_back(-value, trial);
  std::sort(order.begin(), order.end());
  std::vector<int> trials;
  for (std::size_t i = 0; i < count; ++i) trials.push_back(order[i].second);
  std::sort(trials.begin(), trials.end());
  return trials;
}

std::vector<int> repeated(const Events& events) {
  std::vector<int> trials;
  for (const auto& [trial, value] : fitness(events, "repeated")) trials.push_back(trial);
  return trials;
}

std::size_t lines(const std::filesystem::path& file) {
  return lines_of(read_file(file)).size();
}

TEST(Repeats, TrainTheBestAgainWithOtherSeedsAndCountAsTrials) {
  Folder folder;
  const auto ended = evolve(folder.path(), with({"--trials", "12", "--repeats", "3"}, "--noise"));
  ASSERT_EQ(ended.code, 0) << ended.err;
  const auto events = journal(folder / "run");
  EXPECT_EQ(count(events, "completed"), 9);
  EXPECT_EQ(repeated(events), best(events, 3));
  EXPECT_EQ(lines(folder / "run/evolve.csv"), 10U);
  EXPECT_EQ(lines(folder / "run/repeats.csv"), 4U);
  EXPECT_THAT(ended.out, HasSubstr("Trained again with other seeds: trial "));

  const auto first = fitness(events, "completed"), again = fitness(events, "repeated");
  for (const auto& event : events) {
    if (event["event"] != "repeating") continue;
    const int trial = event["trial"];
    EXPECT_NE(again.at(trial), first.at(trial)) << "the same seed";
    EXPECT_TRUE(exists(folder / fmt::format("run/trials/{:06}/repeat/log", trial)));
  }
  // The best stays the first row of greatest fitness, whatever its repeat gave.
  const auto top = std::max_element(first.begin(), first.end(),
                                    [](auto& a, auto& b) { return a.second < b.second; });
  EXPECT_THAT(ended.out, HasSubstr(fmt::format("Recommended: trial {}, ", top->first)));
}

TEST(Repeats, GoOnAfterAKillWithThoseThatAreMissing) {
  Folder folder;
  const auto arguments = with({"--trials", "14", "--repeats", "6"}, "--noise --sleep 400");
  {
    Process process(evolve_command(arguments), folder.path());
    ASSERT_TRUE(eventually([&] { return count(journal(folder / "run"), "repeated") >= 2; }));
    process.signal(SIGKILL);
    ASSERT_EQ(process.wait().code, 128 + SIGKILL);
  }
  const auto before = journal(folder / "run");
  ASSERT_LT(count(before, "repeated"), 6);
  const auto ended = evolve(folder.path(), {"--resume", "run", "--trials", "14"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr(fmt::format("8 of 8 trials and {} of 6 repeats done, going on",
                                               count(before, "repeated"))));
  const auto after = journal(folder / "run");
  EXPECT_TRUE(std::equal(before.begin(), before.end(), after.begin()));
  EXPECT_EQ(repeated(after), best(after, 6));
  EXPECT_EQ(lines(folder / "run/repeats.csv"), 7U);
  // A repeat that was under way has the same seed again.
  std::map<int, nlohmann::json> seeds;
  for (const auto& event : after) {
    if (event["event"] != "repeating") continue;
    EXPECT_EQ(seeds.emplace(event["trial"], event["seed"]).first->second, event["seed"]);
  }
  EXPECT_EQ(evolve(folder.path(), {"--resume", "run"}).code, 0);
  EXPECT_EQ(journal(folder / "run").size(), after.size()) << "finished is finished";
}

std::vector<std::string> sorted_repeats(const std::filesystem::path& run) {
  auto rows = lines_of(read_file(run / "repeats.csv"));
  std::ranges::sort(rows);
  return rows;
}

TEST(Repeats, WithALagAreTheSameWhateverTheSlotsAndTheKills) {
  Folder folder;
  const auto arguments = [](const std::string& output, const std::string& devices,
                            const std::string& trainer = "--noise") {
    return std::vector<std::string>{"--trainer-command",
                                    fake_trainer(trainer),
                                    "--output",
                                    output,
                                    "--devices",
                                    devices,
                                    "--trials",
                                    "20",
                                    "--repeats",
                                    "6",
                                    "--lag",
                                    "3"};
  };
  const std::string three = "gcu:0,gcu:1,gcu:2";
  for (const auto& [output, devices] : {std::pair{"one", std::string("gcu:0")}, {"three", three}}) {
    const auto ended = evolve(folder.path(), arguments(output, devices));
    ASSERT_EQ(ended.code, 0) << ended.err;
  }
  ASSERT_EQ(lines(folder / "one/repeats.csv"), 7U);
  EXPECT_EQ(sorted_rows(folder / "three"), sorted_rows(folder / "one"));
  EXPECT_EQ(sorted_repeats(folder / "three"), sorted_repeats(folder / "one"));

  Process process(evolve_command(arguments("killed", three, "--noise --sleep 300")), folder.path());
  ASSERT_TRUE(eventually([&] { return count(journal(folder / "killed"), "repeated") >= 2; }));
  process.signal(SIGKILL);
  ASSERT_EQ(process.wait().code, 128 + SIGKILL);
  ASSERT_EQ(evolve(folder.path(), {"--resume", "killed"}).code, 0);
  EXPECT_EQ(sorted_repeats(folder / "killed"), sorted_repeats(folder / "one"));
}

TEST(Repeats, OfAnExtendedRunAreAsManyAgainOfItsNewBest) {
  Folder folder;
  ASSERT_EQ(evolve(folder.path(), with({"--trials", "8", "--repeats", "2"}, "")).code, 0);
  const auto before = repeated(journal(folder / "run"));
  const auto ended = evolve(folder.path(), {"--resume", "run", "--trials", "40"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  const auto events = journal(folder / "run");
  EXPECT_EQ(count(events, "completed"), 36) << "four of the 40 are repeats";
  // The best that have none yet.
  auto expected = before;
  for (std::size_t most = 1; expected.size() < 4; ++most) {
    for (const int trial : best(events, most))
      if (std::ranges::count(expected, trial) == 0) expected.push_back(trial);
  }
  std::ranges::sort(expected);
  EXPECT_EQ(repeated(events), expected);
  EXPECT_EQ(lines(folder / "run/repeats.csv"), 5U);
}

TEST(Repeats, BeginBeforeATimeLimitEndsTheRunThatGoesOnAfterwards) {
  for (const bool pauses : {false, true}) {
    Folder folder;
    std::vector<std::string> arguments{
        "--trainer-command", fake_trainer("--noise --pauses --sleep 100"),
        "--output",          "run",
        "--devices",         "cpu:0,cpu:1",
        "--repeats",         "3",
        "--time-limit",      "10s",
        "--epochs",          "9"};
    if (pauses) arguments.insert(arguments.end(), {"--max-epochs", "9000"});
    const auto ended = evolve(folder.path(), arguments);
    ASSERT_EQ(ended.code, 0) << ended.err;
    EXPECT_THAT(
        ended.out,
        AllOf(HasSubstr("\nthe time limit is near: the search ends, its repeats begin\n"),
              HasSubstr("\nStopped at the time limit after "),
              HasSubstr("; nothing finished is lost. Go on with:\n  evolve --resume run\n")));
    const auto before = journal(folder / "run");
    EXPECT_GE(count(before, "repeated"), 1);
    EXPECT_EQ(count(before, "paused") > 0, pauses);
    EXPECT_THAT(prometheus(folder / "run"), HasSubstr("\nevolve_finished{run=\"run\"} 0\n"));
    const auto end =
        std::ranges::find(before, "extended", [](const auto& event) { return event["event"]; });
    ASSERT_NE(end, before.end());
    EXPECT_TRUE((*end)["for_repeats"]);
    for (const auto& event : std::ranges::subrange(end, before.end()))
      EXPECT_TRUE(event["event"] != "started") << event;

    const auto more = evolve(folder.path(), {"--resume", "run", "--time-limit", "1h", "--trials",
                                             std::to_string(count(before, "started") + 10)});
    ASSERT_EQ(more.code, 0) << more.err;
    const auto after = journal(folder / "run");
    EXPECT_GT(count(after, "completed"), count(before, "completed"));
    EXPECT_EQ(count(after, "repeated"), count(before, "repeated") + 3);
  }
}

// Whether a set of the trials from this event on had been trained before it.
bool trains_again(const Events& events, std::ptrdiff_t from) {
  std::set<nlohmann::json> sets;
  for (const auto& event : events) {
    if (event["event"] != "started") continue;
    const bool is_new = sets.insert(event["hyp"]).second;
    if (!is_new && &event - events.data() > from) return true;
  }
  return false;
}

TEST(Repeats, OfTheBestComeInPlaceOfTheLastTrialsThatATimeLimitLetsBegin) {
  Folder folder;
  // What does not matter: of no set is it known that it is the best, however many trials there are.
  write_file(folder / "space.yaml", "shear: {low: 0, high: 10}\ndegrees: {low: 0, high: 45}\n");
  ASSERT_EQ(evolve(folder.path(),
                   {"--trainer-command", fake_trainer("--noise --sleep 80"), "--output", "run",
                    "--devices", "cpu:0,cpu:1", "--trials", "60", "--space", "space.yaml"})
                .code,
            0);
  const auto first = journal(folder / "run");
  EXPECT_EQ(count(first, "expected"), 0);
  const auto ended =
      evolve(folder.path(), {"--resume", "run", "--trials", "10000", "--time-limit", "10s"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  const auto events = journal(folder / "run");
  const auto expected =
      std::ranges::find(events, "expected", [](const auto& event) { return event["event"]; });
  ASSERT_NE(expected, events.end());
  EXPECT_EQ(count(events, "expected"), 1);
  EXPECT_GE((*expected)["trainings"], 60);
  EXPECT_TRUE(trains_again(events, expected - events.begin()));

  const auto more = std::to_string(completed(folder / "run").size() + 5);
  ASSERT_EQ(evolve(folder.path(), {"--resume", "run", "--trials", more}).code, 0);
  const auto after = journal(folder / "run");
  EXPECT_EQ(after[events.size()]["event"], "extended");
  EXPECT_EQ(after[events.size() + 1]["event"], "expected");
  EXPECT_TRUE(after[events.size() + 1]["trainings"].is_null());
}

TEST(Repeats, OfAnotherNumberAreTakenOffARunThatGoesOn) {
  Folder folder;
  const auto none_yet = with({"--trials", "10", "--repeats", "2", "--time-limit", "0"}, "");
  ASSERT_EQ(evolve(folder.path(), none_yet).code, 0);
  const auto ended =
      evolve(folder.path(), {"--resume", "run", "--time-limit", "1h", "--repeats", "5"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(count(journal(folder / "run"), "completed"), 5);
  EXPECT_EQ(count(journal(folder / "run"), "repeated"), 5);
  EXPECT_THAT(read_file(folder / "run/opt.yaml"),
              AllOf(HasSubstr("\ntrials: 10\n"), HasSubstr("\nrepeats: 5\n")));
}

TEST(Repeats, CountForTheEpochsOfARunThatIsExtended) {
  Folder folder;
  const auto arguments =
      with({"--epochs", "3", "--max-epochs", "18", "--repeats", "2", "--no-early-stop"}, "");
  ASSERT_EQ(evolve(folder.path(), arguments).code, 0);
  EXPECT_EQ(count(journal(folder / "run"), "completed"), 4);
  const auto ended = evolve(folder.path(), {"--resume", "run", "--max-epochs", "33"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(count(journal(folder / "run"), "completed"), 7);
  EXPECT_EQ(count(journal(folder / "run"), "repeated"), 4);
  EXPECT_THAT(evolve(folder.path(), {"--resume", "run"}).out,
              HasSubstr("33 of 33 epochs done in 7 trials, finished; extend it with --max-epochs "
                        "36 or more"));
  ASSERT_EQ(evolve(folder.path(), {"--resume", "run", "--max-epochs", "36"}).code, 0);
  EXPECT_EQ(count(journal(folder / "run"), "completed"), 8);
  EXPECT_EQ(count(journal(folder / "run"), "repeated"), 4) << "there was room for a trial alone";
}

TEST(Repeats, CanBeAskedForWhenARunIsFinished) {
  Folder folder;
  ASSERT_EQ(evolve(folder.path(), with({"--trials", "6"}, "")).code, 0);
  EXPECT_FALSE(exists(folder / "run/repeats.csv"));
  ASSERT_EQ(evolve(folder.path(), {"--resume", "run", "--repeats", "2"}).code, 0);
  EXPECT_EQ(repeated(journal(folder / "run")), best(journal(folder / "run"), 2));
  EXPECT_EQ(count(journal(folder / "run"), "completed"), 6);
  const auto size = journal(folder / "run").size();
  ASSERT_EQ(evolve(folder.path(), {"--resume", "run"}).code, 0);
  EXPECT_EQ(journal(folder / "run").size(), size);
}

TEST(Repeats, ThatFailAreTriedElsewhereAndNeverUndoTheTrial) {
  Folder folder;
  const auto ended =
      evolve(folder.path(),
             with({"--trials", "6", "--repeats", "2", "--retries", "1"}, "--crash-repeats"));
  ASSERT_EQ(ended.code, 0) << ended.err;
  const auto events = journal(folder / "run");
  EXPECT_EQ(count(events, "completed"), 4);
  EXPECT_EQ(count(events, "failed"), 0);
  EXPECT_EQ(count(events, "repeating"), 4);
  EXPECT_EQ(count(events, "repeated"), 0);
  std::map<int, std::string> devices;
  for (const auto& event : events) {
    if (event["event"] != "repeat_failed") continue;
    EXPECT_EQ(event["final"], event["attempt"] == 2);
    EXPECT_THAT(event["log"], testing::EndsWith("/repeat/log"));
    const auto [other, is_first] = devices.emplace(event["trial"], event["device"]);
    EXPECT_EQ(event["device"] == other->second, is_first) << "tried where it failed";
  }
  EXPECT_EQ(devices.size(), 2U);
  EXPECT_THAT(ended.out, HasSubstr(fmt::format("\n2 of 2 repeats failed, of trials {}, {}\n",
                                               devices.begin()->first, devices.rbegin()->first)));
  const auto again = evolve(folder.path(), {"--resume", "run"});
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_EQ(journal(folder / "run").size(), events.size());
}

TEST(Repeats, OfAllTrialsAreRefused) {
  Folder folder;
  const auto ended = evolve(folder.path(), with({"--trials", "4", "--repeats", "4"}, ""));
  EXPECT_EQ(ended.code, 2);
  EXPECT_EQ(lines_of(ended.err).size(), 1U);
  EXPECT_THAT(ended.err, HasSubstr("--repeats 4: with 4 trials no trial is left for the search"));
  EXPECT_FALSE(exists(folder / "run"));
}

}  // namespace
}  // namespace evolve::test
