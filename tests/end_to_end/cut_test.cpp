// A journal that was cut anywhere in its last two records: a power cut while they were written.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "engine/fold.hpp"
#include "engine/run_state.hpp"
#include "process.hpp"
#include "results/journal.hpp"

namespace evolve::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

/// A finished run of eight trials on one slot, and its journal.
class CutJournal : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(evolve(folder.path(), {"--trainer-command", fake_trainer(), "--devices", "cpu:0",
                                     "--trials", "8", "--population", "4", "--output", "run"})
                  .code,
              0);
    text = read_file(folder / "run/journal.jsonl");
    rows = read_file(folder / "run/evolve.csv");
    for (std::size_t i = 0; i < text.size(); ++i)
      if (text[i] == '\n') ends.push_back(i + 1);
    ASSERT_EQ(ends.size(), 17u);
  }

  /// Where the last two records begin: "started" and "completed" of trial 7.
  std::size_t first_cut() const { return ends[14]; }
  /// Bytes of the whole lines before a cut, which may have taken the end of the last one.
  std::size_t whole(std::size_t cut) const {
    return *(std::upper_bound(ends.begin(), ends.end(), cut + 1) - 1);
  }
  std::filesystem::path cut_at(std::size_t cut) const {
    write_file(folder / "run/journal.jsonl", text.substr(0, cut));
    return folder / "run/journal.jsonl";
  }

  Folder folder;
  std::string text, rows;
  /// Of the lines, newline included.
  std::vector<std::size_t> ends;
};

/// The trial that a resumed run starts first.
hyp::Trial next(engine::RunState& state) {
  const auto open = state.open();
  return open.empty() ? *state.next_trial() : open.front()->trial;
}

TEST_F(CutJournal, AtAnyByteLosesNoWholeLineAndGoesOnWithTheSameTrial) {
  const auto complete = results::read_journal(folder / "run/journal.jsonl");
  const auto& last = std::get<results::Started>(complete.events[14]);
  for (std::size_t cut = first_cut(); cut + 1 < text.size(); ++cut) {
    const auto file = cut_at(cut);
    const std::size_t lines = whole(cut) == ends[14] ? 15 : 16;
    auto [journal, history] = results::Journal::resume(file);
    ASSERT_EQ(history.warning.empty(), cut <= whole(cut)) << cut;
    ASSERT_EQ(read_file(file), text.substr(0, whole(cut))) << cut;
    ASSERT_EQ(history.events.size(), lines - 1) << cut;

    auto state = engine::fold(history.run, history.events, file.string());
    ASSERT_EQ(state.completed().size(), 7u) << cut;
    for (std::size_t trial = 0; trial < 7; ++trial) {
      const auto& outcome = std::get<hyp::Outcome>(complete.events[2 * trial + 1]);
      ASSERT_EQ(state.completed()[trial].trial, outcome.trial);
      ASSERT_EQ(state.completed()[trial].metrics, std::get<hyp::Completed>(outcome.result).metrics);
    }
    ASSERT_EQ(state.open().size(), lines - 15) << cut;
    const auto trial = next(state);
    ASSERT_EQ(trial.number, 7);
    ASSERT_EQ(trial.hyp, last.hyp) << cut;
  }
}

TEST_F(CutJournal, IsGoneOnWithAsIfNothingHadHappened) {
  const std::size_t start = ends[14], middle = ends[15], end = ends[16];
  for (const auto cut : {start, start + 1, (start + middle) / 2, middle - 1, middle, middle + 1,
                         (middle + end) / 2, end - 2}) {
    cut_at(cut);
    const auto ended = evolve(folder.path(), {"--resume", "run"});
    ASSERT_EQ(ended.code, 0) << ended.err;
    const int line = whole(cut) == start ? 16 : 17;
    const std::string torn =
        "run/journal.jsonl:" + std::to_string(line) + ": the last line is torn and was left out\n";
    if (cut <= whole(cut)) {
      EXPECT_THAT(ended.out, Not(HasSubstr("torn")));
    } else {
      EXPECT_THAT(ended.out, HasSubstr(torn));
    }
    EXPECT_THAT(ended.out, HasSubstr("run: 7 of 8 trials done, going on\n"));
    const auto now = read_file(folder / "run/journal.jsonl");
    EXPECT_EQ(now.substr(0, whole(cut)), text.substr(0, whole(cut)));
    auto added = lines_of(now.substr(whole(cut)));
    ASSERT_EQ(added.size(), 2u);
    const auto but_for_times = [](const std::string& record) {
      auto event = json::parse(record);
      event.erase("seconds");
      event.erase("time");
      return event;
    };
    EXPECT_EQ(but_for_times(added[0]), but_for_times(text.substr(start, middle - start)));
    EXPECT_EQ(but_for_times(added[1]), but_for_times(text.substr(middle)));
    EXPECT_EQ(read_file(folder / "run/evolve.csv"), rows);
  }
}

}  // namespace
}  // namespace evolve::test
