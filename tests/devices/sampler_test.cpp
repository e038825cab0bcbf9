#include "devices/sampler.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
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

/// What /proc says of a process, such as "PPid:"; 0 when it is gone.
pid_t number_of(const std::string& process, const std::string& field) {
  std::ifstream status("/proc/" + process + "/status");
  pid_t number = 0;
  for (std::string word; status >> word;)
    if (word == field) status >> number;
  return number;
}

bool descends_from_us(pid_t process) {
  while (process > 1 && process != ::getpid())
    process = number_of(std::to_string(process), "PPid:");
  return process == ::getpid();
}

/// The tracers that hold processes of this test: those of the fake driver that are stuck in it.
/// They are its descendants, which a debugger that somebody looks at it with is not.
std::vector<pid_t> tracers() {
  std::vector<pid_t> found;
  for (const auto& folder : std::filesystem::directory_iterator("/proc")) {
    const auto tracer = number_of(folder.path().filename().string(), "TracerPid:");
    if (descends_from_us(tracer)) found.push_back(tracer);
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
  // The process that is stuck loses its parent, and stays a descendant.
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  ::setenv("ZE_ENABLE_ALT_DRIVERS", FAKE_LEVEL_ZERO, 1);
  ::setenv("FAKE_XPUS", "name=A,bus=3", 1);
  Sampler sampler({"xpu"}, milliseconds(5000));
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
  ::prctl(PR_SET_CHILD_SUBREAPER, 0);
  ::unsetenv("FAKE_XPUS");
  ::unsetenv("ZE_ENABLE_ALT_DRIVERS");
}

}  // namespace
}  // namespace evolve::devices
