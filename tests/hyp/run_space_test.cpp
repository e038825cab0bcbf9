#include "hyp/run_space.hpp"

#include <gtest/gtest.h>

#include "hyp/space_file.hpp"
#include "tests/refusal.hpp"

namespace evolve::hyp {
namespace {

Space started(const std::string& table, const std::string& hyp) {
  return started_at(parse_space(table, "space.yaml"), parse_hyp(hyp, "hyp.yaml"));
}
std::string refused(const std::string& table, const std::string& hyp) {
  return test::refusal([&] { started(table, hyp); });
}
std::string names_of(const Space& space) {
  std::string names;
  for (const Gene& gene : space.genes) names += gene.name + " ";
  return names;
}

std::string evolved_in(const Space& space) {
  return names_of({evolved_genes(space)});
}

TEST(Start, HasTheOrderOfTheHypFile) {
  const Space space = started("a: [0, 1]\nb: [0, 1]\nc: [0, 1]\n", "other: 5\nc: 0.25\na: 0.5\n");
  EXPECT_EQ(names_of(space), "other c a b ");
  EXPECT_EQ(start_of(space),
            (Hyperparameters{{"other", 5.0}, {"c", 0.25}, {"a", 0.5}, {"b", 0.5}}));
  EXPECT_EQ(evolved_in(space), "c a b ");
}

TEST(Start, OfTheDefaultTableAddsAnchorsAtTheEndAsYolov5Does) {
  const Space space = started_at(default_space(), parse_hyp("lr0: 0.02\n", "hyp.yaml"));
  EXPECT_EQ(space.genes.size(), 29u);
  EXPECT_EQ(space.genes[0].start, 0.02);
  EXPECT_EQ(space.find("anchors")->start, 3);
}

TEST(Start, OutsideItsBoundsIsRefused) {
  EXPECT_EQ(refused("a: [0, 1]\n", "# x\na: 1.5\n"),
            "hyp.yaml:2: a is 1.5, outside its bounds 0 to 1; change it, or give it other bounds "
            "with --space");
  EXPECT_EQ(refused("a: [false, 0, 1]\n", "a: -1e-9\n"),
            "hyp.yaml:1: a is -1e-09, outside its bounds 0 to 1; change it, or give it other "
            "bounds with --space");
  EXPECT_EQ(refused("a: [0, 1]\n", "a: 1\n"), "accepted");
}

TEST(Start, OfAnIntegerGeneIsRounded) {
  const std::string table = "n: {low: 2, high: 10, type: int}\n";
  EXPECT_EQ(started(table, "n: 3.412\n").genes[0].start, 3);
  EXPECT_EQ(started(table, "n: 1.6\n").genes[0].start, 2);
  EXPECT_EQ(refused(table, "n: 1.4\n"),
            "hyp.yaml:1: n is 1.4, outside its bounds 2 to 10; change it, or give it other bounds "
            "with --space");
  EXPECT_EQ(started("a: [0, 1]\n", "anchors: 3.2\n").genes[0].start, 3);
}

TEST(Start, OfANumberIsNoText) {
  EXPECT_EQ(refused("a: [0, 1]\n", "x: 1\na: much\n"),
            "hyp.yaml:2: a is 'much'; write one number, such as 0.01");
  EXPECT_EQ(refused("a: [0, 1]\n", "lr0: 0,01\n"),
            "hyp.yaml:1: lr0 is '0,01'; write one number, such as 0.01");
}

TEST(Start, OfACategoricalGeneIsOneOfItsChoices) {
  const std::string table = "o: {choices: [SGD, Adam]}\nb: {choices: [16, 32], evolve: false}\n";
  EXPECT_EQ(start_of(started(table, "o: Adam\nb: 32\n")),
            (Hyperparameters{{"o", "Adam"}, {"b", 32.0}}));
  EXPECT_EQ(refused(table, "b: 16\no: adam\n"), "hyp.yaml:2: o is 'adam'; choose among SGD, Adam");
  EXPECT_EQ(refused(table, "b: 8\n"), "hyp.yaml:1: b is '8'; choose among 16, 32");
  EXPECT_EQ(start_of(started("scale: {choices: [none, minmax]}\n", "scale: minmax\n")),
            (Hyperparameters{{"scale", "minmax"}}))
      << "YOLOv5's of that name is a number";
}

TEST(Start, PassesOnWhatOnlyTheHypFileHas) {
  const Space space = started("a: [0, 1]\n", "mode: fast\nweight: 7.5\n");
  EXPECT_EQ(evolved_in(space), "a ");
  EXPECT_EQ(start_of(space), (Hyperparameters{{"mode", "fast"}, {"weight", 7.5}, {"a", 0.5}}));
  EXPECT_EQ(raw_values(space, start_of(space)), (std::vector<double>{0, 7.5, 0.5}));
}

TEST(WithDefaults, AddsWhatTheBuiltInTrainerNeeds) {
  const Space space = with_defaults(parse_space("lr0: [0.02, 0.1]\nx: [0, 1]\n", "s"));
  EXPECT_EQ(space.genes.size(), 30u);
  EXPECT_EQ(evolved_in(space), "lr0 x ");
  EXPECT_EQ(start_of(space).number("fliplr"), 0.5);
}

TEST(SelectEvolved, EvolvesExactlyTheNamedGenes) {
  Space space = default_space();
  select_evolved(space, "momentum, lr0 ");
  EXPECT_EQ(evolved_in(space), "lr0 momentum ");
  select_evolved(space, "all");
  EXPECT_EQ(evolved_genes(space).size(), 29u);
}

TEST(SelectEvolved, LeavesAGeneWithoutARangeAlone) {
  Space space = started("a: [0, 1]\n", "x: 3\n");
  select_evolved(space, "all");
  EXPECT_EQ(evolved_in(space), "a ");
  EXPECT_EQ(test::refusal([&] { select_evolved(space, "x"); }),
            "--evolve-genes: x has no bounds; give it some with --space");
}

TEST(SelectEvolved, RefusesAnUnknownName) {
  Space space = parse_space("a: [0, 1]\nb: [0, 1]\n", "s");
  EXPECT_EQ(test::refusal([&] { select_evolved(space, "a,c"); }),
            "--evolve-genes: there is no gene 'c'; choose among all, a, b");
  EXPECT_EQ(test::refusal([&] { select_evolved(space, ""); }),
            "--evolve-genes names no gene; write all, or lr0,momentum");
  EXPECT_EQ(test::refusal([&] { select_evolved(space, "all,b"); }),
            "--evolve-genes all,b: all of them stands alone; write all, or lr0,momentum");
}

}  // namespace
}  // namespace evolve::hyp
