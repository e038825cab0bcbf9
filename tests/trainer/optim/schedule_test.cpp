#include "trainer/optim/schedule.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/trainer/golden.hpp"

namespace evolve::trainer {
namespace {

Schedule schedule_of_run(const nlohmann::json& run) {
  Schedule schedule{.epochs = run["epochs"],
                    .batches = run["nb"],
                    .batch_size = run["batch_size"],
                    .cosine = run["cos"],
                    .lr0 = run["lr0"],
                    .lrf = run["lrf"],
                    .momentum = run["momentum"],
                    .warmup_momentum = run["warmup_momentum"],
                    .warmup_bias_lr = run["warmup_bias_lr"]};
  schedule.warmup_iterations = warmup_iterations(run["warmup_epochs"], schedule.batches);
  return schedule;
}

TEST(ParitySchedule, RatesMomentumAndAccumulationAreYolov5s) {
  GOLDENS_OR_SKIP(cases, "d_lr");
  for (const auto& golden : cases) {
    for (const auto& [name, run] : golden.scalars["runs"].items()) {
      SCOPED_TRACE(golden.name + " " + name);
      const Schedule schedule = schedule_of_run(run);
      EXPECT_EQ(schedule.warmup_iterations, run["nw"].get<int>());
      for (const auto& row : run["rows"]) {
        const StepSettings now = schedule.at(row[0]);
        for (std::size_t g = 0; g < group_count; ++g) {
          EXPECT_NEAR(now.learning_rate[g], row[1 + g].get<double>(), 1e-9) << row;
        }
        if (!row[4].is_null()) {
          EXPECT_NEAR(now.momentum, row[4].get<double>(), 1e-9) << row;
        }
        EXPECT_EQ(now.accumulate, static_cast<int>(row[5].get<double>())) << row;
      }
    }
  }
}

constexpr Schedule ten_epochs{.epochs = 10, .batches = 50, .lr0 = 0.1, .lrf = 0.2};

TEST(Schedule, FallsInAStraightLine) {
  EXPECT_DOUBLE_EQ(ten_epochs.factor(0), 1);
  EXPECT_DOUBLE_EQ(ten_epochs.factor(5), 0.6);
  EXPECT_DOUBLE_EQ(ten_epochs.factor(10), 0.2);
}

TEST(Schedule, FallsAlongACosineWhereAsked) {
  Schedule schedule = ten_epochs;
  schedule.cosine = true;
  EXPECT_DOUBLE_EQ(schedule.factor(0), 1);
  EXPECT_DOUBLE_EQ(schedule.factor(5), 0.6);
  EXPECT_NEAR(schedule.factor(2), 0.2 + 0.8 * (1 + std::cos(0.2 * M_PI)) / 2, 1e-12);
}

TEST(Schedule, RestartsItsCosineInCyclesThatGrow) {
  Schedule schedule = ten_epochs;
  schedule.restarts = {.epochs = 2, .factor = 3};  // cycles begin at 0, 2 and 8
  const std::array<double, 10> done{0,      1. / 2, 0,      1. / 6, 2. / 6,
                                    3. / 6, 4. / 6, 5. / 6, 0,      1. / 18};
  for (int epoch = 0; epoch < 10; ++epoch) {
    const double expected = 0.2 + 0.8 * (1 + std::cos(done[std::size_t(epoch)] * M_PI)) / 2;
    EXPECT_NEAR(schedule.factor(epoch), expected, 1e-12) << epoch;
  }
}

TEST(Schedule, RestartsInCyclesOfEqualLengthWithAFactorOf1) {
  Schedule schedule = ten_epochs;
  schedule.restarts = {.epochs = 3, .factor = 1};
  EXPECT_DOUBLE_EQ(schedule.factor(2), schedule.factor(8));
  EXPECT_DOUBLE_EQ(schedule.factor(9), 1);
}

TEST(Schedule, IsThatOfTheOptionsAndTheHyperparameters) {
  const hyp::Hyperparameters hyp{{"lr0", 0.02},
                                 {"lrf", 0.1},
                                 {"momentum", 0.9},
                                 {"warmup_epochs", 4.0},
                                 {"warmup_momentum", 0.5},
                                 {"warmup_bias_lr", 0.05}};
  const TrainOptions options{
      .epochs = 7, .batch_size = 8, .cos_lr = true, .restart_epochs = 2, .restart_factor = 3};
  const auto schedule = schedule_of(hyp, options, 50);
  EXPECT_EQ(schedule.epochs, 7);
  EXPECT_EQ(schedule.batches, 50);
  EXPECT_EQ(schedule.batch_size, 8);
  EXPECT_TRUE(schedule.cosine);
  EXPECT_EQ(schedule.restarts.epochs, 2);
  EXPECT_EQ(schedule.restarts.factor, 3);
  EXPECT_EQ(schedule.lr0, 0.02);
  EXPECT_EQ(schedule.lrf, 0.1);
  EXPECT_EQ(schedule.momentum, 0.9);
  EXPECT_EQ(schedule.warmup_iterations, 200);
  EXPECT_EQ(schedule.warmup_momentum, 0.5);
  EXPECT_EQ(schedule.warmup_bias_lr, 0.05);
  EXPECT_FALSE(schedule_of(hyp, {}, 50).cosine);
  EXPECT_EQ(schedule_of(hyp, {}, 50).restarts.epochs, 0);
}

TEST(Schedule, WarmsUpForAtLeast100Iterations) {
  EXPECT_EQ(warmup_iterations(3, 7), 100);
  EXPECT_EQ(warmup_iterations(3, 50), 150);
  EXPECT_EQ(warmup_iterations(0, 50), 100);
  EXPECT_EQ(warmup_iterations(2.5, 45), 112);  // 112.5, half to even
}

TEST(Schedule, WarmsUpForEverWhereAskedForMoreEpochsThanThereAre) {
  EXPECT_EQ(warmup_iterations(1e12, 25), 1000000000);
}

TEST(Schedule, StartsWithTheBiasesAloneAndEveryBatchAStep) {
  const StepSettings first = ten_epochs.at(0);
  EXPECT_EQ(first.learning_rate, (std::array{0.1, 0.0, 0.0}));
  EXPECT_DOUBLE_EQ(first.momentum, 0.8);
  EXPECT_EQ(first.accumulate, 1);
}

TEST(Schedule, IsAnEpochBehindOnceTheWarmupsEpochIsOver) {
  // The warm-up ends at iteration 100, the first of epoch 2.
  EXPECT_DOUBLE_EQ(ten_epochs.at(149).learning_rate[decay_group], 0.1 * ten_epochs.factor(2));
  EXPECT_DOUBLE_EQ(ten_epochs.at(150).learning_rate[decay_group], 0.1 * ten_epochs.factor(2));
  EXPECT_DOUBLE_EQ(ten_epochs.at(200).learning_rate[decay_group], 0.1 * ten_epochs.factor(3));
}

TEST(Schedule, RoundsAHalfAsNumPyDoes) {
  // np.interp(1245, [0, 1494], [1, 4]) is 3.4999999999999996, np.interp(155, [0, 186], [1,
  // 64]) 53.5.
  EXPECT_EQ((Schedule{.batch_size = 16, .warmup_iterations = 1494}).at(1245).accumulate, 3);
  EXPECT_EQ((Schedule{.batch_size = 1, .warmup_iterations = 186}).at(155).accumulate, 53);
  EXPECT_EQ((Schedule{.batch_size = 16, .warmup_iterations = 1494}).at(1494).accumulate, 4);
}

TEST(Schedule, StepsEvery64ImagesAfterTheWarmup) {
  EXPECT_EQ(ten_epochs.at(101).accumulate, 4);
  EXPECT_EQ((Schedule{.batch_size = 6}).at(101).accumulate, 11);
  EXPECT_EQ((Schedule{.batch_size = 256}).at(101).accumulate, 1);
}

}  // namespace
}  // namespace evolve::trainer
