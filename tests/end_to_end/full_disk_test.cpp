// Disks that are full and folders that cannot be written: the run ends, and all it had finished is
// there when it goes on.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "process.hpp"

namespace evolve::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

/// Expects that the run, which had finished so many trials, goes on to so many.
void expect_to_go_on(const Folder& folder, int finished, int trials) {
  const auto ended = evolve(folder.path(), {"--resume", "run", "--trials", std::to_string(trials)});
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("run: " + std::to_string(finished) + " of "));
  EXPECT_EQ(count(journal(folder / "run"), "completed"), trials);
  EXPECT_EQ(lines_of(read_file(folder / "run/evolve.csv")).size(),
            1u + static_cast<std::size_t>(trials));
}

TEST(FullDisk, OfTheJournalEndsTheRunWith1AndKeepsWhatWasFinished) {
  Folder folder;
  const auto full = evolve(folder.path(),
                           {"--trainer-command", fake_trainer(), "--devices", "cpu:0", "--trials",
                            "200", "--population", "10", "--output", "run"},
                           20000);
  EXPECT_EQ(full.code, 1) << full.out;
  EXPECT_EQ(full.err,
            "evolve: run/journal.jsonl: cannot write (File too large); all finished trials are "
            "safe: mend the disk, then go on with evolve --resume run\n");
  const int safe = count(journal(folder / "run"), "completed");
  EXPECT_GT(safe, 0);
  EXPECT_THAT(prometheus(folder / "run"), HasSubstr("\nevolve_going_on{run=\"run\"} 0\n"));
  expect_to_go_on(folder, safe, 40);
}

TEST(Output, ThatNobodyReadsAnyMoreEndsNoRun) {
  Folder folder;
  const auto command = "'" EVOLVE_BINARY "' --trainer-command '" + fake_trainer() +
                       "' --devices cpu:0 --trials 5 --output run | true";
  EXPECT_EQ(Process({"/bin/sh", "-c", command}, folder.path()).wait().code, 0);
  EXPECT_EQ(count(journal(folder / "run"), "completed"), 5);
  EXPECT_TRUE(fs::exists(folder / "run/hyp_evolved.yaml"));
}

TEST(FullDisk, OfWhatACommandPrintsIsSaid) {
  Folder folder;
  ASSERT_EQ(evolve(folder.path(), {"--trainer-command", fake_trainer(), "--devices", "cpu:0",
                                   "--trials", "12", "--output", "run"})
                .code,
            0);
  for (const std::vector<std::string>& arguments : {std::vector<std::string>{"--version"},
                                                    {"--help"},
                                                    {"train", "--help"},
                                                    {"devices"},
                                                    {"devices", "--json"},
                                                    {"explain", "run"},
                                                    {"plot", "run"},
                                                    {"report", "run"},
                                                    {"dataset", "shapes", "shapes"},
                                                    {"--resume", "run", "--dry-run"}}) {
    std::vector<std::string> command = {"/bin/sh", "-c", "exec \"$@\" >/dev/full", "sh"};
    const auto words = evolve_command(arguments);
    command.insert(command.end(), words.begin(), words.end());
    const auto ended = Process(command, folder.path()).wait();
    EXPECT_EQ(ended.code, 1) << arguments.front();
    EXPECT_EQ(
        ended.err,
        "evolve: standard output: cannot write all of it; make room, or print it elsewhere\n");
  }
}

TEST(FullDisk, OfWhatARunPrintsEndsNoRun) {
  Folder folder;
  const auto command = "'" EVOLVE_BINARY "' --trainer-command '" + fake_trainer() +
                       "' --devices cpu:0 --trials 5 --output run >/dev/full";
  const auto ended = Process({"/bin/sh", "-c", command}, folder.path()).wait();
  EXPECT_EQ(ended.code, 0);
  EXPECT_EQ(ended.err, "");
  EXPECT_EQ(count(journal(folder / "run"), "completed"), 5);
}

// What a trial leaves at its pause no other training writes: that others end well says nothing.
TEST(FullDisk, OfWhatTrialsLeaveAtTheirPausesEndsTheRunAndFailsNoTrialForGood) {
  for (const std::string devices : {"cpu:0", "npu:0,npu:1"}) {
    Folder folder;
    const auto full =
        evolve(folder.path(),
               {"--trainer-command", fake_trainer("--pauses --noise --full-at-pauses"), "--devices",
                devices, "--epochs", "9", "--max-epochs", "200", "--lag", "2", "--output", "run"});
    EXPECT_EQ(full.code, 1) << full.out;
    EXPECT_THAT(full.err, HasSubstr("No space left on device"));
    for (const auto& event : journal(folder / "run")) {
      if (event["event"] == "failed") {
        EXPECT_EQ(event["final"], false);
      }
    }
    EXPECT_EQ(evolve(folder.path(), {"--resume", "run", "--dry-run"}).code, 0);
  }
}

