#include "results/run_file.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>

#include "core/file_descriptor.hpp"
#include "tests/results/folder.hpp"

namespace evolve::results {
namespace {

namespace fs = std::filesystem;
using testing::EndsWith;

constexpr std::size_t size = 1 << 20;

/// Replaces the file so often; 1 when that is refused, or what is there is not whole.
int replace_often(const fs::path& file, char letter) try {
  for (int i = 0; i < 100; ++i) {
    write_atomically(file, std::string(size, letter));
    const auto there = read_file(file);
    if (there.size() != size || there != std::string(size, there[0])) return 1;
  }
  return 0;
} catch (const Error&) {
  return 1;
}

TEST(RunFile, LetsTwoProcessesReplaceAFileAtTheSameTime) {
  const Folder folder;
  const auto child = ::fork();
  if (child == 0) ::_exit(replace_often(folder / "report.html", 'a'));
  EXPECT_EQ(replace_often(folder / "report.html", 'b'), 0);
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST(RunFile, RemovesWhatAKilledProcessLeftAnHourAgo) {
  const Folder folder;
  for (const auto* name : {"a.csv.17.tmp", "a.csv.18.tmp", "a.csv.my.tmp", "b.csv.17.tmp"}) {
    write_file(folder / name, "half");
    if (name != std::string("a.csv.18.tmp"))
      fs::last_write_time(folder / name,
                          fs::file_time_type::clock::now() - std::chrono::minutes(61));
  }
  write_atomically(folder / "a.csv", "whole");
  EXPECT_EQ(read_file(folder / "a.csv"), "whole");
  EXPECT_FALSE(fs::exists(folder / "a.csv.17.tmp"));
  EXPECT_TRUE(fs::exists(folder / "a.csv.18.tmp")) << "it may still be written";
  EXPECT_TRUE(fs::exists(folder / "a.csv.my.tmp"));
  EXPECT_TRUE(fs::exists(folder / "b.csv.17.tmp"));
}

TEST(RunFile, WritesAnOutputIntoWhatIsNoRegularFileAndThroughLinks) {
  const Folder folder;
  const auto pipe = folder / "pipe", link = folder / "link.json";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const core::FileDescriptor reader(::open(pipe.c_str(), O_RDONLY | O_NONBLOCK));
  write_output(pipe, "{}");
  char text[3] = {};
  EXPECT_EQ(::read(reader.number(), text, sizeof text), 2);
  EXPECT_STREQ(text, "{}");
  EXPECT_TRUE(fs::is_fifo(pipe));
  write_file(folder / "real.json", "old");
  fs::create_symlink("real.json", link);
  write_output(link, "new");
  EXPECT_EQ(read_file(folder / "real.json"), "new");
  EXPECT_TRUE(fs::is_symlink(link));
}

TEST(RunFile, WritesAnOutputWhereLinksLeadThoughNothingIsThere) {
  const Folder folder;
  fs::create_directory(folder / "pages");
  fs::create_symlink("pages/latest.html", folder / "link.html");
  fs::create_symlink(folder / "pages/17.html", folder / "pages/latest.html");
  write_output(folder / "link.html", "new");
  EXPECT_EQ(read_file(folder / "pages/17.html"), "new");
  EXPECT_TRUE(fs::is_symlink(folder / "link.html"));
  EXPECT_TRUE(fs::is_symlink(folder / "pages/latest.html"));
}

TEST(RunFile, RefusesToWriteALinkThatLeadsToItself) {
  const Folder folder;
  fs::create_symlink("circle.html", folder / "circle.html");
  EXPECT_EQ(run_failure([&] { write_output(folder / "circle.html", "new"); }),
            (folder / "circle.html").string() +
                ": cannot write (Too many levels of symbolic links); mend the disk, or write "
                "elsewhere");
  EXPECT_TRUE(fs::is_symlink(folder / "circle.html"));
}

TEST(RunFile, QuotesTheFolderInItsAdviceAsAShellWants) {
  const Folder folder;
  const auto run = folder / "my run";
  fs::create_directory(run);
  write_file(run / "journal.jsonl", "{}\n");
  const auto advice = [&] { return std::string(write_failed(run / "evolve.csv", ENOSPC).what()); };
  EXPECT_THAT(advice(), EndsWith("go on with evolve --resume '" + run.string() + "'"));
  write_file(run / "hyp.yaml", "");
  EXPECT_THAT(advice(), EndsWith("go on with evolve train --resume '" + run.string() + "'"));
}

TEST(RunFile, AdvisesNobodyToGoOnWithARunThatHasNotBegun) {
  const Folder folder;
  write_file(folder / "journal.jsonl", "{\"event\":\"ru");
  EXPECT_THAT(write_failed(folder / "journal.jsonl", ENOSPC).what(),
              EndsWith("(No space left on device); mend the disk, or write elsewhere"));
}

TEST(RunFile, SaysWhatIsWrongWhereTheDiskTellsNothingMore) {
  const Folder folder;
  fs::create_symlink("run", folder / "run");
  const auto file = folder / "run/evolve.csv";
  EXPECT_EQ(
      write_failed(file, EIO).what(),
      file.string() + ": cannot write (Input/output error); mend the disk, or write elsewhere");
}

}  // namespace
}  // namespace evolve::results
