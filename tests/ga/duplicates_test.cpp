#include <gtest/gtest.h>

#include <set>

#include "tests/ga/fixtures.hpp"

namespace evolve::ga {
namespace {

std::set<hyp::Genes> sets_of(const hyp::Space& space, const std::vector<hyp::Trial>& trials) {
  std::set<hyp::Genes> sets;
  for (const hyp::Trial& trial : trials) sets.insert(hyp::genes_of(space, trial.hyp));
  return sets;
}

TEST(Duplicates, AreNotHandedOutInAContinuousSpace) {
  Evolution evolution(cube(), {.search = "classic", .population = 10, .generations = 200});
  const auto trials = run(evolution);  // late in the run most children are copies at first
  EXPECT_EQ(sets_of(cube(), trials).size(), 2000U);
}

TEST(Duplicates, AreNotHandedOutWhileTheFirstTrialsAreInFlight) {
  const hyp::Space space = space_of({integer(1, 30, 1)});
  Evolution evolution(space, {.search = "classic", .population = 30, .generations = 1});
  std::vector<hyp::Trial> trials;
  while (auto trial = evolution.ask()) trials.push_back(*trial);
  EXPECT_EQ(sets_of(space, trials).size(), 30U);
}

TEST(Duplicates, AreNotHandedOutAmongSeveralAtOnce) {
  const hyp::Space space = space_of({integer(1, 30, 1), integer(1, 10, 1)});
  Evolution evolution(space, {.search = "screened", .population = 200, .generations = 1});
  std::vector<hyp::Trial> all;
  while (all.size() < 100) {
    const auto trials = evolution.ask(8);
    for (const auto& trial : trials) {
      evolution.tell(completed(trial.number, trial.hyp.number("g0") - trial.hyp.number("g1")));
      all.push_back(trial);
    }
  }
  // The start is trained again on purpose, as trials 13 and 14 or 26.
  EXPECT_GE(sets_of(space, all).size() + 2, all.size());
}

TEST(Duplicates, InAnExhaustedSpaceAreOfGoodSets) {
  const hyp::Space space =
      space_of({categorical({"a", "b", "c"}), integer(1, 2, 1), integer(1, 4, 1)});
  Evolution evolution(space,
                      {.search = "screened", .seed = 3, .population = 120, .generations = 1});
  int good = 0, bad = 0;
  for (const auto& trial :
       run(evolution, [](const auto& hyp) { return 0.1 + 0.1 * hyp.number("g2"); })) {
    if (trial.number < 30) continue;
    good += trial.hyp.number("g2") == 4;
    bad += trial.hyp.number("g2") == 1;
  }
  EXPECT_GT(good, bad);
}

TEST(Duplicates, ComeOnlyWhenAFiniteSpaceIsExhausted) {
  const hyp::Space space =
      space_of({integer(2, 10, 3), categorical({"SGD", "Adam", "AdamW"}), real(0.5, 0.5, 0.5)});
  Evolution evolution(space, {.search = "classic", .population = 5, .generations = 40});
  const auto trials = run(evolution, [](const auto& hyp) { return hyp.number("g0"); });
  ASSERT_EQ(trials.size(), 200U);
  EXPECT_EQ(sets_of(space, {trials.begin(), trials.begin() + 27}).size(), 27U);
  EXPECT_EQ(evolution.best()->fitness, 10);
}

TEST(Duplicates, InAnExhaustedSpaceHaveSeedsOfTheirOwn) {
  const hyp::Space space = space_of({categorical({"a", "b", "c"})});
  for (const std::string search : {"classic", "screened"}) {
    Evolution evolution(space, {.search = search, .population = 18, .generations = 1});
    std::set<std::pair<hyp::Genes, std::uint64_t>> trainings;
    const double luck[] = {0.3, 0.1, 0.2, 0.5, 0.4, 0.6, 0.35};
    while (const auto trial = evolution.ask()) {
      trainings.emplace(evolution.genes(trial->number), trial->seed);
      evolution.tell(completed(trial->number, luck[trial->seed % 7]));
    }
    EXPECT_EQ(trainings.size(), 18U) << search;
  }
}

TEST(Duplicates, AreAllThereIsWhereNothingCanMove) {
  const hyp::Space space = space_of({real(1, 1, 1), integer(4, 4, 4)});
  Evolution evolution(space, {.search = "classic", .population = 3, .generations = 3});
  const auto trials = run(evolution, [](const auto&) { return 0.5; });
  ASSERT_EQ(trials.size(), 9U);
  EXPECT_EQ(trials[8].hyp, trials[0].hyp);
  EXPECT_NE(trials[8].seed, trials[0].seed);
}

TEST(Duplicates, AmongTheGivenSetsAreLeftOut) {
  const hyp::Hyperparameters start = {{"g0", 0.1}, {"g1", 0.0}, {"g2", 0.01}};
  const hyp::Hyperparameters other = {{"g0", 0.2}, {"g1", 0.0}, {"g2", 0.01}};
  const hyp::Hyperparameters third = {{"g0", 0.3}, {"g1", 0.0}, {"g2", 0.01}};
  Evolution evolution(cube(), {.search = "classic"}, {start, other, other, third});
  EXPECT_EQ(evolution.ask()->hyp, start);
  EXPECT_EQ(evolution.ask()->hyp, other);
  EXPECT_EQ(evolution.ask()->hyp, third);
}

}  // namespace
}  // namespace evolve::ga
