#include "results/plots/explanation_plot.hpp"

#include <gtest/gtest.h>

#include "hyp/space_file.hpp"
#include "tests/results/plots/plots.hpp"

namespace evolve::results {
namespace {

using Expectation = GeneExplanation::Expectation;

// A gene of each kind, two trials of which the second is the best.
Explanation three_genes() {
  const auto space = hyp::parse_space(
      "lr0: {low: 1.0e-5, high: 0.1, scale: log}\nanchors: {low: 2, high: 4, type: int}\n"
      "optimizer: {choices: [SGD, Adam_with_decoupled_decay]}\n",
      "s");
  const std::vector<Expectation> real{{1e-5, 0.1, 0.2, 0.3}, {0.1, -0.5, 0.3, 0.4}},
      whole{{2, 0.1, 0.2, 0.3}, {3, 0.2, 0.25, 0.3}, {4, 0.2, 0.3, 0.4}},
      choices{{0, 0.1, 0.2, 0.3}, {1, 0.2, 0.3, 0.4}};
  return {.genes = {{space.genes[0], 0.25, 0.75, 0.01, {1e-3, 1e-2}, real},
                    {space.genes[1], 0.125, 0.5, 0.02, {2, 3}, whole},
                    {space.genes[2], 0, 0, 0, {0, 1}, choices}},
          .fitness = {0.1, 0.4},
          .best = 1,
          .known = 0.5,
          .r2 = 0.625};
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != text.npos;
}

void expect_plot(const Explanation& explanation) {
  expect_png([&](const auto& file) { plot_explanation(explanation, file); });
}

TEST(ExplainPlot, HasABarForEachGeneAndAPanelWithTheBestInItsTitle) {
  const std::string text = explanation_script(three_genes(), "png");
  EXPECT_TRUE(has(text, "$shares << EOD\n0 0.25 0.75\n1 0.125 0.5\n2 0 0\nEOD\n"));
  EXPECT_TRUE(has(text, "'lr0' 0, 'anchors' 1, 'optimizer' 2"));
  EXPECT_TRUE(has(text, "(R² of the model 0.62)"));
  auto unsure = three_genes();
  unsure.r2 = -.2;
  EXPECT_TRUE(has(explanation_script(unsure, "png"), "(R² of the model -0.20)"));
  const std::string little = "these figures mean little, more trials would help";
  EXPECT_TRUE(has(explanation_script(unsure, "png"), little));
  EXPECT_FALSE(has(text, little));
  EXPECT_TRUE(has(text, "when one gene leaves the highest (+)'"));
  EXPECT_TRUE(has(text, "set title 'lr0 = 0.01'"));
  EXPECT_TRUE(has(text, "set title 'anchors = 3'"));
  EXPECT_TRUE(has(text, "set title 'optimizer = Adam_with_decoupl…'"));
  EXPECT_TRUE(has(text, "dots: trials'"));
  EXPECT_TRUE(has(text, "$trials << EOD\n0.001 0.1\n0.01 0.4\nEOD\n"));
  EXPECT_TRUE(has(text, "$expected << EOD\n1e-05 0.2 0.1 0.3\n0.1 0.3 -0.5 0.4\nEOD\n"));
  expect_plot(three_genes());
}

TEST(ExplainPlot, HasPanelsForTheEightMostImportantGenes) {
  Explanation many = three_genes();
  const GeneExplanation gene = many.genes[0];
  many.genes.clear();
  for (int i = 0; i < 29; ++i) {
    many.genes.push_back(gene);
    many.genes.back().gene.name = "gene" + std::to_string(i);
  }
  const std::string text = explanation_script(many, "png");
  EXPECT_TRUE(has(text, "set title 'gene7 = "));
  EXPECT_FALSE(has(text, "set title 'gene8 = "));
  EXPECT_TRUE(has(text, "'gene28' 28"));
  expect_plot(many);
}

TEST(ExplainPlot, SaysHowManyTrialsAreBelowItsAxis) {
  Explanation eleven = three_genes();
  eleven.fitness = {-2, -1, 0.3, 0.3, 0.3, 0.3, 0.3, 0.3, 0.3, 0.3, 0.4};
  eleven.best = 10;
  for (auto& gene : eleven.genes) {
    gene.values.resize(11, 1);
    for (auto& at : gene.expected) at.mean = 0.3;
  }
  EXPECT_TRUE(has(explanation_script(eleven, "png"), "dots: trials, 1 below'"));
}

TEST(ExplainPlot, ShowsEachTrialOfAGeneWithTwoValues) {
  const std::string text = explanation_script(three_genes(), "png");
  EXPECT_TRUE(has(text, "set xrange [-0.5:1.5]\n"));
}

TEST(ExplainPlot, ShortensLongNamesFromTheirBeginning) {
  Explanation many = three_genes();
  many.genes.resize(1, many.genes[0]);
  many.genes[0].gene.name = "train_dataloader.dataset.transforms.ops.RandomIoUCrop.p";
  many.genes.resize(8, many.genes[0]);
  const std::string text = explanation_script(many, "png");
  EXPECT_TRUE(has(text, "'…ransforms.ops.RandomIoUCrop.p' 0"));
  EXPECT_TRUE(has(text, "set title '….RandomIoUCrop.p'"));
}

TEST(ExplainPlot, OfOneGeneThatExplainsNothingIsNotBroken) {
  Explanation one = three_genes();
  one.genes.resize(1);
  one.genes[0].alone = one.genes[0].total = 0;
  expect_plot(one);
}

TEST(ExplainPlot, HasItsTypeByEnding) {
  const Folder folder;
  plot_explanation(three_genes(), folder / "a.svg");
  EXPECT_EQ(read_file(folder / "a.svg").substr(0, 5), "<?xml");
  EXPECT_EQ(refusal([&] { plot_explanation(three_genes(), "a.jpg"); }),
            "a.jpg: neither a PNG nor an SVG file; end its name in .png or .svg");
}

}  // namespace
}  // namespace evolve::results
