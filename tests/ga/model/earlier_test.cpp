#include "ga/model/earlier.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "ga/model/unit_cube.hpp"
#include "tests/ga/fixtures.hpp"

namespace evolve::ga {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

/// A run on `space` that gave `fitness`, from the search itself.
EarlierRun run_of(const hyp::Space& space, int trials,
                  const std::function<double(const hyp::Hyperparameters&)>& fitness) {
  Evolution evolution(space, {.search = "screened", .seed = 7, .trials = trials});
  EarlierRun earlier;
  for (const auto& trial : run(evolution, fitness))
    earlier.push_back({evolution.genes(trial.number), fitness(trial.hyp)});
  return earlier;
}

/// Two genes that start in a corner, and a bowl whose top is elsewhere.
const hyp::Space square = space_of({real(0, 1, 0.05), real(0, 1, 0.9)});
double bowl(const hyp::Hyperparameters& hyp, double x = 0.7, double y = 0.3) {
  return 1 - std::pow(hyp.number("g0") - x, 2) - std::pow(hyp.number("g1") - y, 2);
}
double top(const hyp::Hyperparameters& hyp) {
  return bowl(hyp);
}
double hole(const hyp::Hyperparameters& hyp) {
  return 2 - bowl(hyp);
}

double best_of(Evolution& evolution, const std::function<double(const hyp::Hyperparameters&)>& f) {
  double best = 0;
  for (const auto& trial : run(evolution, f)) best = std::max(best, f(trial.hyp));
  return best;
}

TEST(EarlierRuns, WithoutACompletedTrialAreNone) {
  const EarlierRun failed = {{{0.5, 0.5}, {}}, {{0.2, 0.5}, {}}};
  const EarlierRuns runs(square.genes, std::vector{failed, EarlierRun{}});
  EXPECT_EQ(runs.count(), 0);
  EXPECT_TRUE(runs.portfolio().empty());
}

TEST(EarlierRuns, ExpectMostWhereTheyHadMost) {
  const EarlierRuns runs(square.genes,
                         std::vector{run_of(square, 20, top), run_of(square, 20, hole)});
  const MatrixXd expected = runs.expected(MatrixXd{{0.7, 0.05}, {0.3, 0.9}});
  ASSERT_EQ(expected.rows(), 2);
  EXPECT_GT(expected(0, 0), expected(0, 1) + 1);
  EXPECT_LT(expected(1, 0), expected(1, 1));
}

// YOLOv5's own evolution multiplies: what starts at 0 stays there.
TEST(EarlierRuns, KnowNothingOfAGeneThatStoodStillInThem) {
  EarlierRun still;
  for (int i = 0; i < 12; ++i) still.push_back({{i / 11.0, 0.25}, 1 - std::pow(i / 11.0 - 0.5, 2)});
  const EarlierRuns runs(square.genes, std::vector<EarlierRun>{still});
  const MatrixXd expected = runs.expected(MatrixXd{{0.5, 0.5, 0}, {0.25, 1, 1}});
  EXPECT_EQ(expected(0, 0), expected(0, 1));
  EXPECT_GT(expected(0, 0), expected(0, 2) + 1);
  const auto slopes = runs.slopes(VectorXd{{0.2, 0.9}});
  EXPECT_GT(slopes(0, 0), 0);
  EXPECT_EQ(slopes(1, 0), 0);
}

TEST(EarlierRuns, HaveThePortfolioThatServesEachOfThemInTurn) {
  const EarlierRun one = {
      {{0.1, 0.1}, 0.9}, {{0.9, 0.9}, 0.1}, {{0.5, 0.5}, 0.5}, {{0.1, 0.9}, 0.2}};
  const EarlierRun other = {
      {{0.1, 0.1}, 0.1}, {{0.9, 0.9}, 0.8}, {{0.5, 0.5}, 0.3}, {{0.1, 0.9}, 0.2}};
  const EarlierRuns runs(square.genes, std::vector{one, other});
  ASSERT_EQ(runs.portfolio().size(), 4U);
  EXPECT_EQ(std::set(runs.portfolio().begin(), runs.portfolio().begin() + 2),
            (std::set<hyp::Genes>{{0.1, 0.1}, {0.9, 0.9}}));
}

TEST(EarlierRuns, KeepTrialsOutOfCornersThatNobodyHasTried) {
  const hyp::Space many = space_of(std::vector<hyp::Gene>(20, real(0, 1, 0.1)));
  const auto fitness = [](const hyp::Hyperparameters& hyp) {
    double sum = 0;
    for (const auto& [name, value] : hyp) sum += std::pow(std::get<double>(value) - 0.2, 2);
    return std::exp(-sum);
  };
  const std::vector<EarlierRun> earlier = {run_of(many, 40, fitness)};
  Evolution evolution(many, {.search = "screened", .seed = 1, .trials = 8}, {}, earlier);
  for (const auto& trial : run(evolution, fitness)) EXPECT_GT(fitness(trial.hyp), 0.5);
}

TEST(EarlierRuns, AreWhatAnEvolutionStartsFrom) {
  const std::vector<EarlierRun> earlier = {run_of(square, 25, top)};
  Evolution evolution(square, {.search = "screened", .seed = 1, .trials = 3}, {}, earlier);
  const auto first = *evolution.ask();
  EXPECT_EQ(evolution.genes(0), (hyp::Genes{0.05, 0.9})) << "the start comes first";
  const auto second = *evolution.ask();  // nothing has ended yet
  EXPECT_EQ(evolution.genes(1), EarlierRuns(square.genes, earlier).portfolio().front());
  EXPECT_GT(top(second.hyp), 0.99);
  evolution.tell(completed(0, top(first.hyp)));
  EXPECT_GT(top(evolution.ask()->hyp), 0.95);
}

TEST(EarlierRuns, ThatAreLikeThisOneSaveMostOfItsTrials) {
  const auto moved = [](const auto& hyp) { return 3 * bowl(hyp, 0.75, 0.35); };
  const std::vector<EarlierRun> earlier = {run_of(square, 25, top)};
  Evolution warm(square, {.search = "screened", .seed = 1, .trials = 5}, {}, earlier);
  EXPECT_GT(best_of(warm, moved), 3 * 0.99);
}

TEST(EarlierRuns, ThatMisleadAreSoonOutvoted) {
  const std::vector<EarlierRun> earlier = {run_of(square, 25, hole)};
  Evolution misled(square, {.search = "screened", .seed = 1, .trials = 15}, {}, earlier);
  EXPECT_GT(best_of(misled, top), 0.999);
}

TEST(EarlierRuns, ServeARunWhoseTrialsAllFail) {
  const std::vector<EarlierRun> earlier = {run_of(square, 15, top)};
  Evolution evolution(square, {.search = "screened", .seed = 1, .trials = 6}, {}, earlier);
  for (int trial = 0; trial < 6; ++trial) {
    ASSERT_TRUE(evolution.ask());
    evolution.tell(failed(trial));
  }
  EXPECT_TRUE(evolution.done());
}

TEST(EarlierRuns, GiveTheSameTrialsAgain) {
  const std::vector<EarlierRun> earlier = {run_of(square, 15, hole)};
  const Settings settings{.search = "screened", .seed = 3, .trials = 8};
  Evolution one(square, settings, {}, earlier), other(square, settings, {}, earlier);
  run(one, top);
  run(other, top);
  for (int trial = 0; trial < 8; ++trial) EXPECT_EQ(one.genes(trial), other.genes(trial));
}

TEST(EarlierRuns, AreWhatTheTrialsAfterTheirBestAreBredFrom) {
  const std::vector<EarlierRun> runs = {{{{0.7, 0.3}, 1.0}, {{0.1, 0.9}, 0.2}}};
  const Settings settings{.search = "screened", .seed = 3, .trials = 8};
  Evolution with(square, settings, {}, runs), without(square, settings);
  run(with, top);
  run(without, top);
  EXPECT_NE(with.genes(3), without.genes(3)) << "that one is of the design";
}

TEST(EarlierRuns, TakeWhatFailedForWorseThanAllThatCompletedThoughAllIsBelow0) {
  EarlierRun run;
  for (int i = 0; i < 12; ++i) {
    const double x = i / 11.0;
    const bool fails = x > 0.6;
    run.push_back({{x, 0.5}, fails ? std::nullopt : std::optional(x - 2)});
  }
  const EarlierRuns runs(square.genes, std::vector<EarlierRun>{run});
  const auto expected = runs.expected(MatrixXd{{0.5, 0.9}, {0.5, 0.5}});
  EXPECT_GT(expected(0, 0), expected(0, 1));
}

}  // namespace
}  // namespace evolve::ga
