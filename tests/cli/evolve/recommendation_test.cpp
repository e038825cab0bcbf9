#include "cli/evolve/recommendation.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "tests/engine/trials.hpp"

namespace evolve::cli {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

/// A run of so many trainings of 2 epochs, 3 seconds each, that gave these fitnesses, and that
/// share of them after an epoch; `wanted`: of so many, of which these have ended.
engine::RunState run_of(const std::string& search,
                        const std::function<double(const hyp::Trial&)>& fitness_of,
                        double share_after_an_epoch = 1, int trials = 20, double map50 = 0.5,
                        std::optional<int> wanted = {}) {
  engine::RunState state({.seed = 1,
                          .search = search,
                          .trials = wanted.value_or(trials),
                          .epochs = 2,
                          .space = engine::small_space});
  for (int i = 0; i < trials; ++i) {
    const hyp::Trial trial = *state.next_trial();
    state.apply(results::Started{.trial = trial.number, .hyp = trial.hyp});
    const double fitness = fitness_of(trial);
    state.apply(
        hyp::Rung{.trial = trial.number, .epoch = 1, .fitness = share_after_an_epoch * fitness});
    state.apply(hyp::Outcome{
        .trial = trial.number, .seconds = 3, .result = hyp::Completed{{.map50 = map50}, fitness}});
  }
  return state;
}

std::vector<std::string> lines_of(const engine::RunState& state) {
  return recommendation_lines(state, *state.recommendation(), "runs/a run",
                              "evolve --resume 'runs/a run'");
}

double luck_alone(const hyp::Trial& trial) {
  const double any = 1e4 * std::sin(trial.number + 1);
  return 0.2 + 0.2 * (any - std::floor(any));
}

TEST(Recommendation, WhereTheGainIsLargeBesideLuckAsksForNoLongerTrainings) {
  const auto lines = lines_of(run_of(
      "screened",
      [](const auto& trial) {
        return engine::depends(trial.hyp) + 0.15 * (luck_alone(trial) - 0.3);
      },
      0.5));
  EXPECT_THAT(lines, testing::Not(Contains(StartsWith("  longer trainings"))));
}

TEST(Recommendation, TellsWhatEachTrainingOfTheStartGave) {
  const auto lines = lines_of(run_of("screened", [](const hyp::Trial& trial) {
    return trial.number == 13 ? 0.125 : engine::depends(trial.hyp);
  }));
  const auto start = fmt::format("{:.4f}", engine::depends(hyp::start_of(engine::small_space)));
  EXPECT_THAT(lines[1], testing::EndsWith(" on average, 90 % sure"));
  EXPECT_THAT(lines[2], testing::EndsWith("; it gave " + start + ", 0.1250"));
}

TEST(Recommendation, NamesNoTrialOfTheSameSetAsTheHighest) {
  const auto lines = lines_of(run_of("screened", [](const hyp::Trial& trial) {
    return trial.number == 0 ? 0.4 : trial.number == 13 ? 0.45 : 0.5 * luck_alone(trial);
  }));
  EXPECT_THAT(lines[0], HasSubstr("Recommended: trial 0, fitness 0.4000"));
  EXPECT_THAT(lines[1], EndsWith("; it gave 0.4000, 0.4500"));
  EXPECT_THAT(lines, testing::Not(Contains(StartsWith("  the highest"))));
}

TEST(Recommendation, OfARunOfLuckAloneIsUndecidedAndNamesThePriceOfADecision) {
  const auto lines = lines_of(run_of("screened", luck_alone));
  EXPECT_THAT(lines, Contains(StartsWith("  the highest            trial ")));
  EXPECT_THAT(lines, Contains(AllOf(StartsWith("  undecided "),
                                    EndsWith("8 more trainings of 3 s each, with"))));
  EXPECT_EQ(lines.back(), "    evolve --resume 'runs/a run' --repeats 8");
}

TEST(Recommendation, OfASearchThatIsNotDoneAsksForNoRepeats) {
  const auto lines = lines_of(run_of("screened", luck_alone, 1, 20, 0.5, 30));
  EXPECT_THAT(lines.back(),
              testing::MatchesRegex("  undecided              trial [0-9]+ is better with a "
                                    "probability of [0-9]+ %"));
}

TEST(Recommendation, AsksForMoreRepeatsThanThereWereThoughFewerWereWantedLater) {
  auto state = run_of("screened", luck_alone);
  state.apply(results::Extended{.generations = 300, .trials = 20, .repeats = 3});
  for (int i = 0; i < 3; ++i) {
    const hyp::Trial again = *state.next_trial();
    state.apply(results::Repeating{.trial = again.number, .repeat = again.repeat});
    state.apply(hyp::Outcome{.trial = again.number,
                             .repeat = again.repeat,
                             .result = hyp::Completed{{.map50 = 0.5}, 0.3}});
  }
  state.apply(results::Extended{.generations = 300, .trials = 20, .repeats = 1});
  EXPECT_EQ(lines_of(state).back(), "    evolve --resume 'runs/a run' --repeats 11");
}

TEST(Recommendation, OfARunOfLuckAloneWhoseTrainingsStillGrewNamesThePriceOfLongerOnes) {
  EXPECT_EQ(lines_of(run_of("screened", luck_alone, 0.5)).back(),
            "  longer trainings       fitness still grew by 100 % after epoch 1: if that goes on "
            "and luck does not grow with it, luck weighs 33 % less in a new run with --epochs 3 "
            "--from 'runs/a run', for 1.5 times the time");
}

TEST(Recommendation, OfARunThatFoundSomethingBetterAsksForNoLongerTrainings) {
  const auto lines = lines_of(run_of(
      "screened", [](const auto& trial) { return engine::depends(trial.hyp); }, 0.5));
  EXPECT_THAT(lines, testing::Not(Contains(StartsWith("  longer trainings"))));
}

TEST(Recommendation, OfTheStartSaysThatNothingIsLikelyEnoughToBeatIt) {
  const auto lines = lines_of(run_of("screened", [](const hyp::Trial& trial) {
    const bool is_start = trial.number == 0 || trial.number == 13 || trial.number == 14;
    return is_start ? 0.4 : luck_alone(trial);
  }));
  EXPECT_EQ(
      lines[0],
      "Recommended: trial 0, fitness 0.4000 (mAP50 0.500, mAP50-95 0.000), the start: no other set "
      "is likely enough (70 %) to beat it");
}

TEST(Recommendation, DoesNotCallLuckKnownBeforeASetWasTrainedTwice) {
  const auto ten = lines_of(run_of("screened", luck_alone, 1, 10));
  EXPECT_THAT(ten, Contains(AllOf(StartsWith("  luck                   another seed may move"),
                                  HasSubstr("no set was trained twice"))));
  const auto twenty = lines_of(run_of("screened", luck_alone));
  EXPECT_THAT(twenty, Contains(StartsWith("  luck                   another seed moves")));
}

TEST(Recommendation, DoesNotCallLuckKnownWhereWhatWasTrainedTwiceEndedAt0) {
  const auto lines = lines_of(run_of("screened", [](const hyp::Trial& trial) {
    const bool is_start = trial.number == 0 || trial.number == 13 || trial.number == 14;
    return is_start ? 0 : luck_alone(trial);
  }));
  EXPECT_THAT(lines, Contains(AllOf(StartsWith("  luck                   another seed may move"),
                                    HasSubstr("trained twice and learnt something"))));
}

TEST(Recommendation, SaysThatTheStartEndsAt0AsOftenAsNot) {
  const auto lines = lines_of(run_of("screened", [](const hyp::Trial& trial) {
    return trial.number == 0 ? 0.125 : trial.number == 13 ? 0 : 0.5 + luck_alone(trial);
  }));
  EXPECT_THAT(lines, Contains("  the start              1 of 2 ended at 0"));
}

TEST(Recommendation, OfTheStartNeverSaysThatLessIsExpectedOfTheHighest) {
  const auto lines = lines_of(run_of("screened", [](const hyp::Trial& trial) {
    return trial.number == 0 ? 0.37 : trial.number == 13 ? 0.35 : luck_alone(trial);
  }));
  EXPECT_THAT(lines[0], HasSubstr(", the start: "));
  EXPECT_THAT(lines, Contains(AllOf(StartsWith("  the highest            trial "),
                                    EndsWith(": not likely enough to beat the start"))));
}

TEST(Recommendation, OfTrialsThatAreAllAlikeClaimsNothing) {
  EXPECT_THAT(
      lines_of(run_of("screened", [](const auto&) { return 0.5; })),
      ElementsAre(
          AllOf(StartsWith("Recommended: trial 0, fitness 0.5000"), EndsWith(", the start")),
          "  all 20 trials have the same fitness: nothing is known of what evolves"));
}

TEST(Recommendation, OfTrialsThatLearntNothingSaysWhatWouldHelp) {
  EXPECT_THAT(lines_of(run_of("screened", [](const auto&) { return 0; })),
              Contains("  all 20 trials have the same fitness: they learnt nothing; train for more "
                       "--epochs, or start from trained weights"));
}

TEST(Recommendation, OfDetectorsThatHaveHardlyLearntSaysHowLittleItSays) {
  const auto little = [](const hyp::Trial& trial) { return 0.1 * luck_alone(trial); };
  EXPECT_EQ(lines_of(run_of("screened", little, 1, 20, 0.02))[1],
            "  it has hardly learnt    mAP50 is 0.020: which of such trainings is best says little "
            "about real ones; train for more --epochs, or start from better weights");
  EXPECT_THAT(lines_of(run_of("screened", little, 1, 20, 0.06)),
              testing::Not(Contains(StartsWith("  it has hardly learnt"))));
  EXPECT_THAT(lines_of(run_of("screened", luck_alone, 1, 20, 0.02)),
              testing::Not(Contains(StartsWith("  it has hardly learnt"))))
      << "the fitness is of other metrics";
}

TEST(Recommendation, ExpectsOfALossWhatIsInTheMiddle) {
  const auto lines =
      lines_of(run_of("screened", [](const hyp::Trial& trial) { return luck_alone(trial) - 2; }));
  EXPECT_THAT(lines[1], HasSubstr(" in the middle, 90 % sure"));
}

TEST(Recommendation, SaysThatTheHighestEndsAt0AsOftenAsNot) {
  const auto lines = lines_of(run_of("screened", [](const hyp::Trial& trial) {
    return trial.number == 0 ? 0.9 : trial.number == 13 ? 0 : luck_alone(trial);
  }));
  EXPECT_THAT(lines, Contains(AllOf(StartsWith("  the highest            trial 0, "),
                                    EndsWith(": 1 of 2 ended at 0"))));
}

TEST(Recommendation, OfTheClassicSearchIsTheStartWhereTheHighestOnlyEqualsIt) {
  engine::RunState state({.search = "classic", .trials = 2, .space = engine::small_space});
  for (int i = 0; i < 2; ++i) state.apply(engine::started(*state.next_trial()));
  for (const int trial : {1, 0}) state.apply(engine::completed(trial, 0.25));
  EXPECT_EQ(state.recommendation()->row, 1U);
}

TEST(Recommendation, OfTheClassicSearchIsTheFirstRowOfGreatestFitness) {
  const auto lines = lines_of(run_of("classic", luck_alone));
  EXPECT_THAT(lines, ElementsAre(StartsWith("Recommended: trial 3, fitness 0.3950")));
}

}  // namespace
}  // namespace evolve::cli
