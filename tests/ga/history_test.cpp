#include "ga/history.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "ga/sobol.hpp"
#include "tests/ga/fixtures.hpp"

namespace evolve::ga {
namespace {

using Ending = Evidence::Ending;

const std::vector<hyp::Gene> space(2, real(0, 1));

// `n` outcomes, the best at (0.5, 0.5).
void fill(History& history, Eigen::Index n) {
  Rng rng(1);
  const Eigen::MatrixXd points = sobol_points(2, n, rng);
  for (Eigen::Index i = 0; i < n; ++i) {
    const double fitness = 1 - (points.col(i).array() - 0.5).matrix().squaredNorm();
    history.add(genes_at(space, points.col(i)), {Ending::completed, fitness});
  }
}

TEST(History, CountsWhatCompleted) {
  History history(space);
  history.add({0.1, 0.1}, {Ending::completed, 0.5});
  history.add({0.2, 0.1}, {Ending::failed, 0});
  history.add({0.3, 0.1}, {Ending::stopped, 0.5});
  EXPECT_EQ(history.size(), 3);
  EXPECT_EQ(history.completed(), 1);
}

TEST(History, SelectsAllOfAFew) {
  History history(space);
  fill(history, 30);
  const auto selection = history.select(20, 25, prior_mode(2));
  EXPECT_EQ(selection.points.cols(), 20);
  EXPECT_EQ(selection.observations.features, selection.points);
  EXPECT_EQ(selection.observations.values.size(), 20);
}

TEST(History, SelectsTheBestAndTheNearestOfMany) {
  History history(space);
  for (int i = 0; i < 60; ++i) {
    // Of the last thirty far from the best, ten are good; the first thirty are bad and near.
    const bool near = i < 30;
    const double fitness = i == 0 ? 1 : near ? 0.001 * i : i < 40 ? 0.9 : 0.5;
    history.add({near ? 0.001 * i : 0.9, 0}, {Ending::completed, fitness});
  }
  const auto selection = history.select(60, 30, prior_mode(2));
  ASSERT_EQ(selection.points.cols(), 30);
  const auto far = (selection.points.row(0).array() == 0.9).count();
  EXPECT_EQ(far, 9);  // a third of 30 are the best: the best one and nine of the good
  const auto nearest = (selection.points.row(0).array() <= 0.0205).count();
  EXPECT_EQ(nearest, 21);  // the best one and the 20 nearest to it
}

TEST(History, FitsTheSameWheneverItIsAsked) {
  History once(space), often(space);
  Rng rng(1);
  for (Eigen::Index n = 1; n <= 150; ++n) {
    History& history = often;
    const Eigen::VectorXd point = sobol_points(2, 1, rng).col(0);
    const Evidence evidence{Ending::completed, std::sin(9 * point[0]) + point[1]};
    history.add(genes_at(space, point), evidence);
    once.add(genes_at(space, point), evidence);
    if (n % 3 == 0) often.parameters();
  }
  EXPECT_EQ(once.parameters(), often.parameters());
  EXPECT_NE(once.parameters(), prior_mode(2));
}

TEST(History, BearsFailuresAlone) {
  History history(space);
  for (int i = 0; i < 10; ++i) history.add({0.1 * i, 0.5}, {Ending::failed, 0});
  EXPECT_TRUE(history.parameters().allFinite());
}

}  // namespace
}  // namespace evolve::ga
