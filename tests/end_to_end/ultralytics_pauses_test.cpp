// Trials of --trainer ultralytics are paused and go on: the real worker in Python, with a stand-in
// for Ultralytics' package.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "python_trainer.hpp"

namespace evolve::test {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::MatchesRegex;

Ended run(const Folder& folder, const std::vector<std::string>& arguments) {
  return run_with("ultralytics", folder, arguments);
}

/// The order of images after a pause, by the seed of the loader's generator.
const auto drawn = MatchesRegex("drawn with [0-9]+");

/// What the stand-in's training ended with.
json trained(const Folder& folder, int trial) {
  return json::parse(read_file(trial_folder(folder, trial) / "trained.json"));
}

// All trials of the stand-in train alike, but for the epochs without mosaics.
TEST(Ultralytics, GoesOnWhereATrialWasPausedAsIfItHadNotBeen) {
  Folder folder;
  ASSERT_EQ(run(folder, trials("yolo11n.yaml", 1, {"--epochs", "9"})).code, 0);
  const auto at_once = trained(folder, 0);
  EXPECT_EQ(at_once["order"], "first");
  std::filesystem::remove_all(folder / "run");
  const auto ended =
      run(folder, trials("yolo11n.yaml", 40,
                         {"--epochs", "9", "--max-epochs", "60", "--seed", "1", "--lag", "1"}));
  ASSERT_EQ(ended.code, 0) << ended.err;
  std::set<int> paused, went_on;
  for (const auto& event : journal(folder / "run")) {
    if (event["event"] == "paused") paused.insert(event["trial"].get<int>());
    if (event["event"] != "completed") continue;
    const int trial = event["trial"];
    if (!paused.contains(trial)) continue;
    went_on.insert(trial);
    const auto after_pauses = trained(folder, trial);
    EXPECT_EQ(after_pauses["weights"], at_once["weights"]);
    const int last_without = settings_of(folder, trial)["close_mosaic"];
    EXPECT_EQ(after_pauses["mosaic"], last_without == 0 || last_without > 9) << last_without;
    EXPECT_THAT(after_pauses["order"], drawn);
    EXPECT_EQ(lines_of(read_file(trial_folder(folder, trial) / "results.csv")).size(), 1u + 9u);
    EXPECT_FALSE(std::filesystem::exists(trial_folder(folder, trial) / "paused.pt"));
  }
  EXPECT_FALSE(went_on.empty());
}

/// The worker itself, with a trial of four epochs in the folder "trial".
class Worker {
 public:
  explicit Worker(int seed = 1) {
    EXPECT_EQ(run(folder, trials("yolo11n.yaml")).code, 0);
    std::filesystem::create_directory(folder / "trial");
    train_ = {{"type", "train"},
              {"trial", 7},
              {"hyp", event(folder, "started")["hyp"]},
              {"epochs", 4},
              {"device", "cpu:0"},
              {"seed", seed},
              {"dir", (folder / "trial").string()},
              {"options", event(folder, "run")["options"]}};
  }

  /// Asks it to train on after this epoch, and to pause after that one unless it is 0. The epochs
  /// that it reports.
  std::vector<int> epochs(int start_epoch, int pause) {
    train_["start_epoch"] = start_epoch;
    train_["rungs"] = pause > 0 ? json{pause} : json::array();
    write_file(folder / "input",
               train_.dump() + "\n" + json{{"type", "pause"}, {"trial", 7}}.dump() + "\n");
    const auto ended =
        Process({"/usr/bin/env", "PYTHONPATH=" EVOLVE_SOURCE_DIR "/python:" + packages,
                 "PYTHONDONTWRITEBYTECODE=1", "EVOLVE_DEVICE=cpu:0", "OMP_NUM_THREADS=1", "/bin/sh",
                 "-c", "exec python3 -m evolve.ultralytics < input"},
                folder.path())
            .wait();
    std::vector<int> reported;
    json last;
    for (const auto& line : lines_of(ended.out)) {
      last = json::parse(line);
      if (last["type"] == "epoch") reported.push_back(last["epoch"]);
    }
    EXPECT_EQ(last.value("type", ""), "result") << last << ended.err;
    EXPECT_EQ(last.value("paused", false), pause > 0);
    return reported;
  }
  /// In which orders it has taken the images, each time that it was asked.
  std::vector<std::string> orders() const { return lines_of(read_file(folder / "trial/orders")); }

  Folder folder;

 private:
  json train_;
};

TEST(Ultralytics, GoesOnAfterTheEpochThatItKeptAndReportsTheOthers) {
  Worker worker;
  EXPECT_THAT(worker.epochs(0, 2), ElementsAre(1, 2));
  EXPECT_THAT(worker.epochs(2, 0), ElementsAre(3, 4));
  EXPECT_THAT(worker.orders(), ElementsAre("first", drawn));
}

TEST(Ultralytics, TakesItsImagesAfterEachPauseInAnOrderThatItsSeedAndTheEpochDecide) {
  const auto orders_with = [](int seed) {
    Worker worker(seed);
    worker.epochs(0, 1);
    worker.epochs(1, 2);
    worker.epochs(2, 0);
    return worker.orders();
  };
  const auto orders = orders_with(1);
  ASSERT_THAT(orders, ElementsAre("first", drawn, drawn));
  EXPECT_NE(orders[1], orders[2]);
  EXPECT_EQ(orders_with(1), orders);
  EXPECT_NE(orders_with(2).at(1), orders[1]);
}

// evolve was killed after the trial had kept it, and before the journal had the pause.
TEST(Ultralytics, BeginsATrialAnewThatHasKeptALaterEpochThanEvolveKnowsOf) {
  Worker worker;
  EXPECT_THAT(worker.epochs(0, 3), ElementsAre(1, 2, 3));
  EXPECT_THAT(worker.epochs(1, 0), ElementsAre(2, 3, 4));
  EXPECT_THAT(worker.orders(), ElementsAre("first", "first"));
}

TEST(Ultralytics, ReportsNoEpochAgainOfATrialThatBeginsAnew) {
  Worker worker;
  EXPECT_THAT(worker.epochs(0, 2), ElementsAre(1, 2));
  std::filesystem::remove(worker.folder / "trial/paused.pt");
  EXPECT_THAT(worker.epochs(2, 0), ElementsAre(3, 4));
  EXPECT_THAT(worker.orders(), ElementsAre("first", "first"));
}

TEST(Ultralytics, LeavesNothingOfAPauseThatDoesNotFitOnTheDisk) {
  Folder folder;
  const auto ended = run(folder, trials("full_pause.yaml", 40,
                                        {"--epochs", "9", "--max-epochs", "60", "--seed", "1"}));
  EXPECT_EQ(ended.code, 1);
  EXPECT_THAT(ended.err, HasSubstr("No space left on device"));
  const auto failed = event(folder, "failed");
  EXPECT_EQ(failed["final"], false);
  const auto part = trial_folder(folder, failed["trial"]) / "paused.pt.tmp";
  EXPECT_FALSE(std::filesystem::exists(std::filesystem::symlink_status(part)));
}

}  // namespace
}  // namespace evolve::test
