#include "trainer/evaluation/validate.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <chrono>
#include <filesystem>
#include <thread>

#include "tests/trainer/data/files.hpp"
#include "tests/trainer/formula.hpp"
#include "tests/trainer/golden.hpp"
#include "tests/trainer/threads.hpp"
#include "trainer/checkpoint/pretrained.hpp"
#include "trainer/checkpoint/state_dict.hpp"
#include "trainer/data/data_yaml.hpp"
#include "trainer/data/dataset.hpp"
#include "trainer/data/image_grid.hpp"
#include "trainer/evaluation/validation_report.hpp"
#include "trainer/stopwatch.hpp"

namespace evolve::trainer {
namespace {

namespace fs = std::filesystem;
using ::testing::IsEmpty;
using ::testing::SizeIs;

/// Two grey images of 64 x 48 and of 48 x 64 pixels with one object each.
data::Dataset two_images() {
  data::Dataset dataset{.names = {"a", "b", "c"}, .imgsz = 64, .images = {}};
  for (const cv::Size size : {cv::Size(64, 48), cv::Size(48, 64)}) {
    dataset.images.push_back({.file = "",
                              .pixels = cv::Mat(size, CV_8UC3, cv::Scalar(128, 128, 128)),
                              .original_height = size.height,
                              .original_width = size.width,
                              .labels = {{.cls = 1, .x = .5, .y = .5, .w = .2, .h = .2}},
                              .segments = {}});
  }
  return dataset;
}

/// A grey image of 64 x 64 pixels with an object of class 0 in each corner, their sides this share
/// of the image's.
data::Dataset four_corners(float side) {
  data::Dataset dataset{.names = {"a", "b", "c"}, .imgsz = 64, .images = {}};
  data::Image image{.file = "",
                    .pixels = cv::Mat(64, 64, CV_8UC3, cv::Scalar(128, 128, 128)),
                    .original_height = 64,
                    .original_width = 64,
                    .labels = {},
                    .segments = {}};
  for (const float x : {side / 2, 1 - side / 2})
    for (const float y : {side / 2, 1 - side / 2})
      image.labels.push_back({.cls = 0, .x = x, .y = y, .w = side, .h = side});
  dataset.images.push_back(image);
  return dataset;
}

/// The AP where every object is found: YOLOv5's integral begins to fall before its last point.
constexpr double all_found = 0.995;

TEST(Validate, JudgesEveryImageAndRestoresTheMode) {
  auto detector = test::make("yolov5p.yaml");
  detector.train();
  const auto set = data::validation_set(two_images(), 1, 32, true);
  ASSERT_THAT(set.batches, SizeIs(2));
  const auto result = validate(detector, set, nullptr, {.nms = {.conf = 0, .max_det = 7}});
  EXPECT_EQ(result.detections, 14);
  ASSERT_THAT(result.classes, SizeIs(1));
  EXPECT_EQ(result.classes[0].cls, 1);
  EXPECT_EQ(result.classes[0].labels, 2);
  EXPECT_EQ(result.metrics.box_loss, 0);
  EXPECT_TRUE(detector.is_training());
}

TEST(Validate, LeavesBatchStatisticsAlone) {
  auto detector = test::make("yolov5p.yaml");
  const auto before = state_dict(detector);
  std::vector<torch::Tensor> copies;
  for (const auto& [name, tensor] : before) copies.push_back(tensor.clone());
  validate(detector, data::validation_set(two_images(), 2, 32, false), nullptr, {});
  for (std::size_t i = 0; i < copies.size(); ++i) {
    EXPECT_TRUE(torch::equal(before[i].second, copies[i])) << before[i].first;
  }
}

TEST(Validate, GivesTheMeanLossOfTheBatches) {
  auto detector = test::make("yolov5p.yaml");
  const Loss loss({}, detector.anchors());
  const auto dataset = two_images();
  const auto set = data::validation_set(dataset, 1, 32, false);
  const auto both = validate(detector, set, &loss, {}).metrics;
  const auto first = validate(detector, {dataset, {set.batches[0]}}, &loss, {}).metrics;
  const auto second = validate(detector, {dataset, {set.batches[1]}}, &loss, {}).metrics;
  EXPECT_GT(both.box_loss, 0);
  EXPECT_DOUBLE_EQ(both.box_loss, (first.box_loss + second.box_loss) / 2);
  EXPECT_DOUBLE_EQ(both.obj_loss, (first.obj_loss + second.obj_loss) / 2);
  EXPECT_DOUBLE_EQ(both.cls_loss, (first.cls_loss + second.cls_loss) / 2);
}

TEST(Validate, ComputesTheMapsInTheTypeThatIsWanted) {
  auto detector = test::make("yolov5p.yaml");
  test::set_formula_weights(detector, 1);
  const Loss loss({}, detector.anchors());
  const auto set = data::validation_set(two_images(), 2, 32, false);
  for (const bool fused : {false, true}) {
    if (fused) detector.fuse();
    const auto exact = validate(detector, set, &loss, {}).metrics;
    const auto rounded = validate(detector, set, &loss, {.precision = torch::kBFloat16}).metrics;
    EXPECT_NE(rounded.box_loss, exact.box_loss);
    EXPECT_NEAR(rounded.obj_loss, exact.obj_loss, 0.01 * exact.obj_loss);
    EXPECT_NEAR(rounded.box_loss, exact.box_loss, 0.01 * exact.box_loss);
  }
}

TEST(Validate, TakesEveryDetectionForClass0WithSingleCls) {
  auto detector = test::make("yolov5p.yaml");
  test::see_boxes_everywhere(detector, 32, 1);
  const auto set = data::validation_set(four_corners(0.5F), 1, 32, false);
  const auto one_class =
      validate(detector, set, nullptr, {.nms = {.agnostic = true}, .single_cls = true});
  EXPECT_EQ(one_class.detections, 4);
  EXPECT_NEAR(one_class.metrics.map50_95, all_found, 1e-9);
  const auto three_classes = validate(detector, set, nullptr, {});
  EXPECT_EQ(three_classes.detections, 4);
  EXPECT_EQ(three_classes.metrics.map50, 0);
}

TEST(Validate, ClipsDetectionsToTheImage) {
  auto detector = test::make("yolov5p.yaml");
  // Around 16 and 48 pixels they reach 16 pixels beyond the image, on every side of it.
  test::see_boxes_everywhere(detector, 64, 0);
  const auto set = data::validation_set(four_corners(0.75F), 1, 32, false);
  EXPECT_NEAR(validate(detector, set, nullptr, {}).metrics.map50_95, all_found, 1e-9);
}

TEST(Validate, FindsLessWhereTheClassesSuppressEachOther) {
  auto detector = test::make("yolov5p.yaml");
  auto dataset = two_images();
  for (auto& image : dataset.images) image.labels[0] = {.cls = 0, .x = .5, .y = .5, .w = 1, .h = 1};
  const auto set = data::validation_set(dataset, 2, 32, false);
  const auto one_class =
      validate(detector, set, nullptr,
               {.nms = {.conf = 0, .agnostic = true, .max_det = 1000}, .single_cls = true});
  ASSERT_THAT(one_class.classes, SizeIs(1));
  EXPECT_LT(one_class.detections,
            validate(detector, set, nullptr, {.nms = {.conf = 0, .max_det = 1000}}).detections);
}

TEST(Validate, GivesToTheLastBitTheSameOnAnyNumberOfThreads) {
  auto detector = test::make("yolov5p.yaml");
  auto dataset = two_images();
  // From 16 images on torch's convolutions are the same ones on any number of threads.
  while (dataset.images.size() < 16)
    dataset.images.push_back(dataset.images[dataset.images.size() - 2]);
  const auto set = data::validation_set(dataset, 16, 32, false);
  const auto on = [&](int count) {
    const test::Threads threads(count);
    return validate(detector, set, nullptr, {.nms = {.conf = 0}});
  };
  const auto one = on(1), two = on(2);
  EXPECT_EQ(one.metrics, two.metrics);
  EXPECT_EQ(one.detections, two.detections);
  ASSERT_THAT(one.classes, SizeIs(1));
  EXPECT_EQ(one.classes[0].ap, two.classes[0].ap);
}

TEST(Validate, IsZeroWithoutLabels) {
  auto detector = test::make("yolov5p.yaml");
  auto dataset = two_images();
  for (auto& image : dataset.images) image.labels.clear();
  const auto set = data::validation_set(dataset, 2, 32, false);
  const auto result = validate(detector, set, nullptr, {});
  EXPECT_THAT(result.classes, IsEmpty());
  EXPECT_EQ(result.metrics, hyp::Metrics{});
  EXPECT_EQ(validate(detector, {}, nullptr, {}).metrics, hyp::Metrics{});
}

TEST(ValidationReport, CountsTheLabelsOfAllClassesAndMillisecondsPerImage) {
  auto dataset = four_corners(0.5F);
  dataset.images[0].labels.back().cls = 1;
  dataset.images.resize(8, data::Image(dataset.images[0]));
  auto detector = test::make("yolov5p.yaml");
  int beats = 0;
  const ValidateOptions options{.beat = [&] {
    ++beats;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }};
  const Stopwatch watch;
  const auto report =
      validation_report(detector, data::validation_set(dataset, 8, 32, false), options, "");
  const double elapsed_ms = 1000 * watch.elapsed();
  EXPECT_EQ(report.images, 8);
  EXPECT_EQ(report.labels, 32);
  ASSERT_THAT(report.classes, SizeIs(2));
  EXPECT_EQ(report.classes[0].labels, 24);
  EXPECT_EQ(report.classes[1].name, "b");
  EXPECT_EQ(report.classes[1].labels, 8);
  // One beat follows the only batch, the others the layers: a millisecond each at least.
  EXPECT_GE(8 * report.inference_ms, beats - 1);
  EXPECT_GT(report.nms_ms, 0);
  EXPECT_LE(8 * (report.inference_ms + report.nms_ms), elapsed_ms);
}

TEST(ValidationReport, DrawsWhatIsFoundWithAConfidenceAboveAQuarter) {
  const auto set = data::validation_set(four_corners(0.5F), 1, 32, false);
  const auto batch = data::validation_batch(set.dataset, set.batches[0]);
  const data::TemporaryFolder folder;
  data::draw_batch(batch, {{}}, set.dataset.names, folder / "nothing.jpg");
  for (const double confidence : {0.2, 0.3}) {
    auto detector = test::make("yolov5p.yaml");
    test::see_boxes_everywhere(detector, 32, 1, confidence);
    validation_report(detector, set, {}, folder.path().string());
    EXPECT_EQ(
        data::read_file(folder / "val_batch0_pred.jpg") == data::read_file(folder / "nothing.jpg"),
        confidence < 0.25)
        << confidence;
  }
}

class ParityValidate : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const auto& folder :
         {test::golden_folder(), test::checkpoints_folder(), test::data_folder()}) {
      if (!fs::is_directory(folder)) GTEST_SKIP() << "there is no " << folder;
    }
  }
};

