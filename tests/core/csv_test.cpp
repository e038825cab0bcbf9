#include "core/csv.hpp"

#include <gtest/gtest.h>

#include <fstream>

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

}  // namespace
}  // namespace evolve::core
