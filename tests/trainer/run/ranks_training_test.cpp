// A training by two ranks, in two threads here.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <future>

#include "hyp/space.hpp"
#include "tests/refusal.hpp"
#include "tests/trainer/ranks/pair.hpp"
#include "tests/trainer/threads.hpp"
#include "trainer/device/load.hpp"
#include "trainer/run/setup.hpp"
#include "trainer/run/trainer.hpp"
#include "trainer/run/training_loop.hpp"

namespace evolve::trainer {
namespace {

constexpr std::uint64_t seed = 5;
const std::vector<double> no_ap(3);

hyp::Hyperparameters defaults() {
  return hyp::start_of(hyp::default_space());
}

TrainOptions options_for(int batch_size, int epochs = 1) {
  return {.cfg = "yolov5p.yaml",
          .epochs = epochs,
          .batch_size = batch_size,
          .imgsz = 64,
          .noautoanchor = true};
}

/// A training as one rank has it.
struct Training {
  Training(TrainOptions wanted, std::shared_ptr<Ranks> ranks)
      : options(std::move(wanted)),
        loop(options, defaults(), seed, data, make_detector(options, defaults(), {}, seed, data),
             ComputeContext{.device = torch::kCPU, .ranks = std::move(ranks)}) {}

  std::vector<torch::Tensor> weights() const {
    std::vector<torch::Tensor> copies;
    for (const auto& parameter : loop.detector().parameters())
      copies.push_back(parameter.detach().clone());
    return copies;
  }

  TrainOptions options;
  PreparedData data{options, 32, 1};
  TrainingLoop loop;
};

/// The weights in each rank after `epochs` epochs by two ranks.
std::vector<std::vector<torch::Tensor>> trained_by_two(const TrainOptions& options) {
  const auto ranks = test::joined_ranks(2);
  auto second = std::async(std::launch::async, [&] {
    Training training(options, ranks[1]);
    training.loop.follow();
    return training.weights();
  });
  Training training(options, ranks[0]);
  for (int epoch = 0; epoch < options.epochs; ++epoch) training.loop.train_epoch(epoch, no_ap, {});
  training.loop.end();
  return {training.weights(), second.get()};
}

/// One process: each batch in two halves, their gradients added.
std::vector<torch::Tensor> trained_by_halves(const TrainOptions& options) {
  PreparedData prepared(options, 32, 1);
  const auto& images = prepared.training();
  const auto hyp = defaults();
  const auto detector = make_detector(options, hyp, {}, seed, prepared);
  detector->train();
  FlatParameters parameters(*detector, torch::kCPU);
  const Loss loss(loss_options(hyp, detector->config(), options.imgsz, 0), detector->anchors());
  const auto count = static_cast<int>(images.images.size());
  auto plan =
      data::plan_epoch(images, data::epoch_order(count, seed, 0), options.batch_size, seed, 0);
  const auto batches = static_cast<int>(plan.batches.size());
  TrainStep step(parameters, schedule_of(hyp, options, batches), algorithm_of(options.optimizer),
                 hyp.number("weight_decay"));
  step.begin_epoch(0);
  const auto whole = plan;
  for (int i = 0; i < batches; ++i) {
    for (const int half : {0, 1}) {
      const auto at = static_cast<std::size_t>(i);
      plan.batches[at] = data::share_of(whole.batches[at], half, 2);
      auto batch = data::train_batch(images, plan, i, data::augmentation_of(hyp));
      auto matches = loss.matches(batch.targets, batch.size,
                                  map_sizes(detector->config(), {options.imgsz, options.imgsz}));
      const auto [pixels, matched] =
          on_device(staged({{std::move(batch), std::move(matches)}}, torch::kCPU));
      loss(detector->forward(pixels), matched).total.backward();
    }
    EXPECT_TRUE(step.end_iteration(i).stepped);
  }
  std::vector<torch::Tensor> copies;
  for (const auto& parameter : detector->parameters()) copies.push_back(parameter.detach().clone());
  return copies;
}

void expect_equal(const std::vector<torch::Tensor>& some,
                  const std::vector<torch::Tensor>& others) {
  ASSERT_EQ(some.size(), others.size());
  for (std::size_t i = 0; i < some.size(); ++i)
    EXPECT_TRUE(torch::equal(some[i], others[i])) << "parameter " << i;
}

TEST(TwoRanks, TrainAsOneProcessThatAddsTheGradientsOfHalfBatches) {
  const test::Threads one(1);
  // A step for each batch: over several the ranks add up last.
  auto options = options_for(nominal_batch_size);
  options.amp = false;
  const auto weights = trained_by_two(options);
  expect_equal(weights[0], trained_by_halves(options));
}

TEST(TwoRanks, HoldTheSameWeights) {
  const test::Threads one(1);
  // Shares differ by an image, steps take several batches.
  const auto weights = trained_by_two(options_for(7, 2));
  expect_equal(weights[0], weights[1]);
}

TEST(TwoRanks, TrainOnWhatOneOfThemGetsOfALastBatchOfOneImage) {
  const test::Threads one(1);
  auto options = options_for(2);
  const auto images = PreparedData(options, 32, 1).training().images.size();
  while (images % static_cast<std::size_t>(options.batch_size) != 1) ++options.batch_size;
  const auto weights = trained_by_two(options);
  expect_equal(weights[0], weights[1]);
}

TEST(TwoRanks, NeedTwoImagesABatch) {
  const auto ranks = test::joined_ranks(2);
  EXPECT_EQ(test::refusal([&] {
              Trainer(
                  "cpu", 1, [] {}, {}, ranks[0])
                  .train(options_for(1), defaults(), seed, {});
            }),
            "--batch-size 1 for 2 devices that train together; each needs one of a batch: "
            "take fewer devices");
}

}  // namespace
}  // namespace evolve::trainer
