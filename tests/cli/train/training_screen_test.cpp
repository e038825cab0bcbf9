#include "cli/train/training_screen.hpp"

#include <gtest/gtest.h>

namespace evolve::cli {
namespace {

const workers::BatchReport batch{.epoch = 4,
                                 .batch = 8,
                                 .batches = 13,
                                 .losses = {.box = 0.1021, .obj = 0.03123, .cls = 0.015438},
                                 .labels = 216,
                                 .imgsz = 160,
                                 .memory_bytes = 1'250'000'000};

const workers::ValidationReport validation{
    .metrics = {.precision = .79084, .recall = .59, .map50 = .5890, .map50_95 = .34359},
    .images = 87,
    .labels = 1137,
    .classes = {
        {.name = "RBC", .labels = 967, .precision = .8, .recall = .7, .map50 = .6, .map50_95 = .5},
        {.name = "WBC", .labels = 170, .precision = 1}}};

TEST(TrainingScreen, ShowsEpochsInYolov5sColumns) {
  EXPECT_EQ(epoch_header(), "   Epoch GPU_mem  box_loss  obj_loss  cls_loss Instances Size");
  EXPECT_EQ(epoch_text(batch, 40), "    3/39   1.25G    0.1021   0.03123   0.01544       216  160");
}

TEST(TrainingScreen, ShowsHowFarAnEpochIs) {
  EXPECT_EQ(progress_text(0, 13, 65), "  0/13 01:05");
  EXPECT_EQ(progress_text(8, 13, 5), "  8/13 00:05");
}

TEST(TrainingScreen, TellsTimeAsAClock) {
  EXPECT_EQ(clock_text(4.4), "00:04");
  EXPECT_EQ(clock_text(605), "10:05");
  EXPECT_EQ(clock_text(3723), "1:02:03");
  EXPECT_EQ(clock_text(-1), "00:00");
}

TEST(TrainingScreen, ShowsAllClassesAndThenEach) {
  EXPECT_EQ(
      class_table(validation),
      (std::vector<std::string>{
          "               Class    Images    Labels         P         R     mAP50  mAP50-95",
          "                 all        87      1137     0.791      0.59     0.589     0.344",
          "                 RBC        87       967       0.8       0.7       0.6       0.5",
          "                 WBC        87       170         1         0         0         0"}));
}

TEST(TrainingScreen, TellsAValidationAsJson) {
  const auto json = to_json(validation);
  EXPECT_EQ(json["precision"], .79084);
  EXPECT_EQ(json["recall"], .59);
  EXPECT_EQ(json["mAP_0.5"], .5890);
  EXPECT_EQ(json["mAP_0.5:0.95"], .34359);
  EXPECT_EQ(json["labels"], 1137);
  EXPECT_EQ(json["classes"]["RBC"].dump(),
            R"({"precision":0.8,"recall":0.7,"mAP_0.5":0.6,"mAP_0.5:0.95":0.5,"labels":967})");
  EXPECT_EQ(json["classes"].size(), 2u);
}

TEST(TrainingScreen, TellsClassesOfOneNameApartInJson) {
  auto twins = validation;
  twins.classes = {{.name = "cell", .labels = 1},
                   {.name = "cell (2)", .labels = 2},
                   {.name = "cell", .labels = 3}};
  const auto classes = to_json(twins)["classes"];
  EXPECT_EQ(classes.size(), 3u);
  EXPECT_EQ(classes["cell"]["labels"], 1);
  EXPECT_EQ(classes["cell (2)"]["labels"], 2);
  EXPECT_EQ(classes["cell (3)"]["labels"], 3);
}

}  // namespace
}  // namespace evolve::cli
