#include "core/number.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

namespace evolve::core {
namespace {

TEST(Number, IsWrittenInItsShortestExactForm) {
  EXPECT_EQ(shortest(0.01), "0.01");
  EXPECT_EQ(shortest(0.0005), "0.0005");
  EXPECT_EQ(shortest(1e-5), "1e-05");
  EXPECT_EQ(shortest(3), "3");
  EXPECT_EQ(shortest(0.1 + 0.2), "0.30000000000000004");
  EXPECT_EQ(shortest(-0.0), "-0");
  EXPECT_EQ(shortest(1e300), "1e+300");
}

TEST(Number, IsAYaml11FloatWhereYamlNeedsOne) {
  EXPECT_EQ(yaml_float(0.01), "0.01");
  EXPECT_EQ(yaml_float(1e-5), "1.0e-05");
  EXPECT_EQ(yaml_float(1.5e-7), "1.5e-07");
  EXPECT_EQ(yaml_float(3), "3.0");
  EXPECT_EQ(yaml_float(1e20), "1.0e+20");
  EXPECT_EQ(yaml_float(-0.0), "-0.0");
  EXPECT_EQ(yaml_float(std::numeric_limits<double>::infinity()), ".inf");
  EXPECT_EQ(yaml_float(-std::numeric_limits<double>::infinity()), "-.inf");
  EXPECT_EQ(yaml_float(std::numeric_limits<double>::quiet_NaN()), ".nan");
}

TEST(Number, IsReadInEveryUsualForm) {
  EXPECT_EQ(parse_number("1e-05"), 1e-5);
  EXPECT_EQ(parse_number("1.0e-05"), 1e-5);
  EXPECT_EQ(parse_number("1E3"), 1000);
  EXPECT_EQ(parse_number("+1"), 1);
  EXPECT_EQ(parse_number(".5"), 0.5);
  EXPECT_EQ(parse_number("+.5"), 0.5);
  EXPECT_EQ(parse_number("5."), 5);
  EXPECT_EQ(parse_number("-0"), 0);
  EXPECT_TRUE(std::isnan(parse_number("nan").value()));
  EXPECT_EQ(parse_number("inf"), std::numeric_limits<double>::infinity());
}

TEST(Number, IsNotReadFromAnythingElse) {
  for (const char* text : {"", "+", "-", ".", "e5", "1e", "+-1", "++1", "1 ", " 1", "1,5", "0x10",
                           "1_000", "1e999", "abc", "1abc"}) {
    EXPECT_EQ(parse_number(text), std::nullopt) << text;
  }
}

TEST(Number, ReadsBackBitForBit) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 20000; ++i) {
    const double value = std::bit_cast<double>(random());
    if (!std::isfinite(value)) continue;
    ASSERT_EQ(std::bit_cast<std::uint64_t>(parse_number(shortest(value)).value()),
              std::bit_cast<std::uint64_t>(value));
    ASSERT_EQ(std::bit_cast<std::uint64_t>(parse_number(yaml_float(value)).value()),
              std::bit_cast<std::uint64_t>(value));
  }
}

TEST(Number, IsAnIntegerWhereAllOfTheTextIsOne) {
  EXPECT_EQ(parse_integer<int>("0"), 0);
  EXPECT_EQ(parse_integer<int>("-12"), -12);
  EXPECT_EQ(parse_integer<std::uint64_t>("18446744073709551615"), 18446744073709551615U);
  for (const auto* text : {"", "-", "+1", " 1", "1 ", "1.0", "0x1", "1a", "2147483648"})
    EXPECT_EQ(parse_integer<int>(text), std::nullopt) << text;
  EXPECT_EQ(parse_integer<unsigned>("-1"), std::nullopt);
}

TEST(Number, CountsInWords) {
  EXPECT_EQ(counted(1, "epoch"), "1 epoch");
  EXPECT_EQ(counted(0, "epoch"), "0 epochs");
  EXPECT_EQ(counted(2, "epoch"), "2 epochs");
  EXPECT_EQ(counted(1, "class"), "1 class");
  EXPECT_EQ(counted(2, "class"), "2 classes");
}

TEST(Number, GibHasOneDigit) {
  EXPECT_EQ(gib(0), "0.0");
  EXPECT_EQ(gib(8053063680), "7.5");
}

}  // namespace
}  // namespace evolve::core
