#include "trainer/data/check.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/refusal.hpp"
#include "tests/trainer/data/files.hpp"
#include "trainer/data/counts.hpp"
#include "trainer/data/dataset.hpp"

namespace evolve::data {
namespace {

using testing::ElementsAre;

struct Check : testing::Test {
  TemporaryFolder folder;
  DataConfig config{
      .file = "d.yaml", .names = {"cat", "dog", "cow"}, .train = {}, .val = {}, .test = {}};

  void add(const std::string& name, const char* labels) {
    config.train.push_back(write_image(folder / ("images/" + name + ".jpg")));
    if (labels) write_file(folder / ("labels/" + name + ".txt"), labels);
  }
};

TEST_F(Check, CountsImagesAndLabels) {
  add("a", "0 0.5 0.5 0.5 0.5\n2 0.5 0.5 0.5 0.5\n0 0.5 0.5 0.5 0.5\n");
  add("b", nullptr);
  add("c", "");
  add("d", "0 0.5 0.5 0.5 0.5\n");
  const DatasetStats stats = check(config, Split::train);
  EXPECT_EQ(stats.images, 4);
  EXPECT_EQ(stats.without_labels, 2);
  EXPECT_EQ(stats.labels, 3);
  EXPECT_EQ(stats.duplicates, 1);
  EXPECT_THAT(stats.per_class, ElementsAre(2, 0, 1));
  EXPECT_THAT(notes(stats, config, Split::train),
              ElementsAre("train: 4 images, 3 labels",
                          "train: 2 images without labels, taken as background",
                          "train: 1 label left out, being there twice",
                          "train: no label of class 1 (dog)"));
}

TEST_F(Check, CountsWhatIsLoaded) {
  add("a", "0 0.1 0.1 0.5 0.1 0.5 0.5\n2 0.5 0.5 0.5 0.5\n");
  add("b", nullptr);
  EXPECT_EQ(counts_of(check(config, Split::train)), counts_of(load(config, Split::train, {})));
}

TEST_F(Check, SaysOnlyTheCountsWhenAllIsWell) {
  add("a", "0 0.5 0.5 0.5 0.5\n1 0.5 0.5 0.5 0.5\n2 0.5 0.5 0.5 0.5\n");
  EXPECT_THAT(notes(check(config, Split::train), config, Split::train),
              ElementsAre("train: 1 image, 3 labels"));
}

TEST_F(Check, NamesTheFirstTenClassesWithoutLabelsInOneLine) {
  config.names.resize(80, "thing");
  add("a", "0 0.5 0.5 0.5 0.5\n2 0.5 0.5 0.5 0.5\n");
  EXPECT_EQ(notes(check(config, Split::train), config, Split::train).back(),
            "train: no label of classes 1 (dog), 3 (thing), 4 (thing), 5 (thing), 6 (thing), "
            "7 (thing), 8 (thing), 9 (thing), 10 (thing), 11 (thing) and 68 more");
}

TEST_F(Check, RefusesABadLabelWithItsLine) {
  add("a", "0 0.5 0.5 0.5 0.5\n3 0.5 0.5 0.5 0.5\n");
  EXPECT_THAT(
      check(config, Split::train).faults,
      ElementsAre((folder / "labels/a.txt") + ":2: '3' is no class; write an integer from 0 to 2"));
}

TEST_F(Check, RefusesABadImage) {
  add("a", "0 0.5 0.5 0.5 0.5\n");
  write_file(config.train[0], "no image");
  EXPECT_THAT(check(config, Split::train).faults,
              ElementsAre(config.train[0] +
                          ": is truncated, or no image of a kind that YOLOv5 reads; convert "
                          "it to .jpg or .png, or remove it"));
}

// Whoever opened it would wait for somebody who writes.
TEST_F(Check, RefusesAPipe) {
  add("a", "0 0.5 0.5 0.5 0.5\n");
  std::filesystem::remove(config.train[0]);
  ASSERT_EQ(::mkfifo(config.train[0].c_str(), 0600), 0);
  EXPECT_THAT(check(config, Split::train).faults,
              ElementsAre(config.train[0] + ": is no image but a pipe; remove it"));
}

TEST_F(Check, NamesAllBadFilesAndRefusesTheFirstTenOfThemByName) {
  for (int i = 0; i < 40; ++i)
    add(std::to_string(100 + i),
        i < 7 ? "0 0.5 0.5 0.5 0.5\n" : "0 0.5 0.5 0.5 0.5\n0 1.5 0.5 0.5 0.5\n");
  write_file(config.train[8], "no image");
  for (int again = 0; again < 20; ++again) {
    const DatasetStats stats = check(config, Split::train);
    EXPECT_EQ(stats.images, 7);
    EXPECT_EQ(stats.labels, 7);
    ASSERT_EQ(stats.faults.size(), 33U);
    EXPECT_EQ(stats.faults[0],
              (folder / "labels/107.txt") +
                  ":2: coordinate 1.5 is outside 0..1; write shares of the image's "
                  "width and height, and cut the box off at its edges");
    EXPECT_THAT(stats.faults[1], testing::StartsWith(config.train[8] + ": is truncated"));
    EXPECT_THAT(stats.faults[9], testing::StartsWith(folder / "labels/116.txt:2"));
    EXPECT_THAT(bad_images(stats.faults).what(),
                testing::EndsWith("\nand 23 more like these\n"
                                  "mend them, or go on without them: --skip-bad"));
    EXPECT_THAT(notes(stats, config, Split::train),
                testing::Contains("train: left out: " + stats.faults[32]));
  }
}

TEST_F(Check, SaysInOneLineThatTheListOfClassesIsTooShort) {
  add("a", "3 0.5 0.5 0.5 0.5\n");
  add("b", "0 0.5 0.5 0.5 0.5\n");
  add("c", "0 0.5 0.5 0.5 0.5\n3 0.5 0.5 0.5 0.5\n7 0.5 0.5 0.5 0.5\n");
  add("d", "3 1.5 0.5 0.5 0.5\n");
  const DatasetStats stats = check(config, Split::train);
  EXPECT_EQ(stats.images, 1);
  EXPECT_THAT(
      stats.faults,
      ElementsAre("d.yaml: it names 3 classes, but labels of 2 train images have classes up "
                  "to 7, such as " +
                      (folder / "labels/a.txt") + "; name all classes, or mend the labels",
                  testing::StartsWith(folder / "labels/d.txt:1: '3' is no class")));
}

TEST_F(Check, RefusesASplitWithoutAnyLabel) {
  add("a", "");
  config.val = config.train;
  for (const auto split : {Split::train, Split::val})
    EXPECT_EQ(test::refusal([&] { check_labels(check(config, split), config, split); }),
              "d.yaml: none of the 1 " + name_of(split) +
                  " images has a label; put label files like " + (folder / "labels/a.txt"));
  add("b", "0 0.5 0.5 0.5 0.5\n");
  EXPECT_NO_THROW(check_labels(check(config, Split::train), config, Split::train));
}

TEST_F(Check, AcceptsAnyClassInASingleClassDataSet) {
  add("a", "7 0.5 0.5 0.5 0.5\n");
  EXPECT_THAT(check(config, Split::train, {.single_cls = true}).per_class, ElementsAre(1));
}

TEST(CheckOfEmbeddedData, CountsEveryLabelAsOneClassWhenAllClassesAreOne) {
  const DataConfig config = read_data_yaml("shapes");
  const DatasetStats stats = check(config, Split::val, {.single_cls = true});
  EXPECT_THAT(stats.per_class, ElementsAre(stats.labels));
}

}  // namespace
}  // namespace evolve::data
