#include "trainer/run/trainer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <set>
#include <thread>

#include "hyp/space.hpp"
#include "tests/refusal.hpp"
#include "tests/trainer/data/files.hpp"
#include "tests/trainer/formula.hpp"
#include "trainer/checkpoint/checkpoint.hpp"
#include "trainer/stopwatch.hpp"
#include "trainer/training_failed.hpp"

namespace evolve::trainer {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

/// The smallest training there is: a third of the embedded data set, one epoch.
TrainOptions small() {
  TrainOptions options;
  options.data = "shapes";
  options.fraction = 0.3;
  options.cfg = "yolov5p.yaml";
  options.epochs = 1;
  options.imgsz = 64;
  return options;
}

hyp::Hyperparameters defaults() {
  return hyp::start_of(hyp::default_space());
}

hyp::Hyperparameters with(const std::string& name, hyp::Value value) {
  auto hyp = defaults();
  hyp.set(name, std::move(value));
  return hyp;
}

hyp::Hyperparameters without(const std::string& name) {
  hyp::Hyperparameters hyp;
  for (const auto& [key, value] : defaults()) {
    if (key != name) hyp.set(key, value);
  }
  return hyp;
}

hyp::Metrics train(const TrainOptions& options, const hyp::Hyperparameters& hyp,
                   std::uint64_t seed = 1) {
  return Trainer("cpu", 1).train(options, hyp, seed, {}).metrics;
}

std::string refused(const TrainOptions& options, const hyp::Hyperparameters& hyp) {
  return test::refusal([&] { train(options, hyp); });
}

TEST(Trainer, SaysAfterEachEpochThatItLivesAndWhereTheTimeWent) {
  TrainOptions options = small();
  options.epochs = 3;
  std::vector<int> epochs;
  const auto result = Trainer("cpu", 1).train(
      options, defaults(), 1, [&](int epoch, const hyp::Metrics&) { epochs.push_back(epoch); });
  EXPECT_EQ(epochs, (std::vector<int>{1, 2, 3}));
  for (const double metric : result.metrics.values()) EXPECT_TRUE(std::isfinite(metric));
  EXPECT_GT(result.metrics.box_loss, 0);
  EXPECT_GT(result.timing.training, 0);
  EXPECT_GT(result.timing.validation, 0);
  EXPECT_LE(result.timing.training + result.timing.validation, result.timing.total);
  EXPECT_GT(result.timing.first_step, 0);
  EXPECT_LT(result.timing.first_step, result.timing.total);
  const auto& [images, forward, loss, backward, optimizer, average] = result.timing.phases;
  for (const double phase : {images, forward, loss, backward, optimizer, average})
    EXPECT_GT(phase, 0);
  EXPECT_LE(images + forward + loss + backward + optimizer + average, result.timing.training);
  EXPECT_LE(result.timing.inference + result.timing.nms + result.timing.ap,
            result.timing.validation);
  EXPECT_EQ(result.timing.trained % 3, 0);
  EXPECT_GT(result.timing.trained, 0);
  EXPECT_GT(result.timing.validated, 0);
}

TEST(Trainer, GivesToTheLastBitTheSameWhetherItPassesRungsOrHasNone) {
  TrainOptions options = small();
  options.epochs = 3;
  for (const auto* optimizer : {"SGD", "Adam"}) {
    options.optimizer = optimizer;
    std::vector<int> asked;
    std::vector<hyp::Metrics> seen;
    const auto result = Trainer("cpu", 1).train(
        options, defaults(), 1, [&](int, const hyp::Metrics& metrics) { seen.push_back(metrics); },
        {.epochs = {1, 2}, .decide = [&](int epoch) {
           asked.push_back(epoch);
           return hyp::Decision::go_on;
         }});
    EXPECT_EQ(result.obeyed, hyp::Decision::go_on);
    EXPECT_EQ(asked, (std::vector<int>{1, 2}));
    EXPECT_EQ(result.metrics, train(options, defaults())) << optimizer;
    ASSERT_EQ(seen.size(), 3U);
    EXPECT_GT(seen[0].box_loss, 0);
    EXPECT_NE(seen[0], seen[1]);
    EXPECT_NE(seen[1], seen[2]);
    EXPECT_EQ(seen[2], result.metrics);
  }
}

TEST(Trainer, EndsAtTheRungWhereItIsTold) {
  TrainOptions options = small();
  options.epochs = 3;
  std::vector<hyp::Metrics> seen;
  const auto result = Trainer("cpu", 1).train(
      options, defaults(), 1, [&](int, const hyp::Metrics& metrics) { seen.push_back(metrics); },
      {.epochs = {1, 2}, .decide = [](int epoch) {
         return epoch == 1 ? hyp::Decision::go_on : hyp::Decision::stop;
       }});
  EXPECT_EQ(result.obeyed, hyp::Decision::stop);
  ASSERT_EQ(seen.size(), 2U);
  EXPECT_EQ(result.metrics, seen[1]);
}

TEST(Trainer, CountsNoTimeThatItWaitsAtARung) {
  Trainer trainer("cpu", 1);
  double waited = 0;
  const Stopwatch all;
  const auto result = trainer.train(small(), defaults(), 1, {},
                                    {.epochs = {1}, .decide = [&](int) {
                                       const Stopwatch waiting;
                                       std::this_thread::sleep_for(std::chrono::milliseconds(300));
                                       waited = waiting.elapsed();
                                       return hyp::Decision::go_on;
                                     }});
  EXPECT_GT(waited, 0);
  EXPECT_LE(result.timing.total, all.elapsed() - waited);
}

TEST(Trainer, GivesToTheLastBitTheSameWhetherItWasPausedOrNot) {
  const data::TemporaryFolder folder;
  TrainOptions options = small();
  options.epochs = 4;
  for (const auto* optimizer : {"SGD", "Adam"}) {
    options.optimizer = optimizer;
    const auto unpaused = train(options, defaults());
    std::vector<int> epochs;
    Rungs rungs{.epochs = {1, 3},
                .decide = [](int) { return hyp::Decision::pause; },
                .kept = folder / "paused.pt"};
    TrainResult result;
    for (const int start : {0, 1, 3}) {  // each in a process of its own, as far as it can tell
      rungs.start_epoch = start;
      result = Trainer("cpu", 1).train(
          options, defaults(), 1, [&](int epoch, const hyp::Metrics&) { epochs.push_back(epoch); },
          rungs);
      EXPECT_EQ(result.obeyed, start < 3 ? hyp::Decision::pause : hyp::Decision::go_on);
    }
    EXPECT_EQ(epochs, (std::vector<int>{1, 2, 3, 4}));
    EXPECT_EQ(result.metrics, unpaused) << optimizer;
  }
}

TEST(Trainer, TrainsAgainWhatWasKeptAndIsGone) {
  TrainOptions options = small();
  options.epochs = 3;
  std::vector<int> epochs;
  const auto result = Trainer("cpu", 1).train(
      options, defaults(), 1, [&](int epoch, const hyp::Metrics&) { epochs.push_back(epoch); },
      {.epochs = {}, .decide = {}, .kept = "/nowhere/paused.pt", .start_epoch = 2});
  EXPECT_EQ(epochs, (std::vector<int>{3}));
  EXPECT_EQ(result.metrics, train(options, defaults()));
}

TEST(Trainer, TrainsAgainWhatWasKeptAndIsDamaged) {
  const data::TemporaryFolder folder;
  TrainOptions options = small();
  options.epochs = 2;
  const Rungs pause{.epochs = {1},
                    .decide = [](int) { return hyp::Decision::pause; },
                    .kept = folder / "paused.pt"};
  Trainer("cpu", 1).train(options, defaults(), 1, {}, pause);
  std::filesystem::resize_file(pause.kept, std::filesystem::file_size(pause.kept) / 2);
  testing::internal::CaptureStderr();
  const auto result =
      Trainer("cpu", 1).train(options, defaults(), 1, {},
                              {.epochs = {}, .decide = {}, .kept = pause.kept, .start_epoch = 1});
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              testing::HasSubstr("its epochs are trained again"));
  EXPECT_EQ(result.metrics, train(options, defaults()));
}

