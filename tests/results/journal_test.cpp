#include "results/journal.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <random>

#include "tests/results/folder.hpp"

namespace {

/// Files of this process cannot be made shorter: a disk that fails.
bool truncation_fails = false;

}  // namespace

/// In the place of the C library's.
extern "C" int ftruncate(int descriptor, off_t length) noexcept {
  if (!truncation_fails) return static_cast<int>(::syscall(SYS_ftruncate, descriptor, length));
  errno = EIO;
  return -1;
}

namespace evolve::results {
namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

const core::Time moment{std::chrono::milliseconds{1250}};

Started started(int trial) {
  return {.trial = trial,
          .generation = trial / 4,
          .hyp = {{"lr0", 0.01}, {"optimizer", "Adam"}},
          .device = "cpu:0"};
}

hyp::Outcome completed(int trial) {
  return {.trial = trial,
          .device = "cpu:0",
          .seconds = 0.5,
          .result = hyp::Completed{{.map50 = 0.25}, 0.025}};
}

/// A run of so many trials; its text.
std::string write_run(const fs::path& file, int trials) {
  Journal journal = Journal::create(file, {.seed = 1});
  for (int trial = 0; trial < trials; ++trial) {
    journal.append(started(trial), moment);
    journal.append(completed(trial), moment);
  }
  journal.commit();
  return read_file(file);
}

TEST(Journal, BeginsWithTheRun) {
  const Folder folder;
  const auto file = folder / "journal.jsonl";
  const RunSettings settings{
      .seed = 1,
      .search = "screened",
      .trials = 12,
      .fitness = "mAP50",
      .slots = {"cpu:0", "cpu:1"},
      .initial = {{{"lr0", 0.02}}},
      .earlier = {{"exp3", {{{{"lr0", 0.03}}, 0.5}, {{{"lr0", 1.0}}, {}}}, 2, 1}},
      .inputs = {{"weights", 7}},
      .options = {{"data", "shapes"}}};
  Journal::create(file, settings);
  EXPECT_EQ(read_file(file),
            R"({"event":"run","version":1,"seed":1,"search":"screened","lag":null,)"
            R"("slots":["cpu:0","cpu:1"],"options":{"data":"shapes","population":50,)"
            R"("generations":300,"trials":12,"max_epochs":null,"epochs":1,"early_stop":true,)"
            R"("repeats":0,"fitness":"mAP50","lag":null},)"
            R"("space":{},"start":{},"initial":[{"lr0":0.02}],)"
            R"("from":[{"run":"exp3","trials":[{"hyp":{"lr0":0.03},"fitness":0.5},)"
            R"({"hyp":{"lr0":1},"fitness":null}],"outside":2,"unnamed":1}],"inputs":{"weights":7}})"
            "\n");
  const auto again = read_journal(file).run;
  EXPECT_EQ(again.trials, 12);
  EXPECT_EQ(again.inputs, settings.inputs);
  EXPECT_EQ(again.fitness, "mAP50");
  EXPECT_EQ(again.slots, settings.slots);
  EXPECT_EQ(again.initial, settings.initial);
  EXPECT_EQ(again.earlier, settings.earlier);
}

TEST(Journal, IsReadInOrder) {
  const Folder folder;
  const auto file = folder / "journal.jsonl";
  write_run(file, 2);
  const JournalContents contents = read_journal(file);
  EXPECT_EQ(contents.run.seed, 1);
  EXPECT_EQ(contents.warning, "");
  ASSERT_EQ(contents.events.size(), 4u);
  EXPECT_EQ(std::get<Started>(contents.events[2]), started(1));
  EXPECT_EQ(std::get<hyp::Outcome>(contents.events[3]).result, completed(1).result);
}

TEST(Journal, SaysWhenEachLineWasWritten) {
  const Folder folder;
  const auto file = folder / "journal.jsonl";
  const auto text = write_run(file, 1);
  EXPECT_NE(text.find(R"("seconds":0.5,"time":"1970-01-01T00:00:01.250Z"})"), std::string::npos);
  EXPECT_EQ(read_journal(file).times, std::vector(2, moment));
  // A line of before may have whole seconds, none, or a time that nobody can read.
  write_file(file,
             text.substr(0, text.find('\n') + 1) +
                 "{\"event\":\"cannot_pause\",\"time\":\"2026-05-01T12:00:00Z\"}\n"
                 "{\"event\":\"cannot_pause\"}\n{\"event\":\"cannot_pause\",\"time\":\"now\"}\n");
  EXPECT_EQ(read_journal(file).times,
            (std::vector{*core::parse_time("2026-05-01T12:00:00Z"), core::Time{}, core::Time{}}));
}

TEST(Journal, WritesNothingBeforeTheCommit) {
  const Folder folder;
  const auto file = folder / "journal.jsonl";
  Journal journal = Journal::create(file, RunSettings{});
  journal.append(started(0));
  journal.append(UnknownEvent{{{"event", "weather"}, {"sun", true}}});
  EXPECT_TRUE(read_journal(file).events.empty());
  journal.commit();
  journal.commit();
  const JournalContents contents = read_journal(file);
  ASSERT_EQ(contents.events.size(), 2u);
  EXPECT_EQ(std::get<UnknownEvent>(contents.events[1]).json["sun"], true);
}

TEST(Journal, IsCutAtAnyByteOfItsLastTwoRecordsAndGoesOn) {
  const Folder folder;
  const auto file = folder / "journal.jsonl";
  const std::string text = write_run(file, 3);
  std::vector<std::size_t> ends;  // of each line
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\n') ends.push_back(i + 1);
  }
  ASSERT_EQ(ends.size(), 7u);
  for (std::size_t cut = ends[4]; cut <= text.size(); ++cut) {
    write_file(file, text.substr(0, cut));
    // Of a last line that lacks nothing but its end no editor has taken a word.
    const auto next = std::upper_bound(ends.begin(), ends.end(), cut + 1);
    const std::size_t whole = *(next - 1);
    const auto lines = static_cast<std::size_t>(next - ends.begin());
    {
      auto [journal, contents] = Journal::resume(file);
      ASSERT_EQ(contents.events.size(), lines - 1) << cut;
      ASSERT_EQ(contents.warning.empty(), cut <= whole) << cut;
      ASSERT_EQ(fs::file_size(file), whole) << cut;
      for (std::size_t line = lines; line < ends.size(); ++line) {
        if (line % 2 == 1) journal.append(started(static_cast<int>(line / 2)), moment);
        if (line % 2 == 0) journal.append(completed(static_cast<int>(line / 2) - 1), moment);
      }
      journal.commit();
    }
    ASSERT_EQ(read_file(file), text) << cut;
  }
}

