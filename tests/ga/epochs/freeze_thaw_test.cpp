#include "ga/epochs/freeze_thaw.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace evolve::ga {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(PausesOf, AreANinthAndAThirdOfTheEpochs) {
  EXPECT_THAT(pauses_of(52), ElementsAre(6, 17));
  EXPECT_THAT(pauses_of(300), ElementsAre(33, 100));
  EXPECT_THAT(pauses_of(9), ElementsAre(1, 3));
  EXPECT_THAT(pauses_of(10), ElementsAre(1, 3));
  EXPECT_THAT(pauses_of(3), ElementsAre(1));
  EXPECT_THAT(pauses_of(2), IsEmpty());
  EXPECT_THAT(pauses_of(1), IsEmpty());
}

// Nothing is learnt on the way: the expected improvement per epoch.
TEST(Price, OfATrainingWithoutARungIsItsImprovementPerEpoch) {
  const double sd = 0.5, phi_0 = 0.3989422804014327;
  EXPECT_NEAR(price({.mean = 1, .sd = sd, .sd_by_rung = sd, .to_rung = 10}, 1), sd * phi_0 / 10,
              1e-12);
  EXPECT_NEAR(price({.mean = 3, .sd = 0, .sd_by_rung = 0, .to_rung = 4}, 1), 0.5, 1e-12);
}

TEST(Price, WithARungThatTellsNothingIsThatWithoutOne) {
  const Prospect whole{.mean = 0, .sd = 1, .sd_by_rung = 1, .to_rung = 9};
  const Prospect blind{.mean = 0, .sd = 1, .sd_by_rung = 0, .to_rung = 1, .to_end = 8};
  EXPECT_NEAR(price(blind, 1), price(whole, 1), 1e-9);
}

// A rung that tells all: the rest is trained where the end is better, and what a look costs is paid
// by the improvement less that rest. E[max(0, e - p 8)] = p, e the improvement.
TEST(Price, WithARungThatTellsAllPaysTheRestWhereItIsWorthIt) {
  const Prospect telling{.mean = 0, .sd = 1, .sd_by_rung = 1, .to_rung = 1, .to_end = 8};
  const double p = price(telling, 1);
  EXPECT_GT(p, 1.5 * price({.mean = 0, .sd = 1, .sd_by_rung = 1, .to_rung = 9}, 1));
  const double z = 1 + 8 * p, gain = std::exp(-0.5 * z * z) / std::sqrt(2 * M_PI) -
                                     z * 0.5 * std::erfc(z / std::sqrt(2.0));
  EXPECT_NEAR(gain, p, 0.05 * p);  // the integral is a sum
}

TEST(Price, IsGreaterTheMoreTheRungTells) {
  double before = 0;
  for (const double told : {0.1, 0.5, 0.9}) {
    const double p = price({.mean = 0, .sd = 1, .sd_by_rung = told, .to_rung = 1, .to_end = 8}, 1);
    EXPECT_GT(p, before);
    before = p;
  }
}

}  // namespace
}  // namespace evolve::ga