// evolve was killed after the trial had kept it, and before the journal had the pause.
TEST(Trainer, TrainsAgainWhereALaterEpochWasKeptThanEvolveKnowsOf) {
  const data::TemporaryFolder folder;
  TrainOptions options = small();
  options.epochs = 3;
  const Rungs pause{.epochs = {2},
                    .decide = [](int) { return hyp::Decision::pause; },
                    .kept = folder / "paused.pt"};
  Trainer("cpu", 1).train(options, defaults(), 1, {}, pause);
  std::vector<int> epochs;
  const auto result = Trainer("cpu", 1).train(
      options, defaults(), 1, [&](int epoch, const hyp::Metrics&) { epochs.push_back(epoch); },
      {.epochs = {}, .decide = {}, .kept = pause.kept, .start_epoch = 1});
  EXPECT_EQ(epochs, (std::vector<int>{2, 3}));
  EXPECT_EQ(result.metrics, train(options, defaults()));
}

TEST(Trainer, DependsOnItsArgumentsAndNotOnEarlierTrials) {
  Trainer trainer("cpu", 1);
  const auto first = trainer.train(small(), defaults(), 1, {}).metrics;
  TrainOptions other = small();
  other.optimizer = "Adam";
  other.single_cls = true;
  trainer.train(other, with("anchors", 5.0), 2, {});
  EXPECT_EQ(trainer.train(small(), defaults(), 1, {}).metrics, first);
  EXPECT_EQ(train(small(), defaults()), first);
  EXPECT_NE(train(small(), defaults(), 2), first);
}

