#include "core/json.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

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

/// An object of so many keys.
std::string object_of(int keys) {
  std::string text = "{";
  for (int i = 0; i < keys; ++i) text += (i > 0 ? ",\"" : "\"") + std::to_string(i) + "\":0";
  return text + "}";
}

TEST(BoundedJson, HasFewLevelsAndKeys) {
  const auto refused = [](const std::string& text) -> std::string {
    try {
      return bounded_json(text).is_discarded() ? "no JSON" : "accepted";
    } catch (const std::length_error& error) {
      return error.what();
    }
  };
  EXPECT_EQ(refused("[" + object_of(4000) + "," + object_of(4000) + "]"), "accepted");
  EXPECT_EQ(refused(object_of(4001)), "has too many keys");
  EXPECT_EQ(refused(std::string(100, '[') + std::string(100, ']')), "accepted");
  EXPECT_EQ(refused(std::string(101, '[') + std::string(101, ']')), "is nested too deeply");
  EXPECT_EQ(refused("{"), "no JSON");
}

TEST(JsonInALine, HasFewKeysAndMayBeDeep) {
  EXPECT_THROW(json_in(object_of(4001)), std::length_error);
  EXPECT_FALSE(json_in(std::string(500000, '[') + std::string(500000, ']')).is_discarded());
  EXPECT_EQ(json_in("[NaN]")[0], "NaN");
}

TEST(JsonInALine, HasWholeCharacters) {
  EXPECT_EQ(json_in(R"(["caf\udce9.jpg", NaN])")[0], "caf\uFFFD.jpg");
  EXPECT_EQ(json_in(R"(["\ud83d\ude00 \uD83D \ude00\ud83d"])")[0],
            "\U0001F600 \uFFFD \uFFFD\uFFFD");
  EXPECT_EQ(json_in(R"(["\ud800", "\\udce9 \u00e9"])")[1], "\\udce9 \u00e9");
  EXPECT_TRUE(json_in(R"(["\udce)").is_discarded());
}

}  // namespace
}  // namespace evolve::core
