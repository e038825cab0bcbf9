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
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "core/stop_source.hpp"
#include "hyp/trial_folder.hpp"
#include "tests/files.hpp"
#include "tests/temporary_folder.hpp"
#include "workers/supervise/supervised_process.hpp"
#include "workers/supervise/worker_set.hpp"

namespace evolve::workers {

/// What fake trainers measure.
inline hyp::Metrics scored(double map50_95) {
  return {.precision = 0.5,
          .recall = 0.25,
          .map50 = 0.75,
          .map50_95 = map50_95,
          .box_loss = 0.1,
          .obj_loss = 0.2,
          .cls_loss = 0.3};
}

class Workers : public testing::Test {
 protected:
  void SetUp() override {
    // Orphans become our children, so that we can see them end.
    ASSERT_EQ(::prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
  }

  WorkerSettings settings(const std::string& start = "ready") const {
    return {.command = {FAKE_WORKER, start},
            .trial_timeout = {},
            .hang_timeout = std::chrono::seconds(120)};
  }

  /// A trial of 4 epochs that goes as the mode has it.
  Assignment trial(int number, const std::string& mode, std::vector<int> at = {}) const {
    return {.order = {.trial = number,
                      .hyp = {{"lr0", 0.01}, {"mode", mode}},
                      .epochs = 4,
                      .seed = 42,
                      .dir = folder(number),
                      .rungs = std::move(at),
                      .options = {{"imgsz", 64}}}};
  }

  static core::Lease lease(const core::Slot& slot) {
    return {new core::Slot(slot), [](const core::Slot* used) { delete used; }};
  }

  static core::Lease lease(const std::string& name = "cpu:0") {
    return lease(core::Slot{.name = name, .environment = {}, .cores = {}});
  }

  /// Waits as long as it takes for the ends of all trials under way. Those at a rung are kept in
  /// `rungs`, stop at the epoch `stop_at`, and pause at `pause_at`.
  std::vector<WorkerEvent> ends(WorkerSet& workers) {
    std::vector<WorkerEvent> all;
    while (workers.busy() > 0) {
      const auto some = workers.wait(std::chrono::seconds(1));
      if (!some) throw std::runtime_error("interrupted");
      for (const auto& event : *some) {
        if (const auto* rung = std::get_if<AtRung>(&event)) {
          rungs.push_back(*rung);
          workers.decide(rung->trial, rung->epoch == stop_at    ? hyp::Decision::stop
                                      : rung->epoch == pause_at ? hyp::Decision::pause
                                                                : hyp::Decision::go_on);
        } else {
          all.push_back(event);
        }
      }
    }
    return all;
  }

  /// One trial, as this mode has it, from start to end.
  WorkerEvent run(WorkerSet& workers, int number, const std::string& mode) {
    workers.start(trial(number, mode), lease());
    const auto all = ends(workers);
    EXPECT_EQ(all.size(), 1u);
    return all.at(0);
  }

  Trained trained(WorkerSet& workers, int number, const std::string& mode) {
    return std::get<Trained>(run(workers, number, mode));
  }

  /// How and why it was not trained.
  Ending failure(WorkerSet& workers, int number, const std::string& mode) {
    return ending(std::get<NotTrained>(run(workers, number, mode)));
  }
  static Ending ending(const NotTrained& failure) {
    return {.kind = failure.kind,
            .message = failure.message,
            .failed_before_ready = failure.failed_before_ready};
  }

  std::string folder(int number) const { return (directory / hyp::trial_folder(number)).string(); }

  std::string text(int number, const std::string& file) const {
    return test::read_file(folder(number) + "/" + file);
  }

  /// The process that trained a trial.
  pid_t pid(int number) const { return std::stoi(text(number, "pid")); }

  /// Runs the set until the trial's worker has written its pid: it is at work then.
  void wait_until_at_work(WorkerSet& workers, int number) const {
    const auto there = [file = folder(number) + "/pid"] {
      return std::filesystem::exists(file) && std::filesystem::file_size(file) > 0;
    };
    while (!there()) {
      ASSERT_TRUE(workers.wait(std::chrono::milliseconds(10)));
      ASSERT_TRUE(there() || workers.busy() > 0) << "the trial has ended";
    }
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
    std::filesystem::copy_file(FAKE_WORKER, program());
    run(workers, 0, "crash");
    std::filesystem::remove(program());
  }

  /// Waits for the end of a worker, whom its reaper reaps.
  static void wait_until_dead(pid_t worker) {
    while (::kill(worker, 0) == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }

  /// The worker has been reaped, and so has its group.
  static bool is_gone(pid_t worker) {
    return ::kill(worker, 0) == -1 && errno == ESRCH && ::kill(-worker, 0) == -1 && errno == ESRCH;
  }

  test::TemporaryFolder directory;
  core::StopSource stop;
  std::vector<AtRung> rungs;
  int stop_at = 0, pause_at = 0;
};

}  // namespace evolve::workers
