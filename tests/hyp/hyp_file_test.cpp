#include "hyp/hyp_file.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <random>

#include "hyp/space.hpp"
#include "tests/refusal.hpp"
#include "tests/temporary_folder.hpp"

namespace evolve::hyp {
namespace {

std::string refused(const std::string& text) {
  return test::refusal([&] { parse_hyp(text, "hyp.yaml"); });
}

TEST(HypFile, IsReadInItsOrder) {
  const HypFile file = parse_hyp(
      "# YOLOv5\nlr0: 0.01  # initial\n\nbox: 1e-05\nadd: +1\nhalf: .5\noptimizer: Adam\n",
      "hyp.yaml");
  EXPECT_EQ(file.hyp,
            (Hyperparameters{
                {"lr0", 0.01}, {"box", 1e-5}, {"add", 1.0}, {"half", 0.5}, {"optimizer", "Adam"}}));
  EXPECT_EQ(file.lines, (std::vector<int>{2, 4, 5, 6, 7}));
  EXPECT_EQ(file.where("box").line, 4);
  EXPECT_EQ(file.where("nothing").line, 0);
}

TEST(HypFile, IsReadFromAFile) {
  const test::TemporaryFolder folder;
  std::ofstream(folder / "hyp.yaml") << "lr0: 0.01\n";
  EXPECT_EQ(read_hyp_file(folder / "hyp.yaml").hyp, (Hyperparameters{{"lr0", 0.01}}));
}

TEST(HypFile, IsRefusedWithFileLineAndRemedy) {
  const std::string example = "; write one number, such as 0.01";
  EXPECT_EQ(refused("a: 1\nlr0:\n"), "hyp.yaml:2: lr0 has no value" + example);
  EXPECT_EQ(refused("lr0: ~\n"), "hyp.yaml:1: lr0 has no value" + example);
  EXPECT_EQ(refused("a: 1\nlr0: [1, 2]\n"), "hyp.yaml:2: lr0 is a list" + example);
  EXPECT_EQ(refused("a: 1\nlr0:\n  low: 1\n"), "hyp.yaml:2: lr0 is nested" + example);
  EXPECT_EQ(refused("a: 1\nlr0: .nan\n"), "hyp.yaml:2: lr0 is .nan" + example);
  EXPECT_EQ(refused("a: 1\nlr0: nan\n"), "hyp.yaml:2: lr0 is nan" + example);
  EXPECT_EQ(refused("lr0: -.inf\n"), "hyp.yaml:1: lr0 is -.inf" + example);
  EXPECT_EQ(refused("lr0: 1\nlr0: 1\n"),
            "hyp.yaml:2: lr0 appears twice, first in line 1; keep one of them");
  EXPECT_EQ(refused("- 1\n- 2\n"),
            "hyp.yaml:1: this is no list of hyperparameters; write lines of name: number, such as "
            "lr0: 0.01");
  EXPECT_EQ(refused("just words\n"),
            "hyp.yaml:1: this is no list of hyperparameters; write lines of name: number, such as "
            "lr0: 0.01");
  EXPECT_EQ(
      refused("{}\n"),
      "hyp.yaml:1: there is no hyperparameter; write lines of name: number, such as lr0: 0.01");
  EXPECT_EQ(refused(""), "hyp.yaml: this is empty; write name: value lines");
}

TEST(HypFile, RefusesANameThatCannotBeAColumn) {
  for (const char* key : {"'a b'", "'a,b'", "val/x", "\"a\\nb\"", "''", "'a\"b'"}) {
    EXPECT_TRUE(refused(std::string(key) + ": 1\n")
                    .ends_with("write a name in UTF-8 without blanks, quotes, , : / and #"))
        << key;
  }
}

TEST(HypFile, IsWrittenAsYaml11Floats) {
  EXPECT_EQ(hyp_lines({{"lr0", 1e-5}, {"anchors", 3.0}, {"optimizer", "Adam"}, {"odd", "no"}}),
            "lr0: 1.0e-05\nanchors: 3.0\noptimizer: Adam\nodd: \"no\"\n");
}

TEST(HypFile, HasTruthValuesAsYaml11Does) {
  const auto hyp = parse_hyp("a: True\nb: off\nc: 'true'\n", "hyp.yaml").hyp;
  EXPECT_EQ(hyp, (Hyperparameters{{"a", "true"}, {"b", "false"}, {"c", "true"}}));
  EXPECT_EQ(hyp_lines(hyp), "a: true\nb: false\nc: true\n");
}

TEST(HypFile, ComesBackExactly) {
  const Hyperparameters start = start_of(default_space());
  EXPECT_EQ(parse_hyp(hyp_lines(start), "hyp.yaml").hyp, start);
}

TEST(HypFile, SurvivesHostileBytes) {
  const std::string sample =
      "lr0: 0.01  # comment\n\"a\": 'b'\nc: {d: [1, *x], e: &y 2}\n? z\n: !!str |\n  w\n--- "
      ">\n...\n%TAG ! x\n";
  std::mt19937 random(7);
  int accepted = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string text = sample;
    for (int k = 0; k < 8; ++k) text[random() % text.size()] = static_cast<char>(random());
    text.resize(random() % text.size());
    accepted += refused(text) == "accepted";
  }
  EXPECT_LT(accepted, 20000);
}

}  // namespace
}  // namespace evolve::hyp
