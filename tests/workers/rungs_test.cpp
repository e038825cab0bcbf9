// A trial at a rung waits for one word.

#include "core/error.hpp"
#include "tests/workers/fixture.hpp"

namespace evolve::workers {
namespace {

using testing::ElementsAre;

hyp::Metrics scored(double map50_95) {
  return {.precision = 0.5,
          .recall = 0.25,
          .map50 = 0.75,
          .map50_95 = map50_95,
          .box_loss = 0.1,
          .obj_loss = 0.2,
          .cls_loss = 0.3};
}

// Fitness is 1 / mAP50_95 - 1; mAP50_95 is the epoch / 8.
hyp::Rung at(int trial, int epoch) {
  return {.trial = trial,
          .epoch = epoch,
          .metrics = scored(epoch / 8.0),
          .fitness = 8.0 / epoch - 1,
          .device = "cpu:0"};
}

class RungsOfWorkers : public Workers {
 protected:
  /// Trials of 6 epochs, stopped at the rung `stop_at`.
  WorkerSettings with_rungs(int stop_at = 0) {
    auto copy = settings();
    copy.epochs = 6;
    copy.stops = [this, stop_at](const hyp::Rung& rung) {
      rungs.push_back(rung);
      return rung.epoch == stop_at;
    };
    return copy;
  }

  hyp::Outcome climb(WorkerSet& workers, int number, const std::string& mode = "climbs") {
    workers.start(trial(number, mode), 1, lease(), {2, 4});
    return outcomes(workers).at(0);
  }

  std::vector<hyp::Rung> rungs;
};

TEST_F(RungsOfWorkers, AreSentWithTheTrial) {
  WorkerSet workers(with_rungs());
  climb(workers, 17);
  EXPECT_EQ(nlohmann::json::parse(text(17, "message"))["rungs"], (std::vector<int>{2, 4}));
}

TEST_F(RungsOfWorkers, AreThoseOfEachTrial) {
  WorkerSet workers(with_rungs());
  climb(workers, 0);
  run(workers, 1, "climbs");
  EXPECT_THAT(rungs, ElementsAre(at(0, 2), at(0, 4)));
}

TEST_F(RungsOfWorkers, LetATrialThatContinuesEnd) {
  WorkerSet workers(with_rungs());
  EXPECT_EQ(std::get<hyp::Completed>(climb(workers, 3).result),
            (hyp::Completed{scored(0.75), 1 / 0.75 - 1}));
  EXPECT_THAT(rungs, ElementsAre(at(3, 2), at(3, 4)));
  EXPECT_EQ(text(3, "told"),
            "{\"type\":\"continue\",\"trial\":3}\n{\"type\":\"continue\",\"trial\":3}\n");
}

TEST_F(RungsOfWorkers, EndATrialThatStops) {
  WorkerSet workers(with_rungs(4));
  EXPECT_EQ(std::get<hyp::Stopped>(climb(workers, 3).result), (hyp::Stopped{4, scored(0.5), 1.0}));
  EXPECT_THAT(rungs, ElementsAre(at(3, 2), at(3, 4)));
  EXPECT_EQ(text(3, "told"),
            "{\"type\":\"continue\",\"trial\":3}\n{\"type\":\"stop\",\"trial\":3}\n");
}

TEST_F(RungsOfWorkers, LeaveTheWorkerAliveForTheNextTrial) {
  WorkerSet workers(with_rungs(2));
  climb(workers, 0);
  climb(workers, 1);
  EXPECT_EQ(pid(0), pid(1));
  EXPECT_THAT(rungs, ElementsAre(at(0, 2), at(1, 2)));
}

TEST_F(RungsOfWorkers, DoNotStopAWorkerThatIgnoresThem) {
  WorkerSet workers(with_rungs(2));
  EXPECT_EQ(std::get<hyp::Completed>(climb(workers, 0, "ignores rungs").result).metrics,
            scored(0.75));
  EXPECT_EQ(std::get<hyp::Completed>(climb(workers, 1, "ignores rungs").result).metrics,
            scored(0.75));
  EXPECT_EQ(pid(0), pid(1));
}

TEST_F(RungsOfWorkers, FailATrialThatDiesThere) {
  WorkerSet workers(with_rungs());
  EXPECT_EQ(std::get<hyp::Failed>(climb(workers, 0, "dies at a rung").result).message,
            "exit code 3");
  EXPECT_THAT(rungs, ElementsAre(at(0, 2)));
}

TEST_F(RungsOfWorkers, PassOnWhatTheDeciderThrows) {
  auto broken = with_rungs();
  broken.stops = [](const hyp::Rung&) -> bool { throw run_failed("the disk is full", "free it"); };
  WorkerSet workers(broken);
  EXPECT_THROW(climb(workers, 0), Error);
}

}  // namespace
}  // namespace evolve::workers
