#include "ga/model/unit_cube.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/ga/fixtures.hpp"

namespace evolve::ga {
namespace {

using testing::ElementsAre;

const std::vector<hyp::Gene> space = {real(-1, 3), logarithmic(1e-4, 1, 1), integer(2, 6, 2),
                                      categorical({"SGD", "Adam", "AdamW"}), real(7, 7, 7)};

TEST(UnitCube, HasEachGeneOnItsScale) {
  const Eigen::VectorXd point = point_of(space, {0, 0.01, 3, 2, 7});
  EXPECT_THAT(point, ElementsAre(0.25, testing::DoubleEq(0.5), 0.25, 1, 0));
  EXPECT_EQ(genes_at(space, point), (hyp::Genes{0, genes_at(space, point)[1], 3, 2, 7}));
  EXPECT_DOUBLE_EQ(genes_at(space, point)[1], 0.01);
}

TEST(UnitCube, HasAColumnForEachOfSeveralSets) {
  const std::vector<hyp::Genes> sets = {{0, 0.01, 3, 2, 7}, {3, 1, 6, 0, 7}};
  const Points points = points_of(space, sets);
  ASSERT_EQ(points.cols(), 2);
  EXPECT_EQ(points.col(0), point_of(space, sets[0]));
  EXPECT_EQ(points.col(1), point_of(space, sets[1]));
  EXPECT_EQ(points_of(space, {}).rows(), 5);
}

TEST(UnitCube, GivesWholeGenesWholeValues) {
  const Eigen::VectorXd point{{0.5, 0.5, 0.31, 0.4, 0.9}};
  const hyp::Genes genes = genes_at(space, point);
  EXPECT_EQ(genes[2], 3);
  EXPECT_EQ(genes[3], 1);
  EXPECT_EQ(genes[4], 7);
}

TEST(Features, AreOneForANumberAndOneForEachChoice) {
  EXPECT_THAT(genes_of_features(space), ElementsAre(0, 1, 2, 3, 3, 3, 4));
  const Eigen::MatrixXd features = features_of(space, point_of(space, {0, 1, 6, 1, 7}));
  EXPECT_THAT(features.col(0), ElementsAre(0.25, 1, 1, 0, std::sqrt(0.5), 0, 0));
}

TEST(Features, OfTwoChoicesAre1ApartWhicheverTheyAre) {
  Points points(5, 3);
  for (int choice = 0; choice < 3; ++choice) {
    points.col(choice) = point_of(space, {0, 1, 6, 1.0 * choice, 7});
  }
  const Eigen::MatrixXd features = features_of(space, points);
  EXPECT_DOUBLE_EQ((features.col(0) - features.col(1)).norm(), 1);
  EXPECT_DOUBLE_EQ((features.col(0) - features.col(2)).norm(), 1);
  EXPECT_DOUBLE_EQ((features.col(1) - features.col(2)).norm(), 1);
}

TEST(Features, OfNumbersAloneAreThePoint) {
  const std::vector<hyp::Gene> numbers = {real(0, 2), integer(0, 4, 0)};
  const Points points{{0.1, 0.2}, {0.5, 1}};
  EXPECT_EQ(features_of(numbers, points), points);
}

}  // namespace
}  // namespace evolve::ga
