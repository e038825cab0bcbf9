#include "core/spawn.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "core/child.hpp"
#include "core/file_descriptor.hpp"
#include "tests/temporary_folder.hpp"

namespace evolve::core {
namespace {

std::string output_of_shell(const std::string& script) {
  return run({.words = {"sh", "-c", script}}).output;
}

int error_of(const Command& command) {
  try {
    spawn(command);
  } catch (const std::system_error& error) {
    return error.code().value();
  }
  return 0;
}

void expect_no_child() {
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1) << "a child is left";
}

TEST(Spawn, RunsAProgramOfThePath) {
  const auto finished = run({.words = {"sh", "-c", "echo \"$0\" $1; exit 3", "two words", "x"}});
  EXPECT_EQ(finished.output, "two words x\n");
  EXPECT_EQ(WEXITSTATUS(finished.status), 3);
  expect_no_child();
}

TEST(Spawn, TellsHowAProgramWasKilled) {
  const int status = run({.words = {"sh", "-c", "kill -9 $$"}}).status;
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGKILL);
}

TEST(Spawn, FailsAsExecDoes) {
  EXPECT_EQ(error_of({.words = {"no-such-program-here"}}), ENOENT);
  EXPECT_EQ(error_of({.words = {"./no/such/file"}}), ENOENT);
  EXPECT_EQ(error_of({.words = {"/dev/null"}}), EACCES);
  EXPECT_EQ(error_of({.words = {"/tmp"}}), EACCES);
  EXPECT_EQ(error_of({.words = {""}}), ENOENT);
  const test::TemporaryFolder folder;
  const auto file = folder / "no format";
  std::ofstream(file) << "neither a program nor a script\n";
  std::filesystem::permissions(file, std::filesystem::perms::owner_all);
  EXPECT_EQ(error_of({.words = {file}}), ENOEXEC);
  expect_no_child();
}

TEST(Spawn, SaysOfAScriptWhatIsMissing) {
  const test::TemporaryFolder folder;
  const std::string script = folder / "script";
  const std::system_error gone(ENOENT, std::generic_category());
  EXPECT_EQ(cannot_start(script, gone),
            "'" + script + "' cannot be started (No such file or directory)");
  std::ofstream(script) << "#!/no/such/shell\n";
  const auto missing =
      "'" + script + "' cannot be started: the program that its first line names is not there";
  EXPECT_EQ(cannot_start(script, gone), missing);
  std::ofstream(script) << "#!/bin/sh\r\nexit 0\r\n";
  EXPECT_EQ(cannot_start(script, gone), missing + " (its lines end as those of Windows)");
}

TEST(Spawn, SaysOfAProgramThatIsNotInPathThatItIsHere) {
  const test::TemporaryFolder folder;
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  std::ofstream("run.sh") << "#!/bin/sh\n";
  EXPECT_EQ(cannot_start("run.sh", {ENOENT, std::generic_category()}),
            "'run.sh' cannot be started: it is not in PATH (here it is ./run.sh)");
  std::filesystem::current_path(before);
}

TEST(Spawn, FailsWithTheErrorOfItsHook) {
  EXPECT_EQ(error_of({.words = {"true"}, .in_child = [](const auto&) { return EAGAIN; }}), EAGAIN);
  expect_no_child();
}

TEST(Spawn, KnowsTheFileOfThisProgram) {
  EXPECT_EQ(this_program().filename(), "core_tests");
  EXPECT_TRUE(std::filesystem::exists(this_program()));
}

TEST(Spawn, SetsAndRemovesVariables) {
  ::setenv("EVOLVE_SPAWN_KEPT", "kept", 1);
  ::setenv("EVOLVE_SPAWN_GONE", "here", 1);
  ::setenv("EVOLVE_SPAWN_NEW", "old", 1);
  const auto output = run({.words = {"sh", "-c",
                                     "echo $EVOLVE_SPAWN_KEPT ${EVOLVE_SPAWN_GONE-gone} "
                                     "$EVOLVE_SPAWN_NEW"},
                           .set = {{"EVOLVE_SPAWN_NEW", "first"}, {"EVOLVE_SPAWN_NEW", "a=b"}},
                           .unset = {"EVOLVE_SPAWN_GONE"}})
                          .output;
  EXPECT_EQ(output, "kept gone a=b\n");
  EXPECT_STREQ(std::getenv("EVOLVE_SPAWN_NEW"), "old");
}

