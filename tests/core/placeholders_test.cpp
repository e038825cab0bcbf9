#include "core/placeholders.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/refusal.hpp"

namespace evolve::core {
namespace {

using testing::ElementsAre;

TEST(Placeholders, AreReplacedWhereverTheyStandInAWord) {
  const Replacements replacements = {{"{device}", "cuda:1"}, {"{index}", "1"}};
  EXPECT_EQ(filled("{device}", replacements), "cuda:1");
  EXPECT_EQ(filled("--gpu={index},{index}!", replacements), "--gpu=1,1!");
  EXPECT_EQ(filled("train.py", replacements), "train.py");
}

TEST(Placeholders, AreReplacedOnce) {
  EXPECT_EQ(filled("{a}{b}", {{"{a}", "{b}"}, {"{b}", "c"}}), "{b}c");
}

TEST(Placeholders, AreOnlyNamesInBraces) {
  const Replacements replacements = {{"{a}", "x"}, {"{}", "x"}, {"{a b}", "x"}};
  EXPECT_EQ(filled("{} {a b} {a {{a}}", replacements), "{} {a b} {a {x}");
  EXPECT_EQ(filled("{other}", replacements), "{other}");
}

TEST(Placeholders, LeaveAShellsOwnVariablesAlone) {
  EXPECT_EQ(filled("${a} {a}", {{"{a}", "x"}}), "${a} x");
  EXPECT_FALSE(mentions("${a}", "{a}"));
  EXPECT_TRUE(mentions("$ {a}", "{a}"));
  EXPECT_FALSE(mentions("{ab}", "{a}"));
}

TEST(Placeholders, OfACommandAreKnown) {
  EXPECT_THAT(command_words("ssh 'host {index}' ${home}", "--launcher", {"{index}"}),
              ElementsAre("ssh", "host {index}", "${home}"));
  EXPECT_EQ(test::refusal([] {
              command_words("ssh {host}", "--launcher", {"{a}", "{b}"});
            }),
            "--launcher: {host} stands for nothing; choose among {a} {b}");
}

}  // namespace
}  // namespace evolve::core
