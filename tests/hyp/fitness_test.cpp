#include "hyp/fitness.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/refusal.hpp"

namespace evolve::hyp {
namespace {

const Metrics metrics{.precision = 0.5,
                      .recall = 0.25,
                      .map50 = 0.4,
                      .map50_95 = 0.2,
                      .box_loss = 1,
                      .obj_loss = 2,
                      .cls_loss = 4};

std::string refused(const std::string& expression) {
  return test::refusal([&] { Fitness{expression}; });
}

TEST(Fitness, IsThatOfYolov5ByDefault) {
  EXPECT_EQ(Fitness()(metrics), 0.1 * 0.4 + 0.9 * 0.2);
  EXPECT_EQ(Fitness()({}), 0);
}

TEST(Fitness, KnowsAllSevenMetrics) {
  EXPECT_EQ(
      Fitness("P + 10*R + 100*mAP50 + 1000*mAP50_95 - box_loss - obj_loss - cls_loss")(metrics),
      0.5 + 10 * 0.25 + 100 * 0.4 + 1000 * 0.2 - 1 - 2 - 4);
  EXPECT_EQ(Fitness("P >= 0.5 && R != 0 ? mAP50 : -1")(metrics), 0.4);
}

TEST(Fitness, SeesEachCallsMetrics) {
  Fitness first("mAP50");
  Fitness moved = std::move(first);
  EXPECT_EQ(moved(metrics), 0.4);
  EXPECT_EQ(moved({.map50 = 0.7}), 0.7);
}

TEST(Fitness, MayBeUndefined) {
  EXPECT_TRUE(std::isinf(Fitness("1/P")({})));
  EXPECT_TRUE(std::isnan(Fitness("P/R")({})));
}

TEST(Fitness, SaysWhatAnExpressionMayBe) {
  EXPECT_EQ(refused("0.1*map50"),
            "--fitness '0.1*map50': Unexpected token \"map50\" found at position 4; write an "
            "expression over P, R, mAP50, mAP50_95, box_loss, obj_loss, cls_loss, such as "
            "0.1*mAP50 + 0.9*mAP50_95");
}

TEST(Fitness, RefusesWhatCannotRankTrials) {
  for (const char* expression :
       {"", "  ", "1", "P +", "(P", "P)", "P R", "P, R", "P = 1", "foo(P)", "\"P\"", "P;R"}) {
    EXPECT_NE(refused(expression), "accepted") << expression;
  }
  EXPECT_NE(refused(std::string(100000, '(')), "accepted");
}

}  // namespace
}  // namespace evolve::hyp
