#include "trainer/data/image_weights.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace evolve::data {
namespace {

using ::testing::DoubleEq;
using ::testing::ElementsAre;

Dataset dataset(const std::vector<std::vector<int>>& classes) {
  Dataset dataset;
  for (const auto& image : classes) {
    auto& labels = dataset.images.emplace_back().labels;
    for (const int cls : image) labels.push_back({.cls = cls});
  }
  return dataset;
}

// Counts 3, 1 and 0: inverse 1/3, 1, 1, with a mean of 1 they are 3/7, 9/7, 9/7.

TEST(ImageWeights, PreferRareClassesAndLeaveOutImagesWithoutLabels) {
  const auto images = dataset({{0, 0}, {0, 1}, {}});
  EXPECT_THAT(image_weights(images, std::vector{0., 0., 0.}),
              ElementsAre(DoubleEq(6. / 7), DoubleEq(12. / 7), 0));
}

TEST(ImageWeights, PreferClassesThatDoBadly) {
  const auto images = dataset({{0, 0}, {0, 1}});
  EXPECT_THAT(image_weights(images, std::vector{0.5, 0.9, 0.}),
              ElementsAre(DoubleEq(6. / 7 * 0.25), DoubleEq(3. / 7 * 0.25 + 9. / 7 * 0.01)));
}

}  // namespace
}  // namespace evolve::data
