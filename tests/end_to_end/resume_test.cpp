// Kill it at any moment; go on as if nothing had happened.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <random>
#include <set>
#include <thread>

#include "process.hpp"

namespace evolve::test {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

/// Numbers of the trials that a screen says have completed.
std::vector<int> told(const std::string& screen) {
  std::vector<int> trials;
  for (const auto& line : lines_of(screen)) {
    if (line.starts_with("trial ") && line.find(" fitness ") != line.npos)
      trials.push_back(std::stoi(line.substr(6)));
  }
  return trials;
}

/// What a journal held when its writer was killed.
std::string whole_lines(const std::filesystem::path& run) {
  const auto text = read_file(run / "journal.jsonl");
  return text.substr(0, text.rfind('\n') + 1);
}

/// A run that is killed and resumed until it ends, or until there were enough kills.
class Killed {
 public:
  Killed(const Folder& folder, std::vector<std::string> arguments, const std::string& name)
      : folder_(folder), arguments_(std::move(arguments)), run_(folder / name), name_(name) {
    arguments_.insert(arguments_.end(), {"--output", name});
  }

  /// Kills it up to so many times, then lets it end; how often it was killed.
  int run_through(int most, std::mt19937& random) {
    int kills = 0;
    while (kills < most && killed_after(random)) ++kills;
    if (kills == most) {
      EXPECT_EQ(evolve(folder_.path(), arguments_).code, 0);
    }
    return kills;
  }

 private:
  /// One life; false when it came to its end. What the one before had finished is still there.
  bool killed_after(std::mt19937& random) {
    Process process(evolve_command(arguments_), folder_.path());
    const auto before = whole_lines(run_);
    // Mostly not before it is at work: some new line in the journal.
    if (random() % 8 != 0)
      eventually([&] { return whole_lines(run_).size() > before.size() || !alive(process.pid()); });
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 15000));
    process.signal(SIGKILL);
    const auto ended = process.wait();
    const auto after = whole_lines(run_);
    EXPECT_TRUE(after.starts_with(before)) << "the journal lost a line";
    const auto known = completed(run_);
    for (const int trial : told(ended.out)) EXPECT_TRUE(known.contains(trial)) << trial;
    if (!after.empty()) arguments_ = {"--resume", name_};
    if (ended.code == 0) return false;
    EXPECT_EQ(ended.code, 128 + SIGKILL) << ended.err;
    return ended.code == 128 + SIGKILL;
  }

  const Folder& folder_;
  std::vector<std::string> arguments_;
  std::filesystem::path run_;
  std::string name_;
};

TEST(Resume, ALaggedRunKilledAt200RandomMomentsEndsWithTheRowsOfOneThatWasNot) {
  Folder folder;
  const auto log = folder / "log";
  const std::vector<std::string> arguments = {"--trainer-command",
                                              fake_trainer("--sleep 5 --log " + log.string()),
                                              "--devices",
                                              "cpu:0,cpu:1",
                                              "--generations",
                                              "12",
                                              "--population",
                                              "10",
                                              "--lag",
                                              "4"};
  auto whole = arguments;
  whole.insert(whole.end(), {"--output", "whole"});
  ASSERT_EQ(evolve(folder.path(), whole).code, 0);

  std::mt19937 random(20);
  int kills = 0;
  for (int run = 0; kills < 200; ++run) {
    const auto name = "killed" + std::to_string(run);
    kills += Killed(folder, arguments, name).run_through(200 - kills, random);
    ASSERT_FALSE(HasFailure());
    EXPECT_EQ(completed(folder / name).size(), 120u);
    EXPECT_EQ(sorted_rows(folder / name), sorted_rows(folder / "whole"));
  }
  EXPECT_TRUE(eventually([&] {
    const auto all = pids(log);
    return std::none_of(all.begin(), all.end(), alive);
  })) << "a worker was left behind";
}

