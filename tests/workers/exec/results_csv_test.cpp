#include "workers/exec/results_csv.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/refusal.hpp"

namespace evolve::workers {
namespace {

const hyp::Metrics expected{.precision = 0.5,
                            .recall = 0.25,
                            .map50 = 0.75,
                            .map50_95 = 0.125,
                            .box_loss = 1,
                            .obj_loss = 2,
                            .cls_loss = 3};

TEST(ResultsCsv, OfYolov5MayBePadded) {
  const auto table = parse_results_csv(
      "               epoch,   metrics/precision,      metrics/recall,     metrics/mAP_0.5,"
      "metrics/mAP_0.5:0.95,        val/box_loss,        val/obj_loss,        val/cls_loss\n"
      "                   0,                 0.1,                 0.1,                 0.1,"
      "                 0.1,                 0.1,                 0.1,                 0.1\n"
      "                   1,                 0.5,                0.25,                0.75,"
      "               0.125,                   1,                   2,                   3\n",
      "a.csv");
  ASSERT_EQ(table.epochs.size(), 2u);
  EXPECT_EQ(table.epochs[1], expected);
  EXPECT_EQ(table.columns[5], "val/obj_loss");
}

TEST(ResultsCsv, OfUltralyticsHasDflForObj) {
  const auto table = parse_results_csv(
      "epoch,time,train/box_loss,metrics/precision(B),metrics/recall(B),metrics/mAP50(B),"
      "metrics/mAP50-95(B),val/box_loss,val/cls_loss,val/dfl_loss,lr/pg0\n"
      "1,5.2,9,0.5,0.25,0.75,0.125,1,3,2,0.01\n",
      "a.csv");
  ASSERT_EQ(table.epochs.size(), 1u);
  EXPECT_EQ(table.epochs[0], expected);
  EXPECT_EQ(table.columns[5], "val/dfl_loss");
}

TEST(ResultsCsv, OfUltralyticsHasTheLossesThatItsModelHasInstead) {
  const auto table = parse_results_csv(
      "epoch,metrics/precision(B),metrics/recall(B),metrics/mAP50(B),metrics/mAP50-95(B),"
      "val/box_loss,val/cls_loss,val/l1_loss\n1,0.5,0.25,0.75,0.125,1,3,2\n",
      "yolo26.csv");
  EXPECT_EQ(table.epochs, std::vector{expected});
  EXPECT_EQ(table.columns[5], "val/l1_loss");
  const auto transformer = parse_results_csv(
      "epoch,metrics/precision(B),metrics/recall(B),metrics/mAP50(B),metrics/mAP50-95(B),"
      "val/giou_loss,val/cls_loss,val/l1_loss\n1,0.5,0.25,0.75,0.125,1,3,2\n",
      "rtdetr.csv");
  EXPECT_EQ(transformer.epochs, std::vector{expected});
}

// A trainer may validate its last epoch alone; and pandas writes NaN so.
TEST(ResultsCsv, HasEmptyCellsForWhatIsNoNumber) {
  const auto table = parse_results_csv(
      "epoch,metrics/precision(B),metrics/recall(B),metrics/mAP50(B),metrics/mAP50-95(B),"
      "val/box_loss,val/cls_loss,val/dfl_loss\n1,,,,,,,\n2,0.5,0.25,0.75,0.125,1,3,2\n",
      "a.csv");
  ASSERT_EQ(table.epochs.size(), 2U);
  EXPECT_TRUE(std::isnan(table.epochs[0].map50));
  EXPECT_EQ(table.epochs[1], expected);
}

TEST(ResultsCsv, OfASegmenterOrAPoseModelHasTheMeansOverWhatItPredicts) {
  for (const std::string kind : {"M", "P"}) {
    const auto other = "metrics/precision(" + kind + "),metrics/recall(" + kind +
                       "),metrics/mAP50(" + kind + "),metrics/mAP50-95(" + kind + "),";
    const auto table = parse_results_csv(
        "epoch,metrics/precision(B),metrics/recall(B),metrics/mAP50(B),metrics/mAP50-95(B)," +
            other + "val/box_loss,val/seg_loss,val/cls_loss,val/dfl_loss\n" +
            "1,0.75,0.5,1,0.25,0.25,0,0.5,0,1,9,3,2\n",
        "a.csv");
    EXPECT_EQ(table.epochs, std::vector{expected});
    EXPECT_EQ(table.columns[2], "metrics/mAP50(B) and metrics/mAP50(" + kind + ")");
  }
}

TEST(ResultsCsv, OfADetectorMayHaveOtherColumnsThatEndSo) {
  const auto table = parse_results_csv(
      "epoch,params(M),metrics/precision,metrics/recall,metrics/mAP_0.5,metrics/mAP_0.5:0.95,"
      "val/box_loss,val/obj_loss,val/cls_loss\n1,2.6,0.5,0.25,0.75,0.125,1,2,3\n",
      "a.csv");
  EXPECT_EQ(table.epochs, std::vector{expected});
}

TEST(ResultsCsv, OfAClassifierHasItsAccuracies) {
  const auto table = parse_results_csv(
      "epoch,time,train/loss,metrics/accuracy_top1,metrics/accuracy_top5,val/loss\n"
      "1,5,9,0.5,0.75,3\n",
      "a.csv");
  const hyp::Metrics accuracies{
      .precision = 0.5, .recall = 0.5, .map50 = 0.75, .map50_95 = 0.5, .cls_loss = 3};
  EXPECT_EQ(table.epochs, std::vector{accuracies});
}

TEST(ResultsCsv, MayHaveTextInColumnsThatAreNoMetrics) {
  const std::string header =
      "epoch,time,note,metrics/precision(B),metrics/recall(B),metrics/mAP50(B),"
      "metrics/mAP50-95(B),val/box_loss,val/cls_loss,val/dfl_loss\n";
  const auto table = parse_results_csv(
      header + "1,00:01:02,n/a,0.5,0.25,0.75,0.125,1,3,2\n2,,,0.5,0.25,0.75,0.125,1,3,2\n",
      "a.csv");
  EXPECT_EQ(table.epochs, (std::vector{expected, expected}));
}

std::string refused(std::string_view text) {
  return test::refusal([&] { parse_results_csv(text, "a.csv"); });
}

TEST(ResultsCsv, NamesAllColumnsThatItLacks) {
  const std::string remedy =
      "; write the columns of YOLOv5's or of Ultralytics' results.csv, with 0 for a loss that the "
      "trainer does not have";
  EXPECT_EQ(
      refused("epoch,metrics/recall,metrics/mAP_0.5,metrics/mAP_0.5:0.95,val/cls_loss\n"),
      "a.csv:1: there is no column metrics/precision, nor val/box_loss, nor val/obj_loss" + remedy);
  EXPECT_EQ(refused("metrics/precision(B),metrics/recall(B),metrics/mAP50-95(B),val/box_loss,"
                    "val/dfl_loss,val/cls_loss\n"),
            "a.csv:1: there is no column metrics/mAP50(B)" + remedy);
  EXPECT_EQ(refused(""), "a.csv: this is empty; write a header and a row per epoch");
}

TEST(ResultsCsv, NeedsNumbersForMetrics) {
  EXPECT_EQ(refused("metrics/precision,metrics/recall,metrics/mAP_0.5,metrics/mAP_0.5:0.95,"
                    "val/box_loss,val/obj_loss,val/cls_loss\n0.5,n/a,0.75,0.125,1,2,3\n"),
            "a.csv:2: column 2 is 'n/a', no number; mend or delete the row");
}

}  // namespace
}  // namespace evolve::workers
