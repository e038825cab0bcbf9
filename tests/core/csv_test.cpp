#include "core/csv.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "tests/refusal.hpp"
#include "tests/temporary_folder.hpp"

namespace evolve::core {
namespace {

std::vector<std::string> header_of(const std::string& text) {
  const test::TemporaryFolder folder;
  const auto file = folder / "table.csv";
  std::ofstream(file) << text;
  return csv_header(file);
}

TEST(Csv, KnowsATableByItsHeader) {
  EXPECT_EQ(header_of("\n  epoch ,loss\r\n1,2\n"), (std::vector<std::string>{"epoch", "loss"}));
  EXPECT_EQ(header_of("\xEF\xBB\xBF"
                      "epoch,loss\n"),
            (std::vector<std::string>{"epoch", "loss"}));
  EXPECT_TRUE(header_of("").empty());
}

TEST(Csv, NeedsNumbersOnlyWhereTheyAreAskedFor) {
  const auto read = [](const std::string& text) {
    const auto second = [](const auto&, const Where&) { return std::vector<std::size_t>{1}; };
    return parse_csv(text, "t.csv", "name a table", second).rows;
  };
  const auto rows = read("name,loss\nmean,2\n");
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_TRUE(std::isnan(rows[0][0]));
  EXPECT_EQ(rows[0][1], 2);
  EXPECT_EQ(read("\"name\",\"loss\"\n\"1\",\"2.5\"\n"),
            (std::vector<std::vector<double>>{{1, 2.5}}));
  EXPECT_EQ(read("\"  name\",\" loss\"\n\" 1\",\"2.5 \"\n"),
            (std::vector<std::vector<double>>{{1, 2.5}}));
  EXPECT_EQ(test::refusal([&] { read("name,loss\n\nmean,two\n"); }),
            "t.csv:3: column 2 is 'two', no number; mend or delete the row");
  EXPECT_EQ(test::refusal([&] { read("name,loss\n1\n"); }),
            "t.csv:2: 1 column, the header has 2; mend or delete the row");
}

TEST(Csv, HasEmptyCellsForNanWhereThatIsAskedFor) {
  const auto all = [](const std::string& text, EmptyCells empty) {
    return parse_csv(text, "t.csv", "name a table", all_columns, empty).rows;
  };
  EXPECT_TRUE(std::isnan(all("name,loss\n1,\n", EmptyCells::nan)[0][1]));
  EXPECT_EQ(test::refusal([&] { all("name,loss\n1,\n", EmptyCells::refused); }),
            "t.csv:2: column 2 is '', no number; mend or delete the row");
  EXPECT_EQ(test::refusal([&] { all("name,loss\n1,x\n", EmptyCells::nan); }),
            "t.csv:2: column 2 is 'x', no number; mend or delete the row");
  EXPECT_EQ(test::refusal([&] { all("loss,loss\n1,2\n", EmptyCells::nan); }),
            "t.csv:1: two columns are named 'loss'; delete the wrong one");
}

TEST(Csv, HasCommas) {
  const auto refused = [](const std::string& text) {
    return test::refusal([&] { parse_csv(text, "t.csv", "name a table", all_columns); });
  };
  EXPECT_EQ(refused("name;loss\n1;2,5\n"),
            "t.csv:1: its columns have semicolons between them; save it with commas, and numbers "
            "with points");
  EXPECT_EQ(refused("name\tloss\n1\t2.5\n"),
            "t.csv:1: its columns have tabs between them; save it with commas, and numbers with "
            "points");
  EXPECT_EQ(refused("\tloss\n1\n"), "accepted");
}

}  // namespace
}  // namespace evolve::core
