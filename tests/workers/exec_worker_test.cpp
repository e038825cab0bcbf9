// evolve's own worker for --trainer-exec, under the supervision that all workers have.

#include "tests/workers/fixture.hpp"

namespace evolve::workers {
namespace {

using testing::ElementsAre;

constexpr const char* header =
    "epoch,metrics/precision,metrics/recall,metrics/mAP_0.5,metrics/mAP_0.5:0.95,val/box_loss,"
    "val/obj_loss,val/cls_loss";

constexpr const char* six_rows =
    "row 1 0.125; row 2 0.25; row 3 0.375; row 4 0.5; row 5 0.625; row 6 0.75";

hyp::Metrics scored(double map50_95) {
  return {.precision = 0.5,
          .recall = 0.25,
          .map50 = 0.75,
          .map50_95 = map50_95,
          .box_loss = 0.1,
          .obj_loss = 0.2,
          .cls_loss = 0.3};
}

class ExecWorker : public Workers {
 protected:
  /// Each trial is this shell script, in which `row EPOCH SCORE` appends a row.
  WorkerSettings running(const std::string& script, int stop_at = 0) {
    auto copy = settings();
    copy.epochs = 6;
    const auto begin = std::string("echo $$ > {dir}/pid; cd {dir}; echo '") + header +
                       "' > results.csv; row() { echo $1,0.5,0.25,0.75,$2,0.1,0.2,0.3 >> "
                       "results.csv; }; ";
    copy.command = {EVOLVE_BINARY, "exec-worker", "sh", "-c", begin + script};
    copy.stops = [this, stop_at](const hyp::Rung& rung) {
      rungs.push_back(rung.epoch);
      return rung.epoch == stop_at;
    };
    return copy;
  }

  hyp::Outcome train(WorkerSet& workers, int number = 0) {
    workers.start(trial(number, "any"), 1, lease(), {2, 4});
    return outcomes(workers).at(0);
  }

  std::vector<int> rungs;
};

TEST_F(ExecWorker, StopsACommandThatKnowsNothingOfRungs) {
  WorkerSet workers(running("row 1 0.125; row 2 0.25; sleep 1000", 2));
  EXPECT_EQ(std::get<hyp::Stopped>(train(workers).result), (hyp::Stopped{2, scored(0.25), 3}));
  EXPECT_THAT(rungs, ElementsAre(2));
}

TEST_F(ExecWorker, HasTheEpochOfTheRungThoughTheCommandHasGoneOn) {
  WorkerSet workers(running(six_rows, 4));
  EXPECT_EQ(std::get<hyp::Stopped>(train(workers).result), (hyp::Stopped{4, scored(0.5), 1}));
  EXPECT_THAT(rungs, ElementsAre(2, 4));
}

TEST_F(ExecWorker, LetsACommandThatContinuesEnd) {
  WorkerSet workers(running(six_rows));
  for (const int number : {0, 1})
    EXPECT_EQ(std::get<hyp::Completed>(train(workers, number).result),
              (hyp::Completed{scored(0.75), 1 / 0.75 - 1}));
  EXPECT_THAT(rungs, ElementsAre(2, 4, 2, 4));
}

TEST_F(ExecWorker, DoesNotReadARowThatIsBeingWritten) {
  WorkerSet workers(
      running("row 1 0.125; printf '2,0.5,0.25,0.75,0.2' >> results.csv; sleep 1; "
              "echo '5,0.1,0.2,0.3' >> results.csv",
              2));
  const auto outcome = train(workers);
  ASSERT_TRUE(std::holds_alternative<hyp::Stopped>(outcome.result) ||
              std::holds_alternative<hyp::Completed>(outcome.result));
  const auto* stopped = std::get_if<hyp::Stopped>(&outcome.result);
  EXPECT_EQ(stopped ? stopped->metrics : std::get<hyp::Completed>(outcome.result).metrics,
            scored(0.25));
}

TEST_F(ExecWorker, EndsItsCommandWhenItsOwnInputEnds) {
  {
    WorkerSet workers(running("row 1 0.125; sleep 1000"));
    workers.start(trial(0, "any"), 1, lease());
    wait_until_at_work(workers, 0);
  }
  const auto command = pid(0);
  EXPECT_NE(::kill(command, 0), 0);
}

}  // namespace
}  // namespace evolve::workers
