#include "engine/kept_weights.hpp"

#include <gtest/gtest.h>

#include <array>
#include <filesystem>

#include "hyp/trial_folder.hpp"
#include "tests/engine/trials.hpp"
#include "tests/temporary_folder.hpp"

namespace evolve::engine {
namespace {

namespace fs = std::filesystem;

/// Four trials have completed; trial 2 has the greatest fitness, then 1.
class KeptWeightsTest : public testing::Test {
 protected:
  KeptWeightsTest() {
    const auto events = trials(4, [this](const auto&) { return fitness_[next_++]; });
    for (const auto& event : events) state_.apply(event);
    for (int trial = 0; trial < 4; ++trial) fs::create_directories(weights(trial));
  }

  fs::path weights(int trial, int repeat = 0) const {
    return folder_ / hyp::trial_folder(trial, repeat) / hyp::weights_folder;
  }

  const test::TemporaryFolder folder_;
  RunState state_{small_run};

 private:
  const std::array<double, 4> fitness_ = {0.1, 0.4, 0.5, 0.2};
  std::size_t next_ = 0;
};

TEST_F(KeptWeightsTest, AreThoseOfTheBestAndOfTheRecommendedTrial) {
  KeptWeights kept(folder_.path(), 1, state_);
  kept.update(completed(3), /*recommended=*/1, state_);
  EXPECT_FALSE(fs::exists(weights(0)));
  EXPECT_TRUE(fs::exists(weights(1)));
  EXPECT_TRUE(fs::exists(weights(2)));
  EXPECT_FALSE(fs::exists(weights(3)));
}

TEST_F(KeptWeightsTest, AreNoneOfARepeat) {
  fs::create_directories(weights(2, 1));
  KeptWeights kept(folder_.path(), 4, state_);
  auto repeat = completed(2);
  repeat.repeat = 1;
  kept.update(repeat, /*recommended=*/2, state_);
  EXPECT_FALSE(fs::exists(weights(2, 1)));
  EXPECT_TRUE(fs::exists(weights(2)));
}

TEST_F(KeptWeightsTest, AreAllWhereNobodyWantsThemRemoved) {
  KeptWeights kept(folder_.path(), {}, state_);
  kept.update(completed(3), /*recommended=*/2, state_);
  for (int trial = 0; trial < 4; ++trial) EXPECT_TRUE(fs::exists(weights(trial)));
}

}  // namespace
}  // namespace evolve::engine
