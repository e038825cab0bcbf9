// Weights, validated: `evolve val`.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/refusal.hpp"
#include "tests/trainer/data/files.hpp"
#include "tests/trainer/formula.hpp"
#include "tests/trainer/threads.hpp"
#include "trainer/checkpoint/checkpoint.hpp"
#include "trainer/checkpoint/pretrained.hpp"
#include "trainer/data/data.hpp"
#include "trainer/evaluation/evaluation.hpp"
#include "trainer/run/trainer.hpp"
#include "trainer/run/training_loop.hpp"

namespace evolve::trainer {
namespace {

TrainOptions of_shapes() {
  return {.data = "shapes", .cfg = "yolov5p.yaml", .imgsz = 64};
}

/// Weights of yolov5p with `classes` classes in a file of this folder, with their table.
std::string weights_with(int classes, const data::TemporaryFolder& folder) {
  const auto file = folder / "weights.pt";
  write_checkpoint(file, checkpoint_of(test::make("yolov5p.yaml", classes),
                                       std::vector<std::string>(std::size_t(classes), "name")));
  return file;
}

TEST(TrainerValidation, RefusesWeightsOfOtherClasses) {
  const data::TemporaryFolder folder;
  TrainOptions options = of_shapes();  // which has 3 classes
  for (const int classes : {1, 2, 4}) {
    options.weights = weights_with(classes, folder);
    EXPECT_EQ(test::refusal([&] { Trainer("cpu", 1).validate({.options = to_json(options)}); }),
              "shapes: it has 3 classes, " + options.weights + " was trained on " +
                  std::to_string(classes) +
                  "; give the data set that the weights were trained on, or take all classes as "
                  "one (--single-cls)");
  }
}

TEST(TrainerValidation, RefusesWeightsOfOtherClassesThatBringNoTable) {
  const data::TemporaryFolder folder;
  TrainOptions options = of_shapes();
  auto weights = checkpoint_of(test::make("yolov5p.yaml", 4), {"a", "b", "c", "d"});
  weights.about.erase("yaml");
  options.weights = folder / "weights.pt";
  write_checkpoint(options.weights, weights);
  EXPECT_THAT(
      test::refusal([&] { Trainer("cpu", 1).validate({.options = to_json(options)}); }),
      testing::StartsWith("shapes: it has 3 classes, " + options.weights + " was trained on 4; "));
}

TEST(TrainerValidation, RefusesWeightsOfATrainingThatDiverged) {
  const data::TemporaryFolder folder;
  TrainOptions options = of_shapes();
  auto weights = checkpoint_of(test::make("yolov5p.yaml", 3), {"a", "b", "c"});
  auto& [name, tensor] = weights.state.front();
  tensor = tensor.clone().fill_(std::nan(""));
  options.weights = folder / "weights.pt";
  write_checkpoint(options.weights, weights);
  const auto refusal = options.weights + ": its " + name +
                       " holds NaN: the training had diverged; begin anew with others";
  EXPECT_EQ(test::refusal([&] { Trainer("cpu", 1).validate({.options = to_json(options)}); }),
            refusal);
  EXPECT_EQ(test::refusal([&] {
              Trainer("cpu", 1).train(options, hyp::start_of(hyp::default_space()), 1, {});
            }),
            refusal);
}

TEST(TrainerValidation, TakesWeightsOfAnyNumberOfClassesForOneClass) {
  const data::TemporaryFolder folder;
  TrainOptions options = of_shapes();
  options.single_cls = true;
  for (const int classes : {1, 4}) {
    options.weights = weights_with(classes, folder);
    EXPECT_EQ(Trainer("cpu", 1).validate({.options = to_json(options)}).classes.size(), 1U);
  }
}

/// The embedded weights in a file of this folder, with their table.
std::string embedded_weights(const data::TemporaryFolder& folder) {
  const std::string name = "shapes-base";
  const auto state = read_checkpoint(name);
  const auto names = data::read_data_yaml(name).names;
  const auto config =
      config_of(read_model_table("yolov5p.yaml"), state, name, static_cast<int>(names.size()));
  const auto file = folder / "weights.pt";
  write_checkpoint(file, checkpoint_of(*detector_of(config, state, name), names));
  return file;
}

/// What the weights are worth on images of half their size.
hyp::Metrics metrics_of(const TrainOptions& options, const data::Dataset& images, bool rect) {
  const auto detector = detector_of(read_checkpoint(options.weights), options.weights);
  const auto set = data::validation_set(images, options.batch_size, 32, rect);
  return validation_report(*detector, set, validate_options(options, {.device = torch::kCPU}), "")
      .metrics;
}

TEST(TrainerValidation, TakesImagesInRectanglesWhereAsked) {
  const test::Threads one(1);
  const data::TemporaryFolder folder;
  const TrainOptions options{
      .data = "shapes-base", .weights = embedded_weights(folder), .imgsz = 64};
  const auto images = data::load(data::read_data_yaml(options.data), data::Split::val,
                                 {.imgsz = options.imgsz, .training = false});
  for (const bool rect : {true, false}) {
    const auto found =
        Trainer("cpu", 1).validate({.rect = rect, .options = to_json(options)}).metrics;
    EXPECT_GT(found.map50, 0);
    EXPECT_EQ(found, metrics_of(options, images, rect));
    EXPECT_NE(found, metrics_of(options, images, !rect));
  }
}

}  // namespace
}  // namespace evolve::trainer
