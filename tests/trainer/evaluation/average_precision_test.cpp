#include "trainer/evaluation/average_precision.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "tests/golden.hpp"

namespace evolve::trainer {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr Hits all_thresholds = (1u << iou_thresholds.size()) - 1;

Detection detection(Box box, int cls = 0) {
  return {.box = box, .conf = .5f, .cls = cls};
}

TEST(Match, HitsAtTheThresholdsThatTheOverlapReaches) {
  const std::vector<GroundTruth> labels{{.box = {0, 0, 100, 10}}};
  // IoU 0.52, 0.77 and 1.
  EXPECT_THAT(match(std::vector{detection({0, 0, 52, 10})}, labels), ElementsAre(0b1));
  EXPECT_THAT(match(std::vector{detection({0, 0, 77, 10})}, labels), ElementsAre(0b111111));
  EXPECT_THAT(match(std::vector{detection({0, 0, 100, 10})}, labels), ElementsAre(all_thresholds));
  EXPECT_THAT(match(std::vector{detection({0, 0, 49, 10})}, labels), ElementsAre(0));
}

TEST(Match, WantsTheSameClass) {
  const std::vector<GroundTruth> labels{{.box = {0, 0, 10, 10}, .cls = 1}};
  EXPECT_THAT(match(std::vector{detection({0, 0, 10, 10}, 0)}, labels), ElementsAre(0));
}

TEST(Match, GivesALabelToTheFirstThatClaimsItAtEachThreshold) {
  const std::vector<GroundTruth> labels{{.box = {0, 0, 100, 10}}};
  const std::vector detections{detection({0, 0, 77, 10}), detection({0, 0, 100, 10})};
  EXPECT_THAT(match(detections, labels), ElementsAre(0b111111, all_thresholds & ~0b111111));
}

TEST(Match, CountsADetectionWrongWhenItsBestLabelIsTaken) {
  // The second detection also overlaps the second label, by 0.6, but prefers the first.
  const std::vector<GroundTruth> labels{{.box = {0, 0, 100, 10}}, {.box = {0, 0, 60, 10}}};
  const std::vector detections{detection({0, 0, 100, 10}), detection({0, 0, 99, 10})};
  EXPECT_THAT(match(detections, labels), ElementsAre(all_thresholds, 0));
}

TEST(ScoreClasses, LeavesOutClassesWithoutLabels) {
  const std::vector<Judged> detections{{.conf = .9, .cls = 0, .hits = all_thresholds},
                                       {.conf = .8, .cls = 1, .hits = 0},
                                       {.conf = .8, .cls = 7, .hits = 0}};
  const auto scores = score_classes(detections, std::vector{1, 0, 2});
  ASSERT_THAT(scores, SizeIs(2));
  EXPECT_EQ(scores[0].cls, 0);
  EXPECT_NEAR(scores[0].ap50_95(), .995, 1e-12);
  EXPECT_EQ(scores[1].cls, 2);
  EXPECT_EQ(scores[1].labels, 2);
  EXPECT_EQ(scores[1].ap50_95(), 0);
}

// Numbers by the definitions: precision made non-increasing, taken at 101 recalls, trapezoids.
TEST(ScoreClasses, IntegratesPrecisionOverRecallAtEachThreshold) {
  const std::vector<Judged> detections{{.conf = .9, .cls = 0, .hits = all_thresholds},
                                       {.conf = .8, .cls = 0, .hits = 0},
                                       {.conf = .7, .cls = 0, .hits = 0b1},
                                       {.conf = .6, .cls = 0, .hits = 0},
                                       {.conf = .5, .cls = 0, .hits = all_thresholds}};
  const auto scores = score_classes(detections, std::vector{4});
  ASSERT_THAT(scores, SizeIs(1));
  EXPECT_NEAR(scores[0].ap50(), .6396666666666667, 1e-12);
  EXPECT_NEAR(scores[0].ap[1], .447, 1e-12);
  EXPECT_NEAR(scores[0].ap50_95(), .4662666666666667, 1e-12);
}

// F1 is greatest between .6 and .9, after a mean over 101 of the 1000 confidences.
TEST(ScoreClasses, HavePrecisionAndRecallWhereTheSmoothedF1IsGreatest) {
  const std::vector<Judged> detections{{.conf = .9, .cls = 0, .hits = all_thresholds},
                                       {.conf = .6, .cls = 0, .hits = all_thresholds},
                                       {.conf = .5, .cls = 0, .hits = 0},
                                       {.conf = .4, .cls = 0, .hits = 0},
                                       {.conf = .3, .cls = 0, .hits = 0}};
  const auto scores = score_classes(detections, std::vector{2});
  ASSERT_THAT(scores, SizeIs(1));
  EXPECT_NEAR(scores[0].precision, 1, 1e-12);
  EXPECT_NEAR(scores[0].recall, .9723056389723057, 1e-12);
  EXPECT_NEAR(scores[0].f1, .9859583826763662, 1e-12);
}

TEST(ScoreClasses, SaysNothingWithoutLabels) {
  EXPECT_THAT(score_classes({}, std::vector{0, 0}), IsEmpty());
}

TEST(ScoreClasses, DoesNotDependOnTheOrderOfTheDetections) {
  std::vector<Judged> detections;
  for (int i = 0; i < 40; ++i) {
    detections.push_back(
        {.conf = .02 * i, .cls = i % 2, .hits = static_cast<Hits>(all_thresholds >> (i % 11))});
  }
  const auto scores = score_classes(detections, std::vector{12, 15});
  std::ranges::reverse(detections);
  const auto reversed = score_classes(detections, std::vector{12, 15});
  ASSERT_THAT(reversed, SizeIs(2));
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(scores[i].ap, reversed[i].ap);
    EXPECT_EQ(scores[i].precision, reversed[i].precision);
    EXPECT_EQ(scores[i].recall, reversed[i].recall);
  }
}