TEST(FullDisk, OfOneTrialAloneIsItsOwnFault) {
  Folder folder;
  const auto ended = evolve(
      folder.path(),
      {"--trainer-command", fake_trainer("--pauses --noise --full-at-pauses-of 1"), "--devices",
       "npu:0,npu:1", "--epochs", "9", "--max-epochs", "100", "--output", "run"});
  EXPECT_EQ(ended.code, 0) << ended.err;
  int failures = 0, final_ones = 0;
  for (const auto& event : journal(folder / "run")) {
    if (event["event"] != "failed") continue;
    EXPECT_EQ(event["trial"], 1);
    ++failures;
    final_ones += event["final"] == true;
  }
  EXPECT_EQ(final_ones, 1);
  // Once on each device; then three attempts, between which it may come before another is paused.
  EXPECT_LE(failures, 2 + 3 + 2);
}

TEST(FullDisk, OfALogEndsTheRunWith1AndKeepsWhatWasFinished) {
  Folder folder;
  const auto full = evolve(folder.path(),
                           {"--trainer-command", fake_trainer("--chatter 30000 --crash-trial 5"),
                            "--devices", "cpu:0", "--trials", "10", "--output", "run"},
                           40000);
  EXPECT_EQ(full.code, 1) << full.out;
  // Another attempt adds to the log of the first.
  const auto log = (folder / "run/trials/000005/log").string();
  EXPECT_EQ(full.err, "evolve: " + log +
                          ": cannot write (File too large); all finished trials are safe: mend the "
                          "disk, then go on with evolve --resume " +
                          (folder / "run").string() + "\n");
  EXPECT_EQ(count(journal(folder / "run"), "completed"), 5);
  EXPECT_EQ(evolve(folder.path(), {"--resume", "run"}).code, 0);
  EXPECT_EQ(count(journal(folder / "run"), "completed"), 9);
}

/// A run on a disk that gets full, for this file alone, when three trials have completed. `beside`:
/// the file is written beside its place first.
Ended fill_up(const Folder& folder, const std::string& file, bool beside) {
  Process process(
      evolve_command({"--trainer-command", fake_trainer("--sleep 30"), "--devices", "cpu:0",
                      "--trials", "200", "--population", "5", "--output", "run"}),
      folder.path());
  EXPECT_TRUE(eventually([&] { return count(journal(folder / "run"), "completed") >= 3; }));
  const auto written = beside ? file + "." + std::to_string(process.pid()) + ".tmp" : file;
  // Again and again: what is being written when it comes is put in its place, this link too.
  EXPECT_TRUE(eventually([&] {
    fs::create_symlink("/dev/full", folder / "full");
    fs::rename(folder / "full", folder / ("run/" + written));
    return !alive(process.pid());
  }));
  return process.wait();
}

TEST(FullDisk, OfAnyOtherFileEndsTheRunWith1AndKeepsWhatWasFinished) {
  for (const auto& [file, beside] :
       {std::pair("evolve.csv", false), std::pair("hyp_evolved.yaml", true),
        std::pair("evolve_population.yaml", true)}) {
    Folder folder;
    const auto full = fill_up(folder, file, beside);
    EXPECT_EQ(full.code, 1) << full.out;
    EXPECT_EQ(full.err, std::string("evolve: run/") + file +
                            ": cannot write (No space left on device); all finished trials are "
                            "safe: mend the disk, then go on with evolve --resume run\n");
    const int safe = count(journal(folder / "run"), "completed");
    EXPECT_GE(safe, 3);
    expect_to_go_on(folder, safe, safe + 3);
  }
}

TEST(FullDisk, AtTheVeryBeginningEndsTheRunWith1) {
  Folder folder;
  fs::create_directory(folder / "run");
  const std::string script = "ln -s /dev/full run/opt.yaml.$$.tmp; exec \"$0\" \"$@\"";
  auto command = evolve_command({"--trainer-command", fake_trainer(), "--devices", "cpu:0",
                                 "--trials", "3", "--output", "run"});
  command.insert(command.begin(), {"/bin/sh", "-c", script});
  const auto full = Process(command, folder.path()).wait();
  EXPECT_EQ(full.code, 1) << full.out;
  EXPECT_THAT(full.err, HasSubstr("run/opt.yaml: cannot write (No space left on device); "));
  expect_to_go_on(folder, 0, 3);
}

TEST(FullDisk, OfThePlotCostsThePlotOnly) {
  Folder folder;
  fs::create_directories(folder / "run/evolve.png");
  const auto ended = evolve(folder.path(), {"--trainer-command", fake_trainer(), "--devices",
                                            "cpu:0", "--trials", "3", "--output", "run"});
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("no plot: "));
}

