#include "cli/replay.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ga/rng.hpp"
#include "core/error.hpp"

namespace evolve::cli {
namespace {

ga::Evolution evolution(const std::string& search) {
  return {hyp::default_space(), {.search = search, .seed = 3, .trials = 200}};
}

hyp::Outcome outcome_of(const hyp::Trial& trial) {
  const double fitness = 0.5 - 0.1 * trial.hyp.number("mosaic");
  return {.trial = trial.number, .device = "cpu:0", .result = hyp::Completed{{}, fitness}};
}

// A run of `count` trials with two in flight, as its journal has it.
std::vector<results::Event> journal_of(ga::Evolution run, int count) {
  std::vector<results::Event> events;
  std::vector<hyp::Trial> in_flight;
  for (int i = 0; i < count; ++i) {
    in_flight.push_back(*run.ask());
    events.push_back(results::Started{.trial = i, .hyp = in_flight.back().hyp, .device = "cpu:0"});
    if (in_flight.size() < 2) continue;
    const hyp::Outcome outcome = outcome_of(in_flight.front());
    in_flight.erase(in_flight.begin());
    run.tell(outcome);
    events.push_back(outcome);
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

class Replay : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(, Replay, testing::Values("classic", "screened"),
                         [](const auto& search) { return search.param; });

TEST_P(Replay, RebuildsTheRun) {
  const auto events = journal_of(evolution(GetParam()), 60);
  const auto longer = journal_of(evolution(GetParam()), 61);
  ga::Evolution again = evolution(GetParam());
  const Replayed replayed = replay(events, again, "journal");
  EXPECT_EQ(replayed.finished.size(), 59U);
  ASSERT_EQ(replayed.open.size(), 1U);
  EXPECT_EQ(replayed.open[0].trial.number, 59);
  EXPECT_EQ(replayed.open[0].trial.seed, ga::training_seed(3, 59));
  EXPECT_EQ(again.ask()->hyp, std::get<results::Started>(longer[longer.size() - 2]).hyp);
}

TEST_P(Replay, RefusesALateTrialThatIsBredDifferentlyNow) {
  auto events = journal_of(evolution(GetParam()), 60);
  set_of(events, 60 - bred_again).set("mosaic", 0.123);
  ga::Evolution again = evolution(GetParam());
  try {
    replay(events, again, "journal");
    FAIL() << "not refused";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("trial 40 is bred differently now"));
  }
}

TEST_P(Replay, TakesAnEarlyTrialAsItIsRecorded) {
  auto events = journal_of(evolution(GetParam()), 4);
  set_of(events, 3).set("mosaic", 0.123);
  ga::Evolution run = evolution(GetParam()), again = evolution(GetParam());
  for (const auto& event : events) {
    if (const auto* started = std::get_if<results::Started>(&event)) run.ask_again(started->hyp);
    if (const auto* outcome = std::get_if<hyp::Outcome>(&event)) run.tell(*outcome);
  }
  for (int i = 4; i < 4 + bred_again; ++i) {
    events.push_back(results::Started{.trial = i, .hyp = run.ask()->hyp, .device = "cpu:0"});
  }
  const Replayed replayed = replay(events, again, "journal");
  ASSERT_EQ(replayed.open.size(), 21U);
  EXPECT_EQ(replayed.open[0].trial.hyp.number("mosaic"), 0.123);
}

TEST_P(Replay, RefusesASetOutsideTheSpace) {
  auto events = journal_of(evolution(GetParam()), 60);
  set_of(events, 10).set("mosaic", 1.5);
  ga::Evolution again = evolution(GetParam());
  EXPECT_THROW(replay(events, again, "journal"), Error);
}

}  // namespace
}  // namespace evolve::cli
