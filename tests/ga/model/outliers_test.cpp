#include "ga/model/outliers.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "ga/model/surrogate.hpp"

namespace evolve::ga {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

/// Twelve sets far from each other, one training each but of the last, whose trainings have these
/// values; the others have some around 0.
Observations sets_and_one_with(const std::vector<double>& values) {
  constexpr Index others = 11;
  const Index n = others + std::ssize(values);
  Observations o{.features = Eigen::MatrixXd(1, n),
                 .gene_of = {0},
                 .values = VectorXd(n),
                 .noise = VectorXd::Ones(n)};
  for (Index i = 0; i < n; ++i) {
    const Index set = std::min(i, others);
    o.features(0, i) = static_cast<double>(set) / others;
    o.values[i] = i < others ? 0.1 * static_cast<double>(i % 3 - 1)
                             : values[static_cast<std::size_t>(i - others)];
    o.seed.push_back(static_cast<int>(i) % 6);
    o.set.push_back(static_cast<int>(set));
  }
  return o;
}

/// Lengths so great that all sets are alike, but for luck and roughness of a tenth.
const KernelParameters parameters = Eigen::Vector4d(10, std::log(0.01), -40, std::log(0.01));

TEST(Outliers, AreSetsWhereTheirTrainingsAgree) {
  const auto known = sets_and_one_with({6, 6.1, 5.9});
  const auto odd = outliers(known, parameters);
  EXPECT_GT(odd.roughness[11], 100);
  for (const Index i : {11, 12, 13}) {
    EXPECT_LT(odd.noise[i], 3) << i;
    EXPECT_EQ(odd.roughness[i], odd.roughness[11]) << i;
  }
  for (Index i = 0; i < 11; ++i) EXPECT_LT(odd.roughness[i], 1.1) << i;
}

TEST(Outliers, AreTrainingsWhereOneIsUnlikeTheOthersOfItsSet) {
  const auto odd = outliers(sets_and_one_with({0, -6, 0.1, 0, -0.1}), parameters);
  EXPECT_GT(odd.noise[12], 100);
  EXPECT_LT(odd.noise[11], 1.1);
  EXPECT_LT(odd.roughness[11], 1.1);
}

TEST(Outliers, AreNoneAmongLooksBeforeTheEnd) {
  auto known = sets_and_one_with({6});
  known.curves.left = VectorXd::Constant(12, 0.5);
  for (int i = 0; i < 12; ++i) known.curves.training.push_back(i);
  const auto odd = outliers(known, parameters);
  EXPECT_EQ(odd.noise, VectorXd::Ones(12));
  EXPECT_EQ(odd.roughness, VectorXd::Ones(12));
}

TEST(Outliers, AmongLooksAreSetsOfWhichTwoTrainingsHaveEnded) {
  for (const double of_second : {0.0, 0.5}) {
    auto known = sets_and_one_with({6, 6.1});
    known.curves.left = VectorXd::Zero(13);
    known.curves.left[0] = 0.5, known.curves.left[12] = of_second;
    for (int i = 0; i < 13; ++i) known.curves.training.push_back(i);
    known.curves.parameters = {.shared = 0.01, .own = 0.01};
    const auto odd = outliers(known, parameters);
    EXPECT_EQ(odd.noise, VectorXd::Ones(13));
    EXPECT_EQ(odd.roughness.head(11), VectorXd::Ones(11));
    EXPECT_EQ(odd.roughness[11] > 10, of_second == 0);
    EXPECT_EQ(odd.roughness[12], odd.roughness[11]);
  }
}

TEST(Outliers, MakeWhatHasSomeMoreLikelyThanNormalNoiseDoesAndNothingElse) {
  for (const double value : {0.1, 6.0}) {
    const auto known = sets_and_one_with({value});
    const double normal = Surrogate(known, parameters).log_likelihood();
    EXPECT_EQ(outliers(known, parameters).log_likelihood > normal, value > 1) << value;
  }
}

}  // namespace
}  // namespace evolve::ga