TEST(Trainer, LearnsFromEveryHyperparameter) {
  TrainOptions options = small();
  options.batch_size = 4;  // so that the warm-up's epochs count for more than 100 iterations
  Trainer trainer("cpu", 1);
  const auto usual = trainer.train(options, defaults(), 1, {}).metrics;
  // Left out: lrf, which acts from the second epoch on, and copy_paste, which needs outlines.
  const std::vector<std::pair<std::string, double>> changes{{"lr0", 0.02},
                                                            {"momentum", 0.9},
                                                            {"weight_decay", 0.001},
                                                            {"warmup_epochs", 13},
                                                            {"box", 0.1},
                                                            {"warmup_momentum", 0.5},
                                                            {"warmup_bias_lr", 0.05},
                                                            {"cls", 1},
                                                            {"cls_pw", 0.5},
                                                            {"obj", 0.5},
                                                            {"obj_pw", 2},
                                                            {"anchor_t", 3},
                                                            {"anchors", 4},
                                                            {"fl_gamma", 1.5},
                                                            {"hsv_h", 0.1},
                                                            {"hsv_s", 0.1},
                                                            {"hsv_v", 0.1},
                                                            {"degrees", 20},
                                                            {"translate", 0.4},
                                                            {"scale", 0.1},
                                                            {"shear", 5},
                                                            {"perspective", 0.001},
                                                            {"flipud", 0.5},
                                                            {"fliplr", 0},
                                                            {"mosaic", 0},
                                                            {"mixup", 1}};
  std::set<std::string> all = {"lrf", "copy_paste", "iou_t"};
  for (const auto& [name, value] : changes) {
    all.insert(name);
    EXPECT_NE(trainer.train(options, with(name, value), 1, {}).metrics, usual) << name;
  }
  // YOLOv5 v6 reads it nowhere.
  EXPECT_EQ(trainer.train(options, with("iou_t", 0.5), 1, {}).metrics, usual);
  for (const auto& gene : hyp::default_space().genes)
    EXPECT_TRUE(all.contains(gene.name)) << gene.name;
}

TEST(Trainer, FollowsTheFinalLearningRateFromTheSecondEpochOn) {
  TrainOptions options = small();
  EXPECT_EQ(train(options, with("lrf", 0.5)), train(options, defaults()));
  options.epochs = 2;
  EXPECT_NE(train(options, with("lrf", 0.5)), train(options, defaults()));
}

TEST(Trainer, LetsTheHyperparameterOptimizerBeatTheOption) {
  TrainOptions adam = small();
  adam.optimizer = "AdamW";
  const auto expected = train(adam, defaults());
  EXPECT_EQ(train(small(), with("optimizer", "AdamW")), expected);
  EXPECT_NE(train(small(), defaults()), expected);
  EXPECT_THAT(refused(small(), with("optimizer", "Lion")), HasSubstr("optimizer is Lion;"));
}

TEST(Trainer, KeepsTheTablesAnchorsWithoutAutoanchor) {
  TrainOptions options = small();
  options.noautoanchor = true;
  EXPECT_EQ(train(options, with("anchors", 5.0)), train(options, without("anchors")));
}

TEST(Trainer, RoundsTheImagesSizeUpToWholeStridesAndToTwoAtLeast) {
  const auto of_two_strides = train(small(), defaults());
  TrainOptions odd = small();
  for (const int imgsz : {40, 32, 1}) {
    odd.imgsz = imgsz;
    EXPECT_EQ(train(odd, defaults()), of_two_strides) << imgsz;
  }
}

TEST(Trainer, NamesAMissingHyperparameter) {
  for (const std::string name : {"lr0", "fl_gamma", "copy_paste", "iou_t"}) {
    EXPECT_THAT(refused(small(), without(name)), HasSubstr(name));
  }
}

TEST(Trainer, RefusesAnUnknownHyperparameter) {
  EXPECT_THAT(refused(small(), with("dfl", 1.5)),
              StartsWith("hyperparameter dfl is unknown to the built-in trainer"));
}

