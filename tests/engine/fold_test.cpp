#include "engine/fold.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "core/error.hpp"
#include "ga/random/rng.hpp"
#include "tests/engine/run_states.hpp"
#include "tests/refusal.hpp"

namespace evolve::engine {
namespace {

using namespace run_states;
using testing::ElementsAre;
using testing::HasSubstr;

// A run of `count` trials with two under way at a time, as its journal has it.
std::vector<results::Event> journal_of(const std::string& search, int count) {
  RunState state(settings(search));
  std::vector<results::Event> events;
  std::vector<hyp::Trial> under_way;
  for (int i = 0; i < count; ++i) {
    under_way.push_back(*state.next_trial());
    events.push_back(start_next(state));
    if (under_way.size() < 2) continue;
    const auto& first = under_way.front();
    events.push_back(completed(first.number, 0.5 - 0.1 * first.hyp.number("mosaic")));
    under_way.erase(under_way.begin());
    state.apply(events.back());
  }
  return events;
}

hyp::Hyperparameters& set_of(std::vector<results::Event>& events, int trial) {
  for (auto& event : events) {
    auto* started = std::get_if<results::Started>(&event);
    if (started && started->trial == trial) return started->hyp;
  }
  throw std::logic_error("no such trial");
}

class Fold : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(, Fold, testing::Values("classic", "screened"),
                         [](const auto& search) { return search.param; });

TEST_P(Fold, RebuildsTheRun) {
  const auto events = journal_of(GetParam(), 60);
  const auto longer = journal_of(GetParam(), 61);
  auto state = fold(settings(GetParam()), events, "journal");
  EXPECT_EQ(state.completed().size(), 59U);
  ASSERT_THAT(numbers(state.open()), ElementsAre(59));
  EXPECT_EQ(state.open()[0]->trial.seed, ga::training_seed(3, 59 % ga::rotating_seeds));
  EXPECT_EQ(state.next_trial()->hyp, std::get<results::Started>(longer[longer.size() - 2]).hyp);
}

TEST_P(Fold, RefusesALateTrialThatIsBredDifferentlyNow) {
  auto events = journal_of(GetParam(), 60);
  set_of(events, 60 - bred_again).set("mosaic", 0.123);
  EXPECT_THAT(test::refusal([&] { fold(settings(GetParam()), events, "journal"); }),
              HasSubstr(": trial 40 is bred differently now"));
}

TEST_P(Fold, NamesTheLineOfWhatTheSearchRefuses) {
  auto events = journal_of(GetParam(), 4);
  events.push_back(results::Extended{.generations = 0});
  EXPECT_THAT(test::refusal([&] { fold(settings(GetParam()), events, "journal"); }),
              testing::StartsWith("journal:" + std::to_string(events.size() + 1) +
                                  ": --generations 0: too few"));
  auto nothing = settings(GetParam());
  nothing.epochs = 0;
  EXPECT_THAT(test::refusal([&] { fold(nothing, {}, "journal"); }),
              testing::StartsWith("journal:1: --epochs 0: too few"));
}

TEST_P(Fold, TakesAnEarlyTrialAsItIsRecorded) {
  auto events = journal_of(GetParam(), 4);
  set_of(events, 3).set("mosaic", 0.123);
  auto state = fold(settings(GetParam()), events, "journal", 0);
  for (int i = 4; i < 4 + bred_again; ++i) events.push_back(start_next(state));
  auto again = fold(settings(GetParam()), events, "journal");
  ASSERT_EQ(again.open().size(), 21U);
  EXPECT_EQ(again.open()[0]->trial.hyp.number("mosaic"), 0.123);
}

TEST_P(Fold, RefusesASetOutsideTheSpace) {
  auto events = journal_of(GetParam(), 60);
  set_of(events, 10).set("mosaic", 1.5);
  EXPECT_THROW(fold(settings(GetParam()), events, "journal"), Error);
}

// What the state says of itself.
auto summary(RunState& state) {
  std::vector<std::pair<int, double>> completed;
  for (const auto& one : state.completed()) completed.emplace_back(one.trial, one.fitness);
  return std::tuple(completed, state.ended(), state.best() ? state.best()->trial : -1,
                    state.start_fitness(), state.generation(), numbers(state.open()), held(state),
                    state.surroundings().failures(), state.surroundings().last_failure().message,
                    state.evolution().asked(), state.finished(), state.trial_limits(),
                    state.repeats().begun(), state.repeats().completed());
}

// A run in which much goes wrong, driven by chance; after every event its journal is folded.
TEST_P(Fold, OfEveryBeginningOfAJournalIsTheStateThatTheRunHadThen) {
  auto run = settings(GetParam());
  run.trials = 40;
  run.population = 10;
  run.repeats = 3;
  RunState live(run);
  std::vector<results::Event> events;
  std::vector<int> under_way;
  ga::Rng rng(7);
  const auto chance = [&](unsigned n) { return static_cast<int>(rng() % n); };
  const auto begun = [](const hyp::Trial& trial) -> results::Event {
    if (trial.repeat == 0) return started(trial);
    return results::Repeating{.trial = trial.number, .repeat = trial.repeat};
  };
  const auto record = [&](const results::Event& event) {
    live.apply(event);
    events.push_back(event);
    if (events.size() % (GetParam() == "classic" ? 1 : 7) != 0) return;
    auto folded = fold(run, events, "journal", 1000);
    ASSERT_EQ(summary(folded), summary(live)) << "after event " << events.size();
  };
  for (int step = 0; step < 400 && !live.finished(); ++step) {
    if (chance(40) == 0) under_way.clear();  // killed and resumed
    auto waiting = live.open();
    std::erase_if(waiting, [&](const Attempt* attempt) {
      const int number = attempt->trial.number;
      const bool others = !under_way.empty() || live.may_have_next_trial();
      return std::ranges::count(under_way, number) > 0 || (others && live.held(number));
    });
    if (under_way.size() < 3 && !waiting.empty()) {
      const auto& trial = waiting[0]->trial;
      under_way.push_back(trial.number);
      record(begun(trial));
      continue;
    }
    if (live.ready() < 2 && chance(4) == 0) {
      const auto bred = live.breed(3);
      if (bred) record(*bred);
    }
    if (under_way.size() < 3 && live.may_have_next_trial()) {
      const auto trial = *live.next_trial();
      under_way.push_back(trial.number);
      record(begun(trial));
      continue;
    }
    if (under_way.empty()) continue;
    const auto at = under_way.begin() + chance(static_cast<unsigned>(under_way.size()));
    const int number = *at;
    under_way.erase(at);
    auto outcome = completed(number, 0.01 * chance(100));
    outcome.repeat = live.attempt_at(number).trial.repeat;
    const int kind = chance(6);
    if (kind == 0) outcome.result = hyp::Failed{.message = "crashed", .final = chance(2) == 0};
    if (kind == 1) outcome.result = std::get<hyp::Failed>(prevented(0).result);
    if (kind == 2 && outcome.repeat == 0)
      outcome.result = std::get<hyp::Failed>(unconfirmed(0).result);
    record(outcome);
    for (const auto& cleared : live.cleared()) record(cleared);
    if (chance(30) == 0) record(results::DeviceLimited{.device = "cuda:0", .trials = 1});
  }
  EXPECT_TRUE(live.finished());
}

TEST_P(Fold, StartsWhatWasBredAheadInItsOrder) {
  RunState live(settings(GetParam()));
  std::vector<results::Event> events;
  const auto record = [&](const results::Event& event) {
    events.push_back(event);
    live.apply(event);
  };
  for (int i = 0; i < 30; ++i) {
    record(started(*live.next_trial()));
    record(completed(i, 0.01 * i));
  }
  const auto bred = *live.breed(4);
  ASSERT_EQ(bred.trials.size(), 4U);
  record(bred);
  record(started(*live.next_trial()));
  auto again = fold(settings(GetParam()), events, "journal");
  EXPECT_EQ(again.ready(), 3);
  for (int trial = 31; trial < 34; ++trial) {
    ASSERT_EQ(again.next_trial()->number, trial);
    EXPECT_EQ(again.next_trial()->hyp, bred.trials[static_cast<std::size_t>(trial - 30)].hyp);
    again.apply(started(*again.next_trial()));
  }
  EXPECT_EQ(again.ready(), 0);
  EXPECT_EQ(again.next_trial()->number, 34);
}

TEST_P(Fold, RefusesWhatWasBredAheadDifferently) {
  auto events = journal_of(GetParam(), 60);
  auto live = fold(settings(GetParam()), events, "journal");
  auto bred = *live.breed(2);
  bred.trials[1].hyp.set("mosaic", 0.123);
  events.push_back(bred);
  EXPECT_THAT(test::refusal([&] { fold(settings(GetParam()), events, "journal"); }),
              HasSubstr(": trial 61 is bred differently now"));
}

}  // namespace
}  // namespace evolve::engine
