#include "cli/train/training_record.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/results/folder.hpp"

namespace evolve::cli {
namespace {

using test::read_file;
using testing::HasSubstr;
using testing::Not;

class TrainingRecords : public testing::Test {
 protected:
  /// A record in the test's folder of a training of 3 epochs, and what is on its screen.
  TrainingRecord record() {
    return TrainingRecord(run, log, 3, {.images = 87, .labels = 1137}, screen);
  }
  std::string shown() const {
    std::rewind(out.get());
    std::string text(1 << 16, 0);
    text.resize(std::fread(text.data(), 1, text.size(), out.get()));
    return text;
  }
  static workers::EpochReport epoch(int number, bool past = false) {
    return {.training = {.epoch = number, .batch = 13, .batches = 13, .losses = {.box = .5}},
            .metrics = {.map50 = number * .25},
            .learning_rates = {.1, .01, .01},
            .seconds = 4,
            .past = past};
  }
  static workers::BatchReport batch(int epoch) {
    return {.epoch = epoch, .batch = 1, .batches = 13};
  }

  results::Folder folder;
  results::RunDirectory run{folder.path()};
  core::FileDescriptor log = results::open_locked(run.log(), O_CREAT);
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> out{std::tmpfile(), &std::fclose};
  Screen screen{out.get()};
};

TEST_F(TrainingRecords, AreARowAndThreeLinesPerEpoch) {
  auto here = record();
  here.receive(batch(1));
  here.receive(epoch(1));
  here.receive(epoch(2));
  const auto rows = results::read_epochs(run.results_csv());
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].epoch, 0);
  EXPECT_EQ(rows[1].metrics.map50, .5);
  EXPECT_EQ(rows[1].losses[0], .5);
  EXPECT_EQ(here.epochs_here(), 2);
  EXPECT_EQ(here.seconds_here(), 8);
  EXPECT_EQ(shown(),
            "\n"
            "   Epoch GPU_mem  box_loss  obj_loss  cls_loss Instances Size\n"
            "     0/2      0G       0.5         0         0         0    0  13/13 00:04\n"
            "               Class    Images    Labels         P         R     mAP50  mAP50-95\n"
            "                 all        87      1137         0         0      0.25         0\n"
            "\n"
            "   Epoch GPU_mem  box_loss  obj_loss  cls_loss Instances Size\n"
            "     1/2      0G       0.5         0         0         0    0  13/13 00:04\n"
            "               Class    Images    Labels         P         R     mAP50  mAP50-95\n"
            "                 all        87      1137         0         0       0.5         0\n");
}

TEST_F(TrainingRecords, KeepNoFailureToThemselvesWhereTheDiskIsFull) {
  log = core::FileDescriptor(::open("/dev/full", O_WRONLY | O_CLOEXEC));
  EXPECT_NO_THROW(record().failed({.kind = hyp::FailureKind::data, .message = "no images"}));
}

TEST_F(TrainingRecords, OfAResumedTrainingReplaceWhatTheFirstLeft) {
  // The kill came between two writes: the table has an epoch more than the weights.
  results::write_epochs(run.results_csv(), {{.epoch = 0}, {.epoch = 1}});
  auto here = record();
  here.receive(epoch(1, true));
  EXPECT_EQ(results::read_epochs(run.results_csv()).size(), 2u) << "whole until there is more";
  here.receive(epoch(2));
  const auto rows = results::read_epochs(run.results_csv());
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].metrics.map50, .25);
  EXPECT_EQ(rows[1].metrics.map50, .5);
  EXPECT_EQ(here.epochs_here(), 1);
  EXPECT_EQ(here.epochs(), 2);
  EXPECT_THAT(shown(), Not(HasSubstr("0/2")));
}

TEST_F(TrainingRecords, OfAFinishedTrainingAreRebuilt) {
  auto here = record();
  for (const int number : {1, 2, 3}) here.receive(epoch(number, true));
  here.receive(workers::TrainingReport{.epochs = 3, .best_epoch = 3});
  here.close();
  EXPECT_EQ(results::read_epochs(run.results_csv()).size(), 3u);
  EXPECT_EQ(read_file(run.results_plot()).substr(1, 3), "PNG");
  EXPECT_EQ(here.epochs_here(), 0);
  EXPECT_EQ(here.end()->best_epoch, 3);
}

TEST_F(TrainingRecords, ShowTheTrainersWordsUntilItTrains) {
  auto here = record();
  here.log("Transferred 342/349 ");
  here.log("items\nanchors: kept\nhalf a");
  here.receive(batch(1));
  here.log(" line\nlater\n");
  EXPECT_EQ(read_file(run.log()), "Transferred 342/349 items\nanchors: kept\nhalf a line\nlater\n");
  EXPECT_THAT(shown(), HasSubstr("Transferred 342/349 items\nanchors: kept\n\n"));
  EXPECT_THAT(shown(), Not(HasSubstr("later")));
}

TEST_F(TrainingRecords, OfNoEpochDrawNothing) {
  record().close();
  EXPECT_FALSE(std::filesystem::exists(run.results_csv()));
  EXPECT_FALSE(std::filesystem::exists(run.results_plot()));
}

TEST_F(TrainingRecords, EndTheTrainingOnAFullDisk) {
  auto here = record();
  const results::FullDisk disk(100);
  EXPECT_NE(test::run_failure([&] { here.receive(epoch(1)); }), "accepted");
}

}  // namespace
}  // namespace evolve::cli
