#include "cli/screen/text.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "tests/temporary_folder.hpp"

namespace evolve::cli {
namespace {

TEST(Text, TellsDurationsInTheirTwoLargestUnits) {
  EXPECT_EQ(duration_text(0), "0 s");
  EXPECT_EQ(duration_text(59.6), "1 min 00 s");
  EXPECT_EQ(duration_text(130), "2 min 10 s");
  EXPECT_EQ(duration_text(3900), "1 h 05 min");
  EXPECT_EQ(duration_text(90000), "1 d 1 h");
}

TEST(Text, TellsFitnessesInFourPlacesWhereTheseSayEnough) {
  EXPECT_EQ(fitness_text(0.21314), "0.2131");
  EXPECT_EQ(fitness_text(-12.5), "-12.5000");
  EXPECT_EQ(fitness_text(0), "0.0000");
  EXPECT_EQ(fitness_text(4.2812e-5), "4.281e-05");
  EXPECT_EQ(fitness_text(1000000.04), "1000000.04");
  EXPECT_EQ(fitness_text(7.08244879e11), "7.08244879e+11");
}

TEST(Text, ShowsAPathAsItWouldBeTyped) {
  const auto here = std::filesystem::current_path();
  EXPECT_EQ(display_path(here / "runs/train/exp"), "runs/train/exp");
  EXPECT_EQ(display_path("shapes"), "shapes");
  EXPECT_EQ(display_path("/x"), "/x");
}

TEST(Text, ShowsAWholePathWhereTheCurrentFolderIsGone) {
  const auto before = std::filesystem::current_path();
  {
    const test::TemporaryFolder gone;
    std::filesystem::current_path(gone.path());
  }
  const auto shown = display_path("/x/run");
  std::filesystem::current_path(before);
  EXPECT_EQ(shown, "/x/run");
}

TEST(Text, OfAPathInACommandIsNoOption) {
  EXPECT_EQ(shell_path("runs/exp"), "runs/exp");
  EXPECT_EQ(shell_path("my run"), "'my run'");
  EXPECT_EQ(shell_path("-x"), "./-x");
  EXPECT_EQ(shell_path("plot"), "plot");
}

TEST(Text, OfAFolderInACommandIsNeitherAnOptionNorACommandOfEvolve) {
  EXPECT_EQ(shell_folder(std::filesystem::current_path() / "plot"), "./plot");
  EXPECT_EQ(shell_folder(std::filesystem::current_path() / "exp"), "exp");
}

TEST(Text, BreaksALineBetweenWordsUnderTheWordsAfterItsLabel) {
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

TEST(Text, ShowsAsManyFieldsAsFit) {
  EXPECT_EQ(shortened("3/9 trials · best 0.3 · 8 s left", 32), "3/9 trials · best 0.3 · 8 s left");
  EXPECT_EQ(shortened("3/9 trials · best 0.3 · 8 s left", 31), "3/9 trials · best 0.3 …");
  EXPECT_EQ(shortened("3/9 trials · best 0.3 · 8 s left", 22), "3/9 trials …");
  EXPECT_EQ(shortened("3/9 trials", 6), "3/9  …");
}

TEST(ShellPath, IsQuotedWhereAShellWouldReadItOtherwise) {
  EXPECT_EQ(shell_path("runs/evolve/exp"), "runs/evolve/exp");
  EXPECT_EQ(shell_path("my runs/exp"), "'my runs/exp'");
  EXPECT_EQ(shell_path("it's"), "'it'\\''s'");
  EXPECT_EQ(shell_path("$HOME;rm"), "'$HOME;rm'");
}

}  // namespace
}  // namespace evolve::cli
