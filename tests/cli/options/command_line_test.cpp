#include "cli/options/command_line.hpp"

#include <gtest/gtest.h>

#include "core/error.hpp"

namespace evolve::cli {
namespace {

TEST(Duration, IsReadInSecondsMinutesHoursAndDays) {
  EXPECT_EQ(duration_seconds("", "--x"), std::nullopt);
  EXPECT_EQ(duration_seconds("90", "--x"), 90);
  EXPECT_EQ(duration_seconds("90s", "--x"), 90);
  EXPECT_EQ(duration_seconds("1.5m", "--x"), 90);
  EXPECT_EQ(duration_seconds("1h30m", "--x"), 5400);
  EXPECT_EQ(duration_seconds("2d", "--x"), 172800);
  for (const auto* wrong : {"m", "1h30", "-5", "1.2.3s", "5 s", "1w"}) {
    EXPECT_THROW(duration_seconds(wrong, "--x"), Error) << wrong;
  }
}

}  // namespace
}  // namespace evolve::cli
