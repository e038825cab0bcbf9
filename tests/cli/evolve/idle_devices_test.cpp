#include "cli/evolve/idle_devices.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace evolve::cli {
namespace {

using testing::IsEmpty;

/// A run, and what is said of its devices.
struct Watched {
  explicit Watched(std::vector<std::string> slots, std::optional<int> lag = {})
      : state({.lag = lag, .trials = 8, .space = {{{.name = "lr0", .high = 1}}}}) {
    state.apply(results::DevicesChanged{.slots = std::move(slots)});
  }

  /// What is said at so many looks at a device of which so much is busy and free, in percent, while
  /// so many trials are past an epoch there.
  std::string looks(int count, double load, int trials, const std::string& device = "cuda:0",
                    std::int64_t free = 60) {
    const workers::Progress progress{.device = device, .epoch = 3, .epochs = 4, .start_epoch = 2};
    std::string said;
    for (int i = 0; i < count; ++i) {
      const auto advice =
          idle.on({.device = device,
                   .memory_total_bytes = 100,
                   .memory_free_bytes = free,
                   .load_percent = load},
                  state, std::vector(static_cast<std::size_t>(trials), progress), "run/devices");
      said += advice.value_or("");
    }
    return said;
  }

  engine::RunState state;
  IdleDevices idle{8};
};

TEST(IdleDevices, AreToldOnceHowTheyWouldTrainMore) {
  Watched run({"cuda:0", "cpu:0"});
  EXPECT_THAT(run.looks(9, 20, 1), IsEmpty());
  EXPECT_EQ(run.looks(1, 40, 1),
            "cuda:0 was busy 22 % in 10 looks while it trained: with 2 trials at a time it may "
            "train more; for that let its line in run/devices be cuda:0*2");
  EXPECT_THAT(run.looks(20, 20, 1), IsEmpty());
  run.state.apply(results::DevicesChanged{.slots = {"cuda:0", "cuda:0", "cpu:0"}});
  EXPECT_THAT(run.looks(10, 20, 2), testing::HasSubstr("be cuda:0*4"));
}

TEST(IdleDevices, AreNoneThatAreHalfBusyOrHalfFull) {
  EXPECT_THAT(Watched({"cuda:0"}).looks(10, 50, 1), IsEmpty());
  EXPECT_THAT(Watched({"cuda:0"}).looks(10, 20, 1, "cuda:0", 50), IsEmpty());
  Watched once_full({"cuda:0"});
  EXPECT_THAT(once_full.looks(1, 20, 1, "cuda:0", 50) + once_full.looks(9, 20, 1), IsEmpty());
}

TEST(IdleDevices, AreNoneWhoseSlotsDoNotAllTrainYet) {
  EXPECT_THAT(Watched({"cuda:0", "cuda:0"}).looks(20, 20, 1), IsEmpty());
  Watched run({"cuda:0"});
  const workers::Progress prepares{.device = "cuda:0", .epoch = 2, .epochs = 4, .start_epoch = 2};
  for (int i = 0; i < 10; ++i)
    EXPECT_FALSE(run.idle.on({.device = "cuda:0", .load_percent = 0}, run.state, {prepares}, ""));
}

TEST(IdleDevices, AreNotToldWhatTheyCannotHave) {
  const std::string group = "cuda:0+cuda:1";
  EXPECT_THAT(Watched({group}).looks(10, 20, 1, group), IsEmpty());
  // A core for each of them.
  const std::vector<std::string> four(4, "cuda:0"), five(5, "cuda:0");
  EXPECT_THAT(Watched(four).looks(10, 20, 4), testing::HasSubstr("cuda:0*8"));
  EXPECT_THAT(Watched(five).looks(10, 20, 5), IsEmpty());
  // A lag keeps more than three from being under way.
  EXPECT_THAT(Watched({"cuda:0", "cuda:0"}, 3).looks(10, 20, 2), IsEmpty());
  EXPECT_THAT(Watched({"cuda:0", "cuda:0"}, 4).looks(10, 20, 2), testing::HasSubstr("cuda:0*4"));
  // Memory was seen to be too small.
  Watched limited({"cuda:0", "cuda:0"});
  limited.state.apply(results::DeviceLimited{.device = "cuda:0", .trials = 2});
  EXPECT_THAT(limited.looks(10, 20, 2), IsEmpty());
}

}  // namespace
}  // namespace evolve::cli
