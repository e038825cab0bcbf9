#include "cli/explanation.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <filesystem>

#include "cli/commands.hpp"
#include "core/utf8.hpp"
#include "engine/explanation.hpp"
#include "engine/fold.hpp"
#include "results/journal.hpp"
#include "tests/engine/trials.hpp"
#include "tests/refusal.hpp"
#include "tests/results/folder.hpp"

namespace evolve::cli {
namespace {

using testing::HasSubstr;

results::Explanation explained(const std::vector<results::Event>& events) {
  return engine::explain(engine::fold(engine::small_run, events, "exp", 0), "exp");
}

TEST(Explain, PrintsATableOf80ColumnsAndWhatItIsWorth) {
  const auto lines = explanation_lines(explained(engine::trials(50, engine::depends)));
  ASSERT_EQ(lines.size(), 11U);
  EXPECT_THAT(lines[0], HasSubstr("50 trials completed, highest fitness 0."));
  EXPECT_THAT(lines[4], testing::StartsWith("lr0        "));
  EXPECT_THAT(lines[3], testing::EndsWith("  start → highest"));
  EXPECT_THAT(lines[5], HasSubstr("SGD → A"));
  for (const auto& line : lines) EXPECT_LE(core::characters(line), 80U) << line;
}

TEST(Explain, SaysWhereItsSharesAreGuesses) {
  auto explanation = explained(engine::trials(40, engine::depends));
  explanation.known = 0.05;
  const auto lines = explanation_lines(explanation);
  EXPECT_EQ(lines[2], "the trials cover so little that the shares are guesses: go by the loss");
  for (const auto& line : lines) EXPECT_LE(core::characters(line), 80U) << line;
}

TEST(Explain, SaysThatNoiseExplainsNothing) {
  int i = 0;
  const auto lines = explanation_lines(
      explained(engine::trials(40, [&](const auto&) { return std::fmod(++i * 0.618, 1); })));
  EXPECT_EQ(lines[2], "these figures mean little, more trials would help");
}

TEST(Explain, ReadsARunThatIsGoingOnAndLeavesItsJournalAlone) {
  const results::Folder folder;
  const auto file = folder / "journal.jsonl";
  auto journal = results::Journal::create(file, engine::small_run);
  for (const auto& event : engine::trials(12, engine::depends)) journal.append(event);
  journal.commit();
  const auto before = test::read_file(file);
  CLI::App app;
  const auto command = explain_command(app);
  app.parse("explain " + folder.path().string());
  EXPECT_EQ(command.run(), 0);
  EXPECT_EQ(test::read_file(file), before);
  EXPECT_EQ(test::read_file(folder / "explain.png").substr(1, 3), "PNG");
}

TEST(Explain, PrintsItsTableAlsoWhereTheRunsFolderTakesNoPicture) {
  const results::Folder folder;
  auto journal = results::Journal::create(folder / "journal.jsonl", engine::small_run);
  for (const auto& event : engine::trials(12, engine::depends)) journal.append(event);
  journal.commit();
  std::filesystem::create_directory(folder / "explain.png");
  CLI::App app;
  const auto command = explain_command(app);
  app.parse("explain " + folder.path().string());
  testing::internal::CaptureStdout();
  EXPECT_THAT(test::refusal([&] { command.run(); }), HasSubstr("explain.png: is a folder"));
  EXPECT_THAT(testing::internal::GetCapturedStdout(), HasSubstr("12 trials completed"));
}

}  // namespace
}  // namespace evolve::cli
