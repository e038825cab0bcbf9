#include "trainer/data/embedded/shapes.hpp"

#include <gtest/gtest.h>

#include <opencv2/core.hpp>

#include "tests/refusal.hpp"
#include "tests/trainer/data/files.hpp"
#include "trainer/data/check.hpp"
#include "trainer/data/dataset.hpp"

namespace evolve::data {
namespace {

TEST(Shapes, AreServedByNameWithoutFiles) {
  const DataConfig config = read_data_yaml("shapes");
  EXPECT_TRUE(config.embedded);
  EXPECT_EQ(config.names, (std::vector<std::string>{"circle", "square", "triangle"}));
  EXPECT_EQ(config.train.size(), 240U);
  EXPECT_EQ(config.val.size(), 100U);
  EXPECT_EQ(config.test.size(), 100U);
  EXPECT_EQ(read_data_yaml("shapes-base").names.size(), 5U);
}

TEST(Shapes, HoldEveryClassInEverySplit) {
  for (const char* name : {"shapes", "shapes-base"}) {
    const DataConfig config = read_data_yaml(name);
    for (const Split split : {Split::train, Split::val, Split::test}) {
      const DatasetStats stats = check(config, split);
      EXPECT_EQ(stats.images, static_cast<int>(config.images(split).size()));
      for (const int labels : stats.per_class) EXPECT_GE(labels, 70) << name << name_of(split);
    }
  }
}

TEST(Shapes, HaveLabelsInsideTheirImages) {
  for (const Drawing& drawing : embedded_images("shapes", Split::val)) {
    EXPECT_EQ(drawing.pixels.size(), cv::Size(128, 128));
    EXPECT_LE(drawing.labels.size(), 8U);
    for (const Label& label : drawing.labels) {
      EXPECT_GE(label.x - label.w / 2, -1e-6);
      EXPECT_GE(label.y - label.h / 2, -1e-6);
      EXPECT_LE(label.x + label.w / 2, 1 + 1e-6);
      EXPECT_LE(label.y + label.h / 2, 1 + 1e-6);
      EXPECT_GE(std::min(label.w, label.h), 4.0 / 128);
    }
  }
}

// The checkpoint that evolve starts from was trained on them.
TEST(Shapes, AreTheSameImagesEverywhere) {
  const Drawing first = embedded_images("shapes", Split::val)[0];
  EXPECT_EQ(label_lines(first.labels),
            "2 0.657764 0.657945 0.154005 0.155801\n0 0.199765 0.160706 0.399529 0.321412\n");
  EXPECT_EQ(cv::sum(first.pixels), cv::Scalar(1181793, 1870093, 1735179));
  const Drawing base = embedded_images("shapes-base", Split::test)[0];
  EXPECT_EQ(cv::sum(base.pixels), cv::Scalar(1460249, 1128379, 2355427));
}

TEST(Shapes, LoadAtAnySize) {
  const Dataset dataset =
      load(read_data_yaml("shapes"), Split::val, {.imgsz = 64, .training = false});
  EXPECT_EQ(dataset.images.size(), 100U);
  EXPECT_EQ(dataset.images[99].pixels.size(), cv::Size(64, 64));
  EXPECT_EQ(dataset.images[99].original_width, 128);
  EXPECT_EQ(dataset.images[99].file, "images/val/0099.png");
}

TEST(Shapes, ReadBackFromDiskAreTheSame) {
  const TemporaryFolder folder;
  for (int i = 0; i < 2; ++i) write_embedded("shapes", folder / "s");  // also over themselves
  const DataConfig config = read_data_yaml(folder / "s/shapes.yaml");
  for (const Split split : {Split::train, Split::val, Split::test}) {
    const LoadOptions options{.imgsz = 128};
    const Dataset written = load(config, split, options);
    const Dataset drawn = load(read_data_yaml("shapes"), split, options);
    EXPECT_EQ(written.names, drawn.names);
    ASSERT_EQ(written.images.size(), drawn.images.size());
    for (std::size_t i = 0; i < drawn.images.size(); ++i) {
      EXPECT_EQ(written.images[i].labels, drawn.images[i].labels);
      EXPECT_EQ(cv::norm(written.images[i].pixels, drawn.images[i].pixels, cv::NORM_INF), 0);
    }
    EXPECT_EQ(check(config, split).labels, check(read_data_yaml("shapes"), split).labels);
  }
}

TEST(Shapes, AreReadBackFromAFolderOfAnyName) {
  const TemporaryFolder folder;
  write_embedded("shapes", folder / "runs # 1: \"new\"");
  const DataConfig config = read_data_yaml(folder / "runs # 1: \"new\"/shapes.yaml");
  EXPECT_EQ(config.val.front(), folder / "runs # 1: \"new\"/images/val/0000.png");
}

TEST(Shapes, AreReadBackFromAnotherFolderThanTheyWereWrittenFrom) {
  const TemporaryFolder folder;
  const auto here = std::filesystem::current_path();
  std::filesystem::current_path(folder / "");
  write_embedded("shapes", "new");
  std::filesystem::current_path(here);
  EXPECT_EQ(read_data_yaml(folder / "new/shapes.yaml").val.front(),
            folder / "new/images/val/0000.png");
}

TEST(Shapes, AreNotWrittenAmongOtherFiles) {
  const TemporaryFolder folder;
  write_file(folder / "mine.txt", "");
  EXPECT_EQ(test::refusal([&] { write_embedded("shapes", folder / ""); }),
            (folder / "") + " holds other files; name a new or an empty folder");
}

TEST(Shapes, AreNotWrittenOverAnotherDataSetOfTheirName) {
  const TemporaryFolder folder;
  write_file(folder / "shapes.yaml",
             "path: .\ntrain: images/train\nval: images/val\nnames: [dog]\n");
  EXPECT_EQ(test::refusal([&] { write_embedded("shapes", folder / ""); }),
            (folder / "") + " holds other files; name a new or an empty folder");
}

}  // namespace
}  // namespace evolve::data
