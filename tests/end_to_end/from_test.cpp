// Runs that begin where others ended: --from.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "process.hpp"

namespace evolve::test {
namespace {

using testing::HasSubstr;

std::vector<std::string> run(const std::string& output, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {"--trainer-command", fake_trainer(), "--output", output,
                                       "--devices", "cpu:0", "--trials", "8"});
  return arguments;
}

/// The sets of the trials of a run.
std::vector<nlohmann::json> sets(const std::filesystem::path& folder) {
  std::vector<nlohmann::json> sets;
  for (const auto& event : journal(folder))
    if (event["event"] == "started") sets.push_back(event["hyp"]);
  return sets;
}

TEST(From, AnEarlierRunASecondOneBeginsWithWhatWasBest) {
  Folder folder;
  ASSERT_EQ(evolve(folder.path(), run("first", {})).code, 0);
  const auto ended = evolve(folder.path(), run("second", {"--from", "first"}));
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("learns from 8 trainings of first\n"));
  const auto first = sets(folder / "first"), second = sets(folder / "second");
  EXPECT_EQ(second[0], first[0]) << "the start";
  EXPECT_NE(second[1], first[1]);
  const auto earlier = journal(folder / "second").front()["from"];
  ASSERT_EQ(earlier.size(), 1U);
  EXPECT_EQ(earlier[0]["run"], (folder / "first").string());
  EXPECT_EQ(earlier[0]["trials"].size(), 8U);
}

TEST(From, AFileOfYolov5AndAJournalAreBothKnown) {
  Folder folder;
  ASSERT_EQ(evolve(folder.path(), run("first", {})).code, 0);
  std::filesystem::copy_file(folder / "first/evolve.csv", folder / "old.csv");
  const auto ended = evolve(folder.path(), run("second", {"--from", "first,old.csv", "--dry-run"}));
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.out,
              HasSubstr("learns from 8 trainings of first\nlearns from 8 trainings of old.csv\n"));
}

TEST(From, ARunIsSaidHowManyOfItsTrainingsLieOutsideTheBounds) {
  Folder folder;
  ASSERT_EQ(evolve(folder.path(), run("first", {})).code, 0);
  write_file(folder / "space.yaml", "degrees: [0.0, 1.0e-9]\n");
  int outside = 0;
  for (const auto& set : sets(folder / "first")) outside += set["degrees"] > 1e-9;
  ASSERT_GT(outside, 0);
  ASSERT_LT(outside, 8);
  const auto words = "learns from " + std::to_string(8 - outside) + " trainings of first; " +
                     std::to_string(outside) + " more outside this run's bounds\n";
  const auto ended =
      evolve(folder.path(), run("second", {"--from", "first", "--space", "space.yaml"}));
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr(words));
  const auto again = evolve(folder.path(), {"--resume", "second", "--trials", "9", "--dry-run"});
  EXPECT_THAT(again.out, HasSubstr(words));
}

TEST(From, ARunThatIsGoneAResumedOneGoesOnAsIfItWereThere) {
  Folder folder;
  ASSERT_EQ(evolve(folder.path(), run("first", {})).code, 0);
  ASSERT_EQ(evolve(folder.path(), run("whole", {"--from", "first"})).code, 0);
  auto cut = run("cut", {"--from", "first"});
  cut[7] = "4";
  ASSERT_EQ(evolve(folder.path(), cut).code, 0);
  std::filesystem::remove_all(folder / "first");
  const auto ended = evolve(folder.path(), {"--resume", "cut", "--trials", "8"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(sets(folder / "cut"), sets(folder / "whole"));
}

TEST(From, ARunOfOtherHyperparametersNothingIsLearnt) {
  Folder folder;
  ASSERT_EQ(evolve(folder.path(), run("first", {})).code, 0);
  write_file(folder / "space.yaml", "mine: [0.0, 1.0]\nyours: [0.0, 1.0]\n");
  for (const std::string earlier : {"first", "first/evolve.csv"}) {
    const auto ended =
        evolve(folder.path(), run("run", {"--from", earlier, "--space", "space.yaml"}));
    EXPECT_EQ(ended.code, 2);
    EXPECT_THAT(ended.err, HasSubstr("no completed trial of it lies in this run's search space"));
  }
}

TEST(From, NoRunOrInTheClassicSearchIsRefusedInOneLine) {
  Folder folder;
  auto ended = evolve(folder.path(), run("run", {"--from", "exp7"}));
  EXPECT_EQ(ended.code, 2);
  EXPECT_THAT(ended.err, HasSubstr("exp7: no run is there; name the folder of a run, an "
                                   "evolve.csv, or Ultralytics' tune_results"));
  EXPECT_EQ(lines_of(ended.err).size(), 1U);
  ended = evolve(folder.path(), run("run", {"--from", "exp7", "--search", "classic"}));
  EXPECT_EQ(ended.code, 2);
  EXPECT_THAT(ended.err, HasSubstr("--from: the classic search has no model"));
  write_file(folder / "old.csv", "");
  ended = evolve(folder.path(), run("run", {"--from", "old.csv,./old.csv"}));
  EXPECT_EQ(ended.code, 2);
  EXPECT_THAT(ended.err, HasSubstr("old.csv: it is named twice; name each run once"));
  EXPECT_FALSE(std::filesystem::exists(folder / "run"));
  std::filesystem::create_directory(folder / "old");
  write_file(folder / "old/journal.jsonl", "");
  ended = evolve(folder.path(), run("run", {"--from", "old,old/journal.jsonl"}));
  EXPECT_EQ(ended.code, 2);
  EXPECT_THAT(ended.err, HasSubstr("old/journal.jsonl: it is named twice"));
}

}  // namespace
}  // namespace evolve::test
