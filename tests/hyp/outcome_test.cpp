#include "hyp/outcome.hpp"

#include <gtest/gtest.h>

namespace evolve::hyp {
namespace {

TEST(FailureKind, HasANameEach) {
  EXPECT_EQ(name_of(FailureKind::crash), "crash");
  EXPECT_EQ(name_of(FailureKind::device_lost), "device_lost");
  EXPECT_EQ(name_of(FailureKind::other), "other");
  for (int i = 0; i <= static_cast<int>(FailureKind::other); ++i) {
    const auto kind = static_cast<FailureKind>(i);
    EXPECT_EQ(failure_kind(name_of(kind)), kind);
  }
  EXPECT_EQ(failure_kind("earthquake"), FailureKind::other);
}

}  // namespace
}  // namespace evolve::hyp
