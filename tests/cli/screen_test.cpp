#include "cli/screen.hpp"

#include <gtest/gtest.h>

namespace evolve::cli {
namespace {

TEST(Screen, TellsDurationsInTheirTwoLargestUnits) {
  EXPECT_EQ(duration_text(0), "0 s");
  EXPECT_EQ(duration_text(59.6), "1 min 00 s");
  EXPECT_EQ(duration_text(130), "2 min 10 s");
  EXPECT_EQ(duration_text(3900), "1 h 05 min");
  EXPECT_EQ(duration_text(90000), "1 d 1 h");
}

TEST(Screen, ShowsAPathAsItWouldBeTyped) {
  const auto here = std::filesystem::current_path();
  EXPECT_EQ(display_path(here / "runs/train/exp"), "runs/train/exp");
  EXPECT_EQ(display_path("shapes"), "shapes");
  EXPECT_EQ(display_path("/x"), "/x");
}

TEST(Screen, TellsWhereARunStands) {
  const RunStatus status{.planned = 48,
                         .ended = 17,
                         .generation = 1,
                         .generations = 4,
                         .highest_fitness = 0.33124,
                         .highest_trial = 12,
                         .ended_here = 10,
                         .seconds_here = 50,
                         .busy = {"cpu:0 trial 18 epoch 2/4"}};
  EXPECT_EQ(status_text(status),
            "17/48 trials · generation 2/4 · highest 0.3312 (trial 12) · 2 min 35 s left · "
            "720 trials/h · cpu:0 trial 18 epoch 2/4");
}

TEST(Screen, NamesNoGenerationWhereTrialsSayWhenTheRunEnds) {
  EXPECT_EQ(status_text({.planned = 48, .ended = 17}), "17/48 trials");
  EXPECT_EQ(status_text({.planned = 48, .ended = 17, .paused = 3}), "17/48 trials, 3 paused");
}

TEST(Screen, KnowsNoRateBeforeTheFirstTrialHasEnded) {
  const RunStatus status{.planned = 48, .generations = 4};
  EXPECT_EQ(status_text(status), "0/48 trials · generation 1/4");
}

TEST(Screen, LeavesNoMoreTimeThanTheTimeLimit) {
  const RunStatus status{.planned = 100,
                         .ended = 10,
                         .generations = 2,
                         .ended_here = 10,
                         .seconds_here = 100,
                         .seconds_allowed = 30};
  EXPECT_EQ(status_text(status), "10/100 trials · generation 1/2 · 30 s left · 360 trials/h");
}

TEST(Screen, BreaksALineBetweenWordsUnderTheWordsAfterItsLabel) {
  EXPECT_EQ(wrapped("  luck    a seed moves it by ±0.03: no more", 26),
            "  luck    a seed moves it\n"
            "          by ±0.03: no\n"
            "          more");
  EXPECT_EQ(wrapped("15 of 29 evolve", 10), "15 of 29\n  evolve");
  EXPECT_EQ(wrapped("15 of 29 evolve", 15), "15 of 29 evolve");
  EXPECT_EQ(wrapped("  evolve --resume run", 10), "  evolve --resume run") << "to be copied";
  EXPECT_EQ(wrapped("in /a/long/folder here", 8), "in\n  /a/long/folder\n  here");
  EXPECT_EQ(wrapped("/a/long/folder", 8), "/a/long/folder");
  EXPECT_EQ(wrapped("", 8), "");
}

TEST(Screen, ShowsAsManyFieldsAsFit) {
  EXPECT_EQ(shortened("3/9 trials · best 0.3 · 8 s left", 32), "3/9 trials · best 0.3 · 8 s left");
  EXPECT_EQ(shortened("3/9 trials · best 0.3 · 8 s left", 31), "3/9 trials · best 0.3 …");
  EXPECT_EQ(shortened("3/9 trials · best 0.3 · 8 s left", 22), "3/9 trials …");
  EXPECT_EQ(shortened("3/9 trials", 6), "3/9  …");
}

TEST(Screen, WritesPlainLinesIntoAFile) {
  std::FILE* file = std::tmpfile();
  {
    Screen screen(file);
    screen.line("one");
    screen.show("live");
    screen.detail("two");
    screen.clear();
  }
  std::rewind(file);
  char text[64] = {};
  const auto length = std::fread(text, 1, sizeof text, file);
  std::fclose(file);
  EXPECT_EQ(std::string(text, length), "one\ntwo\n");
}

TEST(Screen, TellsWhereARunStandsNowAndThenInAFile) {
  std::FILE* file = std::tmpfile();
  Screen screen(file, std::chrono::seconds(0));
  screen.show("17/48 trials");
  std::rewind(file);
  char text[64] = {};
  const auto length = std::fread(text, 1, sizeof text, file);
  std::fclose(file);
  EXPECT_EQ(std::string(text, length), "17/48 trials\n");
}

TEST(ShellPath, IsQuotedWhereAShellWouldReadItOtherwise) {
  EXPECT_EQ(shell_path("runs/evolve/exp"), "runs/evolve/exp");
  EXPECT_EQ(shell_path("my runs/exp"), "'my runs/exp'");
  EXPECT_EQ(shell_path("it's"), "'it'\\''s'");
  EXPECT_EQ(shell_path("$HOME;rm"), "'$HOME;rm'");
}

}  // namespace
}  // namespace evolve::cli