std::vector<Judged> detections_of(const nlohmann::json& recorded) {
  std::vector<Judged> detections;
  for (std::size_t i = 0; i < recorded["conf"].size(); ++i) {
    const auto& tp = recorded["tp"][i];
    Hits hits = 0;
    for (std::size_t k = 0; k < iou_thresholds.size(); ++k) {
      // A case of one threshold stands for ten equal ones.
      if (tp[std::min(k, tp.size() - 1)] == 1) hits |= static_cast<Hits>(1u << k);
    }
    detections.push_back(
        {.conf = recorded["conf"][i], .cls = recorded["pred_cls"][i].get<int>(), .hits = hits});
  }
  return detections;
}

std::vector<int> labels_per_class(const nlohmann::json& target_cls) {
  std::vector<int> counts;
  for (const auto& cls : target_cls) {
    const auto index = cls.get<std::size_t>();
    if (index >= counts.size()) counts.resize(index + 1);
    ++counts[index];
  }
  return counts;
}

void expect_same(const std::vector<ClassScore>& scores, const nlohmann::json& out) {
  constexpr double tolerance = 1e-9;
  ASSERT_THAT(scores, SizeIs(out["classes"].size()));
  for (std::size_t i = 0; i < scores.size(); ++i) {
    SCOPED_TRACE(i);
    const ClassScore& score = scores[i];
    EXPECT_EQ(score.cls, out["classes"][i].get<int>());
    EXPECT_NEAR(score.precision, out["p"][i], tolerance);
    EXPECT_NEAR(score.recall, out["r"][i], tolerance);
    EXPECT_NEAR(score.f1, out["f1"][i], tolerance);
    EXPECT_NEAR(score.ap50(), out["ap50"][i], tolerance);
    EXPECT_NEAR(score.ap50_95(), out["ap"][i], tolerance);
    // As YOLOv5 counts true and false positives.
    const double right = std::nearbyint(score.recall * score.labels);
    EXPECT_EQ(right, out["tp"][i].get<double>());
    EXPECT_EQ(std::nearbyint(right / (score.precision + 1e-16) - right),
              out["fp"][i].get<double>());
    const auto& each = out["ap_full"][i];
    for (std::size_t k = 0; k < each.size(); ++k) EXPECT_NEAR(score.ap[k], each[k], tolerance);
  }
}

TEST(ParityAveragePrecision, GivesTheSameScoresPerClass) {
  CASES_OR_SKIP(references, "f_map");
  for (const auto& reference : references) {
    for (const auto& [name, recorded] : reference.scalars["cases"].items()) {
      SCOPED_TRACE(reference.name + ": " + name);
      const auto labels = labels_per_class(recorded["target_cls"]);
      expect_same(score_classes(detections_of(recorded), labels), recorded["out"]);
    }
  }
}

TEST(ParityAveragePrecision, MatchesDetectionsWithTheSameLabels) {
  CASES_OR_SKIP(references, "f_map");
  for (const auto& reference : references) {
    for (const auto& recorded : reference.scalars["process_batch"]) {
      std::vector<Detection> detections;
      for (const auto& d : recorded["detections"]) {
        detections.push_back({{d[0], d[1], d[2], d[3]}, d[4], d[5].get<int>()});
      }
      std::vector<GroundTruth> labels;
      for (const auto& l : recorded["labels"]) {
        labels.push_back({{l[1], l[2], l[3], l[4]}, l[0].get<int>()});
      }
      std::vector<Hits> expected;
      for (const auto& row : recorded["correct"]) {
        Hits hits = 0;
        for (std::size_t k = 0; k < row.size(); ++k) {
          if (row[k] == 1) hits |= static_cast<Hits>(1u << k);
        }
        expected.push_back(hits);
      }
      EXPECT_EQ(match(detections, labels), expected);
    }
  }
}

}  // namespace
}  // namespace evolve::trainer