data::Dataset images(const nlohmann::json& recorded, data::Split split) {
  const auto yaml = test::data_folder() / (recorded["data"].get<std::string>() + ".yaml");
  return data::load(data::read_data_yaml(yaml), split,
                    {.imgsz = recorded["img"], .training = false});
}

void expect_classes(const std::vector<ClassScore>& classes, const nlohmann::json& expected) {
  constexpr double tolerance = 1e-3;
  ASSERT_THAT(classes, SizeIs(expected["classes"].size()));
  for (std::size_t i = 0; i < classes.size(); ++i) {
    SCOPED_TRACE(i);
    EXPECT_EQ(classes[i].cls, expected["classes"][i].get<int>());
    EXPECT_NEAR(classes[i].precision, expected["P"][i], tolerance);
    EXPECT_NEAR(classes[i].recall, expected["R"][i], tolerance);
    EXPECT_NEAR(classes[i].ap50(), expected["AP50"][i], tolerance);
    EXPECT_NEAR(classes[i].ap50_95(), expected["AP"][i], tolerance);
  }
}

void expect_result(const Validation& result, const nlohmann::json& expected) {
  EXPECT_NEAR(result.metrics.precision, expected["P"], 1e-3);
  EXPECT_NEAR(result.metrics.recall, expected["R"], 1e-3);
  EXPECT_NEAR(result.metrics.map50, expected["mAP50"], 1e-4);
  EXPECT_NEAR(result.metrics.map50_95, expected["mAP50_95"], 1e-4);
  EXPECT_EQ(result.detections, expected["per_class"]["n_pred"].get<int>());
  expect_classes(result.classes, expected["per_class"]);
}

