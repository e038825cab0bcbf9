// The trainer on a device that is not the CPU, and what it asks of it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <filesystem>

#include "hyp/space.hpp"
#include "tests/refusal.hpp"
#include "tests/temporary_folder.hpp"
#include "tests/trainer/accelerator/simulated_accelerator.hpp"
#include "trainer/checkpoint/checkpoint.hpp"
#include "trainer/device/torch_version.hpp"
#include "trainer/run/setup.hpp"
#include "trainer/run/trainer.hpp"
#include "trainer/run/training_loop.hpp"

namespace evolve::trainer {
namespace {

namespace fs = std::filesystem;
using test::card_counts;
using test::CardCounts;
using test::simulated_card;

const std::string card = simulated_card.str();

TEST(SimulatedAccelerator, EndsAHostThatTouchesItsMemory) {
  const auto tensor = torch::ones({4}, simulated_card);
  EXPECT_EQ(tensor.sum().item<float>(), 4);
  EXPECT_DEATH(std::fprintf(stderr, "%f", *tensor.data_ptr<float>()), "");
}

TEST(SimulatedAccelerator, RefusesATensorOfTheHostsBesidesItsOwn) {
  const auto mine = torch::ones({4}, simulated_card);
  EXPECT_THROW(mine + torch::ones({4}), c10::Error);
  EXPECT_TRUE(torch::equal((mine + 1).cpu(), torch::full({4}, 2.0F)));
}

TEST(SimulatedAccelerator, CountsWhatItIsAsked) {
  const auto before = card_counts();
  const auto a = torch::ones({4}).to(simulated_card);  // out of memory that is not page-locked
  const auto b = a * a + a;
  EXPECT_EQ(b.view({2, 2}).sum().item<float>(), 8);
  auto staging = staging_memory(16, simulated_card);
  staging.fill_(1);
  const auto c = staging.to(simulated_card, /*non_blocking=*/true);
  const auto asked = card_counts() - before;
  EXPECT_EQ(asked.launches, 3);
  EXPECT_EQ(asked.uploads, 2);
  EXPECT_EQ(asked.uploaded_bytes, 32);
  EXPECT_EQ(asked.downloads, 1);
  EXPECT_EQ(asked.downloaded_bytes, 4);
  EXPECT_EQ(asked.waits, 2);
  EXPECT_TRUE(torch::equal(c.cpu(), staging));
}

TEST(SimulatedAccelerator, TellsItsMemoryWhereLibtorchPassesItOn) {
  constexpr int version = 100 * TORCH_VERSION_MAJOR + TORCH_VERSION_MINOR;
  constexpr std::int64_t all = std::int64_t{8} << 30, held = 1 << 20;
  const auto tensor = torch::empty(held, torch::TensorOptions(torch::kByte).device(simulated_card));
  const auto bytes = memory_bytes(simulated_card);
  EXPECT_EQ(bytes >= held, version >= 209) << bytes;
  EXPECT_EQ(bytes == 0, version < 209) << bytes;
  const auto free = free_memory_bytes(simulated_card);
  EXPECT_EQ(free.has_value(), version >= 210);
  EXPECT_EQ(free.value_or(all - bytes) + bytes, all);
}

TEST(SimulatedAccelerator, SaysThatItIsFull) {
  EXPECT_THAT(
      test::refusal<c10::Error>([&] { torch::empty({std::int64_t{1} << 40}, simulated_card); }),
      ::testing::HasSubstr("out of memory"));
}

hyp::Hyperparameters defaults() {
  return hyp::start_of(hyp::default_space());
}

TrainOptions small() {
  TrainOptions options;
  options.data = "shapes";
  options.cfg = "yolov5n.yaml";
  options.epochs = 1;
  options.imgsz = 64;
  options.amp = false;
  return options;
}

/// A training on the simulated card, with the images there or, without room for them, on the host.
struct TrainingOnTheCard {
  explicit TrainingOnTheCard(const TrainOptions& wanted,
                             std::int64_t image_bytes = image_budget(simulated_card),
                             const torch::Device& device = simulated_card,
                             const hyp::Hyperparameters& hyp = defaults())
      : options(wanted),
        data(options, 32, 1),
        loop(options, hyp, 1, data, make_detector(options, hyp, {}, 1, data),
             {.device = device, .image_bytes = image_bytes}) {}

