#include "ga/random/sobol.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace evolve::ga {
namespace {

TEST(Sobol, PutsOnePointIntoEachSixteenthOfEveryAxis) {
  Rng rng(1);
  const Eigen::MatrixXd points = sobol_points(29, 1023, rng);
  ASSERT_EQ(points.rows(), 29);
  // The sequence without its first point, the origin: each sixteenth has 64 of the 1024.
  for (Eigen::Index i = 0; i < points.rows(); ++i) {
    std::vector<int> counts(16);
    for (Eigen::Index p = 0; p < points.cols(); ++p) {
      ++counts[static_cast<std::size_t>(points(i, p) * 16)];
    }
    int missing = 0;
    for (const int count : counts) {
      EXPECT_TRUE(count == 64 || count == 63);
      missing += 64 - count;
    }
    EXPECT_EQ(missing, 1);
  }
}

TEST(Sobol, LiesInsideTheCube) {
  Rng rng(2);
  const Eigen::MatrixXd points = sobol_points(5, 2000, rng);
  EXPECT_GT(points.minCoeff(), 0);
  EXPECT_LT(points.maxCoeff(), 1);
}

TEST(Sobol, IsShiftedByItsGenerator) {
  Rng one(3), same(3), other(4);
  const Eigen::MatrixXd points = sobol_points(3, 4, one);
  EXPECT_EQ(points, sobol_points(3, 4, same));
  EXPECT_NE(points, sobol_points(3, 4, other));
}

TEST(Sobol, KeepsItsFirstPointsWhenMoreAreAskedFor) {
  Rng one(3), same(3);
  EXPECT_EQ(sobol_points(3, 4, one), sobol_points(3, 9, same).leftCols(4));
}

}  // namespace
}  // namespace evolve::ga
