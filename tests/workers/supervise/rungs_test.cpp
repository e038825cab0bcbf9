// A trial at a rung waits for one word.

#include "tests/workers/fixture.hpp"

namespace evolve::workers {
namespace {

using testing::ElementsAre;

// mAP50_95 is the epoch / 8.
AtRung at(int trial, int epoch) {
  return {.trial = trial, .epoch = epoch, .metrics = scored(epoch / 8.0), .device = "cpu:0"};
}

class RungsOfWorkers : public Workers {
 protected:
  /// A trial of 6 epochs with rungs at 2 and 4.
  WorkerEvent climb(WorkerSet& workers, int number, const std::string& mode = "climbs") {
    auto assignment = trial(number, mode, {2, 4});
    assignment.order.epochs = 6;
    workers.start(std::move(assignment), lease());
    return ends(workers).at(0);
  }
};

TEST_F(RungsOfWorkers, AreSentWithTheTrial) {
  WorkerSet workers(settings(), stop);
  climb(workers, 17);
  EXPECT_EQ(nlohmann::json::parse(text(17, "message"))["rungs"], (std::vector<int>{2, 4}));
}

TEST_F(RungsOfWorkers, AreThoseOfEachTrial) {
  WorkerSet workers(settings(), stop);
  climb(workers, 0);
  run(workers, 1, "climbs");
  EXPECT_THAT(rungs, ElementsAre(at(0, 2), at(0, 4)));
}

TEST_F(RungsOfWorkers, LetATrialThatContinuesEnd) {
  WorkerSet workers(settings(), stop);
  const auto end = std::get<Trained>(climb(workers, 3));
  EXPECT_EQ(end.metrics, scored(0.75));
  EXPECT_EQ(end.obeyed, hyp::Decision::go_on);
  EXPECT_THAT(rungs, ElementsAre(at(3, 2), at(3, 4)));
  EXPECT_EQ(text(3, "told"),
            "{\"type\":\"continue\",\"trial\":3}\n{\"type\":\"continue\",\"trial\":3}\n");
}

TEST_F(RungsOfWorkers, EndATrialThatStops) {
  stop_at = 4;
  WorkerSet workers(settings(), stop);
  const auto end = std::get<Trained>(climb(workers, 3));
  EXPECT_EQ(end.metrics, scored(0.5));
  EXPECT_EQ(end.obeyed, hyp::Decision::stop);
  EXPECT_EQ(end.epoch, 4);
  EXPECT_THAT(rungs, ElementsAre(at(3, 2), at(3, 4)));
  EXPECT_EQ(text(3, "told"),
            "{\"type\":\"continue\",\"trial\":3}\n{\"type\":\"stop\",\"trial\":3}\n");
}

TEST_F(RungsOfWorkers, AreDecidedOnceThoughTheirEpochIsReportedAgain) {
  WorkerSet workers(settings(), stop);
  EXPECT_EQ(std::get<Trained>(climb(workers, 3, "climbs, and says so twice")).obeyed,
            hyp::Decision::go_on);
  EXPECT_THAT(rungs, ElementsAre(at(3, 2), at(3, 4)));
}

TEST_F(RungsOfWorkers, LeaveTheWorkerAliveForTheNextTrial) {
  stop_at = 2;
  WorkerSet workers(settings(), stop);
  climb(workers, 0);
  climb(workers, 1);
  EXPECT_EQ(pid(0), pid(1));
  EXPECT_THAT(rungs, ElementsAre(at(0, 2), at(1, 2)));
}

TEST_F(RungsOfWorkers, DoNotStopAWorkerThatIgnoresThem) {
  stop_at = 2;
  WorkerSet workers(settings(), stop);
  EXPECT_EQ(std::get<Trained>(climb(workers, 0, "ignores rungs")).obeyed, hyp::Decision::go_on);
  EXPECT_EQ(std::get<Trained>(climb(workers, 1, "ignores rungs")).obeyed, hyp::Decision::go_on);
  EXPECT_EQ(pid(0), pid(1));
}

TEST_F(RungsOfWorkers, SayWhetherTheWorkerCanPause) {
  WorkerSet workers(settings(R"(has {"can_pause":true})"), stop);
  EXPECT_EQ(workers.can_pause(), std::nullopt);
  climb(workers, 0);
  EXPECT_TRUE(rungs.at(0).can_pause);
  EXPECT_EQ(workers.can_pause(), true);
  WorkerSet others(settings(), stop);
  climb(others, 1);
  EXPECT_FALSE(rungs.at(2).can_pause);
  EXPECT_EQ(others.can_pause(), false);
}

TEST_F(RungsOfWorkers, PauseATrialThatGoesOnInAnotherProcess) {
  pause_at = 4;
  {
    WorkerSet workers(settings(R"(has {"can_pause":true})"), stop);
    const auto end = std::get<Trained>(climb(workers, 3));
    EXPECT_EQ(end.obeyed, hyp::Decision::pause);
    EXPECT_EQ(end.epoch, 4);
    EXPECT_EQ(end.metrics, scored(0.5));
  }
  EXPECT_EQ(text(3, "told"),
            "{\"type\":\"continue\",\"trial\":3}\n{\"type\":\"pause\",\"trial\":3}\n");
  EXPECT_FALSE(nlohmann::json::parse(text(3, "message")).contains("start_epoch"));
  WorkerSet workers(settings(), stop);
  auto assignment = trial(3, "climbs", {5});
  assignment.order.epochs = 6;
  assignment.order.start_epoch = 4;
  workers.start(std::move(assignment), lease());
  EXPECT_EQ(workers.progress().at(0).epoch, 4);
  rungs.clear();
  const auto end = std::get<Trained>(ends(workers).at(0));
  EXPECT_EQ(nlohmann::json::parse(text(3, "message"))["start_epoch"], 4);
  EXPECT_THAT(rungs, ElementsAre(at(3, 5)));
  EXPECT_EQ(end.obeyed, hyp::Decision::go_on);
  EXPECT_EQ(end.epoch, 6);
  EXPECT_EQ(end.metrics, scored(0.75));
}

TEST_F(RungsOfWorkers, AreWhereATrialIsPausedThoughItsWorkerHasReportedLaterEpochs) {
  pause_at = 2;
  WorkerSet workers(settings(R"(has {"can_pause":true})"), stop);
  const auto end = std::get<Trained>(climb(workers, 3, "climbs ahead"));
  EXPECT_EQ(end.obeyed, hyp::Decision::pause);
  EXPECT_EQ(end.epoch, 2);
}

TEST_F(RungsOfWorkers, AreWhatATrialIsPausedWithThoughItsResultIsOfALaterEpoch) {
  pause_at = 2;
  WorkerSet workers(settings(R"(has {"can_pause":true})"), stop);
  const auto end = std::get<Trained>(climb(workers, 3, "climbs on before it pauses"));
  EXPECT_EQ(end.obeyed, hyp::Decision::pause);
  EXPECT_EQ(end.epoch, 2);
  EXPECT_EQ(end.metrics, scored(0.25));
}

TEST_F(RungsOfWorkers, AreAnsweredAgainWhereATrainingBeginsAnew) {
  WorkerSet workers(settings(), stop);
  EXPECT_EQ(std::get<Trained>(climb(workers, 3, "climbs, and once begins anew")).obeyed,
            hyp::Decision::go_on);
  EXPECT_THAT(rungs, ElementsAre(at(3, 2), at(3, 4)));
  const std::string go_on = "{\"type\":\"continue\",\"trial\":3}\n";
  EXPECT_EQ(text(3, "told"), go_on + go_on + go_on + go_on);
}

TEST_F(RungsOfWorkers, FailATrialThatDiesThere) {
  WorkerSet workers(settings(), stop);
  const auto end = std::get<NotTrained>(climb(workers, 0, "dies at a rung"));
  EXPECT_EQ(end.message, "exit code 3");
  EXPECT_EQ(end.epoch, 2);
  EXPECT_THAT(rungs, ElementsAre(at(0, 2)));
}

}  // namespace
}  // namespace evolve::workers
