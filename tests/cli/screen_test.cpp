#include "cli/screen.hpp"

#include <gtest/gtest.h>

namespace evolve::cli {
namespace {

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

}  // namespace
}  // namespace evolve::cli