TEST(Journal, SaysThatItsLastLineIsTorn) {
  const Folder folder;
  const auto file = folder / "journal.jsonl";
  const std::string text = write_run(file, 1);
  write_file(file, text + std::string(100, '\0'));
  const JournalContents contents = read_journal(file);
  EXPECT_EQ(contents.warning, file.string() + ":4: the last line is torn and was left out");
  EXPECT_EQ(contents.events.size(), 2u);
  EXPECT_EQ(fs::file_size(file), text.size() + 100) << "reading changes nothing";
}

TEST(Journal, PassesOverEmptyLinesAndGoesOnBehindThem) {
  const Folder folder;
  const auto file = folder / "journal.jsonl";
  const std::string text = write_run(file, 1) + "\n \r\n";
  for (const std::string end : {"", "\t"}) {
    write_file(file, "\n" + text + end);
    auto [journal, contents] = Journal::resume(file);
    EXPECT_EQ(contents.warning, "");
    EXPECT_EQ(contents.events.size(), 2u);
    journal.append(started(1), moment);
    journal.commit();
    EXPECT_EQ(read_journal(file).events.size(), 3u);
  }
}

TEST(Journal, RefusesADamagedMiddleWithItsLine) {
  const Folder folder;
  const auto file = folder / "journal.jsonl";
  std::string text = write_run(file, 2);
  const auto third = text.find('\n', text.find('\n') + 1) + 1;
  text[third + 5] = '\0';
  write_file(file, text);
  const std::string line =
      file.string() +
      ":3: this line is damaged; restore the journal from a copy, or start a new run";
  EXPECT_EQ(refusal([&] { read_journal(file); }), line);
  EXPECT_EQ(refusal([&] { Journal::resume(file); }), line);
  EXPECT_EQ(read_file(file), text);
}

