// Whether two models have the same weights.
#pragma once

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "trainer/checkpoint/checkpoint.hpp"

namespace evolve::test {

/// Names, types and numbers are the same, in one order.
inline void expect_equal(const trainer::StateDict& state, const trainer::StateDict& expected) {
  ASSERT_EQ(state.size(), expected.size());
  for (std::size_t i = 0; i < state.size(); ++i) {
    EXPECT_EQ(state[i].first, expected[i].first);
    EXPECT_EQ(state[i].second.scalar_type(), expected[i].second.scalar_type());
    EXPECT_TRUE(torch::equal(state[i].second, expected[i].second)) << state[i].first;
  }
}

}  // namespace evolve::test
