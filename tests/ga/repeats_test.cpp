#include "ga/repeats.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/random/uniform_int_distribution.hpp>
#include <set>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "tests/ga/fixtures.hpp"

namespace evolve::ga {
namespace {

using testing::ElementsAre;

TEST(TrialToRepeat, IsTheBestOfThoseThatWereRepeatedLeast) {
  const std::map<int, double> completed = {{0, 0.3}, {2, 0.5}, {7, 0.4}};
  std::vector<Repeat> begun;
  std::vector<int> trials;
  for (int i = 0; i < 5; ++i) {
    trials.push_back(*trial_to_repeat({}, completed, begun, {}));
    begun.push_back({.trial = trials.back()});
  }
  EXPECT_THAT(trials, ElementsAre(2, 7, 0, 2, 7));
}

TEST(TrialToRepeat, HasTheLowestNumberAmongEquals) {
  EXPECT_EQ(trial_to_repeat({}, {{3, 0.5}, {5, 0.5}, {9, 0.5}}, {}, {3}), 5);
}

TEST(TrialToRepeat, IsTheOneInDoubtWhereTheModelIs) {
  Standing standing{.doubt = 0.1, .undecided = 7};
  EXPECT_EQ(trial_to_repeat(standing, {{2, 0.5}, {7, 0.4}}, {}, {}), 7);
  standing.undecided.reset();
  EXPECT_FALSE(trial_to_repeat(standing, {{2, 0.5}, {7, 0.4}}, {}, {2, 7}));
  standing.doubt = doubtful;
  EXPECT_EQ(trial_to_repeat(standing, {{2, 0.5}, {7, 0.4}}, {}, {}), 2);
}

TEST(TrialToRepeat, IsNoneWhereAllAreUnderWay) {
  EXPECT_FALSE(trial_to_repeat({}, {{2, 0.5}, {7, 0.4}}, {}, {2, 7}));
  EXPECT_FALSE(trial_to_repeat({}, {}, {}, {}));
}

Settings settings(const std::string& search, int trials, std::optional<int> lag) {
  return {.search = search, .seed = 4, .population = 8, .trials = trials, .lag = lag};
}

// As much luck as there is signal, so that the model is in doubt.
hyp::Outcome outcome_of(const hyp::Trial& trial) {
  const auto luck = static_cast<double>(trial.seed % 1000) / 1000;
  auto outcome = completed(trial.number, 0.1 * peak(trial.hyp) + 0.03 * luck);
  outcome.repeat = trial.repeat;
  if (trial.repeat > 0 && trial.number % 5 == 3) outcome.result = hyp::Failed{};
  return outcome;
}

// Trial and number of the repeats, in the order in which they begin; up to `slots` trainings are
// under way, and which one ends next is up to `luck`.
std::vector<std::pair<int, int>> repeats(Evolution& evolution, int count, std::size_t slots,
                                         Rng luck) {
  std::vector<std::pair<int, int>> begun;
  std::vector<hyp::Trial> under_way;
  for (;;) {
    while (under_way.size() < slots) {
      auto next = evolution.ask();
      if (!next && std::ssize(begun) < count) next = evolution.next_repeat();
      if (!next) break;
      if (next->repeat > 0) {
        begun.emplace_back(next->number, next->repeat);
        EXPECT_EQ(evolution.begin_repeat(next->number, next->repeat), *next);
      }
      under_way.push_back(*std::move(next));
    }
    if (under_way.empty()) return begun;
    const auto last = static_cast<std::ptrdiff_t>(under_way.size()) - 1;
    const auto at =
        under_way.begin() + boost::random::uniform_int_distribution<std::ptrdiff_t>(0, last)(luck);
    evolution.tell(outcome_of(*at));
    under_way.erase(at);
  }
}

class Repeating : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(, Repeating, testing::Values("classic", "screened"),
                         [](const auto& search) { return search.param; });

TEST_P(Repeating, WithALagIsTheSameWhateverTheSlotsAndTheOrderOfTheEnds) {
  Evolution one_slot(cube(), settings(GetParam(), 20, 3));
  const auto expected = repeats(one_slot, 12, 1, Rng(0));
  ASSERT_EQ(expected.size(), 12U);
  for (const std::size_t slots : {2, 3, 5}) {
    for (std::uint64_t luck = 0; luck < 4; ++luck) {
      Evolution evolution(cube(), settings(GetParam(), 20, 3));
      EXPECT_EQ(repeats(evolution, 12, slots, Rng(luck)), expected) << slots << " slots";
      if (GetParam() == "classic") continue;
      EXPECT_EQ(evolution.standing()->best.expectation.mean,
                one_slot.standing()->best.expectation.mean);
    }
  }
}

// With two sets two repeats are under way, for all that the third one knows.
TEST_P(Repeating, WithALagKnowsOneMoreWhereThereIsNoneToChoose) {
  Evolution one_slot(cube(), settings(GetParam(), 2, 4));
  const auto expected = repeats(one_slot, 7, 1, Rng(0));
  ASSERT_EQ(expected.size(), 7U);
  for (std::uint64_t luck = 0; luck < 4; ++luck) {
    Evolution evolution(cube(), settings(GetParam(), 2, 4));
    EXPECT_EQ(repeats(evolution, 7, 4, Rng(luck)), expected);
  }
}

TEST_P(Repeating, WithALagWaitsForExactlyTheRepeatsThatMustBeKnown) {
  Evolution evolution(cube(), settings(GetParam(), 12, 2));
  run(evolution);
  const auto begin = [&] {
    const auto next = *evolution.next_repeat();
    return evolution.begin_repeat(next.number, next.repeat);
  };
  const auto first = begin(), second = begin();
  EXPECT_FALSE(evolution.next_repeat());
  evolution.tell(outcome_of(second));
  EXPECT_FALSE(evolution.next_repeat());
  evolution.tell(outcome_of(first));
  EXPECT_TRUE(evolution.next_repeat());
}

// Its next trial is bred from all repeats before, whatever the order in which they ended.
TEST_P(Repeating, WithALagIsKnownToASearchThatGoesOn) {
  std::vector<hyp::Trial> trials;
  for (const bool in_order : {true, false}) {
    Evolution evolution(cube(), settings(GetParam(), 12, 2));
    run(evolution);
    std::vector<hyp::Trial> under_way;
    for (int i = 0; i < 2; ++i) {
      const auto next = *evolution.next_repeat();
      under_way.push_back(evolution.begin_repeat(next.number, next.repeat));
    }
    evolution.extend(300, 20);
    EXPECT_FALSE(evolution.done());
    EXPECT_FALSE(evolution.can_ask());
    evolution.tell(outcome_of(under_way[in_order ? 0 : 1]));
    EXPECT_FALSE(evolution.ask());
    evolution.tell(outcome_of(under_way[in_order ? 1 : 0]));
    EXPECT_TRUE(evolution.can_ask());
    trials.push_back(*evolution.ask());
  }
  EXPECT_EQ(trials[0], trials[1]);
}

// The start has three trials, and is the best.
TEST(Repeat, TrainsNoSetTwiceWithTheSameSeed) {
  Evolution evolution(cube(), settings("screened", 30, {}));
  run(evolution, [](const auto& hyp) { return hyp.number("g0") == 0.1 ? 0.9 : 0.1 * peak(hyp); });
  std::set<std::pair<hyp::Genes, std::uint64_t>> trained;
  for (int i = 0; i < 6; ++i) {
    const auto repeat = *evolution.next_repeat();
    evolution.begin_repeat(repeat.number, repeat.repeat);
    EXPECT_TRUE(trained.emplace(evolution.genes(repeat.number), repeat.seed).second) << i;
    auto end = completed(repeat.number, 0.5);
    end.repeat = repeat.repeat;
    evolution.tell(end);
  }
}

// The same, and nothing is luck.
TEST(Repeat, ComesToEachSetInTurnHoweverManyTrialsItHas) {
  Evolution evolution(cube(), settings("screened", 30, {}));
  run(evolution, [number = 0](const auto& hyp) mutable {
    ++number;
    return hyp.number("g0") == 0.1 ? 0.9 : 0.001 * number;
  });
  std::set<hyp::Genes> trained;
  for (int i = 0; i < 6; ++i) {
    const auto repeat = *evolution.next_repeat();
    evolution.begin_repeat(repeat.number, repeat.repeat);
    EXPECT_TRUE(trained.insert(evolution.genes(repeat.number)).second) << i;
    auto end = completed(repeat.number, evolution.observation(repeat.number)->fitness);
    end.repeat = repeat.repeat;
    evolution.tell(end);
  }
}

TEST(Repeat, IsToldOfWhatHasBegunAndOnce) {
  Evolution evolution(cube(), settings("classic", 2, {}));
  EXPECT_FALSE(evolution.next_repeat()) << "the search is not done";
  EXPECT_THROW(evolution.begin_repeat(0, 1), Error);
  run(evolution);
  hyp::Outcome end = completed(0, 0.5);
  end.repeat = 1;
  EXPECT_THROW(evolution.tell(end), Error);
  evolution.begin_repeat(0, 1);
  evolution.tell(end);
  EXPECT_THROW(evolution.tell(end), Error);
}

}  // namespace
}  // namespace evolve::ga
