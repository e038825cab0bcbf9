#include "results/repeats_csv.hpp"

#include <gtest/gtest.h>

#include "tests/results/folder.hpp"

namespace evolve::results {
namespace {

TEST(Repeats, AreATableOfTheStyleOfEvolveCsv) {
  const Folder folder;
  write_repeats(folder / "repeats.csv", {{.trial = 37,
                                          .seed = 2147483647,
                                          .first = 0.5,
                                          .again = 0.1,
                                          .metrics = {1, 2, 3, 4, 5, 6, 7}}});
  EXPECT_EQ(
      read_file(folder / "repeats.csv"),
      "               trial,                seed,       fitness/first,       fitness/again,   "
      "metrics/precision,      metrics/recall,     metrics/mAP_0.5,metrics/mAP_0.5:0.95,      "
      "  val/box_loss,        val/obj_loss,        val/cls_loss\n"
      "                  37,          2147483647,                 0.5,                 0.1,   "
      "                1,                   2,                   3,                   4,      "
      "             5,                   6,                   7\n");
}

}  // namespace
}  // namespace evolve::results
