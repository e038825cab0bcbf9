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

class ExecWorker : public Workers {
 protected:
  /// Each trial is this shell script, in which `row EPOCH SCORE` appends a row.
  WorkerSettings running(const std::string& script, int stops_at = 0) {
    stop_at = stops_at;
    auto copy = settings();
    const auto begin = std::string("echo $$ > {dir}/pid; cd {dir}; echo '") + header +
                       "' > results.csv; row() { echo $1,0.5,0.25,0.75,$2,0.1,0.2,0.3 >> "
                       "results.csv; }; ";
    copy.command = {EVOLVE_BINARY, "exec-worker", "sh", "-c", begin + script};
    return copy;
  }

  Trained train(WorkerSet& workers, int number = 0) {
    auto assignment = trial(number, "any", {2, 4});
    assignment.order.epochs = 6;
    workers.start(std::move(assignment), lease());
    return std::get<Trained>(ends(workers).at(0));
  }

  std::vector<int> epochs() const {
    std::vector<int> epochs;
    for (const auto& rung : rungs) epochs.push_back(rung.epoch);
    return epochs;
  }
};

TEST_F(ExecWorker, StopsACommandThatKnowsNothingOfRungs) {
  WorkerSet workers(running("row 1 0.125; row 2 0.25; sleep 1000", 2), stop);
  const auto end = train(workers);
  EXPECT_EQ(end.obeyed, hyp::Decision::stop);
  EXPECT_EQ(end.epoch, 2);
  EXPECT_EQ(end.metrics, scored(0.25));
  EXPECT_THAT(epochs(), ElementsAre(2));
}

TEST_F(ExecWorker, HasTheEpochOfTheRungThoughTheCommandHasGoneOn) {
  WorkerSet workers(running(six_rows, 4), stop);
  const auto end = train(workers);
  EXPECT_EQ(end.obeyed, hyp::Decision::stop);
  EXPECT_EQ(end.epoch, 4);
  EXPECT_EQ(end.metrics, scored(0.5));
  EXPECT_THAT(epochs(), ElementsAre(2, 4));
}

TEST_F(ExecWorker, LetsACommandThatContinuesEnd) {
  WorkerSet workers(running(six_rows), stop);
  for (const int number : {0, 1}) EXPECT_EQ(train(workers, number).metrics, scored(0.75));
  EXPECT_THAT(epochs(), ElementsAre(2, 4, 2, 4));
}

TEST_F(ExecWorker, CountsNoRowBeyondItsEpochs) {
  WorkerSet workers(running(std::string(six_rows) + "; row 6 0.875"), stop);
  EXPECT_EQ(train(workers).metrics, scored(0.875)) << "the last row";
  EXPECT_THAT(epochs(), ElementsAre(2, 4));
}

TEST_F(ExecWorker, DoesNotReadARowThatIsBeingWritten) {
  WorkerSet workers(running("row 1 0.125; printf '2,0.5,0.25,0.75,0.2' >> results.csv; sleep 1; "
                            "echo '5,0.1,0.2,0.3' >> results.csv",
                            2),
                    stop);
  EXPECT_EQ(train(workers).metrics, scored(0.25));
}

TEST_F(ExecWorker, SaysThatResultsCannotBeRead) {
  WorkerSet workers(running("rm results.csv; ln -s results.csv results.csv"), stop);
  workers.start(trial(0, "any"), lease());
  const auto failure = std::get<NotTrained>(ends(workers).at(0));
  EXPECT_EQ(failure.kind, hyp::FailureKind::data);
  EXPECT_THAT(failure.message,
              testing::HasSubstr("results.csv: Too many levels of symbolic links"));
}

TEST_F(ExecWorker, EndsItsCommandWhenItsOwnInputEnds) {
  {
    WorkerSet workers(running("row 1 0.125; sleep 1000"), stop);
    workers.start(trial(0, "any"), lease());
    wait_until_at_work(workers, 0);
  }
  const auto command = pid(0);
  EXPECT_NE(::kill(command, 0), 0);
}

TEST_F(ExecWorker, LeavesItsCommandTimeToEnd) {
  {
    WorkerSet workers(running("trap 'echo well > ended; exit' TERM; echo > waits; "
                              "while :; do sleep 0.1; done"),
                      stop);
    workers.start(trial(0, "any"), lease());
    while (!std::filesystem::exists(folder(0) + "/waits"))
      ASSERT_TRUE(workers.wait(std::chrono::milliseconds(10)));
  }
  EXPECT_EQ(text(0, "ended"), "well\n");
  EXPECT_NE(::kill(pid(0), 0), 0);
}

}  // namespace
}  // namespace evolve::workers