TEST(Trainer, RefusesAValueThatNothingCanBeDoneWith) {
  // With more than all outlined objects to paste a training once died of a segmentation fault.
  EXPECT_THAT(refused(small(), with("copy_paste", 2.0)),
              StartsWith("hyperparameter copy_paste is 2; copy_paste is a share of the objects"));
  EXPECT_THAT(refused(small(), with("copy_paste", -1.0)), HasSubstr("copy_paste is -1"));
  EXPECT_THAT(refused(small(), with("anchors", 1e10)), HasSubstr("anchors are 1 to 1000"));
  EXPECT_THAT(refused(small(), with("optimizer", 1.0)), HasSubstr("optimizer is SGD, Adam or"));
}

TEST(Trainer, RefusesAModelThatIsNotThere) {
  TrainOptions options = small();
  options.cfg = "";
  EXPECT_THAT(refused(options, defaults()), HasSubstr("--cfg"));
  options.cfg = "yolov9.yaml";
  EXPECT_THAT(refused(options, defaults()), HasSubstr("yolov9.yaml"));
}

/// What a training that diverges says.
std::string divergence(const TrainOptions& options, const hyp::Hyperparameters& hyp) {
  try {
    train(options, hyp);
  } catch (const TrainingFailed& failed) {
    EXPECT_EQ(failed.kind, hyp::FailureKind::diverged);
    return failed.what();
  }
  return "trained to the end";
}

TEST(Trainer, StopsAtTheFirstLossThatIsNotFinite) {
  TrainOptions options = small();
  options.amp = false;  // in 16 bits it would go on in single precision first
  EXPECT_EQ(divergence(options, with("box", 1e300)), "the loss is not finite at iteration 0");
}

TEST(Trainer, CallsATrainingDivergedWhoseWeightsBurst) {
  EXPECT_THAT(divergence(small(), with("warmup_bias_lr", 1e30)), HasSubstr("is not finite"));
}

TEST(Trainer, StartsFromTheWeightsItIsGiven) {
  TrainOptions options = small();
  const data::TemporaryFolder folder;
  options.weights = folder / "weights.pt";
  write_checkpoint(options.weights, {.state = state_dict(test::make("yolov5p.yaml", 3, 77))});
  const auto started = train(options, defaults());
  EXPECT_NE(started, train(small(), defaults()));
  EXPECT_EQ(started, train(options, defaults()));
  write_checkpoint(options.weights, {.state = state_dict(test::make("yolov5p.yaml", 3, 78))});
  EXPECT_NE(started, train(options, defaults()));
  std::filesystem::remove(options.weights);
  EXPECT_THAT(refused(options, defaults()), HasSubstr(options.weights));
}

/// Bytes that this process has read so far.
std::int64_t bytes_read() {
  std::ifstream io("/proc/self/io");
  std::string key;
  std::int64_t bytes = -1;
  io >> key >> bytes;
  return key == "rchar:" ? bytes : -1;
}

TEST(Trainer, ReadsItsWeightsOncePerTrial) {
  TrainOptions options = small();
  options.cfg = "";  // so that the table comes from the weights too
  const data::TemporaryFolder folder;
  options.weights = folder / "weights.pt";
  write_checkpoint(options.weights,
                   checkpoint_of(test::make("yolov5p.yaml", 3, 77), {"a", "b", "c"}));
  const auto size = static_cast<std::int64_t>(std::filesystem::file_size(options.weights));
  Trainer trainer("cpu", 1);
  trainer.train(options, defaults(), 1, {});  // reads the images too
  const auto before = bytes_read();
  if (before < 0) GTEST_SKIP() << "/proc/self/io cannot be read";
  trainer.train(options, defaults(), 1, {});
  const auto read = bytes_read() - before;
  EXPECT_GE(read, size);
  EXPECT_LT(read, size * 3 / 2);
}

TEST(Trainer, TrainsLessWithFrozenLayers) {
  TrainOptions frozen = small();
  frozen.freeze = {24};
  TrainOptions backbone = small();
  backbone.freeze = {10};
  const auto usual = train(small(), defaults());
  EXPECT_NE(train(frozen, defaults()), usual);
  EXPECT_NE(train(backbone, defaults()), usual);
  TrainOptions listed = small();
  listed.freeze = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  EXPECT_EQ(train(listed, defaults()), train(backbone, defaults()));
  listed.freeze = {3, 10};
  EXPECT_NE(train(listed, defaults()), usual);
}

}  // namespace
}  // namespace evolve::trainer
