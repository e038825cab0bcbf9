#include "results/plots/training_plot.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "tests/results/plots/plots.hpp"

namespace evolve::results {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

EpochRow row(int epoch, double loss, double map50) {
  return {.epoch = epoch,
          .losses = {loss, loss / 2, loss / 4},
          .metrics = {.precision = map50,
                      .recall = map50,
                      .map50 = map50,
                      .map50_95 = map50 / 2,
                      .box_loss = loss,
                      .obj_loss = loss,
                      .cls_loss = loss}};
}

void expect_plot(const std::vector<EpochRow>& epochs) {
  expect_png([&](const auto& file) { plot_training(epochs, file); });
}

TEST(TrainingPlot, HasTenPanelsWithTheBestEpochInTheirTitles) {
  const std::vector<EpochRow> epochs = {row(0, 0.4, 0.1), row(1, 0.2, 0.5), row(2, 0.1, 0.4)};
  const auto script = training_script(epochs, "png");
  EXPECT_EQ(count(script, "set title "), 10);
  EXPECT_NE(script.find("set label 'best epoch 1, fitness 0.275'"), script.npos);
  EXPECT_NE(script.find("set title 'train/box_loss = 0.2'"), script.npos);
  EXPECT_NE(script.find("set title 'mAP_0.5:0.95 = 0.25'"), script.npos);
  expect_plot(epochs);
}

TEST(TrainingPlot, NamesTheLastOfEpochsThatAreEqual) {
  const auto script =
      training_script({row(0, 0.4, 0.5), row(1, 0.2, 0.5), row(2, 0.1, 0.1)}, "png");
  EXPECT_NE(script.find("set label 'best epoch 1, "), script.npos);
}

TEST(TrainingPlot, OfOneEpochOrEqualValuesIsNotBroken) {
  expect_plot({row(0, 0.1, 0.2)});
  expect_plot({row(0, 0, 0), row(1, 0, 0)});
}

TEST(TrainingPlot, LeavesOutWhatIsNoNumber) {
  const std::vector<EpochRow> epochs = {row(0, nan, 0.1), row(1, 0.2, nan), row(2, nan, 0.3)};
  const auto script = training_script(epochs, "png");
  EXPECT_NE(script.find("best epoch 2"), script.npos);
  EXPECT_NE(script.find("set title 'train/box_loss'"), script.npos) << "the best has no loss";
  EXPECT_EQ(script.find("nan"), script.npos);
  expect_plot(epochs);
  expect_plot({row(0, nan, nan)});
}

TEST(TrainingPlot, OfNoEpochIsRefused) {
  EXPECT_EQ(refusal([] { training_script({}, "png"); }),
            "results.csv has no epoch; draw it once an epoch has ended");
  const Folder folder;
  plot_training({row(0, 1, 1)}, folder / "RESULTS.PNG");
  EXPECT_TRUE(std::filesystem::exists(folder / "RESULTS.PNG"));
  EXPECT_EQ(refusal([] { plot_training({row(0, 1, 1)}, "results.gif"); }),
            "results.gif: neither a PNG nor an SVG file; end its name in .png or .svg");
}

}  // namespace
}  // namespace evolve::results
