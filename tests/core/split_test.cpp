#include "core/split.hpp"

#include <gmock/gmock.h>

namespace evolve::core {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Split, KeepsEveryPartAsItIs) {
  EXPECT_THAT(split("cuda:0", '+'), ElementsAre("cuda:0"));
  EXPECT_THAT(split("a, b ,,", ','), ElementsAre("a", " b ", "", ""));
  EXPECT_THAT(split(" ", ','), ElementsAre(" "));
}

TEST(Split, TrimsThePartsWhereItIsToldTo) {
  EXPECT_THAT(split_and_trim(" a, b\t,\r", ','), ElementsAre("a", "b", ""));
  EXPECT_THAT(split_and_trim(",", ','), ElementsAre("", ""));
}

TEST(Split, HasNoPartOfNothing) {
  EXPECT_THAT(split("", ','), IsEmpty());
  EXPECT_THAT(split_and_trim(" \n", ','), IsEmpty());
}

TEST(TakeLine, TakesOffWholeLinesOnly) {
  std::string received = "one\n\ntw";
  EXPECT_EQ(take_line(received), "one");
  EXPECT_EQ(take_line(received), "");
  EXPECT_EQ(take_line(received), std::nullopt);
  EXPECT_EQ(received, "tw");
}

}  // namespace
}  // namespace evolve::core