TEST(Spawn, ConnectsNothingThatWasNotAskedFor) {
  const int careless = ::open("/dev/null", O_RDONLY);
  EXPECT_EQ(output_of_shell("wc -c; readlink /proc/self/fd/2; ls /proc/self/fd | wc -l"),
            "0\n/dev/null\n4\n")
      << "ls has its three streams and the folder open";
  ::close(careless);
}

TEST(Spawn, MayHaveItsErrorsInItsOutput) {
  const auto finished =
      run({.words = {"sh", "-c", "echo one; echo two >&2"}, .errors = same_as_output});
  EXPECT_EQ(finished.output, "one\ntwo\n");
}

TEST(Spawn, WorksWhereTheStreamsOfThisProcessAreClosed) {
  const pid_t child = ::fork();
  if (child == 0) {
    for (const int stream : {0, 1, 2}) ::close(stream);
    // The pipe's ends are numbers 0 and 1 now.
    const auto finished = run({.words = {"sh", "-c", "cat; echo out; echo err >&2"}});
    ::_exit(finished.output == "out\n" && finished.status == 0 ? 0 : 1);
  }
  EXPECT_EQ(wait_status(child), 0);
}

TEST(Spawn, LeavesNothingRunningThatRunHasStartedWhenItsCallerIsKilled) {
  auto pipe = make_pipe();
  const pid_t caller = ::fork();
  if (caller == 0) {
    run({.words = {"sh", "-c", "echo at work >&2; exec sleep 1000"},
         .errors = pipe.writer.number()});
    ::_exit(0);
  }
  pipe.writer.close();
  char text[8];
  ASSERT_EQ(::read(pipe.reader.number(), text, sizeof(text)), 8);
  ::kill(caller, SIGKILL);
  EXPECT_EQ(wait_status(caller), SIGKILL);
  EXPECT_EQ(::read(pipe.reader.number(), text, sizeof(text)), 0) << "its end: nobody has it open";
}

TEST(Spawn, LetsAnotherProgramStartItThatIsItsParentAndSeesNoSignal) {
  const test::TemporaryFolder folder;
  const auto starter = (folder / "starter").string();
  std::ofstream(starter) << "#!/bin/sh\n"
                            "read line <&3; echo \"$1: $line\"\n"
                            "while read key value; do\n"
                            "  test $key = SigBlk: && echo ${value#????????}\n"
                            "done </proc/self/status\n"
                            "read pid name state parent group session rest </proc/self/stat\n"
                            "test $session = $pid && echo its own session\n"
                            "shift; exec 4>&-; echo \"cores $1\"; shift 2; echo \"$@\"\n";
  std::filesystem::permissions(starter, std::filesystem::perms::owner_all);
  auto given = make_pipe();
  ASSERT_EQ(::write(given.writer.number(), "given\n", 6), 6);
  auto output = make_pipe();
  const pid_t child =
      spawn({.words = {"true", "a", "b c"},
             .output = output.writer.number(),
             .cores = {0, 1},
             .starter = Starter{.words = {starter, "word"}, .file = given.reader.number()}});
  output.writer.close();
  EXPECT_EQ(wait_status(child), 0);
  char text[200] = {};
  EXPECT_GT(::read(output.reader.number(), text, sizeof(text) - 1), 0);
  EXPECT_STREQ(text, "word: given\n7ffbfeff\nits own session\ncores 0,1\ntrue a b c\n");
}

TEST(Spawn, KillsAChildThatTakesLongerThanItMay) {
  const auto never = wait_status(spawn({.words = {"sleep", "1000"}}), std::chrono::milliseconds(1));
  EXPECT_EQ(ending_text(never), "killed by signal 9 (SIGKILL)");
  const auto soon = spawn({.words = {"sh", "-c", "exit 3"}});
  EXPECT_EQ(ending_text(wait_status(soon, std::chrono::minutes(5))), "exit code 3");
}

