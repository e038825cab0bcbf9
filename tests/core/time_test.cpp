#include "core/time.hpp"

#include <gtest/gtest.h>

namespace evolve::core {
namespace {

using namespace std::chrono_literals;
using std::chrono::sys_days;
using std::chrono::year;

const Time moment = sys_days{year{2026} / 5 / 1} + 12h + 3min + 4s + 50ms;

TEST(Time, IsWrittenInUtcToTheMillisecondAndReadBack) {
  EXPECT_EQ(text_of(moment), "2026-05-01T12:03:04.050Z");
  EXPECT_EQ(parse_time("2026-05-01T12:03:04.050Z"), moment);
  EXPECT_EQ(parse_time(text_of(Time{})), Time{});
}

TEST(Time, MayComeWithoutAFractionOfASecond) {
  EXPECT_EQ(parse_time("2026-05-01T12:03:04Z"), moment - 50ms);
}

TEST(Time, IsRefusedWhereItIsNone) {
  for (const auto* text :
       {"", "now", "2026-05-01", "2026-02-30T12:00:00Z", "2026-05-01T25:00:00Z",
        "2026-05-01T12:60:00Z", "2026-05-01T12:03:04", "2026-05-01T12:03:04.05Z",
        "2026-05-01T12:03:04+02:00", " 2026-05-01T12:03:04Z", "2026-05-01T12:03:04Z "}) {
    EXPECT_EQ(parse_time(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace evolve::core
