#include "trainer/data/counts.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace evolve::data {
namespace {

using Json = nlohmann::ordered_json;

/// Of a split with labels of two classes.
Json split(int images, int of_0, int of_1, std::uint32_t checksum = 7) {
  return {{"images", images},
          {"labels", of_0 + of_1},
          {"per_class", {of_0, of_1}},
          {"checksum", checksum}};
}

TEST(Counts, OfWhatWasCheckedAreThoseOfWhatIsLoaded) {
  Dataset dataset{.names = {"cat", "dog"}};
  dataset.images.resize(3);
  dataset.images[0].labels.resize(2);
  dataset.images[2].labels.resize(1);
  dataset.images[2].labels[0].cls = 1;
  std::uint32_t checksum = 0;
  for (const auto& image : dataset.images) checksum += image_checksum("", {0, 0}, image.labels, {});
  EXPECT_EQ(counts_of(dataset), split(3, 2, 1, checksum));
  EXPECT_EQ(
      counts_of(DatasetStats{.images = 3, .labels = 3, .per_class = {2, 1}, .checksum = checksum}),
      split(3, 2, 1, checksum));
}

TEST(Counts, TellABoxThatWasMovedAnotherOutlineInItAndAnImageOfAnotherSize) {
  const std::vector<Label> labels = {{.cls = 1, .x = .5F, .y = .5F, .w = .25F, .h = .25F}};
  const std::vector<Segment> outline = {{{.4F, .4F}, {.6F, .4F}, {.6F, .6F}}};
  auto moved = labels;
  moved[0].x = .4F;
  auto other = outline;
  other[0].emplace_back(.5F, .5F);
  const auto before = image_checksum("a.png", {20, 10}, labels, outline);
  EXPECT_EQ(image_checksum("/elsewhere/a.png", {20, 10}, labels, outline), before);
  EXPECT_NE(image_checksum("a.png", {20, 10}, moved, outline), before);
  EXPECT_NE(image_checksum("a.png", {20, 10}, labels, other), before);
  EXPECT_NE(image_checksum("a.png", {10, 20}, labels, outline), before);
  EXPECT_NE(image_checksum("a.png", {20, 10}, {}, {}), image_checksum("a.png", {10, 20}, {}, {}));
}

TEST(Counts, TellLabelsThatTwoImagesHaveExchanged) {
  const std::vector<Label> one = {{.cls = 1, .x = .5F, .y = .5F, .w = .25F, .h = .25F}};
  const auto both = [](const auto& of_a, const auto& of_b) {
    return image_checksum("a.png", {9, 9}, of_a, {}) + image_checksum("b.png", {9, 9}, of_b, {});
  };
  const std::vector<Label> none;
  EXPECT_NE(both(one, none), both(none, one));
}

TEST(Counts, ThatDifferSayHow) {
  const Json before{{"train", split(24, 40, 32)}, {"val", split(8, 12, 12)}, {"weights", 7}};
  const auto different = [&](const char* name, const Json& counts) {
    Json now{{"train", before["train"]}, {"val", before["val"]}};
    now[name] = counts;
    return difference(before, now, "the run began with").value_or("the same");
  };
  EXPECT_EQ(different("train", before["train"]), "the same");
  EXPECT_EQ(different("train", split(12, 20, 16)),
            "12 train images with 36 labels, the run began with 24 with 72");
  EXPECT_EQ(different("val", split(8, 12, 11)),
            "8 val images with 23 labels, the run began with 8 with 24");
  EXPECT_EQ(different("val", split(8, 14, 10)), "14 val labels of class 0, the run began with 12");
  EXPECT_EQ(different("val", split(8, 12, 12, 8)),
            "val labels, or names or sizes of images, other than those that the run began with");
  Json more = before["train"];
  more["per_class"].push_back(0);
  EXPECT_EQ(different("train", more), "3 classes, the run began with 2");
}

TEST(Counts, ThatAnEarlierVersionDidNotHaveAreNotCompared) {
  const Json now{{"train", split(24, 40, 32)}};
  EXPECT_FALSE(difference(Json(), now, "the run began with"));
  EXPECT_FALSE(
      difference({{"train", {{"images", 24}, {"labels", 72}}}}, now, "the run began with"));
  Json without_names = now["train"];
  without_names.erase("checksum");
  without_names["contents"] = 8;
  EXPECT_FALSE(difference({{"train", without_names}}, now, "the run began with"));
}

}  // namespace
}  // namespace evolve::data
