#include "ga/screened/visited.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "tests/ga/fixtures.hpp"

namespace evolve::ga {
namespace {

TEST(Visited, RemembersWhatWasInserted) {
  Visited visited({real(0, 1), real(0, 1)});
  EXPECT_FALSE(visited.contains({0, 0.5}));
  EXPECT_TRUE(visited.insert({0, 0.5}));
  EXPECT_FALSE(visited.insert({0, 0.5}));
  EXPECT_TRUE(visited.contains({0, 0.5}));
  EXPECT_TRUE(visited.contains({-0.0, 0.5}));
  EXPECT_FALSE(visited.contains({0.5, 0}));
}

TEST(Visited, HasNoEndWhereARealGeneCanMove) {
  Visited visited({integer(0, 1, 0), real(0, 1)});
  for (int i = 0; i < 1000; ++i) visited.insert({0, i / 1000.0});
  Rng rng(1);
  EXPECT_FALSE(visited.exhausted());
  EXPECT_FALSE(visited.find_unseen(rng));
}

TEST(Visited, FindsEverySetOfAFiniteSpaceOnce) {
  Visited visited(
      {integer(2.5, 4.5, 3), categorical({"a", "b", "c"}), real(7, 7), integer(5, 5, 5)});
  Rng rng(2);
  std::set<hyp::Genes> found;
  for (int i = 0; i < 6; ++i) {
    ASSERT_FALSE(visited.exhausted());
    const auto genes = visited.find_unseen(rng);
    ASSERT_TRUE(genes);
    EXPECT_TRUE(found.insert(*genes).second);
    visited.insert(*genes);
  }
  EXPECT_THAT(found, testing::ElementsAre(hyp::Genes{3, 0, 7, 5}, hyp::Genes{3, 1, 7, 5},
                                          hyp::Genes{3, 2, 7, 5}, hyp::Genes{4, 0, 7, 5},
                                          hyp::Genes{4, 1, 7, 5}, hyp::Genes{4, 2, 7, 5}));
  EXPECT_TRUE(visited.exhausted());
  EXPECT_FALSE(visited.find_unseen(rng));
}

TEST(Visited, LooksAtASpaceTooLargeToCount) {
  Visited visited(std::vector<hyp::Gene>(60, integer(0, 1e9, 0)));
  Rng rng(3);
  EXPECT_FALSE(visited.exhausted());
  const auto genes = visited.find_unseen(rng);
  ASSERT_TRUE(genes);
  EXPECT_TRUE(visited.insert(*genes));
}

}  // namespace
}  // namespace evolve::ga
