#include "engine/live_report.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "tests/engine/trials.hpp"
#include "tests/temporary_folder.hpp"

namespace evolve::engine {
namespace {

TEST(LiveReport, IsNotWrittenAgainBeforeSomeSecondsHavePassed) {
  const test::TemporaryFolder folder;
  const results::RunDirectory directory{folder.path()};
  results::Journal::create(directory.journal(), small_run);
  LiveReport report(directory);
  const RunState state(small_run);
  report.update(state);
  EXPECT_TRUE(std::filesystem::remove(directory.report()));
  report.update(state);
  EXPECT_FALSE(std::filesystem::exists(directory.report()));
}

}  // namespace
}  // namespace evolve::engine
