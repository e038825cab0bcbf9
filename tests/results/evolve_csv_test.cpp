#include "results/evolve_csv.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/results/folder.hpp"

namespace evolve::results {
namespace {

const Row first{.metrics = {.precision = 0.1,
                            .recall = 0.30000000000000004,
                            .map50 = 1,
                            .map50_95 = 0,
                            .box_loss = 1e-05,
                            .obj_loss = -1.2345678901234567e-05,
                            .cls_loss = 2},
                .values = {0.01, 3}};
const std::string header =
    "   metrics/precision,      metrics/recall,     metrics/mAP_0.5,metrics/mAP_0.5:0.95,"
    "        val/box_loss,        val/obj_loss,        val/cls_loss,                 lr0,"
    "             anchors\n";
const std::string first_line =
    "                 0.1, 0.30000000000000004,                   1,                   0,"
    "               1e-05,-1.2345678901234568e-05,                   2,                0.01,"
    "                   3\n";

TEST(EvolveCsv, HasYolov5sBytes) {
  const Folder folder;
  const auto file = folder / "evolve.csv";
  append_row(file, {"lr0", "anchors"}, first);
  EXPECT_EQ(read_file(file), header + first_line);
  append_row(file, {"lr0", "anchors"}, first);
  EXPECT_EQ(read_file(file), header + first_line + first_line);
}

TEST(EvolveCsv, IsRewrittenAndReadBackExactly) {
  const Folder folder;
  const auto file = folder / "evolve.csv";
  const Table table{.names = {"lr0", "anchors"},
                    .rows = {first, {.metrics = {}, .values = {1e300, -0.5}}}};
  write_file(file, "something else");
  write_table(file, table);
  EXPECT_EQ(read_file(file).substr(0, header.size() + first_line.size()), header + first_line);
  EXPECT_EQ(read_table(file), table);
  write_table(file, {.names = {"lr0"}, .rows = {}});
  EXPECT_TRUE(read_table(file).rows.empty());
}

TEST(EvolveCsv, HasTheColumnsOfItsSpace) {
  EXPECT_EQ(table_of(hyp::default_space()).names.size(), 29u);
  EXPECT_EQ(table_of(hyp::default_space()).names[14], "anchors");
}

TEST(EvolveCsv, IsReadWithAnyBlanksLineEndsAndNan) {
  const Folder folder;
  const auto file = folder / "evolve.csv";
  write_file(file,
             "metrics/precision,metrics/recall, metrics/mAP_0.5,\tmetrics/mAP_0.5:0.95 "
             ",val/box_loss,val/obj_loss,val/cls_loss,lr0\r\n"
             "1,2,3,4,5,6,7,nan\r\n\n  1,  2,3,4,5, inf,7,+.5");
  const Table table = read_table(file);
  EXPECT_EQ(table.names, (std::vector<std::string>{"lr0"}));
  ASSERT_EQ(table.rows.size(), 2u);
  EXPECT_TRUE(std::isnan(table.rows[0].values[0]));
  EXPECT_TRUE(std::isinf(table.rows[1].metrics.obj_loss));
  EXPECT_EQ(table.rows[1].values[0], 0.5);
}

TEST(EvolveCsv, IsRefusedWithFileAndLine) {
  const Folder folder;
  const auto file = folder / "evolve.csv";
  const auto refused = [&](const std::string& text) {
    write_file(file, text);
    return refusal([&] { read_table(file); }).substr(file.string().size());
  };
  EXPECT_EQ(refused(header + first_line + "1,2,3\n"),
            ":3: 3 columns, the header has 9; mend or delete the row");
  EXPECT_EQ(refused(header + "1,2,3,4,5,6,7,8,9,10\n"),
            ":2: 10 columns, the header has 9; mend or delete the row");
  EXPECT_EQ(refused(header + "1,2,x,4,5,6,7,8,9\n"),
            ":2: column 3 is 'x', no number; mend or delete the row");
  EXPECT_EQ(refused(header + "1,2,,4,5,6,7,8,9\n"),
            ":2: column 3 is '', no number; mend or delete the row");
  EXPECT_EQ(refused("a,b,c\n"),
            ":1: the header doesn't start with the seven metrics; name an evolve.csv: "
            "metrics/precision, metrics/recall, …");
  EXPECT_EQ(refused(first_line),
            ":1: the header doesn't start with the seven metrics; name an evolve.csv: "
            "metrics/precision, metrics/recall, …");
  EXPECT_EQ(refused(""), ": this is empty; name an evolve.csv");
}

TEST(EvolveCsv, OnAFullDiskEndsTheRun) {
  const Folder folder;
  const auto file = folder / "evolve.csv";
  const FullDisk disk(100);
  EXPECT_EQ(run_failure([&] {
              append_row(file, {"lr0", "anchors"}, first);
            }),
            file.string() + ": cannot write (File too large); mend the disk, or write elsewhere");
  std::filesystem::remove(file);
  EXPECT_NE(run_failure([&] {
              write_table(file, {.names = {"lr0", "anchors"}, .rows = {first}});
            }),
            "accepted");
  EXPECT_TRUE(std::filesystem::is_empty(folder.path())) << "no temporary is left";
}

}  // namespace
}  // namespace evolve::results
