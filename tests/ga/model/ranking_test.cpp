#include "ga/model/ranking.hpp"

#include <gtest/gtest.h>

namespace evolve::ga {
namespace {

using Positions = std::vector<Eigen::Index>;

const Eigen::VectorXd values{{1, 3, 2, 3, -1}};

TEST(Ranking, PutsTheGreatestFirstAndEqualsInTheirOrder) {
  EXPECT_EQ(ranking(values, 5), (Positions{1, 3, 2, 0, 4}));
}

TEST(Ranking, HasNoMoreThanIsAskedForAndNoMoreThanThereAre) {
  EXPECT_EQ(ranking(values, 2), (Positions{1, 3}));
  EXPECT_EQ(ranking(values, 9).size(), 5);
  EXPECT_TRUE(ranking(Eigen::VectorXd(0), 3).empty());
}

}  // namespace
}  // namespace evolve::ga
