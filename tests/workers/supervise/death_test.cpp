// How workers end when the coordinator does.

#include "tests/workers/fixture.hpp"

namespace evolve::workers {
namespace {

TEST_F(Workers, EndWithTheSetWhenIdle) {
  pid_t worker = 0;
  {
    WorkerSet workers(settings(), stop);
    run(workers, 0, "ok");
    worker = pid(0);
    EXPECT_EQ(::kill(worker, 0), 0);
  }
  EXPECT_TRUE(is_gone(worker));
}

TEST_F(Workers, EndWithTheSetThoughTheyIgnoreEveryRequest) {
  pid_t worker = 0;
  {
    WorkerSet workers(settings("stays"), stop);
    run(workers, 0, "ok");
    worker = pid(0);
  }
  EXPECT_TRUE(is_gone(worker));
}

TEST_F(Workers, EndWithTheSetInTheMiddleOfATraining) {
  {
    WorkerSet workers(settings(), stop);
    workers.start(trial(0, "hang"), lease("cpu:0"));
    workers.start(trial(1, "stubborn"), lease("cpu:1"));
    wait_until_at_work(workers, 0);
    wait_until_at_work(workers, 1);
  }
  EXPECT_TRUE(is_gone(pid(0)));
  EXPECT_TRUE(is_gone(pid(1)));
}

TEST_F(Workers, AreInterruptedByARequestToStop) {
  {
    WorkerSet workers(settings(), stop);
    workers.start(trial(0, "hang"), lease());
    wait_until_at_work(workers, 0);
    std::thread requester([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      stop.request(SIGTERM);
    });
    EXPECT_EQ(workers.wait(std::chrono::seconds(60)), std::nullopt);
    requester.join();
    EXPECT_EQ(stop.reason(), SIGTERM);
  }
  EXPECT_TRUE(is_gone(pid(0)));
}

TEST_F(Workers, ReportNoFailureThatComesWithAnInterruption) {
  WorkerSet workers(settings(), stop);
  workers.start(trial(0, "hang"), lease());
  wait_until_at_work(workers, 0);
  // As systemd stops all that belongs to a service, in any order.
  ASSERT_EQ(::kill(pid(0), SIGKILL), 0);
  wait_until_dead(pid(0));
  std::thread requester([&] { stop.request(SIGTERM); });
  EXPECT_EQ(workers.wait(std::chrono::seconds(60)), std::nullopt);
  requester.join();
}

TEST_F(Workers, ReportNoFailureThatIsKnownBeforeAnInterruption) {
  WorkerSet workers(vanishing(), stop);
  vanish(workers);
  workers.start(trial(1, "ok"), lease());
  stop.request(SIGINT);
  EXPECT_EQ(workers.wait(std::chrono::seconds(60)), std::nullopt);
}

TEST_F(Workers, InstallNoSignalHandler) {
  const auto handler_of = [](int signal) {
    struct sigaction action {};
    ::sigaction(signal, nullptr, &action);
    return action.sa_handler;
  };
  WorkerSet workers(settings(), stop);
  run(workers, 0, "ok");
  for (const int signal : {SIGPIPE, SIGINT, SIGTERM, SIGCHLD})
    EXPECT_EQ(handler_of(signal), SIG_DFL);
}

TEST_F(Workers, DieWithACoordinatorThatIsKilledAndSoDoTheirDescendants) {
  for (const int number : {0, 1}) {
    const std::string mode = number == 0 ? "stubborn" : "has a daemon";
    const pid_t coordinator = ::fork();
    ASSERT_NE(coordinator, -1);
    if (coordinator == 0) {
      try {
        WorkerSet workers(settings(), stop);
        workers.start(trial(number, mode), lease());
        while (true) workers.wait(std::chrono::seconds(1));
      } catch (const std::exception&) {
        ::_exit(1);
      }
    }
    const auto sign = folder(number) + (number == 0 ? "/pid" : "/at work");
    while (!std::filesystem::exists(sign)) {
      ASSERT_EQ(::waitpid(coordinator, nullptr, WNOHANG), 0);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    ASSERT_EQ(::kill(coordinator, SIGKILL), 0);
    ASSERT_EQ(::waitpid(coordinator, nullptr, 0), coordinator);
    // What is left to be reaped is the reaper, which died as the worker did.
    int status = 0;
    ASSERT_GT(::waitpid(-1, &status, 0), 0);
    EXPECT_TRUE(WIFSIGNALED(status));
    EXPECT_EQ(WTERMSIG(status), SIGKILL);
    EXPECT_EQ(::waitpid(-1, nullptr, 0), -1) << "an orphan is left";
    EXPECT_TRUE(is_gone(pid(number)));
  }
  EXPECT_EQ(::kill(std::stoi(text(1, "grandchild")), 0), -1);
}

TEST_F(Workers, LeaveNoDescendantThoughItLeftTheirSession) {
  WorkerSet workers(settings(), stop);
  EXPECT_EQ(failure(workers, 0, "leaves a daemon").message, "exit code 4");
  EXPECT_EQ(::kill(std::stoi(text(0, "grandchild")), 0), -1);
}

TEST_F(Workers, MayHaveOrphansThatAreReapedWhenTheyEnd) {
  WorkerSet workers(settings(), stop);
  workers.start(trial(0, "has a daemon"), lease());
  while (!std::filesystem::exists(folder(0) + "/at work"))
    ASSERT_TRUE(workers.wait(std::chrono::milliseconds(10)));
  const pid_t daemon = std::stoi(text(0, "grandchild"));
  ASSERT_EQ(::kill(daemon, SIGKILL), 0);
  wait_until_dead(daemon);
  EXPECT_EQ(::kill(pid(0), 0), 0) << "the worker goes on";
  EXPECT_EQ(workers.busy(), 1);
}

pid_t first_child() {
  const auto self = std::to_string(::getpid());
  pid_t child = 0;
  std::ifstream("/proc/" + self + "/task/" + self + "/children") >> child;
  if (child == 0) throw std::runtime_error("there is none");  // 0 would signal this process too
  return child;
}

// Whoever kills all that is called evolve would leave what a worker has started alone.
TEST_F(Workers, HaveAReaperThatSaysWhatItIs) {
  WorkerSet workers(settings(), stop);
  workers.start(trial(0, "hang"), lease());
  wait_until_at_work(workers, 0);
  const auto process = "/proc/" + std::to_string(first_child());
  std::string name, words;
  std::getline(std::ifstream(process + "/comm"), name);
  std::getline(std::ifstream(process + "/cmdline"), words, '\0');
  EXPECT_EQ(name, "trial-reaper");
  EXPECT_EQ(words, "trial-reaper");
  std::ifstream rest(process + "/cmdline");
  rest.seekg(static_cast<std::streamoff>(words.size()));
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(rest), {}).find_first_not_of('\0'),
            std::string::npos)
      << "nor has it the worker's words";
#ifndef EVOLVE_SANITIZED
  EXPECT_EQ(std::filesystem::read_symlink(process + "/exe").filename(), "trial-reaper");
#endif
}

TEST_F(Workers, DieWithTheirReaper) {
  WorkerSet workers(settings(), stop);
  workers.start(trial(0, "hang"), lease());
  wait_until_at_work(workers, 0);
  const pid_t reaper = first_child();
  ASSERT_EQ(::kill(reaper, SIGKILL), 0);
  const auto failed = std::get<NotTrained>(ends(workers).at(0));
  EXPECT_EQ(failed.message,
            "killed by signal 9 (SIGKILL): by somebody, or by the kernel for want of memory");
  ASSERT_EQ(::waitpid(pid(0), nullptr, 0), pid(0)) << "it has become our child";
  EXPECT_TRUE(is_gone(pid(0)));
}

TEST_F(Workers, ThatAreLongInEndingLetThoseOfOtherSlotsStart) {
  WorkerSet workers(settings(), stop);
  trained(workers, 0, "ok");
  const pid_t reaper = first_child();
  ASSERT_EQ(::kill(reaper, SIGSTOP), 0);
  trained(workers, 1, "ok, and exits");
  workers.start(trial(2, "ok"), lease("cpu:0"));
  workers.start(trial(3, "ok"), lease("cpu:1"));
  std::vector<int> ended;
  while (workers.busy() > 0) {
    const auto events = workers.wait(std::chrono::seconds(1));
    ASSERT_TRUE(events.has_value());
    for (const auto& event : *events) ended.push_back(std::get<Trained>(event).trial);
    if (!ended.empty()) ::kill(reaper, SIGCONT);
  }
  EXPECT_EQ(ended, (std::vector{3, 2}));
}

// A process that no SIGKILL ends is hard to come by; one whose end nobody tells is the same to us.
TEST_F(Workers, AreGivenUpWhenTheySurviveSIGKILL) {
  WorkerSet workers(settings(), stop);
  workers.start(trial(0, "hang"), lease());
  wait_until_at_work(workers, 0);
  const pid_t reaper = first_child();
  ASSERT_EQ(::kill(reaper, SIGSTOP), 0);
  workers.limit("cpu:0", 0, true);
  const auto failed = std::get<NotTrained>(ends(workers).at(0));
  EXPECT_EQ(failed.kind, hyp::FailureKind::device_lost);
  EXPECT_TRUE(failed.excused);
  EXPECT_EQ(failed.message,
            "it was taken away; it is still there 20 s after SIGKILL, stuck in its driver");
  EXPECT_EQ(workers.busy(), 0);
  EXPECT_EQ(workers.count("cpu:0").alive, 0);
  trained(workers, 1, "ok");
  ASSERT_EQ(::kill(reaper, SIGCONT), 0);
  while (::kill(reaper, 0) == 0) ASSERT_TRUE(workers.wait(std::chrono::milliseconds(10)));
}

TEST_F(Workers, ThatSurviveSIGKILLBetweenTwoTrialsHaveLostTheirDeviceToo) {
  auto impatient = settings();
  impatient.hang_timeout = std::chrono::seconds(5);
  WorkerSet workers(impatient, stop);
  trained(workers, 0, "ok, and hangs on its way out");
  const pid_t reaper = first_child();
  ASSERT_EQ(::kill(reaper, SIGSTOP), 0);
  const auto failed = std::get<NotTrained>(run(workers, 1, "ok"));
  EXPECT_EQ(failed.kind, hyp::FailureKind::device_lost);
  EXPECT_FALSE(failed.excused);
  ASSERT_EQ(::kill(reaper, SIGCONT), 0);
  while (::kill(reaper, 0) == 0) ASSERT_TRUE(workers.wait(std::chrono::milliseconds(10)));
}

TEST_F(Workers, AreExcusedWhenTheyAreTakenAwayThoughTheyHaveJustClosedTheirOutput) {
  WorkerSet workers(settings(), stop);
  workers.start(trial(0, "closes its output"), lease());
  wait_until_at_work(workers, 0);
  workers.wait(std::chrono::milliseconds(200));  // it is given a second to end
  workers.limit("cpu:0", 0, true);
  const auto failed = std::get<NotTrained>(ends(workers).at(0));
  EXPECT_EQ(failed.message, "it was taken away");
  EXPECT_TRUE(failed.excused);
}

// Whatever they were to be ended for.
TEST_F(Workers, ThatSurviveSIGKILLHaveLostTheirDevice) {
  auto impatient = settings();
  impatient.hang_timeout = std::chrono::seconds(5);  // its start too must not take longer
  WorkerSet workers(impatient, stop);
  workers.start(trial(0, "hang"), lease());
  wait_until_at_work(workers, 0);
  const pid_t reaper = first_child();
  ASSERT_EQ(::kill(reaper, SIGSTOP), 0);
  const auto failed = std::get<NotTrained>(ends(workers).at(0));
  EXPECT_EQ(failed.kind, hyp::FailureKind::device_lost);
  EXPECT_EQ(failed.message,
            "silent for 5 s; a longer --hang-timeout allows more; it is still there 20 s after "
            "SIGKILL, stuck in its driver");
  ASSERT_EQ(::kill(reaper, SIGCONT), 0);
  while (::kill(reaper, 0) == 0) ASSERT_TRUE(workers.wait(std::chrono::milliseconds(10)));
}

}  // namespace
}  // namespace evolve::workers
