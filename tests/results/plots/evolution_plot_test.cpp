#include "results/plots/evolution_plot.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "hyp/space_file.hpp"
#include "tests/results/plots/plots.hpp"

namespace evolve::results {
namespace {

const hyp::Space space = hyp::parse_space(
    "lr0: {low: 1.0e-5, high: 0.1, scale: log}\nmixup: [0, 1]\no: {choices: [SGD, Adam]}\n", "s");

Row row(double fitness, std::vector<double> values) {
  return {.metrics = {.map50 = fitness}, .values = std::move(values)};
}

std::string script(const Table& table) {
  return plot_script(table, hyp::Fitness("mAP50"), space, "png");
}

void expect_plot(const Table& table) {
  expect_png([&](const auto& file) { plot_evolution(table, hyp::Fitness("mAP50"), space, file); });
}

const Table three{.names = {"lr0", "mixup", "o", "fixed"},
                  .rows = {row(0.1, {1e-5, 0.1, 0, 7}), row(0.3, {1e-3, 0.25, 1, 7}),
                           row(0.3, {1e-1, 0.5, 0, 7})}};

TEST(Plot, HasAPanelForEachGeneThatMovedWithTheFirstBestInItsTitle) {
  const std::string text = script(three);
  EXPECT_EQ(count(text, "set title "), 4);
  EXPECT_NE(text.find("set title '+ highest: 0.3, row 1; line: highest so far'"), text.npos);
  EXPECT_NE(text.find("set title 'lr0 = 0.001'"), text.npos);
  EXPECT_NE(text.find("set title 'mixup = 0.25'"), text.npos);
  EXPECT_NE(text.find("set title 'o = Adam'"), text.npos);
  EXPECT_EQ(count(text, "\nset logscale x"), 1);
  expect_plot(three);
}

TEST(Plot, ShowsTheFitnessOfEveryTrialAndTheHighestSoFar) {
  const std::string text = script(three);
  EXPECT_NE(text.find("$trials << EOD\n0 0.1 1\n1 0.3 1\n2 0.3 1\nEOD\n$highest << EOD\n0 0.1\n1 "
                      "0.3\n2 0.3\nEOD\n"),
            text.npos);
}

TEST(Plot, HasARingForEachPausedTrialInTheRangeOfTheOthersAndCountsTheRest) {
  const std::string text =
      plot_script(three, hyp::Fitness("mAP50"), space, "svg",
                  {.paused = {row(0.2, {0.02, 0.1, 0, 7}), row(0.05, {0.02, 0.2, 1, 7}),
                              row(0.4, {0.02, 0.2, 1, 7})}});
  EXPECT_NE(text.find("highest so far; paused: 1 ring, 1 below, 1 above'"), text.npos);
  EXPECT_EQ(count(text, "plot $paused using"), 3);
  EXPECT_NE(text.find("$paused << EOD\n0.02 0.2\nEOD\n"), text.npos);
}

TEST(Plot, HasACrossForEachRepeat) {
  const std::string text =
      plot_script(three, hyp::Fitness("mAP50"), space, "svg",
                  {.repeats = {{.row = 1, .fitness = 0.25}, {.row = 1, .fitness = 0.05}}});
  EXPECT_NE(text.find("$again << EOD\n1 0.25\n1 0.05\nEOD\n"), text.npos);
  EXPECT_NE(text.find("line: highest so far; crosses: trained again'"), text.npos);
  EXPECT_EQ(count(text, "$again using"), 1) << "on top alone";
  EXPECT_EQ(count(script(three), "again"), 0);
}

TEST(Plot, MarksTheRecommendedSetAndNamesTheHighest) {
  const Table table{.names = {"lr0"},
                    .rows = {row(0.1, {0.01}), row(0.3, {0.02}), row(0.2, {0.03})}};
  const std::string text =
      plot_script(table, hyp::Fitness("mAP50"), space, "png", {.recommended = 2});
  EXPECT_NE(
      text.find("set title '+ recommended: 0.2, row 2; highest: 0.3, row 1; line: highest so far'"),
      text.npos);
  EXPECT_NE(text.find("set title 'lr0 = 0.03'"), text.npos);
  EXPECT_NE(plot_script(table, hyp::Fitness("mAP50"), space, "png", {.recommended = 1})
                .find("set title '+ recommended: 0.3, row 1, the highest; line: highest so far'"),
            text.npos);
}

TEST(Plot, OfASingleRowIsItsFitness) {
  const Table one{.names = three.names, .rows = {three.rows[0]}};
  EXPECT_EQ(count(script(one), "set title "), 1);
  expect_plot(one);
}

TEST(Plot, OfEqualValuesIsNotBroken) {
  expect_plot({.names = {"lr0", "mixup"},
               .rows = {row(0.5, {0.01, 0.1}), row(0.5, {0.01, 0.2}), row(0.5, {0.01, 0.1})}});
  expect_plot({.names = {"lr0"}, .rows = {row(0, {0.01}), row(0, {0.01})}});
  expect_plot({.names = {}, .rows = {row(0.1, {}), row(0.2, {})}});
}

TEST(Plot, OfTheGreatestNumbersIsNotBroken) {
  expect_plot({.names = three.names,
               .rows = {row(-1.7e308, {1e-5, 0.1, 0, 7}), row(1.7e308, {1e-3, 0.25, 1, 7})}});
  expect_plot({.names = three.names, .rows = {row(1.7e308, {1e-5, 0.1, 0, 7})}});
}

TEST(Plot, LeavesOutWhatIsNoNumber) {
  const double nan = std::numeric_limits<double>::quiet_NaN(),
               infinity = std::numeric_limits<double>::infinity();
  const Table table{
      .names = {"lr0", "mixup", "o"},
      .rows = {row(nan, {0.1, 0.9, 0}), row(0.2, {nan, 0.1, 1}), row(0.1, {0.01, 0.2, nan}),
               row(infinity, {0.2, 0.3, 0}), row(0.15, {0.02, infinity, 0})}};
  const std::string text = script(table);
  EXPECT_NE(text.find("set title '+ highest: 0.2, row 1; line: highest so far'"), text.npos);
  EXPECT_NE(text.find("set title 'lr0' "), text.npos) << "the highest has no lr0";
  EXPECT_NE(text.find("set title 'mixup = 0.1' "), text.npos);
  EXPECT_EQ(text.find("nan"), text.npos);
  EXPECT_EQ(text.find("inf"), text.npos);
  expect_plot(table);
}

TEST(Plot, OfNoFitnessIsRefused) {
  const std::string line = "no row has a fitness; draw it once a trial has completed";
  EXPECT_EQ(refusal([] { script({.names = {"lr0"}, .rows = {}}); }), line);
  EXPECT_EQ(refusal([] { script({.names = {"lr0"}, .rows = {row(std::nan(""), {1})}}); }), line);
}

TEST(Plot, HasItsTypeByEnding) {
  const Folder folder;
  plot_evolution(three, hyp::Fitness("mAP50"), space, folder / "evolve.svg");
  EXPECT_EQ(read_file(folder / "evolve.svg").substr(0, 5), "<?xml");
  EXPECT_EQ(refusal([&] { plot_evolution(three, hyp::Fitness("mAP50"), space, "evolve.jpg"); }),
            "evolve.jpg: neither a PNG nor an SVG file; end its name in .png or .svg");
}

TEST(Plot, TakesColumnsOfAnyNameAndSpacesThatLackThem) {
  expect_plot({.names = {"it's", "a\"b`x`\xff", "", "o"},
               .rows = {row(0.1, {1, 2, 3, 5}), row(0.2, {2, 3, 4, -1})}});
}

}  // namespace
}  // namespace evolve::results
