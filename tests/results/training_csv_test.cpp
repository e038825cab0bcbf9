#include "results/training_csv.hpp"

#include <gtest/gtest.h>

#include "tests/results/folder.hpp"

namespace evolve::results {
namespace {

const EpochRow first{.epoch = 0,
                     .losses = {0.1, 0.02, 1e-05},
                     .metrics = {.precision = 0.5,
                                 .recall = 0.30000000000000004,
                                 .map50 = 1,
                                 .map50_95 = 0,
                                 .box_loss = 0.25,
                                 .obj_loss = 0.125,
                                 .cls_loss = 2},
                     .learning_rates = {0.0701, 0.0033, 0.0033}};
const std::string header =
    "               epoch,      train/box_loss,      train/obj_loss,      train/cls_loss,"
    "   metrics/precision,      metrics/recall,     metrics/mAP_0.5,metrics/mAP_0.5:0.95,"
    "        val/box_loss,        val/obj_loss,        val/cls_loss,               x/lr0,"
    "               x/lr1,               x/lr2\n";
const std::string first_line =
    "                   0,                 0.1,                0.02,               1e-05,"
    "                 0.5, 0.30000000000000004,                   1,                   0,"
    "                0.25,               0.125,                   2,              0.0701,"
    "              0.0033,              0.0033\n";

TEST(TrainingCsv, HasYolov5sBytes) {
  const Folder folder;
  const auto file = folder / "results.csv";
  append_epoch(file, first);
  EXPECT_EQ(read_file(file), header + first_line);
  append_epoch(file, first);
  EXPECT_EQ(read_file(file), header + first_line + first_line);
}

TEST(TrainingCsv, IsRewrittenAndReadBackExactly) {
  const Folder folder;
  const auto file = folder / "results.csv";
  auto second = first;
  second.epoch = 1;
  second.metrics.map50_95 = 1. / 3;
  write_file(file, "something else");
  write_epochs(file, {first, second});
  EXPECT_EQ(read_file(file).substr(0, header.size() + first_line.size()), header + first_line);
  EXPECT_EQ(read_epochs(file), (std::vector<EpochRow>{first, second}));
}

TEST(TrainingCsv, MayHaveColumnsBehindYolov5s) {
  const Folder folder;
  const auto file = folder / "results.csv";
  write_file(file, header.substr(0, header.size() - 1) + ",metrics/cat_mAP\n" +
                       first_line.substr(0, first_line.size() - 1) + ",0.5\n");
  EXPECT_EQ(read_epochs(file), std::vector{first});
}

TEST(TrainingCsv, IsRefusedWithFileAndLine) {
  const Folder folder;
  const auto file = folder / "results.csv";
  const auto refused = [&](const std::string& text) {
    write_file(file, text);
    return refusal([&] { read_epochs(file); }).substr(file.string().size());
  };
  const std::string remedy = "; name a results.csv: epoch, train/box_loss, …";
  EXPECT_EQ(refused("epoch,loss\n0,1\n"),
            ":1: these are not the columns of YOLOv5's results.csv" + remedy);
  EXPECT_EQ(refused(""), ": this is empty" + remedy);
  EXPECT_EQ(refused(header + "0,1\n"), ":2: 2 columns, the header has 14; mend or delete the row");
}

}  // namespace
}  // namespace evolve::results