TEST(Journal, RefusesALineThatLacksAKey) {
  const Folder folder;
  const auto file = folder / "journal.jsonl";
  write_file(file, write_run(file, 1) + "{\"event\":\"started\",\"trial\":2}\n");
  EXPECT_EQ(
      refusal([&] { read_journal(file); }),
      file.string() +
          ":4: key generation is missing; restore the journal from a copy, or start a new run");
}

TEST(Journal, RefusesNumbersThatNoTrialHas) {
  const Folder folder;
  const auto file = folder / "journal.jsonl";
  const auto run = write_run(file, 1);
  for (const auto* line : {R"({"event":"rung","trial":4294967296,"epoch":1})",
                           R"({"event":"extended","generations":"many","trials":null})",
                           R"({"event":"extended","generations":3})"}) {
    write_file(file, run + line + "\n");
    EXPECT_EQ(refusal([&] { read_journal(file); }).substr(0, file.string().size() + 3),
              file.string() + ":4:");
  }
}

TEST(Journal, RefusesALineThatIsNestedTooDeeply) {
  const Folder folder;
  const auto file = folder / "journal.jsonl";
  constexpr std::size_t depth = 1000000;
  write_file(file, write_run(file, 1) + R"({"event":"weather","sun":)" + std::string(depth, '[') +
                       std::string(depth, ']') + "}\n");
  EXPECT_EQ(refusal([&] { read_journal(file); }),
            file.string() +
                ":4: this line is nested too deeply; restore the journal from a copy, or start a "
                "new run");
}

TEST(Journal, RefusesAnythingButARunOfVersion1) {
  const Folder folder;
  const auto file = folder / "journal.jsonl";
  const auto refused = [&](const std::string& text) {
    write_file(file, text);
    return refusal([&] { Journal::resume(file); }).substr(file.string().size());
  };
  const std::string remedy = "; name the folder of a run, or start a new one";
  EXPECT_EQ(refused(""), ": this journal holds no run; start a new run");
  EXPECT_EQ(refused("{\"event\":\"run\",\"vers"), ": this journal holds no run; start a new run");
  EXPECT_EQ(refused("{\"event\":\"started\"}\n"), ":1: the first line is no run event" + remedy);
  EXPECT_EQ(refused("[1]\n"), ":1: the first line is no run event" + remedy);
  EXPECT_EQ(refused("{\"event\":\"run\",\"version\":2}\n"),
            ":1: this journal has version 2, this evolve knows version 1" + remedy);
  EXPECT_EQ(refused("{\"event\":\"run\"}\n"),
            ":1: this journal has version null, this evolve knows version 1" + remedy);
  EXPECT_EQ(refused("words\nwords\n"),
            ":1: this line is damaged; restore the journal from a copy, or start a new run");
}

TEST(Journal, HasOneWriter) {
  const Folder folder;
  const auto file = folder / "journal.jsonl";
  const std::string busy =
      file.string() +
      ": another evolve is at work on this run; wait until it ends, or choose another folder";
  {
    const Journal journal = Journal::create(file, RunSettings{});
    EXPECT_EQ(refusal([&] { Journal::resume(file); }), busy);
    EXPECT_EQ(refusal([&] { Journal::create(file, RunSettings{}); }), busy);
    EXPECT_TRUE(read_journal(file).events.empty()) << "readers are free";
  }
  EXPECT_EQ(refusal([&] { Journal::resume(file); }), "accepted");
}

