#include "engine/explanation.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/fold.hpp"
#include "tests/engine/trials.hpp"
#include "tests/refusal.hpp"

namespace evolve::engine {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

results::Explanation explained(const std::vector<results::Event>& events) {
  return explain(fold(small_run, events, "exp", 0), "exp");
}

std::vector<std::string> names(const results::Explanation& explanation) {
  std::vector<std::string> names;
  for (const auto& gene : explanation.genes) names.push_back(gene.gene.name);
  return names;
}

std::string refused(const std::vector<results::Event>& events) {
  return test::refusal([&] { explained(events); });
}

TEST(Explain, FindsTheGenesThatMatteredInTheirOrder) {
  const auto explanation = explained(trials(50, depends));
  EXPECT_THAT(names(explanation), ElementsAre("lr0", "optimizer", "anchors", "idle"));
  EXPECT_GT(explanation.genes[0].total, 0.6);
  EXPECT_LT(explanation.genes[3].total, 0.01);
  EXPECT_GT(explanation.r2, 0.9);
  EXPECT_GT(explanation.known, 0.5);
  EXPECT_EQ(explanation.fitness.size(), 50U);
}

// From the optimum: lr0 loses 0.1 * E[d²] with d uniform in [-2, 2] decades (a bit more or less
// where the best trial is beside it), the optimizer 0.1 in one of three cases.
TEST(Explain, SaysHowMuchFitnessAGeneCostsThatIsLeftToChance) {
  const auto explanation = explained(trials(50, depends));
  EXPECT_NEAR(explanation.genes[0].loss, 0.1 * 4 / 3, 0.04);
  EXPECT_NEAR(explanation.genes[1].loss, 0.1 / 3, 0.02);
  EXPECT_NEAR(explanation.genes[3].loss, 0, 0.01);
}

// Two of three numbers of a log axis from 1 to 1000 are above 250, one of five draws.
TEST(Explain, DrawsAWholeNumberFromItsAxis) {
  const auto space = hyp::parse_space("warmup: {low: 1, high: 1000, type: int, scale: log}\n", "s");
  ga::Evolution evolution(space, {.search = "classic", .seed = 1});
  std::vector<results::Event> events;
  for (int i = 0; i < 60; ++i) {
    const auto trial = *evolution.ask();
    const double decades = std::log10(trial.hyp.number("warmup"));
    const auto outcome = completed(i, 0.6 - 0.1 * decades);
    events.push_back(results::Started{.trial = i, .hyp = trial.hyp, .device = "cpu:0"});
    events.push_back(outcome);
    evolution.tell(outcome);
  }
  const results::RunSettings run{.seed = 1, .search = "classic", .space = space};
  const auto explanation = explain(fold(run, events, "exp", 0), "exp");
  EXPECT_NEAR(explanation.genes[0].loss, 0.1 * 1.5, 0.01);
}

TEST(Explain, ExpectsWhatWasSeenAlongEachGene) {
  const auto explanation = explained(trials(50, depends));
  const auto& lr0 = explanation.genes[0].expected;
  EXPECT_EQ(lr0.size(), 101U);
  EXPECT_NEAR(lr0.front().value, 1e-4, 1e-12);
  EXPECT_DOUBLE_EQ(lr0.back().value, 1);
  const auto& choices = explanation.genes[1].expected;
  ASSERT_EQ(choices.size(), 3U);
  EXPECT_LT(choices[0].mean, choices[1].mean - 0.05) << "SGD is worse";
  EXPECT_EQ(explanation.genes[2].expected.size(), 9U);
  for (const auto& at : lr0) EXPECT_TRUE(at.low < at.mean && at.mean < at.high);
}

TEST(Explain, TakesFailedTrialsForBadOnes) {
  auto events = trials(40, depends);
  for (auto& event : events) {
    auto* outcome = std::get_if<hyp::Outcome>(&event);
    if (outcome && std::get<hyp::Completed>(outcome->result).fitness < 0.3) {
      outcome->result = hyp::Failed{.kind = hyp::FailureKind::diverged};
    }
  }
  const auto explanation = explained(events);
  EXPECT_EQ(explanation.genes[0].gene.name, "lr0");
  EXPECT_LT(explanation.fitness.size(), 40U);
}

// What a training has after a third of its epochs says little about where it would have ended.
TEST(Explain, LeavesOutTrialsThatWereStopped) {
  auto events = trials(50, depends);
  int last = 0;
  for (auto& event : events) {
    auto* outcome = std::get_if<hyp::Outcome>(&event);
    if (!outcome || outcome->trial % 2 == 0) continue;
    const double fitness = std::get<hyp::Completed>(outcome->result).fitness;
    outcome->result = hyp::Stopped{.epoch = 3, .fitness = fitness / 3};
    last = outcome->trial;
  }
  ASSERT_EQ(last, 49);
  const auto explanation = explained(events);
  EXPECT_EQ(explanation.fitness.size(), 25U);
  EXPECT_THAT(names(explanation), ElementsAre("lr0", "optimizer", "anchors", "idle"));
  EXPECT_GT(explanation.r2, 0.9);
}

TEST(Explain, SaysNothingOfAGeneThatVariedInStoppedTrialsOnly) {
  auto events = trials(50, depends);
  for (auto& event : events) {
    auto* outcome = std::get_if<hyp::Outcome>(&event);
    if (!outcome) continue;
    const auto& started = std::get<results::Started>(*(&event - 1));
    if (*started.hyp.find("optimizer") != hyp::Value("SGD"))
      outcome->result = hyp::Stopped{.epoch = 3, .fitness = 0.1};
  }
  const auto explanation = explained(events);
  EXPECT_THAT(names(explanation), testing::Not(testing::Contains("optimizer")));
}

TEST(Explain, OfThousandsOfTrialsTakesSomeFromAllOverTheSpace) {
  const auto explanation = explained(trials(2100, depends));
  EXPECT_EQ(explanation.fitness.size(), 2100U);
  EXPECT_EQ(names(explanation).front(), "lr0");
  EXPECT_GT(explanation.genes[0].total, 0.5);
  EXPECT_GT(explanation.r2, 0.9);
}

TEST(Explain, LearnsFromRepeatsToo) {
  auto events = trials(20, depends);
  const auto before = explained(events);
  for (int repeat = 1; repeat <= 4; ++repeat) {
    events.push_back(results::Repeating{.trial = 3, .repeat = repeat, .device = "cpu:0"});
    events.push_back(hyp::Outcome{
        .trial = 3, .device = "cpu:0", .repeat = repeat, .result = hyp::Completed{{}, 0.1}});
  }
  const auto after = explained(events);
  EXPECT_NE(after.r2, before.r2);
  EXPECT_EQ(after.fitness, before.fitness);
}

TEST(Explain, RefusesTooFewTrials) {
  EXPECT_EQ(refused(trials(4, depends)),
            "exp: 4 trials of this run completed, too few to explain anything; explain it when "
            "5 have: evolve --resume exp");
  EXPECT_EQ(refused(trials(5, depends)), "accepted");
  auto finished = small_run;
  finished.trials = 4;
  const auto state = fold(finished, trials(4, depends), "exp", 0);
  EXPECT_THAT(test::refusal([&] { explain(state, "exp"); }),
              HasSubstr("explain it when 5 have: evolve --resume exp --trials 5"));
  finished.trials = 3;
  const auto going_on = fold(finished, trials(2, depends), "exp", 0);
  EXPECT_THAT(test::refusal([&] { explain(going_on, "exp"); }),
              HasSubstr("explain it when 5 have: evolve --resume exp --trials 5"));
  finished.trials = 6;
  finished.repeats = 2;
  const auto with_repeats = fold(finished, trials(3, depends), "exp", 0);
  EXPECT_THAT(test::refusal([&] { explain(with_repeats, "exp"); }),
              EndsWith("explain it when 5 have: evolve --resume exp --trials 7"));
  finished.repeats = 0;
  finished.trials = {};
  finished.max_epochs = 4;
  const auto by_epochs = fold(finished, trials(4, depends), "exp", 0);
  EXPECT_THAT(test::refusal([&] { explain(by_epochs, "exp"); }),
              EndsWith("evolve --resume exp --max-epochs 5"));
  EXPECT_THAT(refused({}), StartsWith("exp: 0 trials of this run completed"));
}

TEST(Explain, SaysNothingOfAGeneThatNeverVaried) {
  auto settings = small_run;
  settings.trials = 8;
  for (int i = 1; i < 8; ++i)
    settings.initial.push_back({{"idle", 0.1 * i}, {"lr0", 0.01 * i}, {"anchors", 4.0}});
  RunState state(settings);
  for (int i = 0; i < 8; ++i) {
    const hyp::Trial trial = *state.next_trial();
    state.apply(started(trial));
    state.apply(completed(i, depends(trial.hyp)));
  }
  const auto explanation = explain(state, "exp");
  EXPECT_THAT(names(explanation), testing::UnorderedElementsAre("lr0", "idle", "anchors"));
  ASSERT_EQ(explanation.unvaried.size(), 1U);
  EXPECT_EQ(explanation.unvaried[0].first.name, "optimizer");
  EXPECT_EQ(explanation.unvaried[0].second, 0);
}

TEST(Explain, QuotesAFolderInItsAdviceAsAShellWants) {
  const auto state = fold(small_run, trials(4, depends), "my run", 0);
  EXPECT_THAT(test::refusal([&] { explain(state, "my run"); }),
              HasSubstr("evolve --resume 'my run'"));
}

TEST(Explain, RefusesTrialsOfEqualFitness) {
  EXPECT_EQ(refused(trials(20, [](const auto&) { return 0.25; })),
            "exp: all trials have the fitness 0.25, no gene made a difference; evolve more "
            "trials, more genes or wider ranges");
}

TEST(Explain, RefusesAnOutcomeOfATrialThatNeverStarted) {
  auto events = trials(20, depends);
  events.erase(events.begin());
  EXPECT_THAT(refused(events),
              StartsWith("exp:2: trial 0 is not under way where its event stands"));
}

}  // namespace
}  // namespace evolve::engine