  TrainOptions options;
  PreparedData data;
  TrainingLoop loop;
  std::vector<double> no_ap = std::vector<double>(3);
};

/// The numbers of docs/gpu.md.
void print(const std::string& what, const CardCounts& counts, int batches) {
  const auto n = static_cast<double>(batches);
  std::printf(
      "%s, per batch: %.1f launches, %.2f uploads of %.0f bytes, %.2f downloads, %.2f waits\n",
      what.c_str(), counts.launches / n, counts.uploads / n, counts.uploaded_bytes / n,
      counts.downloads / n, counts.waits / n);
  if (!std::getenv("EVOLVE_PRINT_OPERATORS")) return;
  for (const auto& [name, count] : counts.operators)
    std::printf("  %-50s %.1f\n", name.c_str(), static_cast<double>(count) / n);
}

/// What an epoch asks that is not the first, and how many steps it has.
std::pair<CardCounts, int> second_epoch(TrainingOnTheCard& run) {
  run.loop.train_epoch(0, run.no_ap, {});
  const auto before = card_counts();
  const int steps = run.loop.train_epoch(1, run.no_ap, {}).batches;
  return {card_counts() - before, steps};
}

/// Batches whose images lie on the card go up eight at a time.
int loads_of(int batches) {
  return (batches + 7) / 8;
}

TEST(AStepOnTheCard, UploadsNothingOrItsBatchAtOnceAndWaitsForNothing) {
  for (const bool images_there : {true, false}) {
    TrainingOnTheCard run(small(), images_there ? image_budget(simulated_card) : 0);
    const auto [asked, steps] = second_epoch(run);
    print(images_there ? "training of yolov5n, images on the card"
                       : "training of yolov5n, images on the host",
          asked, steps);
    ASSERT_LE(steps, 32) << "the losses are read every 32 steps";
    EXPECT_EQ(asked.uploads, images_there ? loads_of(steps) : steps);
    EXPECT_EQ(asked.downloads, 1) << "the losses, at the epoch's end";
    EXPECT_EQ(asked.waits, 1) << "for them";
    EXPECT_LE(asked.launches, (images_there ? 900 : 860) * steps);
  }
}

/// Where no colours change, images that a device renders are OpenCV's to the bit.
hyp::Hyperparameters without_colours() {
  auto hyp = defaults();
  for (const char* name : {"hsv_h", "hsv_s", "hsv_v"}) hyp.set(name, 0.0);
  return hyp;
}

/// The losses of an epoch with images that the device renders, and with OpenCV's.
std::array<std::array<double, 3>, 2> losses_of_both(const torch::Device& device,
                                                    const hyp::Hyperparameters& hyp) {
  auto options = small();
  options.cfg = "yolov5p.yaml";
  TrainingOnTheCard rendered(options, 1 << 30, device, hyp), from_host(options, 0, device, hyp);
  return {rendered.loop.train_epoch(0, rendered.no_ap, {}).losses,
          from_host.loop.train_epoch(0, from_host.no_ap, {}).losses};
}

TEST(RenderedImages, GiveTheLossesOfOpenCvsToTheBitWhereNoColoursChange) {
  for (const auto& device : {torch::Device(torch::kCPU), simulated_card}) {
    const auto [rendered, from_host] = losses_of_both(device, without_colours());
    EXPECT_EQ(rendered, from_host) << device;
  }
}

/// One number in 10,000 is off by 1 of 255, and 15 steps make .3 % of that.
TEST(RenderedImages, GiveTheLossesOfOpenCvsButForColoursThatAreRounded) {
  const auto [rendered, from_host] = losses_of_both(torch::kCPU, defaults());
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(rendered[i], from_host[i], 0.01 * from_host[i]);
}

TEST(RenderedImages, AreNotMadeOnTheCardWhereImagesAreKeptNowhere) {
  auto options = small();
  EXPECT_TRUE(PreparedData(options, 32, 1).on({simulated_card}).training.has_value());
  options.cache = "none";
  PreparedData data(options, 32, 1);
  EXPECT_FALSE(data.on({simulated_card}).training.has_value());
  EXPECT_TRUE(data.on({simulated_card}).validation.empty());
}

TEST(AStepOnTheCard, IsAsQuickWhereImagesAreResized) {
  auto options = small();
  options.multi_scale = true;
  TrainingOnTheCard run(options);
  const auto before = card_counts();
  const int steps = run.loop.train_epoch(0, run.no_ap, {}).batches;
  const auto asked = card_counts() - before;
  EXPECT_EQ(asked.uploads, loads_of(steps));
  EXPECT_EQ(asked.waits, 1);
}

TEST(AValidationOnTheCard, WaitsOnceABatch) {
  TrainingOnTheCard run(small());
  const auto before = card_counts();
  const auto averaged = run.loop.average();
  const auto between = card_counts();
  const Loss loss(loss_options(defaults(), averaged->config(), 64, 0), averaged->anchors());
  const auto start = card_counts();
  const auto& set = run.data.validation();
  validate(*averaged, set, &loss, {.stored = run.data.on({simulated_card}).validation});
  const auto asked = card_counts() - start;
  const int batches = static_cast<int>(set.batches.size());
  print("validation of yolov5n", asked, batches);
  EXPECT_GT((between - before).uploads, 0) << "the fresh model that takes the average";
  EXPECT_EQ(asked.uploads, batches);
  EXPECT_LE(asked.uploaded_bytes, 150'000 * batches) << "of matches; pixels would be 691,200 more";
  EXPECT_EQ(asked.downloads, batches + 1) << "boxes of each batch, losses at the end";
  EXPECT_EQ(asked.waits, batches + 1);
}

TEST(ATrialOnTheCard, HasTheMetricsOfTheSameTrialOnTheCpu) {
  auto options = small();
  options.cfg = "yolov5p.yaml";
  const auto on_card = Trainer(card, 1).train(options, without_colours(), 1, {}).metrics;
  const auto on_cpu = Trainer("cpu", 1).train(options, without_colours(), 1, {}).metrics;
  // Other operators round otherwise; an epoch takes that to the third digit of the losses. In
  // recall that can be an object: one of 155 triangles, in the mean of three classes.
  const double object = 1.0 / (3 * 155);
  for (std::size_t i = 0; i < 7; ++i)
    EXPECT_NEAR(on_card.values()[i], on_cpu.values()[i], i == 1 ? object + 1e-9 : 2e-3) << i;
  EXPECT_EQ(on_card, Trainer(card, 1).train(options, without_colours(), 1, {}).metrics);
}

TEST(ATrialOnTheCard, IsRefusedWhereNoMaskHidesTheOthers) {
  const test::VisibleCards two(2);
  EXPECT_EQ(test::run_failure([] { Trainer(card, 1); }),
            "xpu:0: libtorch sees 2 such devices, a slot has one; check what hides the others "
            "(evolve devices --json: mask)");
}

TEST(ATrialOnTheCard, TrainsWithEveryOptimizer) {
  auto options = small();
  options.cfg = "yolov5p.yaml";
  for (const auto* optimizer : {"Adam", "AdamW"}) {
    options.optimizer = optimizer;
    const auto metrics = Trainer(card, 1).train(options, defaults(), 1, {}).metrics;
    EXPECT_GT(metrics.box_loss, 0) << optimizer;
  }
}

/// A full training on the card in a folder that goes away.
class AFullTrainingOnTheCard : public ::testing::Test {
 protected:
  workers::TrainingJob job(const std::string& run, bool resume = false) const {
    auto options = small();
    options.cfg = "yolov5p.yaml";
    options.epochs = 2;
    options.optimizer = "Adam";
    return {.hyp = defaults(),
            .seed = 1,
            .dir = (folder / run).string(),
            .resume = resume,
            .options = to_json(options)};
  }

  /// Runs it to its end, or until so many new epochs are done.
  void run(const workers::TrainingJob& job, int epochs = 100) {
    struct Cut {};
    try {
      trainer.full_training(job, [&](const workers::JobReport& report) {
        const auto* epoch = std::get_if<workers::EpochReport>(&report);
        if (epoch && !epoch->past && --epochs == 0) throw Cut();
      });
    } catch (const Cut&) {
    }
  }

  std::string last(const std::string& run) const {
    return (folder / run / "weights/last.pt").string();
  }

  Trainer trainer{card, 1};
  test::TemporaryFolder folder;
};

TEST_F(AFullTrainingOnTheCard, GoesOnAfterACutAsIfThereHadBeenNone) {
  run(job("whole"));
  run(job("cut"), 1);
  run(job("cut", /*resume=*/true));
  const auto whole = read_checkpoint(last("whole")).state, cut = read_checkpoint(last("cut")).state;
  ASSERT_EQ(whole.size(), cut.size());
  for (std::size_t i = 0; i < whole.size(); ++i)
    EXPECT_TRUE(torch::equal(whole[i].second, cut[i].second)) << whole[i].first;
}

TEST_F(AFullTrainingOnTheCard, LeavesWeightsThatAreValidatedThere) {
  run(job("whole"), 1);
  TrainOptions options = small();
  options.weights = last("whole");
  const auto report = trainer.validate({.split = "val", .options = to_json(options)});
  EXPECT_EQ(report.images, 100);
}

}  // namespace
}  // namespace evolve::trainer
