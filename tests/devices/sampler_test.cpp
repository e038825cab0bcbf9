#include "devices/sampler.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

namespace evolve::devices {
namespace {

using std::chrono::milliseconds;

/// The tracers that hold processes of this test: those of the fake driver that are stuck in it.
std::vector<pid_t> tracers() {
  std::vector<pid_t> found;
  for (const auto& folder : std::filesystem::directory_iterator("/proc")) {
    std::ifstream status(folder.path() / "status");
    std::string word, name;
    pid_t tracer = 0;
    while (status >> word) {
      if (word == "Name:") status >> name;
      if (word == "TracerPid:") status >> tracer;
    }
    if (tracer != 0 && name == "devices_tests") found.push_back(tracer);
  }
  return found;
}

std::vector<Accelerator> sampled(Sampler& sampler) {
  sampler.ask();
  while (true) {
    if (auto answer = sampler.answer()) return *answer;
    std::this_thread::sleep_for(milliseconds(1));
  }
}

TEST(Sampler, TellsAllThatDiscoveryDoes) {
  ::setenv("ZE_ENABLE_ALT_DRIVERS", FAKE_LEVEL_ZERO, 1);
  ::setenv("FAKE_XPUS", "name=A,bus=3;name=B,bus=4,memory=16,free=10", 1);
  Sampler sampler({"xpu"});
  const auto found = discover("xpu", device_environment()).devices;
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[1].number, "1");
  EXPECT_EQ(sampled(sampler), found);
}

TEST(Sampler, DoesNotAskADriverInWhichAProcessIsStuck) {
  ::setenv("ZE_ENABLE_ALT_DRIVERS", FAKE_LEVEL_ZERO, 1);
  ::setenv("FAKE_XPUS", "name=A,bus=3", 1);
  Sampler sampler({"xpu"}, milliseconds(2000));
  EXPECT_EQ(sampled(sampler).size(), 1u);
  ::setenv("FAKE_XPU_INIT", "stuck", 1);
  EXPECT_TRUE(sampled(sampler).empty());
  ::unsetenv("FAKE_XPU_INIT");
  const auto stuck = tracers();
  if (stuck.empty()) GTEST_SKIP() << "no process may trace another one here";
  EXPECT_TRUE(sampled(sampler).empty()) << "asked, it would have answered";
  for (const auto tracer : stuck) ::kill(tracer, SIGKILL);
  auto answer = sampled(sampler);
  for (int tries = 0; answer.empty() && tries < 100; ++tries) {  // until it has died
    std::this_thread::sleep_for(milliseconds(100));
    answer = sampled(sampler);
  }
  EXPECT_EQ(answer.size(), 1u);
  ::unsetenv("FAKE_XPUS");
  ::unsetenv("ZE_ENABLE_ALT_DRIVERS");
}

}  // namespace
}  // namespace evolve::devices
