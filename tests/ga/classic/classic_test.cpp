#include "ga/classic/classic.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/ga/fixtures.hpp"

namespace evolve::ga {
namespace {

// Late in a run few genes mutate: most children show their parents.
constexpr double late = 0.9;

TEST(ClassicChild, OfOneParentAndNoMutationIsACopy) {
  const std::vector space(4, real(0, 1));
  const std::vector<Individual> pool = {{0, {0.1, 0.2, 0.3, 0.4}, 0.5}};
  int copies = 0;
  for (int trial = 0; trial < 1000; ++trial) {
    Rng rng = breeding_rng(1, trial);
    copies += classic_child(space, pool, late, rng) == pool[0].genes;
  }
  EXPECT_NEAR(copies, 961, 20);  // 0.99 ** 4
}

TEST(ClassicChild, HasGenesOfTwoParentsHalfOfTheTimeLateInARun) {
  const std::vector space(10, real(0, 1));
  const std::vector<Individual> pool = {{0, hyp::Genes(10, 0.25), 0.5},
                                        {1, hyp::Genes(10, 0.75), 0.5}};
  int mixed = 0;
  for (int trial = 0; trial < 2000; ++trial) {
    Rng rng = breeding_rng(2, trial);
    const hyp::Genes child = classic_child(space, pool, late, rng);
    mixed += (child.front() < 0.5) != (child.back() < 0.5);
  }
  EXPECT_NEAR(mixed, 500,
              60);  // a crossover in half of the cases, of the same parent in half of those
}

TEST(ClassicChild, PrefersTheFitAndMoreSoAtTheBeginning) {
  const std::vector space = {real(0, 100)};
  std::vector<Individual> pool;
  for (int i = 0; i < 50; ++i) pool.push_back({i, {1.0 * i}, 0.01 * i});
  const auto mean = [&](double t) {
    double sum = 0;
    for (int trial = 0; trial < 2000; ++trial) {
      Rng rng = breeding_rng(3, trial);
      sum += classic_child(space, pool, t, rng)[0];
    }
    return sum / 2000;
  };
  EXPECT_NEAR(mean(0), 45.4, 1);     // (50 + 1) * 10 / 11 - 1: the mean of the best of 10
  EXPECT_NEAR(mean(late), 33.0, 1);  // (50 + 1) * 2 / 3 - 1
}

}  // namespace
}  // namespace evolve::ga
