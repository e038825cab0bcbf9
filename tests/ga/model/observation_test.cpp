#include "ga/model/observation.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "tests/ga/fixtures.hpp"

namespace evolve::ga {
namespace {

using Ending = Observation::Ending;
using testing::DoubleNear;
using testing::ElementsAre;

TEST(Observation, SaysHowATrialEnded) {
  EXPECT_EQ(observation_of(completed(0, 0.5)).ending, Ending::completed);
  EXPECT_EQ(observation_of(completed(0, 0.5)).fitness, 0.5);
  EXPECT_EQ(observation_of(stopped(0, 0.25)).ending, Ending::stopped);
  EXPECT_EQ(observation_of(stopped(0, 0.25)).fitness, 0.25);
  EXPECT_EQ(observation_of(failed(0)).ending, Ending::failed);
}

TEST(Observation, OfAFitnessThatIsNoNumberIsThatOfAFailure) {
  EXPECT_EQ(observation_of(completed(0, std::nan(""))).ending, Ending::failed);
  EXPECT_EQ(observation_of(stopped(0, std::nan(""))).ending, Ending::failed);
  const double infinite = std::numeric_limits<double>::infinity();
  EXPECT_EQ(observation_of(completed(0, infinite)).ending, Ending::failed);
}

std::vector<Observation> eleven_completed() {
  std::vector<Observation> observation;
  for (int i = 10; i >= 0; --i) observation.push_back({Ending::completed, 0.1 + 0.01 * i});
  return observation;
}

TEST(Targets, OfCompletedTrialsAreTheirFitness) {
  const Targets targets = targets_of(eleven_completed());
  for (int i = 0; i <= 10; ++i) EXPECT_EQ(targets.values[i], 0.1 + 0.01 * (10 - i));
  EXPECT_EQ(targets.noise, Eigen::VectorXd::Ones(11));
}

TEST(Targets, OfFailuresAreThe10thPercentileOfTheGood) {
  auto observation = eleven_completed();
  observation.push_back({Ending::failed, 0});
  observation.push_back({Ending::completed, 0});  // learnt nothing
  const Targets targets = targets_of(observation);
  EXPECT_DOUBLE_EQ(targets.values[11], 0.11);
  EXPECT_DOUBLE_EQ(targets.values[12], 0.11);
  EXPECT_EQ(targets.noise[11], 1);
}

TEST(Targets, OfAFitnessOf0IsItselfWhileLittleIsKnown) {
  const std::vector<Observation> observation = {{Ending::completed, 0},
                                                {Ending::completed, 0.5},
                                                {Ending::completed, 0.5},
                                                {Ending::completed, 0.5}};
  EXPECT_EQ(targets_of(observation).values[0], 0);
}

TEST(Targets, MayAllBeNegative) {
  const std::vector<Observation> observation = {
      {Ending::completed, -3}, {Ending::completed, -2}, {Ending::completed, -1}};
  EXPECT_THAT(targets_of(observation).values, ElementsAre(-3, -2, -1));
}

TEST(Targets, BelowAndAbove0AreAllThemselves) {
  std::vector<Observation> some;
  for (const double fitness : {0.4, 0.3, 0.2, 0.1, 0.0, -0.01, -2.0})
    some.push_back({.ending = Ending::completed, .fitness = fitness});
  EXPECT_THAT(targets_of(some).values, ElementsAre(0.4, 0.3, 0.2, 0.1, 0.0, -0.01, -2.0));
}

TEST(Targets, FarBelow0CountAsTenTimesAsFarBelowTheMedianAsTheBestIsAbove) {
  std::vector<Observation> some;
  for (const double fitness : {0.75, 0.5, 0.25, -3.0, -1e6})
    some.push_back({.ending = Ending::completed, .fitness = fitness});
  EXPECT_THAT(targets_of(some).values, ElementsAre(0.75, 0.5, 0.25, -3.0, -4.75));
  some.push_back({.ending = Ending::stopped, .fitness = -1e6});
  some.push_back({.ending = Ending::failed});
  const auto values = targets_of(some).values;
  EXPECT_EQ(values[5], -4.75);
  EXPECT_GE(values[6], -4.75);
}

TEST(Targets, OfALookAreNot0OrLessBecauseOthersLostUntilTheirEnd) {
  std::vector<Observation> some;
  for (int trial = 0; trial < 3; ++trial) {
    some.push_back({.ending = Ending::at_rung, .fitness = 0.3, .trial = trial, .left = 0.5});
    some.push_back({.ending = Ending::completed, .fitness = 0.2, .trial = trial});
  }
  some.push_back({.ending = Ending::at_rung, .fitness = 0.05, .trial = 3, .left = 0.5});
  EXPECT_EQ(targets_of(some).values[6], 0);
}

TEST(Targets, OfStoppedTrialsAreAtMostThe25thPercentileAndNoisy) {
  auto observation = eleven_completed();
  observation.push_back({Ending::stopped, 0.19});
  observation.push_back({Ending::stopped, 0.05});
  const Targets targets = targets_of(observation);
  EXPECT_DOUBLE_EQ(targets.values[11], 0.125);
  EXPECT_EQ(targets.values[12], 0.05);
  EXPECT_EQ(targets.noise[11], 10);
}

TEST(Targets, OfFailuresAreWorseThanGoodOnesThatAreAllTheSame) {
  std::vector<Observation> observation(8, {Ending::completed, 1});
  observation.push_back({Ending::completed, 0});
  observation.push_back({Ending::failed, 0});
  const Targets targets = targets_of(observation);
  EXPECT_EQ(targets.values[7], 1);
  EXPECT_EQ(targets.values[8], 0);
  EXPECT_EQ(targets.values[9], 0);
}

TEST(Targets, OfFailuresAloneAreAllTheSame) {
  const std::vector<Observation> observation(3, {Ending::failed, 0});
  EXPECT_THAT(targets_of(observation).values, ElementsAre(0, 0, 0));
}

TEST(Targets, OfALossThatWouldReach0AreTheBestThatWasSeen) {
  const std::vector<Observation> observation = {{Ending::at_rung, -3, 0, 0, 0.5},
                                                {Ending::completed, -1, 0, 0, 0},
                                                {Ending::at_rung, -2.5, 1, 0, 0.5},
                                                {Ending::at_rung, -1.5, 2, 0, 0.5}};
  EXPECT_THAT(targets_of(observation).values, ElementsAre(-1, -1, -0.5, -1));
}

TEST(OutputWarping, HasMean0AndDeviation1AndTheSameOrder) {
  const Eigen::VectorXd values{{0.3, 0.1, -40, 0.2, 0.25}};
  const Eigen::VectorXd y = OutputWarping(values)(values);
  EXPECT_NEAR(y.sum(), 0, 1e-12);
  EXPECT_NEAR(y.squaredNorm(), 4, 1e-12);
  EXPECT_TRUE(y[2] < y[1] && y[1] < y[3] && y[3] < y[4] && y[4] < y[0]);
}

TEST(OutputWarping, GrowsByLogarithmsFarBelowTheMedian) {
  // Median 0, best 1: 1, 0.5, 0, -1, -1 - log(e).
  const Eigen::VectorXd values{{1, 0.5, 0, -1, -std::exp(1.0)}};
  const Eigen::VectorXd y = OutputWarping(values)(values);
  const double unit = y[0] - y[2];
  EXPECT_NEAR((y[1] - y[2]) / unit, 0.5, 1e-12);
  EXPECT_NEAR((y[3] - y[2]) / unit, -1, 1e-12);
  EXPECT_NEAR((y[4] - y[2]) / unit, -2, 1e-12);
}

TEST(OutputWarping, OfTheSameValuesInAnotherUnitIsTheSame) {
  const Eigen::VectorXd values{{-3.0, -0.3, -0.2, -0.25, -1000.0}};
  const Eigen::VectorXd y = OutputWarping(values)(values);
  for (const double unit : {1e-9, 1e-30, 1e9})
    EXPECT_TRUE(OutputWarping(unit * values)(unit * values).isApprox(y, 1e-9)) << unit;
}

TEST(OutputWarping, TakesLogarithmsWhereNoValueIsNegative) {
  // A tenth of the best is added: 0.11, 0.022 and 0.0572 are the best, 1/5 and 13/25 of it.
  const Eigen::VectorXd values{{0.1, 0.012, 0.0472}};
  const Eigen::VectorXd y = OutputWarping(values)(values);
  EXPECT_NEAR((y[1] - y[2]) / (y[0] - y[2]),
              -1 - std::log(std::log(13 / 5.0) / std::log(25 / 13.0)), 1e-12);
}

TEST(OutputWarping, CountsALaterNegativeValueAs0) {
  const OutputWarping warping(Eigen::VectorXd{{0.3, 0.1, 0.2}});
  const Eigen::VectorXd y = warping(Eigen::VectorXd{{0.0, -0.5}});
  EXPECT_EQ(y[0], y[1]);
}

TEST(OutputWarping, OfEqualValuesIs0) {
  const Eigen::VectorXd four = Eigen::VectorXd::Constant(4, 0.25), one{{7}};
  EXPECT_EQ(OutputWarping(four)(four), Eigen::VectorXd::Zero(4));
  EXPECT_EQ(OutputWarping(one)(one), Eigen::VectorXd::Zero(1));
}

// A fitness that takes few values: by units of next to nothing the others would be beyond compare.
TEST(OutputWarping, KnowsDistancesWhereMostAreTheBest) {
  const Eigen::VectorXd values{{1, 1, 1, 1, 0, -1}};
  const Eigen::VectorXd y = OutputWarping(values)(values);
  EXPECT_NEAR(y[3] - y[4], y[4] - y[5], 1e-12);
}

// As it is with a loss: a factor is as much wherever it is, but close to the least.
TEST(OutputWarping, TakesLogarithmsOfDistancesFrom0WhereAllAreNegative) {
  // The least is added: 2, 4, 6.
  const Eigen::VectorXd values{{-1, -3, -5}};
  const OutputWarping warping(values);
  const Eigen::VectorXd y = warping(values);
  EXPECT_NEAR((y[1] - y[2]) / (y[0] - y[1]), std::log(6 / 4.0) / std::log(4 / 2.0), 1e-12);
  EXPECT_TRUE(warping.of_losses());
  EXPECT_FALSE(OutputWarping(Eigen::VectorXd{{0, -3, -5}}).of_losses());
  for (const double value : {-0.5, -1.0, -4.0, -8.0})
    EXPECT_NEAR(warping.unwarped(warping(Eigen::VectorXd{{value}})[0]), value, 1e-12);
  EXPECT_EQ(warping.unwarped(50), 0);
  EXPECT_FALSE(std::signbit(warping.unwarped(50))) << "-0.0000 would be shown";
}

TEST(OutputWarping, OfLogarithmsIsUndone) {
  const OutputWarping warping(Eigen::VectorXd{{0.3, 0.1, 0.01, 0.2, 0.25}});
  for (const double value : {0.5, 0.3, 0.21, 0.05, 0.0}) {
    EXPECT_NEAR(warping.unwarped(warping(Eigen::VectorXd{{value}})[0]), value, 1e-12);
  }
}

TEST(OutputWarping, OfLogarithmsIsUndoneTo0AtLeast) {
  Eigen::VectorXd values(4);
  values << 0.01, 0.1, 0.2, 0.4;
  EXPECT_EQ(OutputWarping(values).unwarped(-50), 0);
}

TEST(OutputWarping, IsUndone) {
  const OutputWarping warping(Eigen::VectorXd{{0.3, 0.1, -40, 0.2, 0.25}});
  for (const double value : {0.5, 0.3, 0.21, 0.05, -3.0, -80.0}) {
    const double warped = warping(Eigen::VectorXd{{value}})[0];
    EXPECT_NEAR(warping.unwarped(warped), value, 1e-12 * std::abs(value) + 1e-15);
  }
}

TEST(OutputWarping, IsUndoneNoFartherBeyondTheValuesThanTheyAreApart) {
  const OutputWarping of_logarithms(Eigen::VectorXd{{0.3, 0.01, 0.001}});
  EXPECT_DOUBLE_EQ(of_logarithms.unwarped(50), 0.599);
  const OutputWarping warping(Eigen::VectorXd{{-0.3, -0.6, -0.4}});
  EXPECT_DOUBLE_EQ(warping.unwarped(50), 0);
  EXPECT_DOUBLE_EQ(warping.unwarped(-50), -0.9);
}

TEST(OutputWarping, ExpectsNothingAbove0OfWhatNeverWas) {
  const OutputWarping losses(Eigen::Vector4d(-1, -2, -3, -30));
  EXPECT_EQ(losses.unwarped(10), 0);
  EXPECT_LT(losses.unwarped(0), -1);
  const OutputWarping others(Eigen::Vector4d(1, -2, -3, -30));
  EXPECT_GT(others.unwarped(10), 1);
}

}  // namespace
}  // namespace evolve::ga
