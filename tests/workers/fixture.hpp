// A run directory, and trials by fake workers.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <thread>

#include "workers/supervise/worker_set.hpp"

namespace evolve::workers {

class Workers : public testing::Test {
 protected:
  void SetUp() override {
    // Orphans become our children, so that we can see them end.
    ASSERT_EQ(::prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    directory = std::filesystem::path(testing::TempDir()) /
                (std::string(test->test_suite_name()) + test->name() + std::to_string(::getpid()));
    std::filesystem::remove_all(directory);
  }
  void TearDown() override { std::filesystem::remove_all(directory); }

  /// Fitness is 1 / mAP50_95, less one.
  WorkerSettings settings(const std::string& start = "ready") const {
    return {.command = {FAKE_WORKER, start},
            .epochs = 4,
            .options = {{"imgsz", 64}},
            .directory = directory.string(),
            .trial_timeout = {},
            .hang_timeout = std::chrono::seconds(120),
            .fitness = [](const hyp::Metrics& metrics) { return 1 / metrics.map50_95 - 1; }};
  }

  static hyp::Trial trial(int number, const std::string& mode) {
    return {.number = number, .generation = 0, .hyp = {{"lr0", 0.01}, {"mode", mode}}, .seed = 42};
  }

  static core::Lease lease(const core::Slot& slot) {
    return {new core::Slot(slot), [](const core::Slot* used) { delete used; }};
  }

  static core::Lease lease(const std::string& name = "cpu:0") {
    return lease(core::Slot{.name = name, .environment = {}, .cores = {}});
  }

  /// Waits as long as it takes for the outcomes of all trials under way.
  static std::vector<hyp::Outcome> outcomes(WorkerSet& workers) {
    std::vector<hyp::Outcome> all;
    while (workers.busy() > 0) {
      auto some = workers.wait_some(std::chrono::seconds(1));
      if (!some) throw std::runtime_error("interrupted");
      for (auto& outcome : *some) all.push_back(std::move(outcome));
    }
    return all;
  }

  /// One trial, as this mode has it, from start to end.
  hyp::Outcome run(WorkerSet& workers, int number, const std::string& mode) {
    workers.start(trial(number, mode), 1, lease());
    auto all = outcomes(workers);
    EXPECT_EQ(all.size(), 1u);
    return all.at(0);
  }

  hyp::Failed failure(WorkerSet& workers, int number, const std::string& mode) {
    return std::get<hyp::Failed>(run(workers, number, mode).result);
  }

  std::string folder(int number) const {
    std::ostringstream name;
    name << "trials/" << std::setw(6) << std::setfill('0') << number;
    return (directory / name.str()).string();
  }

  std::string text(int number, const std::string& file) const {
    std::ifstream stream(folder(number) + "/" + file);
    return {std::istreambuf_iterator<char>(stream), {}};
  }

  /// The process that trained a trial.
  pid_t pid(int number) const { return std::stoi(text(number, "pid")); }

  /// Runs the set until the trial's worker has written its pid: it is at work then.
  void wait_until_at_work(WorkerSet& workers, int number) const {
    while (!std::filesystem::exists(folder(number) + "/pid"))
      ASSERT_TRUE(workers.wait_some(std::chrono::milliseconds(10)));
  }

  /// Settings of a program that vanish() removes.
  WorkerSettings vanishing() const {
    auto copy = settings();
    copy.command = {program()};
    return copy;
  }
  std::string program() const { return (directory / "program").string(); }

  /// Makes the set, whose settings are vanishing(), unable to start its workers.
  void vanish(WorkerSet& workers) {
    std::filesystem::create_directories(directory);
    std::filesystem::copy_file(FAKE_WORKER, program());
    run(workers, 0, "crash");
    std::filesystem::remove(program());
  }

  /// Waits for the end of a worker, whom its keeper buries.
  static void wait_until_dead(pid_t worker) {
    while (::kill(worker, 0) == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }

  /// The worker has been buried, and so has its group.
  static bool is_gone(pid_t worker) {
    return ::kill(worker, 0) == -1 && errno == ESRCH && ::kill(-worker, 0) == -1 && errno == ESRCH;
  }

  std::filesystem::path directory;
};

}  // namespace evolve::workers