/// A folder for a user who may not write everywhere, as root may: nobody, where we are root.
class Unprivileged {
 public:
  Unprivileged() {
    fs::permissions(folder.path(), fs::perms(0755));
    for (const auto* program : {EVOLVE_BINARY, FAKE_TRAINER_BINARY})
      fs::copy_file(program, folder / fs::path(program).filename().string());
    fs::create_directory(home());
    if (::geteuid() == 0 && ::chown(home().c_str(), nobody, nobody) != 0)
      throw std::runtime_error("chown");
  }

  fs::path home() const { return folder / "home"; }
  std::vector<std::string> command(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), (folder / "evolve").string());
    if (::geteuid() != 0) return arguments;
    const auto id = std::to_string(nobody);
    arguments.insert(arguments.begin(),
                     {"/usr/bin/setpriv", "--reuid=" + id, "--regid=" + id, "--clear-groups"});
    return arguments;
  }
  std::string trainer(const std::string& options) const {
    return (folder / "fake_trainer").string() + " " + options;
  }

 private:
  static constexpr unsigned nobody = 65534;
  Folder folder;
};

TEST(ReadOnly, FolderIsRefusedBeforeAnythingRuns) {
  const Unprivileged user;
  fs::permissions(user.home(), fs::perms(0555));
  const auto ended = Process(user.command({"--trainer-command", user.trainer(""), "--devices",
                                           "cpu:0", "--trials", "3", "--output", "run"}),
                             user.home())
                         .wait();
  EXPECT_EQ(ended.code, 2) << ended.out;
  EXPECT_EQ(ended.err,
            "evolve: run: Permission denied; choose another folder with --project or --output\n");
}

TEST(ReadOnly, RunEndsWith1AndGoesOnWhenItCanBeWritten) {
  const Unprivileged user;
  const auto run = user.home() / "run";
  {
    Process process(user.command({"--trainer-command", user.trainer("--sleep 30"), "--devices",
                                  "cpu:0", "--trials", "200", "--output", "run"}),
                    user.home());
    ASSERT_TRUE(eventually([&] { return count(journal(run), "completed") >= 3; }));
    fs::permissions(run / "trials", fs::perms(0555));
    const auto ended = process.wait();
    EXPECT_EQ(ended.code, 1) << ended.out;
    EXPECT_THAT(ended.err,
                HasSubstr("/log: cannot write (Permission denied); all finished trials are safe: "
                          "look at its permissions, and at what is in its place, then go on with "
                          "evolve --resume " +
                          run.string() + "\n"));
  }
  const int safe = count(journal(run), "completed");
  EXPECT_GE(safe, 3);
  fs::permissions(run / "trials", fs::perms(0755));
  const auto ended =
      Process(user.command({"--resume", "run", "--trials", std::to_string(safe + 3)}), user.home())
          .wait();
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(count(journal(run), "completed"), safe + 3);
}

TEST(ReadOnly, RunIsDrawnAndShownElsewhere) {
  const Unprivileged user;
  const auto evolve = [&](const std::vector<std::string>& arguments) {
    return Process(user.command(arguments), user.home()).wait();
  };
  ASSERT_EQ(evolve({"--trainer-command", user.trainer(""), "--devices", "cpu:0", "--trials", "1",
                    "--output", "run"})
                .code,
            0);
  fs::create_symlink("run/page.html", user.home() / "link.html");
  fs::permissions(user.home() / "run", fs::perms(0555));
  for (const auto& [command, file] : {std::pair("plot", "evolve.png"), {"report", "report.html"}}) {
    const auto refused = evolve({command, "run"});
    EXPECT_EQ(refused.code, 2) << refused.out;
    EXPECT_EQ(refused.err, "evolve: run/" + std::string(file) +
                               ": cannot write there (Permission denied); write elsewhere with -o "
                               "FILE\n");
    const auto elsewhere = evolve({command, "run", "-o", file});
    EXPECT_EQ(elsewhere.code, 0) << elsewhere.err;
    EXPECT_TRUE(fs::exists(user.home() / file));
  }
  const auto link = evolve({"report", "run", "-o", "link.html"});  // which leads there
  EXPECT_EQ(link.code, 2) << link.out;
  EXPECT_THAT(link.err, testing::HasSubstr("link.html: cannot write there (Permission denied)"));
}

TEST(ReadOnly, PathBelowAFileIsRefused) {
  Folder folder;
  write_file(folder / "file", "");
  const auto ended = evolve(folder.path(), {"--trainer-command", fake_trainer(), "--devices",
                                            "cpu:0", "--output", "file/run"});
  EXPECT_EQ(ended.code, 2) << ended.out;
  EXPECT_EQ(ended.err,
            "evolve: file/run: Not a directory; choose another folder with --project or "
            "--output\n");
}

}  // namespace
}  // namespace evolve::test
