#include "core/splitmix64.hpp"

#include <gtest/gtest.h>

namespace evolve::core {
namespace {

TEST(SplitMix64, HasTheNumbersOfItsReference) {
  EXPECT_EQ(splitmix64(1234567), 6457827717110365317U);
  EXPECT_EQ(splitmix64(1234567 + 0x9e3779b97f4a7c15U), 3203168211198807973U);
}

}  // namespace
}  // namespace evolve::core