TEST(Spawn, StartsWithDefaultSignalsWhateverThisThreadDoes) {
  const pid_t child = ::fork();
  if (child == 0) {
    for (const int number : {SIGINT, SIGTERM, SIGPIPE, SIGHUP}) ::signal(number, SIG_IGN);
    sigset_t all;
    ::sigfillset(&all);
    ::sigprocmask(SIG_SETMASK, &all, nullptr);
    const auto text = run({.words = {"grep", "-E", "Sig(Blk|Ign)", "/proc/self/status"}}).output;
    sigset_t after;
    ::sigprocmask(SIG_SETMASK, nullptr, &after);
    const bool unchanged = ::sigismember(&after, SIGTERM) && ::signal(SIGINT, SIG_IGN) == SIG_IGN;
    const std::string none = "\t0000000000000000\n";
    ::_exit(unchanged && text == "SigBlk:" + none + "SigIgn:" + none ? 0 : 1);
  }
  EXPECT_EQ(wait_status(child), 0);
}

TEST(Spawn, HandlesNoSignal) {
  // Sanitizers handle some before.
  const auto handlers = [] {
    std::vector<void*> all;
    for (int number = 1; number < SIGRTMIN; ++number) {
      struct sigaction action {};
      ::sigaction(number, nullptr, &action);
      all.push_back(reinterpret_cast<void*>(action.sa_handler));
    }
    return all;
  };
  const auto before = handlers();
  run({.words = {"true"}});
  EXPECT_EQ(handlers(), before);
}

TEST(Spawn, BindsToCores) {
  cpu_set_t ours;
  ASSERT_EQ(::sched_getaffinity(0, sizeof(ours), &ours), 0);
  int last = CPU_SETSIZE - 1;
  while (!CPU_ISSET(last, &ours)) --last;
  const auto allowed = [](std::vector<int> cores) {
    return run({.words = {"grep", "Cpus_allowed_list", "/proc/self/status"},
                .cores = std::move(cores)})
        .output;
  };
  EXPECT_EQ(allowed({last}), "Cpus_allowed_list:\t" + std::to_string(last) + "\n");
  EXPECT_EQ(allowed({last, 20000}), allowed({last})) << "beyond every machine's";
  EXPECT_EQ(error_of({.words = {"true"}, .cores = {20000}}), EINVAL);
  expect_no_child();
}

TEST(Spawn, WorksInSeveralThreadsAtATime) {
  const auto many = [](const std::string& name) {
    for (int number = 0; number < 50; ++number) {
      const auto finished = run({.words = {"sh", "-c", "echo $0; exit 5", name}});
      EXPECT_EQ(finished.output, name + "\n");
      EXPECT_EQ(WEXITSTATUS(finished.status), 5);
    }
  };
  std::thread one(many, "one"), two(many, "two");
  one.join();
  two.join();
  expect_no_child();
}

TEST(FileDescriptor, GetsNoSignalFromAPipeThatNobodyReads) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGPIPE, SIG_DFL);
    auto pipe = make_pipe();
    pipe.reader.close();
    const bool failed = write_without_sigpipe(pipe.writer.number(), "text") == -1 && errno == EPIPE;
    sigset_t pending;
    ::sigpending(&pending);
    ::_exit(failed && !::sigismember(&pending, SIGPIPE) ? 0 : 1);
  }
  EXPECT_EQ(wait_status(child), 0);
}

TEST(Child, EndsAsAnotherHasEnded) {
  const auto end_of = [](const std::string& script) {
    const int status = run({.words = {"sh", "-c", script}}).status;
    const pid_t child = fork_child();
    if (child == 0) end_like(status);
    EXPECT_EQ(wait_status(child) & ~0x80, status & ~0x80) << "but for the core file";
    return status;
  };
  EXPECT_EQ(WEXITSTATUS(end_of("exit 7")), 7);
  EXPECT_EQ(WTERMSIG(end_of("kill -9 $$")), SIGKILL);
  EXPECT_EQ(WTERMSIG(end_of("kill -15 $$")), SIGTERM);
}

}  // namespace
}  // namespace evolve::core
