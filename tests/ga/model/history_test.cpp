#include "ga/model/history.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "ga/model/fit.hpp"
#include "ga/random/sobol.hpp"
#include "tests/ga/fixtures.hpp"

namespace evolve::ga {
namespace {

using Ending = Observation::Ending;

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

TEST(History, CountsATrainingOnceThatGaveTheSameWithTheSameSeed) {
  History history(space);
  history.add({0.1, 0.1}, {Ending::completed, 0.5, 0});
  history.add({0.1, 0.1}, {Ending::completed, 0.5, 6});
  EXPECT_EQ(history.size(), 1);
  EXPECT_EQ(history.completed(), 1);
  history.add({0.1, 0.1}, {Ending::completed, 0.4, 12});  // of a device whose sums differ
  history.add({0.1, 0.1}, {Ending::completed, 0.5, 1});   // another seed
  history.add({0.2, 0.1}, {Ending::completed, 0.5, 18});  // another set
  EXPECT_EQ(history.completed(), 4);
}

TEST(History, KnowsThatTrainingsAreDeterministicOnceTwoWithOtherSeedsAgree) {
  History history(space);
  history.add({0.1, 0.1}, {Ending::completed, 0.5, 0});
  history.add({0.2, 0.1}, {Ending::completed, 0.6, 1});
  EXPECT_FALSE(history.deterministic());
  history.add({0.1, 0.1}, {Ending::completed, 0.5, 6});  // the same seed again
  EXPECT_FALSE(history.deterministic());
  history.add({0.1, 0.1}, {Ending::completed, 0.5, 13});
  EXPECT_FALSE(history.deterministic());  // chance, where there are a few seeds
  history.add({0.1, 0.1}, {Ending::completed, 0.5, 14});
  EXPECT_TRUE(history.deterministic());
  history.add({0.2, 0.1}, {Ending::completed, 0.61, 15});
  EXPECT_FALSE(history.deterministic());
}

TEST(History, TakesNoAgreementForDeterminismThatMayBeChance) {
  History none_learns(space), few_values(space);
  none_learns.add({0.1, 0.1}, {Ending::completed, 0, 0});
  none_learns.add({0.1, 0.1}, {Ending::completed, 0, 13});
  none_learns.add({0.1, 0.1}, {Ending::completed, 0, 14});
  EXPECT_FALSE(none_learns.deterministic());
  few_values.add({0.1, 0.1}, {Ending::completed, 0.5, 0});
  few_values.add({0.2, 0.1}, {Ending::completed, 0.5, 1});
  few_values.add({0.1, 0.1}, {Ending::completed, 0.5, 13});
  few_values.add({0.1, 0.1}, {Ending::completed, 0.5, 14});
  EXPECT_FALSE(few_values.deterministic());
}

// A start at the level of chance, amid sets that learn.
TEST(History, TakesNoAgreementForDeterminismAtTheLevelOfChance) {
  History history(space);
  for (const int trial : {0, 13, 14}) history.add({0.1, 0.1}, {Ending::completed, 0.1, trial});
  for (int i = 1; i < 30; ++i) history.add({0.03 * i, 0.9}, {Ending::completed, 0.5 + 0.01 * i, i});
  EXPECT_TRUE(history.deterministic());
  history.add({0.2, 0.1}, {Ending::completed, 0.1, 31});
  EXPECT_FALSE(history.deterministic());
  history.add({0.3, 0.1}, {Ending::completed, 0.05, 32});
  EXPECT_TRUE(history.deterministic()) << "others have less";
}

// A search that converges ends on a flat top.
TEST(History, KnowsThatTrainingsAreDeterministicThoughAPairOfManySetsIsAlike) {
  for (const int alike : {1, 2, 30}) {
    History history(space);
    for (int i = 0; i < 30; ++i)
      history.add({0.01 * i, 0.1}, {Ending::completed, i < alike + 1 ? 1.0 : 0.01 * i, i});
    for (const int trial : {31, 32})
      history.add({0.29, 0.1}, {Ending::completed, alike == 30 ? 1.0 : 0.29, trial});
    EXPECT_EQ(history.deterministic(), alike < 3) << alike;
  }
}

TEST(History, SelectsAllOfAFew) {
  History history(space);
  fill(history, 30);
  const auto selection = history.select(20, 25, prior_mode(2));
  EXPECT_EQ(selection.points.cols(), 20);
  EXPECT_EQ(selection.observations.features, selection.points);
  EXPECT_EQ(selection.observations.values.size(), 20);
}

TEST(History, SelectsOneOfTheBestAndTwoOfTheNearestToItInTurn) {
  History history(space);
  // Far from the best the good ones, near to it the bad ones.
  const std::vector<std::pair<double, double>> outcomes{
      {0.90, 0.5}, {0.10, 1.0}, {0.12, 0.1}, {0.95, 0.6}, {0.11, 0.2}, {0.13, 0.3}, {0.99, 0.4}};
  for (const auto& [place, fitness] : outcomes) {
    history.add({place, 0}, {Ending::completed, fitness});
  }
  const Eigen::RowVectorXd places = history.select(7, 6, prior_mode(2)).points.row(0);
  const Eigen::RowVectorXd expected{{0.10, 0.11, 0.12, 0.95, 0.13, 0.90}};
  EXPECT_LT((places - expected).cwiseAbs().maxCoeff(), 1e-12) << places;
}

TEST(History, SelectsWhatIsNearestToSetsWhateverItGave) {
  History history(space);
  for (const auto& [place, fitness] : std::vector<std::pair<double, double>>{
           {0.50, 1.0}, {0.10, 0.1}, {0.90, 0.2}, {0.12, 0.3}, {0.70, 0.9}, {0.87, 0.1}})
    history.add({place, 0}, {Ending::completed, fitness});
  history.add({0.10, 0}, {Ending::completed, 0.4});  // the second set again
  EXPECT_THAT(history.around(std::vector{1, 2}, 5, prior_mode(2)).entries,
              testing::UnorderedElementsAre(1, 2, 3, 5, 6));
}

TEST(History, DoubtsATrainingThatCollapsedAmongOthersThatDidNot) {
  History history(space);
  constexpr int collapsed = 17, all = 40;
  Rng rng(1);
  const Eigen::MatrixXd points = sobol_points(2, all, rng);
  for (int i = 0; i < all; ++i) {
    const double luck = 0.01 * std::sin(7.0 * i);
    const double fitness = 1 - (points.col(i).array() - 0.5).matrix().squaredNorm() + luck;
    history.add(genes_at(space, points.col(i)),
                {Ending::completed, i == collapsed ? 0.3 * fitness : fitness, i});
  }
  const auto known = history.select(all, all, history.parameters());
  for (std::size_t i = 0; i < all; ++i) {
    const double noise = known.observations.noise[static_cast<Eigen::Index>(i)];
    if (known.entries[i] == collapsed) {
      EXPECT_GT(noise, 4);
    } else {
      EXPECT_LT(noise, 2) << i;
    }
  }
}

TEST(History, FitsTheSameWheneverItIsAsked) {
  History once(space), often(space);
  Rng rng(1);
  for (Eigen::Index n = 1; n <= 150; ++n) {
    History& history = often;
    const Eigen::VectorXd point = sobol_points(2, 1, rng).col(0);
    Observation observation{Ending::completed, std::sin(9 * point[0]) + point[1],
                            static_cast<int>(n)};
    if (n > 60 && n % 5 == 0) observation.ending = Ending::at_rung, observation.left = 0.5;
    history.add(genes_at(space, point), observation);
    once.add(genes_at(space, point), observation);
    if (n % 3 == 0) often.parameters();
  }
  EXPECT_EQ(once.parameters(), often.parameters());
  EXPECT_NE(once.parameters(), prior_mode(2));
}

TEST(History, WeighsTheSameThoughALaterFitnessIsTheFirstBelow0) {
  History once(space), before(space);
  Rng rng(1);
  for (int n = 0; n < 31; ++n) {
    const Eigen::VectorXd point = sobol_points(2, 1, rng).col(0);
    const double fitness = n == 30 ? -0.1 : n % 3 == 0 ? 0 : std::sin(9 * point[0]) + 2;
    if (n == 30) before.plausible();
    for (History* history : {&once, &before})
      history->add(genes_at(space, point), {Ending::completed, fitness, n});
  }
  const auto &late = once.plausible(), &early = before.plausible();
  ASSERT_EQ(late.size(), early.size());
  for (std::size_t i = 0; i < late.size(); ++i) {
    EXPECT_EQ(late[i].noise, early[i].noise);
    EXPECT_EQ(late[i].weight, early[i].weight);
  }
}

// 31 outcomes are not looked at before there are 33.
TEST(History, AmongLooksWeighsTheSecondEndOfASetAtOnce) {
  for (const bool looks : {true, false}) {
    History history(space);
    fill(history, 29);
    history.add({0.1, 0.2}, {.ending = looks ? Ending::at_rung : Ending::completed,
                             .fitness = 0.5,
                             .trial = 2,
                             .left = looks ? 0.5 : 0});
    ASSERT_EQ(history.plausible().front().noise.size(), 30);
    history.add({0.7, 0.2}, {Ending::completed, 0.5, 3});
    EXPECT_EQ(history.plausible().front().noise.size(), 30);
    history.add({0.7, 0.2}, {Ending::completed, 0.6, 4});
    EXPECT_EQ(history.plausible().front().noise.size(), looks ? 32 : 30);
  }
}

TEST(History, BearsFailuresAlone) {
  History history(space);
  for (int i = 0; i < 10; ++i) history.add({0.1 * i, 0.5}, {Ending::failed, 0});
  EXPECT_TRUE(history.parameters().allFinite());
}

}  // namespace
}  // namespace evolve::ga
