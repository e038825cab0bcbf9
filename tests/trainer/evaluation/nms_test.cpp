#include "trainer/evaluation/nms.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "tests/golden.hpp"

namespace evolve::trainer {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

/// One row: a 10 x 10 box with its centre at (x, 50).
std::vector<float> row(float x, float objectness, std::vector<float> classes) {
  std::vector<float> values{x, 50, 10, 10, objectness};
  values.insert(values.end(), classes.begin(), classes.end());
  return values;
}

std::vector<float> rows(const std::vector<std::vector<float>>& parts) {
  std::vector<float> all;
  for (const auto& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

Detection detection(float x, float conf, int cls) {
  return {.box = {x - 5, 45, x + 5, 55}, .conf = conf, .cls = cls};
}

TEST(Nms, DropsABoxThatOverlapsAMoreConfidentOneOfItsClass) {
  // IoU of boxes 2 pixels apart is 8 / 12 = 0.67, of boxes 3 apart 7 / 13 = 0.54.
  const auto input = rows({row(52, .5f, {1, 0}), row(50, 1, {1, 0}), row(47, .25f, {1, 0})});
  EXPECT_THAT(non_max_suppression(input, 2, {}),
              ElementsAre(detection(50, 1, 0), detection(47, .25f, 0)));
}

TEST(Nms, LetsBoxesOfDifferentClassesOverlapUnlessAgnostic) {
  const auto input = rows({row(50, 1, {.5f, 0}), row(50, 1, {0, .25f})});
  EXPECT_THAT(non_max_suppression(input, 2, {}),
              ElementsAre(detection(50, .5f, 0), detection(50, .25f, 1)));
  EXPECT_THAT(non_max_suppression(input, 2, {.agnostic = true}),
              ElementsAre(detection(50, .5f, 0)));
}

TEST(Nms, LetsABoxStandForSeveralClassesOnlyWithMultiLabel) {
  const auto input = row(50, .5f, {.5f, 1, .5f});
  EXPECT_THAT(non_max_suppression(input, 3, {}),
              ElementsAre(detection(50, .5f, 1), detection(50, .25f, 0), detection(50, .25f, 2)));
  EXPECT_THAT(non_max_suppression(input, 3, {.multi_label = false}),
              ElementsAre(detection(50, .5f, 1)));
}

TEST(Nms, WantsObjectnessAndConfidenceAboveTheThreshold) {
  const auto input =
      rows({row(20, .25f, {1}), row(40, .5f, {.5f}), row(60, .5f, {.75f}), row(80, .5f, {.25f})});
  EXPECT_THAT(non_max_suppression(input, 1, {.conf = .25}), ElementsAre(detection(60, .375f, 0)));
}

TEST(Nms, KeepsTheOrderOfEquallyConfidentBoxes) {
  const auto input = rows({row(80, .5f, {1}), row(20, .5f, {1}), row(50, .5f, {1})});
  EXPECT_THAT(non_max_suppression(input, 1, {}),
              ElementsAre(detection(80, .5f, 0), detection(20, .5f, 0), detection(50, .5f, 0)));
}

TEST(Nms, StopsAtTheGreatestNumberOfDetections) {
  std::vector<float> input;
  for (int i = 0; i < 5000; ++i) {
    const auto one = row(20 * static_cast<float>(i), 1 - static_cast<float>(i) / 8192, {1});
    input.insert(input.end(), one.begin(), one.end());
  }
  const auto found = non_max_suppression(input, 1, {.max_det = 1500});
  ASSERT_THAT(found, SizeIs(1500));
  EXPECT_EQ(found.back(), detection(20 * 1499, 1 - 1499.f / 8192, 0));
}

TEST(Nms, LooksAtThe30000MostConfidentCandidates) {
  std::vector<std::vector<float>> input(29999, row(50, 1, {1}));
  input.push_back(row(100, .5f, {1}));
  input.push_back(row(150, .25f, {1}));
  EXPECT_THAT(non_max_suppression(rows(input), 1, {}),
              ElementsAre(detection(50, 1, 0), detection(100, .5f, 0)));
}

TEST(Nms, IgnoresWhatADivergedModelSays) {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  const auto input = rows({row(50, nan, {1, 1}), row(50, 1, {nan, nan})});
  EXPECT_THAT(non_max_suppression(input, 2, {}), IsEmpty());
  EXPECT_THAT(non_max_suppression(input, 2, {.multi_label = false}), IsEmpty());
  EXPECT_THAT(non_max_suppression({}, 2, {}), IsEmpty());
}

std::vector<Detection> detections_of(const test::Recorded& tensor) {
  const auto values = tensor.as<float>();
  std::vector<Detection> found;
  for (std::size_t i = 0; i < values.size(); i += 6) {
    const float* v = &values[i];
    found.push_back({{v[0], v[1], v[2], v[3]}, v[4], static_cast<int>(v[5])});
  }
  return found;
}

TEST(ParityNms, KeepsTheSameBoxesInTheSameOrder) {
  CASES_OR_SKIP(references, "e_nms");
  for (const auto& reference : references) {
    for (const auto& [name, setting] : reference.scalars["cases"].items()) {
      SCOPED_TRACE(reference.name + ": " + name);
      const auto& tensor = reference[setting["input"]];
      const auto input = tensor.as<float>();
      const auto width = static_cast<std::size_t>(tensor.shape[2]);
      const auto image_size = static_cast<std::size_t>(tensor.shape[1]) * width;
      const NmsOptions options{.conf = setting["conf"],
                               .iou = setting["iou"],
                               .multi_label = setting["multi_label"],
                               .agnostic = setting["agnostic"]};
      for (std::size_t i = 0; i < setting["kept"].size(); ++i) {
        const auto image = std::span(input).subspan(i * image_size, image_size);
        const auto found = non_max_suppression(image, static_cast<int>(width) - 5, options);
        const std::string output = name + ".out" + std::to_string(i);
        ASSERT_THAT(found, SizeIs(setting["kept"][i].get<std::size_t>()));
        if (found.empty()) continue;
        EXPECT_EQ(found, detections_of(reference[output]));
      }
    }
  }
}

}  // namespace
}  // namespace evolve::trainer