TEST(Journal, IsNeverBegunTwice) {
  const Folder folder;
  const auto file = folder / "journal.jsonl";
  const std::string text = write_run(file, 1);
  EXPECT_EQ(refusal([&] { Journal::create(file, RunSettings{}); }),
            folder.path().string() + ": this folder holds a run already; go on with it (--resume " +
                folder.path().string() + ") or choose another folder");
  EXPECT_EQ(read_file(file), text);
  write_file(file, "{\"event\":\"ru");  // a power cut at the very beginning
  Journal::create(file, RunSettings{});
  EXPECT_EQ(read_journal(file).events.size(), 0u);
}

TEST(Journal, QuotesItsFolderInAdviceAsAShellWants) {
  const Folder folder;
  fs::create_directory(folder / "my run");
  const auto file = folder / "my run/journal.jsonl";
  write_run(file, 1);
  const auto quoted = "--resume '" + (folder / "my run").string() + "'";
  EXPECT_THAT(refusal([&] { Journal::create(file, RunSettings{}); }), testing::HasSubstr(quoted));
}

/// A journal with a group of two events that is not committed yet.
struct OpenGroup {
  const Folder folder;
  const fs::path file = folder / "journal.jsonl";
  Journal journal = Journal::create(file, RunSettings{});
  const std::string before = read_file(file);
  OpenGroup() {
    journal.append(started(0));
    journal.append(completed(0));
  }
};

TEST(Journal, OnAFullDiskLeavesNoTornLineAndTriesAgain) {
  OpenGroup open;
  {
    const FullDisk disk(open.before.size() + 50);
    EXPECT_EQ(run_failure([&] { open.journal.commit(); }),
              open.file.string() +
                  ": cannot write (File too large); all finished trials are safe: mend the disk, "
                  "then go on with evolve --resume " +
                  open.folder.path().string());
    EXPECT_EQ(read_file(open.file), open.before);
  }
  open.journal.commit();
  EXPECT_EQ(read_journal(open.file).events.size(), 2u);
}

TEST(Journal, WritesNothingBehindATornLineThatCouldNotBeCutOff) {
  OpenGroup open;
  truncation_fails = true;
  {
    const FullDisk disk(open.before.size() + 50);
    EXPECT_THAT(run_failure([&] { open.journal.commit(); }),
                testing::HasSubstr("(File too large)"));
  }
  const std::string torn = read_file(open.file);
  EXPECT_EQ(torn.size(), open.before.size() + 50);
  EXPECT_THAT(run_failure([&] { open.journal.commit(); }),
              testing::HasSubstr("(Input/output error)"));
  EXPECT_EQ(read_file(open.file), torn);
  truncation_fails = false;
  open.journal.append(started(1));
  open.journal.commit();
  const JournalContents contents = read_journal(open.file);
  EXPECT_EQ(contents.events.size(), 3u);
  EXPECT_EQ(contents.warning, "");
}

TEST(Journal, CommitsNothingToAFileThatWasRemovedOrReplaced) {
  for (const int way : {0, 1, 2, 3}) {
    const bool kept = way % 2 == 1, replaced = way > 1;
    OpenGroup open;
    fs::rename(open.file, open.file.string() + "~");  // an editor's copy of what was there before
    if (!kept) fs::remove(open.file.string() + "~");
    if (replaced) write_file(open.file, open.before);
    EXPECT_EQ(run_failure([&] { open.journal.commit(); }),
              open.file.string() +
                  ": somebody has moved or removed it, or put another file in its place; bring it "
                  "back, or restore it from a copy, then go on with evolve --resume " +
                  open.file.parent_path().string());
  }
}

