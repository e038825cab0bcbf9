// How workers end when the coordinator does.

#include "tests/worker/fixture.hpp"

namespace evolve::worker {
namespace {

TEST_F(Workers, EndWithTheSetWhenIdle) {
  pid_t worker = 0;
  {
    WorkerSet workers(settings());
    run(workers, 0, "ok");
    worker = pid(0);
    EXPECT_EQ(::kill(worker, 0), 0);
  }
  EXPECT_TRUE(is_gone(worker));
}

TEST_F(Workers, EndWithTheSetThoughTheyIgnoreEveryRequest) {
  pid_t worker = 0;
  {
    WorkerSet workers(settings("stays"));
    run(workers, 0, "ok");
    worker = pid(0);
  }
  EXPECT_TRUE(is_gone(worker));
}

TEST_F(Workers, EndWithTheSetInTheMiddleOfATraining) {
  {
    WorkerSet workers(settings());
    workers.start(trial(0, "hang"), 1, lease("cpu:0"));
    workers.start(trial(1, "stubborn"), 1, lease("cpu:1"));
    wait_until_at_work(workers, 0);
    wait_until_at_work(workers, 1);
  }
  EXPECT_TRUE(is_gone(pid(0)));
  EXPECT_TRUE(is_gone(pid(1)));
}

TEST_F(Workers, AreInterruptedBySignals) {
  for (const int signal : {SIGINT, SIGTERM}) {
    {
      WorkerSet workers(settings());
      EXPECT_EQ(workers.signal(), 0);
      workers.start(trial(signal, "hang"), 1, lease());
      wait_until_at_work(workers, signal);
      ::raise(signal);
      EXPECT_EQ(workers.wait_some(std::chrono::seconds(60)), std::nullopt);
      EXPECT_EQ(workers.signal(), signal);
    }
    EXPECT_TRUE(is_gone(pid(signal)));
  }
}

TEST_F(Workers, TellOutcomesBeforeAnInterruption) {
  WorkerSet workers(vanishing());
  vanish(workers);
  workers.start(trial(1, "ok"), 1, lease());
  ::raise(SIGINT);
  EXPECT_EQ(workers.wait_some(std::chrono::seconds(60))->size(), 1u);
  EXPECT_EQ(workers.wait_some(std::chrono::seconds(60)), std::nullopt);
}

TEST_F(Workers, LeaveTheSignalsAsTheyWere) {
  const auto handler_of = [](int signal) {
    struct sigaction action {};
    ::sigaction(signal, nullptr, &action);
    return action.sa_handler;
  };
  {
    WorkerSet workers(settings());
    EXPECT_EQ(handler_of(SIGPIPE), SIG_IGN);
  }
  EXPECT_EQ(handler_of(SIGPIPE), SIG_DFL);
  EXPECT_EQ(handler_of(SIGINT), SIG_DFL);
  EXPECT_EQ(handler_of(SIGTERM), SIG_DFL);
}

TEST_F(Workers, DieWithACoordinatorThatIsKilled) {
  const pid_t coordinator = ::fork();
  ASSERT_NE(coordinator, -1);
  if (coordinator == 0) {
    try {
      WorkerSet workers(settings());
      workers.start(trial(0, "stubborn"), 1, lease());
      while (true) workers.wait_some(std::chrono::seconds(1));
    } catch (const std::exception&) {
      ::_exit(1);
    }
  }
  while (!std::filesystem::exists(folder(0) + "/pid")) {
    ASSERT_EQ(::waitpid(coordinator, nullptr, WNOHANG), 0);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  const pid_t worker = pid(0);
  ASSERT_EQ(::kill(coordinator, SIGKILL), 0);
  ASSERT_EQ(::waitpid(coordinator, nullptr, 0), coordinator);
  int status = 0;
  ASSERT_EQ(::waitpid(worker, &status, 0), worker);
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGKILL);
}

}  // namespace
}  // namespace evolve::worker
