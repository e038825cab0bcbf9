#include "core/csv.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

namespace evolve::core {
namespace {

std::vector<std::string> header_of(const std::string& text) {
  const auto file = testing::TempDir() + "csv" + std::to_string(::getpid());
  std::ofstream(file) << text;
  const auto names = csv_header(file);
  std::filesystem::remove(file);
  return names;
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