TEST(Journal, CommitsNothingToAFileThatSomebodyElseHasWrittenTo) {
  for (const bool shorter : {true, false}) {
    OpenGroup open;
    fs::resize_file(open.file, shorter ? 0 : open.before.size() + 1);
    EXPECT_EQ(run_failure([&] { open.journal.commit(); }),
              open.file.string() +
                  ": somebody has written to it, or cut it off; restore it from a copy, then go on "
                  "with evolve --resume " +
                  open.file.parent_path().string());
  }
}

TEST(Journal, TakesMessagesThatAreNoUtf8) {
  const Folder folder;
  const auto file = folder / "journal.jsonl";
  Journal journal = Journal::create(file, RunSettings{});
  journal.append(hyp::Outcome{.result = hyp::Failed{.message = "bad \xff\nbyte"}});
  journal.commit();
  const auto outcome = std::get<hyp::Outcome>(read_journal(file).events.at(0));
  EXPECT_EQ(std::get<hyp::Failed>(outcome.result).message, "bad \uFFFD\nbyte");
}

TEST(Journal, LosesNoWholeLineToAKillAtAnyMoment) {
  const Folder folder;
  const auto file = folder / "journal.jsonl";
  Journal::create(file, RunSettings{});
  std::mt19937 random(5);
  std::size_t before = 0;
  for (int round = 0; round < 20; ++round) {
    const pid_t writer = ::fork();
    if (writer == 0) {
      auto [journal, contents] = Journal::resume(file);
      // The kill may have come between the lines of a group.
      for (std::size_t i = contents.events.size();; ++i) {
        const int trial = static_cast<int>(i / 2);
        i % 2 == 0 ? journal.append(started(trial)) : journal.append(completed(trial));
        if (i % 2 == 1) journal.commit();
      }
    }
    ::usleep(1000 + random() % 20000);
    ::kill(writer, SIGKILL);
    ::waitpid(writer, nullptr, 0);
    const JournalContents contents = read_journal(file);
    ASSERT_GE(contents.events.size(), before);
    before = contents.events.size();
    for (std::size_t i = 0; i < before; ++i) {
      const auto* start = std::get_if<Started>(&contents.events[i]);
      const auto* outcome = std::get_if<hyp::Outcome>(&contents.events[i]);
      ASSERT_TRUE(i % 2 == 0 ? start : static_cast<const void*>(outcome));
      ASSERT_EQ(start ? start->trial : outcome->trial, static_cast<int>(i / 2));
    }
  }
  EXPECT_GT(before, 0u);
}

TEST(Journal, RefusesALastLineThatWasWrittenToItsEndAndDamagedSince) {
  const Folder folder;
  const auto file = folder / "journal.jsonl";
  const auto text = write_run(file, 1);
  auto damaged = text;
  damaged[damaged.rfind("\":")] = ';';
  write_file(file, damaged);
  EXPECT_EQ(refusal([&] { Journal::resume(file); }),
            file.string() +
                ":3: this line is damaged; mend it, or remove it: what it tells of is "
                "then trained again");
  EXPECT_EQ(read_file(file), damaged);
}

TEST(Journal, LeavesOutATornLastLineThoughANewlineFollowsIt) {
  const Folder folder;
  const auto file = folder / "journal.jsonl";
  write_file(file, write_run(file, 1) + "{\"event\":\"comp\n");  // an editor has saved it
  const auto contents = read_journal(file);
  EXPECT_EQ(contents.events.size(), 2u);
  EXPECT_EQ(contents.warning, file.string() + ":4: the last line is torn and was left out");
}

TEST(Journal, LeavesOutALastLineOfWhichAPageIsMissing) {
  const Folder folder;
  const auto file = folder / "journal.jsonl";
  auto text = write_run(file, 1);
  text.replace(text.size() - 20, 8, 8, '\0');  // a power cut may leave zeros
  write_file(file, text);
  EXPECT_EQ(read_journal(file).warning,
            file.string() + ":3: the last line is torn and was left out");
}

}  // namespace
}  // namespace evolve::results
