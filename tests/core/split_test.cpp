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

}  // namespace
}  // namespace evolve::core
