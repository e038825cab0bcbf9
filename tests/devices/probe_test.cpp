#include "devices/probe.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <stdexcept>

namespace evolve::devices {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds long_enough{60000};

TEST(Probe, BringsBackTheText) {
  const std::string long_text(1 << 20, 'x');
  const auto probed = in_a_probe([&] { return long_text; }, long_enough);
  EXPECT_EQ(probed.text, long_text);
  EXPECT_EQ(probed.problem, "");
}

TEST(Probe, TellsAnExceptionInItsWords) {
  const auto probed = in_a_probe(
      []() -> std::string { throw std::runtime_error("the card is on fire"); }, long_enough);
  EXPECT_EQ(probed.text, "");
  EXPECT_EQ(probed.problem, "the card is on fire");
  EXPECT_FALSE(probed.crashed);
}

TEST(Probe, SurvivesACrash) {
  const auto aborts = [] {
    std::abort();
    return std::string();
  };
  const auto probed = in_a_probe(aborts, long_enough);
  EXPECT_EQ(probed.problem, "it crashed (SIGABRT)");
  EXPECT_TRUE(probed.crashed);
}

TEST(Probe, SurvivesAnExitWhateverItsCode) {
  for (const int code : {0, 1, 3}) {
    const auto exits = [code] {
      ::_exit(code);
      return std::string();
    };
    EXPECT_EQ(in_a_probe(exits, long_enough).problem,
              "it ended with exit code " + std::to_string(code));
  }
}

TEST(Probe, SaysThatNoProcessCanBeStartedNow) {
#ifdef EVOLVE_SANITIZED
  GTEST_SKIP() << "a sanitizer itself opens files in this process";
#endif
  rlimit before{};
  ::getrlimit(RLIMIT_NOFILE, &before);
  const rlimit none{3, before.rlim_max};
  ::setrlimit(RLIMIT_NOFILE, &none);
  const auto probed = in_a_probe([] { return std::string("here"); }, long_enough);
  ::setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_EQ(probed.text, "");
  EXPECT_THAT(probed.problem, testing::HasSubstr("Too many open files"));
}

TEST(Probe, EndsAProcessThatHangsAndBuriesIt) {
  const auto hangs = [] {
    ::signal(SIGTERM, SIG_IGN);
    while (true) ::pause();
    return std::string();
  };
  EXPECT_EQ(in_a_probe(hangs, milliseconds(500)).problem, "it does not answer within 0.5 s");
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1) << "a child is left";
}

TEST(Probe, LeavesTheChildNoFileOfOursAndNoTerminal) {
  const int file = ::open("/dev/null", O_RDONLY);
  const auto looks = [&] {
    std::string found;
    for (int number = 4; number < 256; ++number)
      if (::fcntl(number, F_GETFD) != -1) found += std::to_string(number) + " ";
    for (int stream = 0; stream < 3; ++stream)
      found += std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(stream)).string();
    return found + (::getsid(0) == ::getpid() ? " own session" : "");
  };
  EXPECT_EQ(in_a_probe(looks, long_enough).text, "/dev/null/dev/null/dev/null own session");
  ::close(file);
}

TEST(Probe, ChangesNothingHere) {
  ::setenv("EVOLVE_PROBE_TEST", "before", 1);
  in_a_probe(
      [] {
        ::setenv("EVOLVE_PROBE_TEST", "in the probe", 1);
        return std::string();
      },
      long_enough);
  EXPECT_STREQ(std::getenv("EVOLVE_PROBE_TEST"), "before");
}

}  // namespace
}  // namespace evolve::devices
