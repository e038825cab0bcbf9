#include "cli/evolve/run_screen.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <unistd.h>

#include <array>
#include <stdexcept>

#include "core/utf8.hpp"

namespace evolve::cli {
namespace {

/// A terminal, and what was written to it.
class Terminal {
 public:
  explicit Terminal(unsigned short columns = 200) {
    const winsize size{.ws_row = 24, .ws_col = columns};
    int end = -1;
    if (::openpty(&ours_, &end, nullptr, nullptr, &size) != 0) throw std::runtime_error("openpty");
    out_ = ::fdopen(end, "w");
  }
  ~Terminal() {
    std::fclose(out_);
    ::close(ours_);
  }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  std::FILE* out() const { return out_; }
  /// What was written since the last call. A terminal hands over what comes in pieces, so an end is
  /// written too.
  std::string text() const {
    std::fputc('\0', out_);
    std::fflush(out_);
    std::string text;
    for (char next = 0; ::read(ours_, &next, 1) == 1 && next != '\0';) text += next;
    return text;
  }

 private:
  int ours_ = -1;
  std::FILE* out_ = nullptr;
};

// A run may be resumed with any --repeats.
TEST(RunScreen, CountsTheEpochsOfRepeatsBeyondTwoThousandMillions) {
  const Terminal terminal;
  Screen screen(terminal.out());
  RunScreen run(screen, {}, 3000, {});
  engine::RunState state(
      {.max_epochs = 9000, .epochs = 3000, .space = {{{.name = "lr0", .high = 1}}}});
  state.apply(results::Extended{.generations = 300, .repeats = 1000000, .max_epochs = 9000});
  run.on_progress(state, {});
  EXPECT_THAT(terminal.text(), testing::HasSubstr("0/3000009000 epochs"));
}

TEST(RunScreen, NamesTheGenerationWhereThatSaysWhenTheRunEnds) {
  const Terminal terminal;
  Screen screen(terminal.out());
  RunScreen run(screen, {}, 1, {});
  const hyp::Space space{{{.name = "lr0", .high = 1}}};
  const auto shown = [&](const results::RunSettings& settings) {
    run.on_progress(engine::RunState(settings), {});
    const auto text = terminal.text();
    return text.substr(text.rfind('K') + 1);
  };
  EXPECT_EQ(shown({.population = 8, .generations = 4, .space = space}),
            "0/32 trials · generation 1/4");
  EXPECT_EQ(shown({.population = 8, .generations = 4, .repeats = 4, .space = space}),
            "0/28 trials, 0/4 repeats · generation 1/4");
  EXPECT_EQ(shown({.trials = 32, .space = space}), "0/32 trials");
  EXPECT_EQ(shown({.trials = 32, .repeats = 4, .space = space}), "0/28 trials, 0/4 repeats");
}

TEST(RunScreen, CountsTheRepeatsBeforeARunWasExtendedToo) {
  const Terminal terminal;
  Screen screen(terminal.out());
  RunScreen run(screen, {}, 1, {});
  engine::RunState state({.trials = 2, .repeats = 1, .space = {{{.name = "lr0", .high = 1}}}});
  while (const auto* next = state.next_trial()) {
    const auto trial = *next;
    if (trial.repeat > 0)
      state.apply(results::Repeating{.trial = trial.number, .repeat = trial.repeat});
    else
      state.apply(results::Started{.trial = trial.number, .hyp = trial.hyp});
    state.apply(hyp::Outcome{
        .trial = trial.number, .repeat = trial.repeat, .result = hyp::Completed{{}, 0.5}});
  }
  state.apply(results::Extended{.generations = 300, .trials = 2, .repeats = 3});
  run.on_progress(state, {});
  EXPECT_THAT(terminal.text(), testing::HasSubstr("1/2 trials, 1/4 repeats"));
}

TEST(RunScreen, HasRoomForSlotsOnANarrowTerminalBecauseItSaysLessOfThem) {
  engine::RunState state({.trials = 32, .epochs = 16, .space = {{{.name = "lr0", .high = 1}}}});
  const auto shown = [&](unsigned short columns) {
    const Terminal terminal(columns);
    Screen screen(terminal.out());
    RunScreen run(screen, {}, 16, {});
    run.on_progress(state, {{.trial = 0, .device = "cpu:0", .epoch = 5, .epochs = 16},
                            {.trial = 1, .device = "cpu:1", .epoch = 14, .epochs = 16}});
    const auto text = terminal.text();
    return text.substr(text.rfind('K') + 1);
  };
  EXPECT_EQ(shown(80), "0/32 trials · cpu:0 trial 0 epoch 5/16 · cpu:1 trial 1 epoch 14/16");
  EXPECT_EQ(shown(60), "0/32 trials · cpu:0 5/16 · cpu:1 14/16");
  EXPECT_EQ(shown(36), "0/32 trials · cpu:0 5/16 …");
}

TEST(RunScreen, CallsTheFirstTrialOfHighestFitnessTheHighest) {
  std::FILE* file = std::tmpfile();
  {
    Screen screen(file);
    RunScreen run(screen, {}, 1, {});
    engine::RunState state({.trials = 4, .epochs = 1, .space = {{{.name = "lr0", .high = 1}}}});
    for (const double fitness : {0.25, 0.125, 0.25, 0.5}) {
      const auto trial = *state.next_trial();
      state.apply(results::Started{.trial = trial.number, .hyp = trial.hyp});
      const hyp::Outcome outcome{.trial = trial.number, .result = hyp::Completed{{}, fitness}};
      state.apply(outcome);
      run.on_event(outcome, state);
    }
  }
  std::rewind(file);
  std::vector<std::string> words;
  for (std::array<char, 200> line{}; std::fgets(line.data(), line.size(), file);) {
    const std::string text = line.data();
    words.push_back(text.substr(text.rfind("  ")));
  }
  std::fclose(file);
  EXPECT_THAT(words, testing::ElementsAre("  highest\n", "  mAP50-95 0.000\n", "  mAP50-95 0.000\n",
                                          "  highest\n"));
}

TEST(RunScreen, SaysOnATerminalOnceWhyAttemptsWillBeMadeAgainThatFailForOneReason) {
  const Terminal terminal;
  Screen screen(terminal.out());
  RunScreen run(screen, {}, 1, {});
  const engine::RunState state({.space = {{{.name = "lr0", .high = 1}}}});
  for (const auto& [trial, final] : {std::pair(0, false), {1, false}, {0, true}, {1, true}})
    run.on_event(hyp::Outcome{.trial = trial,
                              .device = "cpu:0",
                              .result = hyp::Failed{.kind = hyp::FailureKind::crash,
                                                    .message = "no",
                                                    .final = final}},
                 state);
  const auto text = terminal.text();
  EXPECT_THAT(text, testing::HasSubstr("trial 0    cpu:0   failed, will be tried again"));
  EXPECT_THAT(text, testing::Not(testing::HasSubstr("trial 1    cpu:0   failed, will")));
  EXPECT_THAT(text, testing::HasSubstr("trial 0    cpu:0   failed (crash)"));
  EXPECT_THAT(text, testing::HasSubstr("trial 1    cpu:0   failed (crash)"));
}

TEST(RunStatus, TellsWhereARunStands) {
  const RunStatus status{
      .planned = 44,
      .ended = 17,
      .repeats_planned = 4,
      .generation = 1,
      .generations = 4,
      .highest_fitness = 0.33124,
      .highest_trial = 12,
      .ended_here = 10,
      .seconds_here = 50,
      .busy = {{{.trial = 18, .device = "cpu:0", .epoch = 2, .epochs = 4}, "cpu:0 (97 %)"}}};
  EXPECT_EQ(status_text(status),
            "17/44 trials, 0/4 repeats · generation 2/4 · highest 0.3312 (trial 12) · "
            "2 min 25 s left · 756 trials/h · cpu:0 (97 %) trial 18 epoch 2/4");
  EXPECT_EQ(brief_status_text(status, true),
            "17/44 trials · highest 0.3312 · 2 min 25 s left · cpu:0 (97 %) 2/4");
  EXPECT_EQ(brief_status_text(status, false),
            "17/44 trials · highest 0.3312 · 2 min 25 s left · cpu:0 2/4");
}

TEST(RunStatus, SaysWhatIsPreparedBeforeATrialIsTrained) {
  const RunStatus status{
      .planned = 9,
      .busy = {
          {{.trial = 0, .device = "cpu:0", .epochs = 4, .preparing = "images 7/20"}, "cpu:0"}}};
  EXPECT_EQ(status_text(status), "0/9 trials · cpu:0 trial 0 images 7/20");
  EXPECT_EQ(brief_status_text(status, false), "0/9 trials · cpu:0 images 7/20");
}

TEST(RunStatus, HasRoomForTheWholeBeforeItHasRoomForTheSlots) {
  RunStatus status{.planned = 44,
                   .ended = 17,
                   .paused = 3,
                   .highest_fitness = 0.33124,
                   .highest_trial = 12,
                   .ended_here = 10,
                   .seconds_here = 50};
  for (int slot = 0; slot < 4; ++slot)
    status.busy.push_back(
        {{.trial = 18 + slot, .device = "cpu:0", .epoch = 2, .epochs = 4}, "cpu:0"});
  // On a terminal that has just room for this text.
  const auto shown_in_room_of = [&](const std::string& text) {
    const Terminal terminal(static_cast<unsigned short>(core::characters(text) + 3));
    Screen screen(terminal.out());
    screen.show(status_texts(status));
    const auto drawn = terminal.text();
    return drawn.substr(drawn.rfind('K') + 1);
  };
  const std::string whole =
      "17/44 trials, 3 paused · highest 0.3312 · 1 min 44 s left · 864 trials/h";
  for (const auto& text :
       {status_text(status), whole + " · cpu:0 2/4 · cpu:0 2/4 · cpu:0 2/4 · cpu:0 2/4",
        whole + " · cpu:0 2/4 · cpu:0 2/4 · cpu:0 2/4 …", whole + " · cpu:0 2/4 …"})
    EXPECT_EQ(shown_in_room_of(text), text);
  EXPECT_EQ(shown_in_room_of(whole),
            "17/44 trials · highest 0.3312 · 1 min 44 s left · cpu:0 2/4 …");
}

// Else it would count up for as long as they are under way.
TEST(RunStatus, CountsWhatTheTrialsUnderWayHaveDone) {
  RunStatus status{.planned = 10,
                   .ended = 2,
                   .ended_here = 2,
                   .seconds_here = 10,
                   .busy = {{{.trial = 2, .device = "cpu:0", .epochs = 4}, "cpu:0"},
                            {{.trial = 3, .device = "cpu:1", .epochs = 4}, "cpu:1"}}};
  EXPECT_EQ(brief_status_text(status, false), "2/10 trials · 40 s left · cpu:0 0/4 · cpu:1 0/4");
  for (auto& [progress, device] : status.busy) progress.epoch = 3;
  status.seconds_here = 14;
  EXPECT_EQ(brief_status_text(status, false), "2/10 trials · 26 s left · cpu:0 3/4 · cpu:1 3/4");
}

TEST(RunStatus, CountsRepeatsBesideTrials) {
  const RunStatus status{.planned = 28,
                         .ended = 28,
                         .repeats_planned = 4,
                         .repeats_ended = 1,
                         .ended_here = 29,
                         .seconds_here = 290};
  EXPECT_EQ(status_text(status), "28/28 trials, 1/4 repeats · 30 s left · 360 trials/h");
  EXPECT_EQ(brief_status_text(status, false), "1/4 repeats · 30 s left");
}

TEST(RunStatus, CountsEpochsWhereTheyAreTheBudget) {
  const RunStatus status{.planned = 9,
                         .ended = 7,
                         .paused = 2,
                         .seconds_here = 100,
                         .epochs = 312,
                         .epochs_here = 100,
                         .most_epochs = 512};
  EXPECT_EQ(status_text(status),
            "312/512 epochs · 7 trials, 2 paused · 3 min 20 s left · 3600 epochs/h");
  EXPECT_EQ(brief_status_text(status, false), "312/512 epochs · 3 min 20 s left");
}

TEST(RunStatus, LeavesNoMoreTimeThanTheTrialsOfABudgetOfEpochsNeed) {
  RunStatus status{.planned = 6,
                   .ended = 3,
                   .begun = 4,
                   .seconds_here = 18,
                   .epochs = 18,
                   .epochs_here = 18,
                   .most_epochs = 900,
                   .busy = {{{.trial = 3, .device = "cpu:0", .epoch = 3, .epochs = 5}, "cpu:0"}}};
  EXPECT_EQ(brief_status_text(status, false), "18/900 epochs · 12 s left · cpu:0 3/5");
  status.begun = 6, status.ended = 5, status.epochs = status.epochs_here = 28;
  EXPECT_EQ(brief_status_text(status, false), "28/900 epochs · 1 s left · cpu:0 3/5");
}

TEST(RunStatus, ExpectsNoMoreEpochsOfTrialsToComeThanOfThosePausedBeforeThem) {
  const RunStatus status{.planned = 30,
                         .ended = 1,
                         .begun = 10,
                         .pausing = true,
                         .paused = 9,
                         .seconds_here = 10,
                         .epochs = 30,
                         .epochs_here = 30};
  EXPECT_EQ(status_text(status), "1/30 trials, 9 paused · 20 s left · 10800 epochs/h");
}

TEST(RunStatus, NamesNoGenerationWhereTrialsSayWhenTheRunEnds) {
  EXPECT_EQ(status_text({.planned = 48, .ended = 17}), "17/48 trials");
  EXPECT_EQ(status_text({.planned = 48, .ended = 17, .paused = 3}), "17/48 trials, 3 paused");
}

TEST(RunStatus, KnowsNoRateBeforeTheFirstTrialHasEnded) {
  const RunStatus status{.planned = 48, .generations = 4};
  EXPECT_EQ(status_text(status), "0/48 trials · generation 1/4");
}

TEST(RunStatus, LeavesNoMoreTimeThanTheTimeLimit) {
  const RunStatus status{.planned = 100,
                         .ended = 10,
                         .generations = 2,
                         .ended_here = 10,
                         .seconds_here = 100,
                         .seconds_allowed = 30};
  EXPECT_EQ(status_text(status), "10/100 trials · generation 1/2 · 30 s left · 360 trials/h");
}

TEST(RunStatus, SaysThatNoFurtherTrialBeginsOnceTheTimeLimitIsOver) {
  EXPECT_EQ(status_text({.planned = 100,
                         .ended = 10,
                         .ended_here = 10,
                         .seconds_here = 100,
                         .seconds_allowed = -3}),
            "10/100 trials · no further trial begins · 360 trials/h");
}

}  // namespace
}  // namespace evolve::cli
