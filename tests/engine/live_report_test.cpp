#include "engine/live_report.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "tests/engine/trials.hpp"
#include "tests/temporary_folder.hpp"

namespace evolve::engine {
namespace {

TEST(LiveReport, IsWrittenAgainOnceSomeSecondsHavePassedAndSomethingHasHappened) {
  const test::TemporaryFolder folder;
  const results::RunDirectory directory{folder.path()};
  LiveReport report(directory, {.run = small_run});
  RunState state(small_run);
  const auto begin = LiveReport::Clock::now();
  const auto writes_at = [&](std::chrono::hours when) {
    std::filesystem::remove(directory.report());
    report.update(state, begin + when);
    return std::filesystem::exists(directory.report());
  };
  using std::chrono::hours;
  EXPECT_FALSE(writes_at(hours(0))) << "a run of thousands that goes on begins at once";
  EXPECT_TRUE(writes_at(hours(1)));
  report.add(started(*state.next_trial()), core::now());
  EXPECT_FALSE(writes_at(hours(1)));
  EXPECT_TRUE(writes_at(hours(2)));
  EXPECT_FALSE(writes_at(hours(3)));
}

TEST(LiveReport, ThatCannotBeWrittenAtTheEndLeavesNoPageThatSaysTheRunGoesOn) {
  const test::TemporaryFolder folder;
  const results::RunDirectory directory{folder.path()};
  LiveReport report(directory, {.run = small_run});
  const RunState state(small_run);
  report.update(state, LiveReport::Clock::now() + std::chrono::hours(1));
  ASSERT_TRUE(std::filesystem::exists(directory.report()));
  // In the way of the file that would become it.
  const auto other = fmt::format("{}.{}.tmp", directory.report().string(), ::getpid());
  std::filesystem::create_directory(other);
  EXPECT_THROW(report.close(state), Error);
  EXPECT_FALSE(std::filesystem::exists(directory.report()));
  std::filesystem::remove(other);
  report.close(state);
  EXPECT_TRUE(std::filesystem::exists(directory.report()));
}

}  // namespace
}  // namespace evolve::engine
