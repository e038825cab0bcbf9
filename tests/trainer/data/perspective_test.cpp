#include "trainer/data/perspective.hpp"

#include <gtest/gtest.h>

#include <opencv2/core.hpp>

#include "tests/trainer/data/replay.hpp"

namespace evolve::data {
namespace {

// One of YOLOv5's own: degrees 45, translate 0.1, scale 0.9, shear 10, perspective 0.001 on a
// mosaic of 128 pixels.
TEST(Perspective, PutsTheMappingTogetherLikeYolov5) {
  Replay rng = uniforms({0.0006299536655520591, -1.0943651381409335e-05, -9.924859314998074,
                         1.1799372207739043, -1.925042678436812, -5.850382781979981,
                         0.41826199211173476, 0.4323184295516403});
  const Warp warp = draw_warp({.perspective = 0.001}, {128, 128}, {64, 64}, rng);
  EXPECT_TRUE(rng.finished());
  const double expected[] = {1.1723066553961017,    -0.24272813662070422,    -32.72425770647441,
                             0.1017069657045294,    1.1828144889993832,      -54.54099360974543,
                             0.0006299536655520591, -1.0943651381409335e-05, 0.9603833590930784};
  for (int i = 0; i < 9; ++i) EXPECT_NEAR(warp.matrix.val[i], expected[i], 1e-12);
  EXPECT_EQ(warp.scale, 1.1799372207739043);
  EXPECT_TRUE(warp.projective);
}

TEST(Perspective, AsksForItsDrawsInTheirRanges) {
  Replay rng(nlohmann::json::parse(R"([
    ["random.uniform", -0.5, 0.5, 0], ["random.uniform", -0.5, 0.5, 0], ["random.uniform", -9, 9, 0],
    ["random.uniform", 0.75, 1.25, 1], ["random.uniform", -7, 7, 0], ["random.uniform", -7, 7, 0],
    ["random.uniform", 0.3, 0.7, 0.5], ["random.uniform", 0.3, 0.7, 0.5]])"));
  draw_warp({.degrees = 9, .translate = 0.2, .scale = 0.25, .shear = 7, .perspective = 0.5}, {8, 8},
            {8, 8}, rng);
  EXPECT_TRUE(rng.finished());
}

/// Moves by (x, y).
Warp shift(double x, double y, cv::Size result) {
  Warp warp;
  warp.matrix(0, 2) = x;
  warp.matrix(1, 2) = y;
  warp.result = result;
  return warp;
}

TEST(Perspective, LeavesAImageAloneWhenNothingChanges) {
  const cv::Mat in(4, 4, CV_8UC3, cv::Scalar(1, 2, 3));
  cv::Mat out;
  warp(in, shift(0, 0, {4, 4}), out);
  EXPECT_EQ(cv::norm(in, out, cv::NORM_INF), 0);
  warp(in, shift(1, 0, {4, 4}), out);
  EXPECT_EQ(out.at<cv::Vec3b>(0, 0), cv::Vec3b(114, 114, 114));
  EXPECT_EQ(out.at<cv::Vec3b>(0, 1), cv::Vec3b(1, 2, 3));
}

TEST(Perspective, ClipsBoxesAndDropsWhatIsHardlyLeft) {
  const Objects objects{{{5, 10, 10, 30, 30}, {6, 0, 10, 11, 30}, {7, 0, 0, 100, 100}},
                        {{}, {}, {}}};
  // The second keeps 1 of its 11 pixels: less than a tenth.
  EXPECT_EQ(warp(objects, shift(-10, 0, {64, 64})),
            (std::vector<Box>{{5, 0, 10, 20, 30}, {7, 0, 0, 64, 64}}));
}

TEST(Perspective, TurnsABoxIntoTheOneAroundItsCorners) {
  Warp warp_;
  warp_.matrix = cv::Matx33d(0, -1, 40, 1, 0, 0, 0, 0, 1);  // a quarter turn
  warp_.result = {40, 40};
  EXPECT_EQ(warp(Objects{{{0, 10, 0, 30, 5}}, {{}}}, warp_),
            (std::vector<Box>{{0, 35, 10, 40, 30}}));
}

TEST(Perspective, BoxesAnOutlineByThePartThatStaysInside) {
  const Objects objects{{{0, 0, 0, 40, 40}}, {{{0, 0}, {40, 0}, {0, 40}}}};
  const auto boxes = warp(objects, shift(-20, 0, {64, 64}));
  ASSERT_EQ(boxes.size(), 1U);
  // Of the slanted edge x + y = 20 the part with x >= 0 stays; the points lie 0.12 pixels apart.
  EXPECT_NEAR(boxes[0].x1, 0, 0.13);
  EXPECT_NEAR(boxes[0].y1, 0, 0.01);
  EXPECT_NEAR(boxes[0].x2, 20, 0.13);
  EXPECT_NEAR(boxes[0].y2, 20, 0.13);
}

TEST(Perspective, KeepsAnOutlinedObjectOfWhichMoreThanAHundredthIsLeft) {
  const Objects objects{{{0, 0, 0, 100, 100}}, {{{0, 0}, {100, 0}, {100, 100}, {0, 100}}}};
  EXPECT_EQ(warp(objects, shift(-95, 0, {100, 100})).size(), 1U) << "a twentieth";
  EXPECT_TRUE(warp(Objects{objects.boxes, {{}}}, shift(-95, 0, {100, 100})).empty())
      << "of a box a tenth is needed";
}

TEST(Perspective, UsesBoxesUnlessEveryObjectHasAnOutline) {
  const Objects objects{{{0, 0, 0, 40, 40}, {1, 0, 0, 40, 40}}, {{{0, 0}, {40, 0}, {0, 40}}, {}}};
  EXPECT_EQ(warp(objects, shift(-20, 0, {64, 64})),
            (std::vector<Box>{{0, 0, 0, 20, 40}, {1, 0, 0, 20, 40}}));
}

TEST(BoxCandidate, NeedsMoreThanTwoPixels) {
  EXPECT_FALSE(is_candidate({0, 0, 4, 4}, {0, 0, 2, 4}, 0.1));
  EXPECT_TRUE(is_candidate({0, 0, 4, 4}, {0, 0, 2.01, 4}, 0.1));
}

TEST(BoxCandidate, NeedsItsShareOfTheArea) {
  EXPECT_FALSE(is_candidate({0, 0, 10, 10}, {0, 0, 2.5, 4}, 0.1));
  EXPECT_TRUE(is_candidate({0, 0, 10, 10}, {0, 0, 2.5, 4}, 0.01));
}

TEST(BoxCandidate, IsNotTooSlim) {
  EXPECT_FALSE(is_candidate({0, 0, 300, 3}, {0, 0, 300, 3}, 0.1));
  EXPECT_TRUE(is_candidate({0, 0, 299, 3}, {0, 0, 299, 3}, 0.1));
}

}  // namespace
}  // namespace evolve::data