/// Calls `check(recorded case, detector)` for every checkpoint that a case names.
template <class Check>
void for_each_checkpoint(Check check) {
  int compared = 0;
  for (const auto& reference : test::cases("i_val")) {
    for (const auto& [name, recorded] : reference.scalars.items()) {
      if (!recorded.contains("checkpoint")) continue;
      SCOPED_TRACE(reference.name + ": " + name);
      const fs::path named = recorded["checkpoint"].template get<std::string>();
      const std::string file = test::checkpoints_folder() / named.filename();
      check(recorded, *detector_of(read_checkpoint(file), file));
      ++compared;
    }
  }
  EXPECT_GT(compared, 0) << "no checkpoint to compare";
}

TEST_F(ParityValidate, GivesTheMetricsOfValPy) {
  for_each_checkpoint([](const auto& recorded, Detector& detector) {
    const ValidateOptions options{
        .nms = {.conf = recorded["conf"], .iou = recorded["iou"], .max_det = recorded["max_det"]}};
    for (const auto& [name, split] :
         {std::pair("val", data::Split::val), {"test", data::Split::test}}) {
      const auto dataset = images(recorded, split);
      for (const bool rect : {true, false}) {
        SCOPED_TRACE(std::string(name) + (rect ? ", rect" : ", square"));
        const auto set = data::validation_set(dataset, recorded["batch"], 32, rect);
        const auto key = std::string(name) + "_rect" + (rect ? "1" : "0");
        expect_result(validate(detector, set, nullptr, options), recorded["cli"][key]);
      }
    }
  });
}

TEST_F(ParityValidate, GivesTheMetricsAndLossesOfTrainPy) {
  for_each_checkpoint([](const auto& recorded, Detector& detector) {
    const auto& expected = recorded["train_style_b32_rect_unfused"];
    const auto set = data::validation_set(images(recorded, data::Split::val), 32, 32, true);
    const hyp::Hyperparameters hyp{{"box", 0.05},    {"cls", 0.5},    {"cls_pw", 1.0},
                                   {"obj", 1.0},     {"obj_pw", 1.0}, {"anchor_t", 4.0},
                                   {"fl_gamma", 0.0}};
    const Loss loss(loss_options(hyp, detector.config(), recorded["img"], 0), detector.anchors());
    const auto result = validate(detector, set, &loss, {});
    expect_result(result, expected);
    EXPECT_NEAR(result.metrics.box_loss, expected["val_box"], 1e-5);
    EXPECT_NEAR(result.metrics.obj_loss, expected["val_obj"], 1e-5);
    EXPECT_NEAR(result.metrics.cls_loss, expected["val_cls"], 1e-5);
  });
}

}  // namespace
}  // namespace evolve::trainer
