#include "engine/search_bounds.hpp"

#include <gtest/gtest.h>

#include "tests/refusal.hpp"

namespace evolve::engine {
namespace {

TEST(SearchTrials, AreThoseThatTheRepeatsLeave) {
  EXPECT_EQ(search_trials({.population = 10, .generations = 3}, 0), std::nullopt);
  EXPECT_EQ(search_trials({.population = 10, .generations = 3}, 4), 26);
  EXPECT_EQ(search_trials({.population = 10, .generations = 3, .trials = 12}, 11), 1);
  EXPECT_EQ(search_trials({.population = 10, .generations = 3, .trials = 99}, 4), 26);
  EXPECT_EQ(test::refusal([&] { search_trials({.trials = 3}, 3); }),
            "--repeats 3: with 3 trials no trial is left for the search; repeat fewer, or give "
            "more --trials");
}

TEST(SearchEpochs, AreThoseThatTheRepeatsLeave) {
  EXPECT_EQ(search_epochs({.epochs = 9}, 2), std::nullopt);
  EXPECT_EQ(search_epochs({.epochs = 9, .max_epochs = 30}, 2), 12);
  EXPECT_EQ(search_epochs({.epochs = 9, .max_epochs = 27}, 2), 9) << "a whole training will do";
  EXPECT_EQ(test::refusal([&] { search_epochs({.epochs = 9, .max_epochs = 26}, 2); }),
            "--max-epochs 26: too few for one whole training of 9 epochs besides 2 repeats; write "
            "27 or more");
}

}  // namespace
}  // namespace evolve::engine
