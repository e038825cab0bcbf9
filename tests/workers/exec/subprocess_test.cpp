#include "workers/exec/subprocess.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <thread>

#include "tests/files.hpp"
#include "tests/temporary_folder.hpp"

namespace evolve::workers {
namespace {

/// Starts the command of a shell as the leader of a process group, which ends it once the file is
/// there.
void run_until(const std::string& script, const std::string& file) {
  const pid_t leader = ::fork();
  if (leader == 0) {
    ::setpgid(0, 0);
    ::signal(SIGTERM, [](int) {});
    {
      Subprocess shell({"/bin/sh", "-c", script}, {});
      while (!std::filesystem::exists(file))
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    ::_exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(leader, &status, 0), leader);
  EXPECT_EQ(status, 0);
}

// The shell ends at the signal, its child has something to do before.
TEST(Subprocess, HasASecondToEndBehindAShellToo) {
  const test::TemporaryFolder folder;
  const auto trainer = "trap 'sleep 0.2; echo saved >" + (folder / "saved").string() +
                       "; exit' TERM; echo >" + (folder / "ready").string() +
                       "; while :; do sleep 0.05; done";
  test::write_file(folder / "trainer.sh", trainer);
  run_until("/bin/sh " + (folder / "trainer.sh").string() + "; true", (folder / "ready").string());
  EXPECT_EQ(test::read_file(folder / "saved"), "saved\n");
}

TEST(Subprocess, IsKilledWithAllThatItHasStartedWhenTheSecondIsOver) {
  const test::TemporaryFolder folder;
  run_until("trap '' TERM; sleep 60 & echo $! >" + (folder / "pid.part").string() + "; mv " +
                (folder / "pid.part").string() + " " + (folder / "pid").string() + "; wait",
            (folder / "pid").string());
  const auto pid = std::stoi(test::read_file(folder / "pid"));
  EXPECT_NE(::kill(pid, 0), 0);
}

}  // namespace
}  // namespace evolve::workers
