#include "workers/supervise/process.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include <boost/asio/io_context.hpp>
#include <string>
#include <thread>

namespace evolve::workers {
namespace {

/// A process and what has happened to it.
struct Watched {
  explicit Watched(const std::string& script) {
    process = Process::start(io, {"sh", "-c", script}, core::Slot{.name = "cpu:0"},
                             {.line = [this](std::string_view line) { lines += line; },
                              .endless_line = [] {},
                              .log = [this](std::string_view bytes) { log += bytes; },
                              .closed = [this] { ++closed; },
                              .exited = [this](int its_status) { status = its_status; }});
  }

  boost::asio::io_context io;
  std::string lines, log;
  int closed = 0;
  int status = -2;
  std::shared_ptr<Process> process;
};

void (*action_of(int number))(int) {
  struct sigaction action {};
  ::sigaction(number, nullptr, &action);
  return action.sa_handler;
}

TEST(Process, IsToldAndTells) {
  Watched cat("cat; echo error >&2; exit 3");
  cat.process->send("one\n");
  cat.process->send("two\n");
  cat.process->close_input();
  cat.io.run();
  EXPECT_EQ(cat.lines, "onetwo");
  EXPECT_EQ(cat.log, "error\n");
  EXPECT_EQ(WEXITSTATUS(cat.status), 3);
}

TEST(Process, GetsMoreThanItsPipeHolds) {
  Watched counts("head -c 3145728 | wc -c");
  for (int number = 0; number < 3; ++number) counts.process->send(std::string(1 << 20, 'x'));
  counts.io.run();
  EXPECT_EQ(counts.lines, "3145728");
}

TEST(Process, ThatReadsNothingMoreIsNoSignalToUs) {
  ASSERT_EQ(action_of(SIGPIPE), SIG_DFL);
  Watched deaf("exec <&-; echo closed; sleep 60");
  while (deaf.lines.empty()) deaf.io.run_one();
  deaf.process->send("a line\n");
  while (deaf.closed == 0) deaf.io.run_one();
  deaf.process->signal(SIGKILL);
  deaf.io.run();
  EXPECT_EQ(WTERMSIG(deaf.status), SIGKILL);
}

TEST(Process, IsWaitedForWithoutASignalHandler) {
  Watched process("true");
  EXPECT_EQ(action_of(SIGCHLD), SIG_DFL);
  process.io.run();
  EXPECT_EQ(process.status, 0);
}

TEST(Process, StartsWithNoSignalBlocked) {
  sigset_t interrupts, before;
  ::sigemptyset(&interrupts);
  ::sigaddset(&interrupts, SIGINT);
  ::sigaddset(&interrupts, SIGTERM);
  ::pthread_sigmask(SIG_BLOCK, &interrupts, &before);
  Watched process("grep -E 'Sig(Blk|Ign)' /proc/self/status");
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  process.io.run();
  EXPECT_EQ(process.lines, "SigBlk:\t0000000000000000SigIgn:\t0000000000000000");
}

TEST(Process, RunsInTwoThreadsOfAProgram) {
  const auto many = [] {
    for (int number = 0; number < 20; ++number) {
      Watched process("read line; echo $line; exit 4");
      process.process->send("word\n");
      process.io.run();
      EXPECT_EQ(process.lines, "word");
      EXPECT_EQ(WEXITSTATUS(process.status), 4);
    }
  };
  std::thread one(many), two(many);
  one.join();
  two.join();
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1) << "a child is left";
}

}  // namespace
}  // namespace evolve::workers
