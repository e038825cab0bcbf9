#include "ga/screened/acquisition.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/ga/fixtures.hpp"

namespace evolve::ga {
namespace {

using Eigen::VectorXd;

const std::vector<hyp::Gene>& mixed() {
  static const std::vector genes = {real(0, 1, 0.3), categorical({"a", "b", "c"}, 1),
                                    real(-2, 2, 1.5), integer(0, 4, 2)};
  return genes;
}

// Five sets that rise towards the first gene's upper bound and choice "c".
Observations observations() {
  const Points points{{0.1, 0.4, 0.6, 0.8, 0.3},
                      {0, 0.5, 1, 1, 0},
                      {0.2, 0.9, 0.5, 0.4, 0.7},
                      {0, 0.25, 0.5, 0.75, 1}};
  return {.features = features_of(mixed(), points),
          .gene_of = genes_of_features(mixed()),
          .values = VectorXd{{-1.2, -0.3, 0.4, 1.5, -0.4}},
          .noise = VectorXd::Ones(5),
          .seed = {0, 1, 2, 0, 1},
          .set = {0, 1, 2, 3, 4}};
}

Surrogate surrogate() {
  return {observations(), Eigen::MatrixXd(6, 0), VectorXd{{-0.5, 0.2, 0.3, 0.1, -6, -60, -60}}};
}

std::vector<Acquisition> acquisitions(const Surrogate& model) {
  return {Acquisition::improvement(mixed(), model), Acquisition::expectation(mixed(), model),
          Acquisition::upper_bound(mixed(), model, 1.5)};
}

TEST(Acquisition, OfOnePointIsThatOfMany) {
  const Surrogate model = surrogate();
  const Points points{{0.2, 0.95}, {0.5, 1}, {0.1, 0.6}, {0.75, 0.25}};
  for (const Acquisition& acquisition : acquisitions(model)) {
    const VectorXd values = acquisition(points);
    VectorXd unused;
    EXPECT_NEAR(acquisition.at(points.col(0), unused), values[0], 1e-9);
    EXPECT_NEAR(acquisition.at(points.col(1), unused), values[1], 1e-9);
  }
}

TEST(Acquisition, HasTheSlopeOfItsDifferences) {
  const Surrogate model = surrogate();
  const VectorXd point{{0.75, 1, 0.35, 0.6}};
  for (const Acquisition& acquisition : acquisitions(model)) {
    VectorXd slope, unused;
    acquisition.at(point, slope);
    EXPECT_EQ(slope[1], 0);
    for (const int gene : {0, 2, 3}) {
      VectorXd less = point, more = point;
      less[gene] -= 1e-5, more[gene] += 1e-5;
      const double difference =
          (acquisition.at(more, unused) - acquisition.at(less, unused)) / 2e-5;
      EXPECT_NEAR(slope[gene], difference, 1e-4 * std::max(1.0, std::abs(difference))) << gene;
    }
  }
}

TEST(Acquisition, IsFiniteAndFlatInItsSpreadWhereASetWasTrained) {
  const Surrogate model(observations(), Eigen::MatrixXd(6, 0), VectorXd{{0, 0, 0, 0, -14}});
  VectorXd slope;
  const double there =
      Acquisition::improvement(mixed(), model).at(VectorXd{{0.1, 0, 0.2, 0}}, slope);
  EXPECT_TRUE(std::isfinite(there));
  EXPECT_TRUE(slope.allFinite());
}

TEST(Acquisition, IsClimbedInsideTheCubeAndNeverDownwards) {
  const Surrogate model = surrogate();
  const VectorXd start{{0.7, 1, 0.5, 0.5}};
  for (const Acquisition& acquisition : acquisitions(model)) {
    const VectorXd top = acquisition.maximised(start, 30);
    VectorXd slope;
    EXPECT_GT(acquisition.at(top, slope), acquisition.at(start, slope));
    EXPECT_EQ(top[1], 1);
    EXPECT_TRUE((top.array() >= 0).all() && (top.array() <= 1).all());
  }
}

TEST(Acquisition, IsClimbedOntoTheBoundItself) {
  const std::vector space = {real(0, 1, 0.5)};
  const Observations line{.features = Eigen::MatrixXd{{0.2, 0.4, 0.6}},
                          .gene_of = {0},
                          .values = VectorXd{{-1, 0, 1}},
                          .noise = VectorXd::Ones(3),
                          .seed = {0, 1, 2},
                          .set = {0, 1, 2}};
  const Surrogate model(line, Eigen::MatrixXd(1, 0), VectorXd{{1.5, -8, -60, -60}});
  EXPECT_EQ(Acquisition::expectation(space, model).maximised(VectorXd{{0.7}}, 30), VectorXd{{1}});
}

}  // namespace
}  // namespace evolve::ga
