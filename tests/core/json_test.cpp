#include "core/json.hpp"

#include <gtest/gtest.h>

namespace evolve::core {
namespace {

TEST(QuotedNans, AreThoseThatStandForNumbers) {
  EXPECT_EQ(with_quoted_nans(R"({"a":NaN,"b":[-Infinity, Infinity],"c":1})"),
            R"({"a":"NaN","b":["-Infinity", "Infinity"],"c":1})");
  EXPECT_EQ(with_quoted_nans(R"({"NaN":"a \"NaN\" \\","b":NaN})"),
            R"({"NaN":"a \"NaN\" \\","b":"NaN"})");
  EXPECT_EQ(with_quoted_nans(R"({"a":1e999,"b":[-1.5e999,1e9],"c":"1e999","d":1e308})"),
            R"({"a":"Infinity","b":["-Infinity",1e9],"c":"1e999","d":1e308})");
  EXPECT_EQ(with_quoted_nans("\"\\"), "\"\\");
}

}  // namespace
}  // namespace evolve::core
