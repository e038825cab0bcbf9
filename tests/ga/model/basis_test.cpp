#include "ga/model/basis.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "ga/model/unit_cube.hpp"
#include "ga/random/sobol.hpp"
#include "tests/ga/fixtures.hpp"

namespace evolve::ga {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

const EarlierRuns none;
const std::vector square = {real(0, 1, 0.05), real(0, 1, 0.9)};

/// Runs of 16 trials that liked the upper right corner and the lower left one.
const EarlierRuns& two_runs() {
  static const EarlierRuns runs = [] {
    std::vector<EarlierRun> both(2);
    for (int i = 0; i < 16; ++i) {
      const double x = i % 4 / 3.0, y = i / 4 / 3.0;
      both[0].push_back({{x, y}, x + y});
      both[1].push_back({{x, y}, 2 - x - y});
    }
    return EarlierRuns(square, both);
  }();
  return runs;
}

TEST(Basis, ExpectsLessOfASetTheFartherItIsFromTheStart) {
  const std::vector space = {real(0, 1, 0.5), real(0, 4, 0), categorical({"a", "b", "c"}, 1)};
  const Basis basis(space, none);
  EXPECT_EQ(basis.count(), 1);
  const MatrixXd points{{0.5, 0.6, 0.7, 0.5}, {0, 0, 0, 0}, {0.5, 0.5, 0.5, 0}};
  const VectorXd values = basis.values(features_of(space, points)).row(0);
  EXPECT_NEAR(values[0], 0, 1e-15);
  EXPECT_LT(values[1], 0);
  EXPECT_NEAR(values[2], 4 * values[1], 1e-12);
  EXPECT_NEAR(values[3], 100 * values[1], 1e-10);  // two choices are 1 apart
}

TEST(Basis, ExpectsOfAnEvenDrawOneLessOnTheAverage) {
  const std::vector space = {real(0, 1, 0.5), real(0, 4, 0), categorical({"a", "b", "c"}, 1)};
  Rng rng(1);
  const auto features = features_of(space, sobol_points(3, 4096, rng));
  EXPECT_NEAR(Basis(space, none).values(features).mean(), -1, 0.01);
  const std::vector flags = {integer(0.5, 2.4, 1), integer(0, 2, 0)};
  const auto drawn = features_of(flags, MatrixXd{{0, 0, 0, 1, 1, 1}, {0, 0.5, 1, 0, 0.5, 1}});
  EXPECT_NEAR(Basis(flags, none).values(drawn).mean(), -1, 1e-12);
}

TEST(Basis, OfOneSetIsZero) {
  const std::vector space = {categorical({"a"})};
  EXPECT_EQ(Basis(space, none).values(features_of(space, MatrixXd{{0.0}})).sum(), 0);
}

TEST(Basis, BelievesEarlierRunsTogetherAsFarAsOne) {
  const Basis basis(square, two_runs());
  const VectorXd place{{0.9, 0.9}};
  ASSERT_EQ(basis.count(), 2);
  // What a run expects counts .7 with one, .35 with two; the standard deviations add up likewise.
  EXPECT_NEAR(basis.weight_means()[0] * basis.values(place)(0, 0),
              0.35 * two_runs().expected(place)(0, 0), 1e-12);
  EXPECT_NEAR(basis.values(place)(1, 0), two_runs().expected(place)(1, 0) / std::sqrt(2), 1e-12);
}

void expect_slopes(const EarlierRuns& earlier) {
  const Basis basis(square, earlier);
  const Observations known{MatrixXd{{0.1, 0.4, 0.8}, {0.7, 0.2, 0.5}},
                           {0, 1},
                           VectorXd{{1, -1, 0.3}},
                           VectorXd::Ones(3),
                           {0, 1, 2},
                           {0, 1, 2}};
  const VectorXd parameters{{-1, -0.5, -4, -20, -20}};
  const Surrogate surrogate(known, MatrixXd{{0.3}, {0.3}}, parameters, 100, &basis);
  const VectorXd here{{0.35, 0.6}};
  const auto slope = surrogate.slope(here);
  const auto there = surrogate.predict(here);
  EXPECT_NEAR(slope.mean, there.mean[0], 1e-12);
  EXPECT_NEAR(slope.sd, there.sd[0], 1e-12);
  constexpr double step = 1e-5;
  for (int i = 0; i < 2; ++i) {
    MatrixXd sides(2, 2);
    sides << here, here;
    sides(i, 0) -= step;
    sides(i, 1) += step;
    const auto at = surrogate.predict(sides);
    EXPECT_NEAR(slope.mean_slope[i], (at.mean[1] - at.mean[0]) / (2 * step), 1e-5);
    EXPECT_NEAR(slope.sd_slope[i], (at.sd[1] - at.sd[0]) / (2 * step), 1e-5);
  }
}

TEST(Basis, LeavesAModelThatKnowsItsSlopes) {
  expect_slopes(none);
  expect_slopes(two_runs());
}

// Eight outcomes at places all over the square.
Observations observed(const std::function<double(const VectorXd&)>& value) {
  Observations known{MatrixXd(2, 8), {0, 1}, VectorXd(8), VectorXd::Ones(8), {}, {}};
  for (int i = 0; i < 8; ++i) {
    known.features.col(i) << std::fmod(0.31 * i, 1), std::fmod(0.57 * i, 1);
    known.values[i] = value(known.features.col(i));
    known.seed.push_back(i);
    known.set.push_back(i);
  }
  return known;
}

TEST(Basis, CountsForWhatItPredicts) {
  const Basis basis(square, two_runs());
  const auto known =
      observed([](const VectorXd& place) { return two_runs().expected(place)(0, 0); });
  const VectorXd parameters{{-1, -1, -4, -20, -20}}, corner{{1, 1}};
  const MatrixXd nothing(2, 0);
  const double with = Surrogate(known, nothing, parameters, 100, &basis).mean(corner)[0];
  EXPECT_NEAR(with, two_runs().expected(corner)(0, 0), 0.3);
}

TEST(Basis, BelievesNoStartThatEverythingElseIsBetterThan) {
  const Basis basis(square, none);
  const auto known = observed([&](const VectorXd& place) { return -basis.values(place)(0, 0); });
  const VectorXd parameters{{-1, -1, -4, -20, -20}};
  const MatrixXd nothing(2, 0), start{{0.05}, {0.9}}, corner{{1.0}, {0.0}};
  const Surrogate surrogate(known, nothing, parameters, 100, &basis);
  EXPECT_GT(surrogate.mean(corner)[0], surrogate.mean(start)[0] + 1);
}

}  // namespace
}  // namespace evolve::ga
