#include "trainer/data/autoanchor.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tests/golden.hpp"
#include "trainer/data/dataset.hpp"

namespace evolve::data {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::Field;
using testing::Ge;
using testing::SizeIs;

TEST(Measure, TakesTheWorseOfTheTwoSideRatios) {
  const std::vector<Size> anchors{{10, 10}, {40, 10}};
  // Matches 1/2 and 1/2; 1/8 and 1/2 (both fail at thr 2); 1 and 1/4.
  const std::vector<Size> labels{{20, 10}, {80, 10}, {10, 10}};
  const AnchorFit strict = measure(anchors, labels, 2);
  EXPECT_DOUBLE_EQ(strict.best_possible_recall, 1. / 3);
  EXPECT_DOUBLE_EQ(strict.anchors_per_label, 1. / 3);
  EXPECT_DOUBLE_EQ(strict.fitness, 1. / 3);
  const AnchorFit lenient = measure(anchors, labels, 5);
  EXPECT_DOUBLE_EQ(lenient.best_possible_recall, 1);
  EXPECT_DOUBLE_EQ(lenient.anchors_per_label, 5. / 3);
  EXPECT_DOUBLE_EQ(lenient.fitness, 2. / 3);
}

TEST(Measure, IsZeroWithoutLabels) {
  EXPECT_EQ(measure(std::vector<Size>{{1, 1}}, {}, 4).best_possible_recall, 0);
}

/// Two groups of labels, around 10 x 20 and 60 x 30.
std::vector<Size> two_groups() {
  std::vector<Size> labels;
  for (int i = -4; i <= 4; ++i) {
    labels.push_back({10 + .1f * static_cast<float>(i), 20});
    labels.push_back({60, 30 + .1f * static_cast<float>(i)});
  }
  return labels;
}

/// So many anchors that match no label.
std::vector<Size> bad(std::size_t count) {
  return std::vector<Size>(count, Size{.01f, .01f});
}

/// What is chosen in place of so many bad anchors, which match none of `jittered`.
AnchorChoice found(const std::vector<Size>& labels, const std::vector<Size>& jittered,
                   std::size_t count) {
  AnchorFitter fitter(64, {.exact = labels, .jittered = jittered});
  auto choice = fitter.fit(bad(count), 4);
  EXPECT_TRUE(choice.replaced);
  return choice;
}
std::vector<Size> found(const std::vector<Size>& labels, std::size_t count) {
  return found(labels, labels, count).anchors;
}

TEST(NewAnchors, AreTheGroupsSortedByArea) {
  const auto anchors = found(two_groups(), 2);
  ASSERT_THAT(anchors, SizeIs(2));
  EXPECT_NEAR(anchors[0].w, 10, .1);
  EXPECT_NEAR(anchors[0].h, 20, .1);
  EXPECT_NEAR(anchors[1].w, 60, .1);
  EXPECT_NEAR(anchors[1].h, 30, .1);
}

TEST(NewAnchors, AreTheSameEachTime) {
  EXPECT_EQ(found(two_groups(), 3), found(two_groups(), 3));
}

TEST(NewAnchors, StartAtRandomWithTooFewLabelsOrSizesThatDoNotVary) {
  const std::vector<Size> few{{10, 20}, {30, 15}};
  EXPECT_THAT(found(few, 9), SizeIs(9));
  EXPECT_GT(measure(found(few, 9), few, 4).fitness, .9);
  EXPECT_THAT(found(std::vector<Size>(50, Size{8, 8}), 9), SizeIs(9));
  EXPECT_THAT(found({}, few, 9).anchors, SizeIs(9));
}

TEST(NewAnchors, IgnoreLabelsThatAreTooSmallAndStayAboveTwoPixels) {
  auto labels = two_groups();
  const auto expected = found(labels, 3);
  labels.insert(labels.begin(), 1000, Size{1.9f, 1.9f});
  EXPECT_EQ(found(labels, two_groups(), 3).anchors, expected);
  const auto tiny = found(std::vector<Size>(30, Size{2, .1f}), {{2, 2}}, 3);
  EXPECT_THAT(tiny.anchors, Each(Field(&Size::h, Ge(2))));
}

TEST(NewAnchors, AreSearchedForLabelsThatAreThinInOneDirectionToo) {
  auto labels = two_groups();
  for (int i = -4; i <= 4; ++i) labels.push_back({1, 50 + .1f * static_cast<float>(i)});
  const auto anchors = found(labels, 3);
  ASSERT_THAT(anchors, SizeIs(3));
  EXPECT_NEAR(anchors[0].w, 1, .1);
  EXPECT_NEAR(anchors[0].h, 50, .3);
}

TEST(AnchorFitter, KeepsAGoodFit) {
  const std::vector<Size> current{{12, 24}, {60, 30}};
  const auto choice =
      AnchorFitter(64, {.exact = two_groups(), .jittered = two_groups()}).fit(current, 4);
  EXPECT_FALSE(choice.replaced);
  EXPECT_EQ(choice.anchors, current);
  EXPECT_EQ(choice.fit.best_possible_recall, 1);
}

TEST(AnchorFitter, ReplacesABadFitByAsManyAnchors) {
  const std::vector<Size> current{{500, 500}, {600, 600}};
  const auto choice =
      AnchorFitter(64, {.exact = two_groups(), .jittered = two_groups()}).fit(current, 4);
  EXPECT_TRUE(choice.replaced);
  EXPECT_THAT(choice.anchors, SizeIs(2));
  EXPECT_EQ(choice.fit.best_possible_recall, 1);
}

TEST(AnchorFitter, KeepsTheAnchorsWhenThereAreNoLabels) {
  EXPECT_FALSE(AnchorFitter(640, {}).fit(std::vector<Size>{{5, 5}}, 4).replaced);
}

/// A data set of one image with boxes of many sizes.
Dataset boxes() {
  Dataset dataset{.imgsz = 640};
  Image image{.original_height = 640, .original_width = 640};
  for (int i = 1; i <= 40; ++i) {
    image.labels.push_back({.w = static_cast<float>(i) / 50, .h = 1 / static_cast<float>(i + 2)});
  }
  dataset.images.push_back(std::move(image));
  return dataset;
}

TEST(AnchorFitter, FindsTheSameWhateverItDidBefore) {
  const auto dataset = boxes();
  const std::vector<Size> nine(9, Size{1, 1}), six(6, Size{1, 1});
  AnchorFitter fitter(dataset);
  for (const double thr : {4., 3., 2.5, 4.}) {
    for (const auto& current : {nine, six}) {
      const auto choice = fitter.fit(current, thr);
      EXPECT_TRUE(choice.replaced);
      EXPECT_EQ(choice.anchors, AnchorFitter(dataset).fit(current, thr).anchors);
    }
  }
}

TEST(AnchorFitter, ClustersOnceHoweverOftenTheThresholdChanges) {
  AnchorFitter fitter(boxes());
  const std::vector<Size> current(9, Size{1, 1});
  const auto passes = [&](double thr) {
    int count = 0;
    fitter.fit(current, thr, [&] { ++count; });
    return count;
  };
  constexpr int generations = 1000;
  EXPECT_GE(passes(4), generations + 30) << "30 starts of k-means besides";
  EXPECT_EQ(passes(3), generations);
  EXPECT_EQ(passes(3.5), generations);
}

TEST(LabelSizes, AreThoseOfTheImageScaledToImgsz) {
  Dataset dataset{.imgsz = 64};
  dataset.images.push_back({.original_height = 100,
                            .original_width = 200,
                            .labels = {{.w = .5f, .h = .25f}, {.w = 1, .h = 1}}});
  dataset.images.push_back(
      {.original_height = 128, .original_width = 32, .labels = {{.w = .5f, .h = .5f}}});
  const auto sizes = label_sizes(dataset, 1);
  EXPECT_THAT(sizes.exact, ElementsAre(Size{32, 8}, Size{64, 32}, Size{8, 32}));
  ASSERT_THAT(sizes.jittered, SizeIs(3));
  const float first = sizes.jittered[0].w / 32, second = sizes.jittered[2].w / 8;
  EXPECT_FLOAT_EQ(sizes.jittered[1].h, 32 * first);
  EXPECT_NE(first, second);
  for (const float factor : {first, second}) {
    EXPECT_GE(factor, .9f);
    EXPECT_LE(factor, 1.1f);
  }
}

std::vector<Size> sizes_of(const test::Recorded& tensor) {
  const auto values = tensor.as<float>();
  std::vector<Size> sizes;
  for (std::size_t i = 0; i < values.size(); i += 2) sizes.push_back({values[i], values[i + 1]});
  return sizes;
}

std::vector<Size> sizes_of(const nlohmann::json& pairs) {
  std::vector<Size> sizes;
  for (const auto& pair : pairs) sizes.push_back({pair[0], pair[1]});
  return sizes;
}

void expect_fit(const AnchorFit& fit, const nlohmann::json& expected) {
  // Recorded in single precision.
  EXPECT_FLOAT_EQ(static_cast<float>(fit.best_possible_recall), expected["bpr"].get<float>());
  EXPECT_FLOAT_EQ(static_cast<float>(fit.anchors_per_label), expected["aat"].get<float>());
  EXPECT_NEAR(fit.fitness, expected["fitness"], 1e-6);
}

/// Runs `check(name, recorded case, its file, its labels)` for every recorded case.
template <class Test>
void for_each_case(const std::vector<test::Case>& references, Test check) {
  for (const auto& reference : references) {
    for (const auto& [name, recorded] : reference.scalars["cases"].items()) {
      SCOPED_TRACE(reference.name + ": " + name);
      check(name, recorded, reference, sizes_of(reference[name + ".wh0"]));
    }
  }
}

TEST(ParityAutoanchor, MeasuresTheSameFit) {
  CASES_OR_SKIP(references, "g_autoanchor");
  for_each_case(references, [](const auto& name, const auto& recorded, const auto& reference,
                               const auto& labels) {
    const auto anchors = sizes_of(recorded["anchors_in"]);
    expect_fit(measure(anchors, labels, 4), recorded["before_on_wh0"]);
    expect_fit(measure(sizes_of(recorded["kmean_anchors"]), labels, 4), recorded["kmean_on_wh0"]);
    if (!reference.has(name + ".wh_check")) return;
    const auto jittered = sizes_of(reference[name + ".wh_check"]);
    expect_fit(measure(anchors, jittered, 4), recorded["before_on_wh_check"]);
    for (const auto& [thr, fit] : recorded["thr_variants"].items()) {
      expect_fit(measure(anchors, jittered, std::stod(thr)), fit);
    }
  });
}

TEST(ParityAutoanchor, FindsAnchorsAtLeastAsFit) {
  CASES_OR_SKIP(references, "g_autoanchor");
  for_each_case(references, [](const auto&, const auto& recorded, const auto&, const auto& labels) {
    const auto reference = sizes_of(recorded["kmean_anchors"]);
    AnchorFitter fitter(640, {.exact = labels, .jittered = labels});
    const auto choice = fitter.fit(bad(reference.size()), 4);
    EXPECT_GE(choice.fit.fitness, measure(reference, labels, 4).fitness);
    EXPECT_GE(choice.fit.best_possible_recall, measure(reference, labels, 4).best_possible_recall);
  });
}

TEST(ParityAutoanchor, ReplacesAnchorsWhereYolov5Does) {
  CASES_OR_SKIP(references, "g_autoanchor");
  for_each_case(references, [](const auto& name, const auto& recorded, const auto& reference,
                               const auto& labels) {
    if (!reference.has(name + ".wh_check")) return;
    const auto jittered = sizes_of(reference[name + ".wh_check"]);
    AnchorFitter fitter(640, {.exact = labels, .jittered = jittered});
    const auto choice = fitter.fit(sizes_of(recorded["anchors_in"]), 4);
    EXPECT_EQ(choice.replaced, recorded["replaced"].template get<bool>());
    EXPECT_GE(static_cast<float>(choice.fit.best_possible_recall),
              recorded["final_on_wh_check"]["bpr"].template get<float>());
  });
}

/// The recorded factors of 60 generations, applied to all anchors at once.
TEST(ParityAutoanchor, JudgesMutationsAlike) {
  CASES_OR_SKIP(references, "g_autoanchor");
  for_each_case(
      references, [](const auto& name, const auto& recorded, const auto& reference, auto labels) {
        if (!recorded.contains("scripted_ga")) return;
        std::erase_if(labels, [](const Size& size) { return size.w < 2 && size.h < 2; });
        const auto& script = recorded["scripted_ga"];
        const auto factors = reference[name + ".ga_v"].template as<double>();
        auto anchors = recorded["anchors_in"].template get<std::vector<std::array<double, 2>>>();
        const auto fitness_of = [&](const auto& candidate) {
          std::vector<Size> sizes;
          for (const auto& [w, h] : candidate) {
            sizes.push_back({static_cast<float>(w), static_cast<float>(h)});
          }
          return measure(sizes, labels, 4).fitness;
        };
        double best = fitness_of(anchors);
        for (std::size_t i = 0; i < script["fitness"].size(); ++i) {
          auto mutant = anchors;
          for (std::size_t k = 0; k < 2 * mutant.size(); ++k) {
            double& side = mutant[k / 2][k % 2];
            side = std::max(2.0, side * factors[2 * mutant.size() * i + k]);
          }
          const double fitness = fitness_of(mutant);
          EXPECT_NEAR(fitness, script["fitness"][i], 1e-6);
          EXPECT_EQ(fitness > best, script["accepted"][i].template get<bool>());
          if (fitness <= best) continue;
          best = fitness;
          anchors = mutant;
        }
        EXPECT_NEAR(best, script["final_fitness"], 1e-6);
      });
}

}  // namespace
}  // namespace evolve::data
