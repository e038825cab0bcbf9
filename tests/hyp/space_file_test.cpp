#include "hyp/space_file.hpp"

#include <gtest/gtest.h>

#include "tests/refusal.hpp"

namespace evolve::hyp {
namespace {

std::string refused(const std::string& text) {
  return test::refusal([&] { parse_space(text, "space.yaml"); });
}

TEST(SpaceFile, HasALongAShortAndATupleForm) {
  const Space space = parse_space(R"(
lr0:      {low: 1.0e-5, high: 0.1, scale: log}        # evolved
hsv_h:    [0.0, 0.1]
anchors:  {low: 2, high: 10, type: int}
optimizer: {choices: [SGD, Adam, AdamW]}
momentum: {low: 0.6, high: 0.98, evolve: false}
copy_paste: [true, 0.0, 1.0]
mixup: [False, 0, 1]
)",
                                  "space.yaml");
  const std::vector<Gene> expected = {
      {.name = "lr0", .scale = Gene::Scale::log, .low = 1e-5, .high = 0.1, .start = 0.01},
      {.name = "hsv_h", .low = 0, .high = 0.1, .start = 0.015},
      {.name = "anchors", .kind = Gene::Kind::integer, .low = 2, .high = 10, .start = 3},
      {.name = "optimizer",
       .kind = Gene::Kind::categorical,
       .low = 0,
       .high = 2,
       .choices = {"SGD", "Adam", "AdamW"}},
      {.name = "momentum", .low = 0.6, .high = 0.98, .evolve = false, .start = 0.937},
      {.name = "copy_paste", .low = 0, .high = 1, .start = 0},
      {.name = "mixup", .low = 0, .high = 1, .evolve = false, .start = 0}};
  EXPECT_EQ(space.genes, expected);
}

TEST(SpaceFile, StartsInTheMiddleWhereYolov5HasNoStart) {
  const Space space = parse_space(
      "a: [2, 4]\nb: {low: 1, high: 100, scale: log}\nlr0: [0.5, 1]\nn: {low: 1, high: 4, type: "
      "int}\n",
      "s");
  EXPECT_EQ(space.genes[0].start, 3);
  EXPECT_NEAR(space.genes[1].start, 10, 1e-12);
  EXPECT_EQ(space.genes[2].start, 0.75);
  EXPECT_EQ(space.genes[3].start, 3);
}

TEST(SpaceFile, StartsWhereYolov5DoesThoughThatIsABound) {
  const Space space = parse_space("mosaic: [0, 1]\nmixup: [0, 1]\n", "s");
  EXPECT_EQ(space.genes[0].start, 1);
  EXPECT_EQ(space.genes[1].start, 0);
}

TEST(SpaceFile, DoesNotEvolveAGeneThatHasOneValue) {
  const Space space = parse_space("a: [2, 2]\nb: {low: 1, high: 1, type: int}\nc: [0, 1]\n", "s");
  const auto evolved = evolved_genes(space);
  ASSERT_EQ(evolved.size(), 1u);
  EXPECT_EQ(evolved[0].name, "c");
  EXPECT_EQ(space.genes[0].start, 2);
}

TEST(SpaceFile, RefusesBadBoundsWithFileAndLine) {
  EXPECT_EQ(refused("a: [0, 1]\nb: [1, 0]\n"), "space.yaml:2: b: low 1 is above high 0; swap them");
  EXPECT_EQ(refused("a: {low: 0, high: 1, scale: log}\n"),
            "space.yaml:1: a: a log scale can't start at 0; give a low above 0, or scale: linear");
  EXPECT_EQ(refused("a: {low: -1, high: 1, scale: log}\n"),
            "space.yaml:1: a: a log scale can't start at -1; give a low above 0, or scale: linear");
  EXPECT_EQ(refused("a: [0, .nan]\n"), "space.yaml:1: a: high is .nan; write a finite number");
  EXPECT_EQ(refused("a: [-inf, 0]\n"), "space.yaml:1: a: low is -inf; write a finite number");
  EXPECT_EQ(refused("a: [0, one]\n"),
            "space.yaml:1: a: high is no number; write one, such as 0.01");
  EXPECT_EQ(refused("a: [0, '1']\n"),
            "space.yaml:1: a: high is no number; write one, such as 0.01");
  EXPECT_EQ(refused("a: [-1e308, 1e308]\n"),
            "space.yaml:1: a: from -1e+308 to 1e+308 is too wide; narrow it");
  EXPECT_EQ(refused("a: {low: 2.1, high: 2.9, type: int}\n"),
            "space.yaml:1: a: no whole number lies between 2.1 and 2.9; widen the bounds");
}

TEST(SpaceFile, RefusesABadForm) {
  const std::string forms =
      "; write [low, high], [evolve, low, high], or {low: 0.0, high: 1.0} with scale, type, "
      "evolve, or choices";
  EXPECT_EQ(refused("a: 3\n"), "space.yaml:1: a has no bounds" + forms);
  EXPECT_EQ(refused("a:\n"), "space.yaml:1: a has no bounds" + forms);
  EXPECT_EQ(refused("a: [1]\n"), "space.yaml:1: a is a list of 1" + forms);
  EXPECT_EQ(refused("a: [1, 2, 3]\n"),
            "space.yaml:1: a: the first of three is neither true nor false" + forms);
  EXPECT_EQ(refused("a: {low: 1}\n"), "space.yaml:1: a has no high" + forms);
  EXPECT_EQ(refused("b: [0, 1]\na:\n  high: 1\n"), "space.yaml:2: a has no low" + forms);
  EXPECT_EQ(refused("a:\n  low: 0\n  high: 1\n  hihg: 2\n"),
            "space.yaml:4: a has an unknown key 'hihg'; the keys are low, high, scale, type, "
            "choices, evolve");
  EXPECT_EQ(refused("a: {low: 0, high: 1, scale: lin}\n"),
            "space.yaml:1: a: scale is 'lin'; write linear or log");
  EXPECT_EQ(refused("a: {low: 0, high: 1, type: [int]}\n"),
            "space.yaml:1: a: type is ''; write float or int");
  EXPECT_EQ(refused("a: {low: 0, high: 1, evolve: 2}\n"),
            "space.yaml:1: a: evolve is neither true nor false; write true or false");
  EXPECT_EQ(refused("a: [0, 1]\na: [0, 2]\n"),
            "space.yaml:2: a appears twice, first in line 1; keep one of them");
  EXPECT_EQ(refused("a: {low: 0, high: 1, low: 1}\n"),
            "space.yaml:1: low appears twice, first in line 1; keep one of them");
  EXPECT_EQ(refused("- a\n"),
            "space.yaml:1: there is no gene; write lines such as hsv_h: [0.0, 0.1]");
  EXPECT_EQ(refused("{}\n"),
            "space.yaml:1: there is no gene; write lines such as hsv_h: [0.0, 0.1]");
  const std::string no_name =
      " can't be the name of a hyperparameter; write a name in UTF-8 without blanks, quotes, , : / "
      "and #";
  EXPECT_EQ(refused("'a,b': [0, 1]\n"), "space.yaml:1: 'a,b'" + no_name);
  EXPECT_EQ(refused("\"a\\nb\": [0, 1]\n"), "space.yaml:1: 'a b'" + no_name);
  EXPECT_EQ(refused("a\xff: [0, 1]\n"), "space.yaml:1: 'a\uFFFD'" + no_name);
  EXPECT_EQ(refused("a\u202Eb: [0, 1]\n"), "space.yaml:1: 'a b'" + no_name) << "it turns a line";
  std::string genes;
  for (int i = 0; i < 2001; ++i) genes += "g" + std::to_string(i) + ": [0, 1]\n";
  EXPECT_EQ(refused(genes), "space.yaml:2001: 2001 names are too many; write 2000 at most");
}

TEST(SpaceFile, HasTruthValuesAmongTheChoices) {
  const auto choices = [](const std::string& text) {
    return parse_space(text, "space.yaml").genes[0].choices;
  };
  const std::vector<std::string> both = {"false", "true"};
  EXPECT_EQ(choices("cos_lr: {choices: [False, True]}\n"), both);
  EXPECT_EQ(choices("cos_lr: {choices: [off, on]}\n"), both);
}

TEST(SpaceFile, RefusesChoicesThatAreNone) {
  const std::string remedy = "; list at least two different ones: choices: [SGD, Adam]";
  EXPECT_EQ(refused("a: {choices: [x]}\n"), "space.yaml:1: a has 1 choice" + remedy);
  EXPECT_EQ(refused("a: {choices: []}\n"), "space.yaml:1: a has 0 choices" + remedy);
  EXPECT_EQ(refused("a: {choices: x}\n"), "space.yaml:1: a: choices is no list" + remedy);
  EXPECT_EQ(refused("a: {choices: [x, [y]]}\n"), "space.yaml:1: a: choice 2 is no word" + remedy);
  EXPECT_EQ(refused("a: {choices: [x, y, x]}\n"),
            "space.yaml:1: a: choice x appears twice" + remedy);
  EXPECT_EQ(refused("a: {choices: [16, 16.0]}\n"),
            "space.yaml:1: a: choice 16.0 appears twice" + remedy);
  EXPECT_EQ(refused("a: {choices: [1, .nan]}\n"), "space.yaml:1: a: a choice is .nan" + remedy);
  EXPECT_EQ(refused("a: {choices: [x, y], low: 1}\n"),
            "space.yaml:1: a has choices and low; keep one of the two");
}

}  // namespace
}  // namespace evolve::hyp
