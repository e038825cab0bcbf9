// What a run would do, as --dry-run tells it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "core/shell_word.hpp"
#include "process.hpp"

namespace evolve::test {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

TEST(Help, NamesNoCommandThatAFolderOfThatNameWouldBeTakenFor) {
  Folder folder;
  const auto help = evolve(folder.path(), {"--help"}).out;
  const auto commands = lines_of(help.substr(help.find("Subcommands:")));
  int seen = 0;
  for (std::size_t i = 1; i < commands.size() && !commands[i].empty(); ++i) {
    if (commands[i].starts_with("    ")) continue;  // its description goes on
    const auto name = commands[i].substr(2, commands[i].find(' ', 2) - 2);
    EXPECT_EQ(core::shell_folder(name), "./" + name);
    ++seen;
  }
  EXPECT_GT(seen, 0);
}

TEST(Run, ADryRunTellsThePlanAndTouchesNothing) {
  Folder folder;
  const auto ended =
      evolve(folder.path(), {"--trainer-command", fake_trainer(), "--devices", "cpu:0",
                             "--generations", "2", "--population", "5", "--dry-run"});
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.out, StartsWith("10 trials (2 generations of 5) on 1 slot: cpu:0\n"));
  EXPECT_THAT(ended.out, HasSubstr("cpu:0"));
  EXPECT_THAT(ended.out, HasSubstr("hsv_h"));
  EXPECT_THAT(ended.out, Not(HasSubstr("only --generations ends this run")));
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(Run, NamesTheFirstAndTheLastOfManySlots) {
  Folder folder;
  std::string slots = "npu:0";
  for (int i = 1; i < 40; ++i) slots += ",npu:" + std::to_string(i);
  const auto ended = evolve(folder.path(), {"--trainer-command", fake_trainer(), "--devices", slots,
                                            "--trials", "50", "--dry-run"});
  EXPECT_THAT(ended.out, StartsWith("50 trials on 40 slots: npu:0, npu:1, npu:2, … npu:39\n"))
      << ended.err;
}

TEST(Run, WithMaxEpochsAloneHasAnyNumberOfTrials) {
  Folder folder;
  const auto plan = [&](std::vector<std::string> more) {
    more.insert(more.begin(),
                {"--trainer-command", fake_trainer(), "--devices", "cpu:0", "--epochs", "1",
                 "--population", "1", "--max-epochs", "400", "--dry-run"});
    return lines_of(evolve(folder.path(), more).out).front();
  };
  EXPECT_EQ(plan({}), "400 epochs of training on 1 slot: cpu:0");
  EXPECT_EQ(plan({"--generations", "300"}),
            "400 epochs of training, at most 300 trials (300 generations of 1) on 1 slot: cpu:0");
}

TEST(Run, TellsWhatRepeatsTakeOffThePlan) {
  Folder folder;
  const auto ended = evolve(
      folder.path(), {"--trainer-command", fake_trainer(), "--devices", "cpu:0", "--generations",
                      "2", "--population", "5", "--repeats", "3", "--dry-run"});
  EXPECT_THAT(ended.out, StartsWith("10 trainings (2 generations of 5): 7 trials, then 3 repeats "
                                    "of the best on 1 slot: cpu:0\n"));
}

TEST(Run, TellsWhatYolov5MeantByTheNumberOfItsEvolve) {
  Folder folder;
  const auto ended = evolve(folder.path(), {"--trainer-command", fake_trainer(), "--devices",
                                            "cpu:0", "--evolve", "10", "--dry-run"});
  EXPECT_THAT(ended.out, StartsWith("500 trials (10 generations of 50) on 1 slot: cpu:0\n"));
  EXPECT_THAT(ended.out,
              HasSubstr("in YOLOv5 up to 7.0 --evolve 10 was 10 trainings: --trials 10"));
}

TEST(Run, DoesNotTellThatOfARunThatIsExtended) {
  Folder folder;
  evolve(folder.path(), {"--trainer-command", fake_trainer(), "--devices", "cpu:0", "--generations",
                         "1", "--population", "5", "--output", "run"});
  const auto ended = evolve(folder.path(), {"--resume", "run", "--generations", "2", "--dry-run"});
  EXPECT_THAT(ended.out, StartsWith("10 trials (2 generations of 5) on 1 slot: cpu:0\n"));
  EXPECT_THAT(ended.out, Not(HasSubstr("YOLOv5 up to 7.0")));
}

TEST(Run, InAFolderThatHoldsOneIsRefusedBeforeAnythingIsLookedAt) {
  Folder folder;
  std::vector<std::string> words = {
      "--trainer-command", fake_trainer(), "--devices", "cpu:0", "--trials", "1",
      "--output",          "run"};
  ASSERT_EQ(evolve(folder.path(), words).code, 0);
  words.insert(words.end(), {"--data", "missing.yaml"});
  for (int dry = 0; dry < 2; ++dry) {
    const auto ended = evolve(folder.path(), words);
    EXPECT_EQ(ended.code, 2);
    EXPECT_THAT(ended.err,
                HasSubstr((folder / "run").string() + ": this folder holds a run already"));
    words.push_back("--dry-run");
  }
}

TEST(Run, SaysWhatBecomesOfAPopulationThatIsNotAsItsSpaceHasIt) {
  Folder folder;
  std::filesystem::create_directory(folder / "hyps");
  write_file(folder / "hyps/a.yaml", "hsv_h: 0.5\nlr0: 0.02\nmomentum: 0.937\nfoo: 3\n");
  write_file(folder / "hyps/b.yaml", "hsv_h: 0.1\n");
  const auto ended = evolve(folder.path(), {"--trainer-command", fake_trainer(), "--devices",
                                            "cpu:0", "--dry-run", "--evolve_population", "hyps"});
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.out,
              HasSubstr("population: 1 of 2 sets outside the bounds, moved to them\npopulation: "
                        "foo, lr0 do not evolve here: kept as at the start\n"));
}

}  // namespace
}  // namespace evolve::test