TEST(Resume, AnAsynchronousRunGoesOnWhereItStopped) {
  Folder folder;
  {
    Process process(
        evolve_command({"--trainer-command", fake_trainer("--sleep 20"), "--devices", "cpu:0,cpu:1",
                        "--trials", "40", "--population", "10", "--output", "run"}),
        folder.path());
    ASSERT_TRUE(eventually([&] { return count(journal(folder / "run"), "completed") >= 15; }));
    process.signal(SIGKILL);
    ASSERT_EQ(process.wait().code, 128 + SIGKILL);
  }
  const auto before = journal(folder / "run");
  const auto ended = evolve(folder.path(), {"--resume", "run"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  const auto after = journal(folder / "run");
  ASSERT_EQ(count(after, "completed"), 40);
  EXPECT_TRUE(std::equal(before.begin(), before.end(), after.begin()));
  std::set<int> trials;
  for (const auto& event : after) {
    if (event["event"] != "completed") continue;
    EXPECT_TRUE(trials.insert(event["trial"].get<int>()).second) << "trained twice";
  }
  EXPECT_EQ(lines_of(read_file(folder / "run/evolve.csv")).size(), 41u);
}

TEST(Resume, AFinishedRunSaysSoAndALargerOneIsExtended) {
  Folder folder;
  ASSERT_EQ(evolve(folder.path(), {"--trainer-command", fake_trainer(), "--devices", "cpu:0",
                                   "--generations", "2", "--population", "5", "--output", "run"})
                .code,
            0);
  const auto finished = evolve(folder.path(), {"--resume", "run"});
  EXPECT_EQ(finished.code, 0);
  EXPECT_THAT(finished.out, HasSubstr("finished"));
  EXPECT_EQ(count(journal(folder / "run"), "completed"), 10);

  const auto extended = evolve(folder.path(), {"--resume", "run", "--generations", "4"});
  ASSERT_EQ(extended.code, 0) << extended.err;
  EXPECT_EQ(count(journal(folder / "run"), "completed"), 20);
  EXPECT_EQ(lines_of(read_file(folder / "run/evolve.csv")).size(), 21u);

  const auto again = evolve(folder.path(), {"--resume", "run"});
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_EQ(count(journal(folder / "run"), "completed"), 20);
}

TEST(Resume, AFinishedRunIsNotExtendedByABoundThatIsNoLarger) {
  Folder folder;
  finish_trials(folder, 3);
  const auto before = read_file(folder / "run/journal.jsonl");
  for (const auto* option : {"--generations", "--trials"})
    for (const auto* value : {"1", "3"}) {
      const auto ended = evolve(folder.path(), {"--resume", "run", option, value});
      EXPECT_EQ(ended.code, 0) << ended.err;
      EXPECT_THAT(ended.out, HasSubstr("3 of 3 trials done, finished; extend it with --trials 4 "));
      EXPECT_EQ(read_file(folder / "run/journal.jsonl"), before) << option << " " << value;
    }
}

TEST(Resume, AFinishedRunHasItsFilesAgain) {
  Folder folder;
  const auto ended =
      evolve(folder.path(), {"--trainer-command", fake_trainer(), "--devices", "npu:0", "--trials",
                             "8", "--repeats", "2", "--population", "4", "--output", "run"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  std::map<std::string, std::string> files;
  for (const std::string name : {"evolve.csv", "hyp_evolved.yaml", "evolve_population.yaml",
                                 "repeats.csv", "evolve.png", "report.html", "metrics.prom"}) {
    files[name] = read_file(folder / "run" / name);
    EXPECT_NE(files[name], "") << name;
    std::filesystem::remove(folder / "run" / name);
  }
  EXPECT_EQ(evolve(folder.path(), {"--resume", "run"}).code, 0);
  for (const auto& [name, text] : files) {
    const auto again = read_file(folder / "run" / name);
    EXPECT_NE(again, "") << name;
    if (name.ends_with(".csv") || name.ends_with(".yaml")) {
      EXPECT_EQ(again, text);
    }
  }
}

TEST(Resume, WritesTheOptionsThatItGoesOnWith) {
  Folder folder;
  finish_trials(folder, 3);
  std::filesystem::remove(folder / "run/opt.yaml");
  ASSERT_EQ(evolve(folder.path(), {"--resume", "run", "--trials", "5"}).code, 0);
  EXPECT_THAT(read_file(folder / "run/opt.yaml"), HasSubstr("trials: 5\n"));
}

TEST(Resume, InAnotherFolderSaysWhereTheRelativePathsOfItsTrainerWere) {
  Folder folder;
  const auto began = folder / "began";
  std::filesystem::create_directory(began);
  std::filesystem::create_symlink(FAKE_TRAINER_BINARY, began / "trainer");
  const std::vector<std::string> resume = {"--resume", (folder / "run").string(), "--trials", "4"};
  ASSERT_EQ(evolve(began, {"--trainer-command", "./trainer", "--devices", "cpu:0", "--trials", "2",
                           "--output", "../run"})
                .code,
            0);
  const auto elsewhere = evolve(folder.path(), resume);
  EXPECT_EQ(elsewhere.code, 2);
  EXPECT_THAT(elsewhere.err, HasSubstr("'./trainer' cannot be started"));
  EXPECT_THAT(elsewhere.out, StartsWith("the run began in " + began.string() + ": "));
  const auto there = evolve(began, resume);
  EXPECT_EQ(there.code, 0) << there.err;
  EXPECT_THAT(there.out, Not(HasSubstr("began in")));
}

TEST(Resume, IsToldAgainWhatItWasToldAboutHowItRuns) {
  Folder folder;
  finish_trials(folder, 3);
  const auto ended =
      evolve(folder.path(), {"--resume", "run", "--trials", "900", "--retries", "0", "--device",
                             "cpu:0", "--cache", "none", "--time-limit", "0.2s"});
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("Go on with:\n  evolve --resume run --cache none --devices "
                                   "cpu:0 --retries 0 --time-limit 0.2s\n"));
}

TEST(Resume, InAFolderThatIsGoneSaysSo) {
  Folder folder;
  finish_trials(folder, 3);
  const auto command = "mkdir gone && cd gone && rmdir ../gone && exec '" EVOLVE_BINARY
                       "' --resume '" +
                       (folder / "run").string() + "'";
  const auto ended = Process({"/bin/sh", "-c", command}, folder.path()).wait();
  EXPECT_EQ(ended.code, 2);
  EXPECT_EQ(ended.err,
            "evolve: the current folder: No such file or directory; check the path and its "
            "permissions\n");
}

TEST(Resume, WithoutAFolderTakesTheNewestRun) {
  Folder folder;
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(evolve(folder.path(),
                     {"--trainer-command", fake_trainer(), "--devices", "cpu:0", "--trials", "2"})
                  .code,
              0);
  }
  ASSERT_EQ(evolve(folder.path(), {"--resume", "--trials", "4"}).code, 0);
  EXPECT_EQ(count(journal(folder / "runs/evolve/exp"), "completed"), 2);
  EXPECT_EQ(count(journal(folder / "runs/evolve/exp2"), "completed"), 4);
}

TEST(Resume, ATornLastLineIsCutOffAndSaid) {
  Folder folder;
  finish_trials(folder, 3);
  const auto text = read_file(folder / "run/journal.jsonl");
  write_file(folder / "run/journal.jsonl", text.substr(0, text.size() - 10));
  const auto ended = evolve(folder.path(), {"--resume", "run"});
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.out + ended.err, HasSubstr("torn"));
  EXPECT_EQ(count(journal(folder / "run"), "completed"), 3);
}

TEST(Resume, ADamagedMiddleIsRefusedWithItsLine) {
  Folder folder;
  finish_trials(folder, 3);
  auto lines = lines_of(read_file(folder / "run/journal.jsonl"));
  lines[2] = lines[2].substr(0, lines[2].size() / 2);
  std::string text;
  for (const auto& line : lines) text += line + "\n";
  write_file(folder / "run/journal.jsonl", text);
  const auto ended = evolve(folder.path(), {"--resume", "run"});
  EXPECT_EQ(ended.code, 2);
  EXPECT_THAT(ended.err, HasSubstr("journal.jsonl:3: "));
  EXPECT_EQ(read_file(folder / "run/journal.jsonl"), text);
}

TEST(Resume, ASecondCoordinatorOnTheSameRunIsRefused) {
  Folder folder;
  Process process(evolve_command({"--trainer-command", fake_trainer("--sleep 50"), "--devices",
                                  "cpu:0", "--output", "run"}),
                  folder.path());
  ASSERT_TRUE(eventually([&] { return !journal(folder / "run").empty(); }));
  const auto second = evolve(folder.path(), {"--resume", "run"});
  EXPECT_EQ(second.code, 2);
  EXPECT_EQ(lines_of(second.err).size(), 1u) << second.err;
  process.signal(SIGINT);
  EXPECT_EQ(process.wait(60).code, 130);
}

TEST(Resume, RefusesASpaceAndAStartThatAreNotWhatTheyWere) {
  Folder folder;
  write_file(folder / "s.yaml", "lr0: [0.001, 0.1]\n");
  write_file(folder / "h.yaml", "lr0: 0.01\n");
  ASSERT_EQ(
      evolve(folder.path(), {"--trainer-command", fake_trainer(), "--space", "s.yaml", "--hyp",
                             "h.yaml", "--trials", "1", "--output", "run", "--devices", "cpu:0"})
          .code,
      0);
  const std::vector<std::string> again = {"--resume", "run",    "--space",  "s.yaml",
                                          "--hyp",    "h.yaml", "--trials", "2"};
  EXPECT_EQ(evolve(folder.path(), again).code, 0);
  write_file(folder / "s.yaml", "lr0: [0.001, 0.1]\nbox: [0.02, 0.2]\n");
  const auto other = evolve(folder.path(), again);
  EXPECT_EQ(other.code, 2);
  EXPECT_EQ(other.err,
            "evolve: --space: not what it was when the run began; leave the option out, or start a "
            "new run with --from and this one\n");
  write_file(folder / "s.yaml", "lr0: [0.001, 0.1]\n");
  write_file(folder / "h.yaml", "lr0: 0.02\n");
  EXPECT_THAT(evolve(folder.path(), again).err, HasSubstr("--hyp: not what it was when"));
  EXPECT_EQ(evolve(folder.path(), {"--resume", "run", "--trials", "3"}).code, 0);
}

TEST(Resume, RefusesAPopulationThatIsNotWhatItWas) {
  Folder folder;
  write_file(folder / "p.yaml", "gen0number0: {lr0: 0.02}\n");
  const auto trainer = fake_trainer();
  ASSERT_EQ(evolve(folder.path(),
                   {"--trainer-command", trainer, "--resume_evolve", "p.yaml", "--evolve-genes",
                    "all", "--devices", "cpu:0", "--trials", "2", "--output", "run"})
                .code,
            0);
  const std::vector<std::string> again = {"--resume", "run",      "--resume_evolve",
                                          "p.yaml",   "--trials", "3"};
  EXPECT_EQ(evolve(folder.path(), again).code, 0);
  write_file(folder / "p.yaml", "gen0number0: {lr0: 0.03}\n");
  const auto other = evolve(folder.path(), again);
  EXPECT_EQ(other.code, 2);
  EXPECT_THAT(other.err, HasSubstr("--resume_evolve: not what it was when the run began; "));
}

TEST(Resume, RefusesAnotherValueForWhatTheRunIs) {
  Folder folder;
  const std::vector<std::string> arguments = {
      "--trainer-command", fake_trainer(), "--devices", "cpu:0", "--trials", "2", "--seed", "3",
      "--output",          "run"};
  ASSERT_EQ(evolve(folder.path(), arguments).code, 0);
  const auto ended = evolve(folder.path(), {"--resume", "run", "--seed", "4"});
  EXPECT_EQ(ended.code, 2);
  EXPECT_THAT(ended.err, HasSubstr("--seed 4"));
}

TEST(Resume, FromAnotherFolderMissesTheScriptOfAWorkerBeforeATrialStarts) {
  Folder folder;
  std::filesystem::create_directory(folder / "a");
  std::filesystem::create_directory(folder / "b");
  write_file(folder / "a/worker.sh", "exec " + fake_trainer() + "\n");
  ASSERT_EQ(evolve(folder / "a", {"--trainer-command", "sh worker.sh", "--devices", "cpu:0",
                                  "--trials", "2", "--output", "run"})
                .code,
            0);
  const auto resumed = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"--resume", "../a/run", "--trials", "3"});
    return evolve(folder / "b", more);
  };
  const auto missed = resumed({});
  EXPECT_EQ(missed.code, 2);
  EXPECT_THAT(missed.err, HasSubstr("worker.sh: No such file or directory; restore it, or say with "
                                    "--trainer-command where it is now"));
  const auto ended = resumed({"--trainer-command", "sh ../a/worker.sh"});
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(count(journal(folder / "a/run"), "completed"), 3);
}

}  // namespace
}  // namespace evolve::test
