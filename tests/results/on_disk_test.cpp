// What is on the disk when a power cut comes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <functional>
#include <map>
#include <vector>

#include "results/journal.hpp"
#include "results/run_directory.hpp"
#include "results/run_file.hpp"
#include "tests/results/folder.hpp"

namespace {

/// What is called with each file, or folder, that is sent to the disk.
std::function<void(const std::string& file)> on_sync;
/// What is called with each file whose data are sent there.
std::function<void(const std::string& file)> on_data_sync;
/// How long each file was when its data were last sent to the disk.
std::map<std::string, off_t> on_the_disk;

}  // namespace

/// In the place of the C library's.
extern "C" int fsync(int descriptor) {
  if (on_sync) on_sync(evolve::test::file_of(descriptor));
  return static_cast<int>(::syscall(SYS_fsync, descriptor));
}
extern "C" int fdatasync(int descriptor) {
  if (on_data_sync) on_data_sync(evolve::test::file_of(descriptor));
  struct stat file {};
  ::fstat(descriptor, &file);
  on_the_disk[evolve::test::file_of(descriptor)] = file.st_size;
  return static_cast<int>(::syscall(SYS_fdatasync, descriptor));
}

namespace evolve::results {
namespace {

using testing::ElementsAre;
namespace fs = std::filesystem;

/// What is sent to the disk meanwhile.
std::vector<std::string> synced(const std::function<void()>& act) {
  std::vector<std::string> files;
  on_sync = [&](const std::string& file) { files.push_back(file); };
  act();
  on_sync = {};
  return files;
}

TEST(OnDisk, IsWhatWasCommittedToAJournal) {
  const Folder folder;
  const auto file = fs::canonical(folder.path()) / "journal.jsonl";
  Journal journal = Journal::create(file, RunSettings{});
  const auto length = [&] { return static_cast<off_t>(fs::file_size(file)); };
  EXPECT_EQ(on_the_disk[file], length());
  for (int trial = 0; trial < 3; ++trial) {
    journal.append(Started{.trial = trial});
    journal.append(hyp::Outcome{.trial = trial});
    journal.commit();
    EXPECT_EQ(on_the_disk[file], length());
  }
}

TEST(OnDisk, AJournalThatIsMovedMeanwhileIsMissed) {
  const Folder folder;
  const auto file = folder / "journal.jsonl";
  Journal journal = Journal::create(file, RunSettings{});
  journal.append(Started{});
  on_data_sync = [&](const std::string&) { fs::rename(file, file.string() + "~"); };
  const auto said = run_failure([&] { journal.commit(); });
  on_data_sync = {};
  EXPECT_THAT(said, testing::HasSubstr("somebody has moved or removed it"));
}

TEST(OnDisk, IsAFileBeforeItTakesThePlaceOfTheOldOne) {
  const Folder folder;
  const auto file = folder / "hyp_evolved.yaml";
  write_file(file, "old");
  std::string there, written;
  on_sync = [&](const std::string& temporary) {
    there = read_file(file);
    written = read_file(temporary);
  };
  write_atomically(file, "new");
  on_sync = {};
  EXPECT_EQ(written, "new") << "after a power cut it would be empty";
  EXPECT_EQ(there, "old");
  EXPECT_EQ(read_file(file), "new");
}

TEST(OnDisk, IsTheNameOfANewRunAndOfItsJournal) {
  const Folder folder;
  const auto root = fs::canonical(folder.path());
  const auto exp = root / "evolve/exp";
  EXPECT_THAT(synced([&] { create_run(root / "evolve", "exp", false); }),
              ElementsAre(root, root / "evolve"));
  EXPECT_THAT(synced([&] { create_run(root / "evolve", "exp", false); }),
              ElementsAre(root / "evolve"));
  EXPECT_THAT(synced([&] { create_run_at(root / "other/run"); }),
              testing::UnorderedElementsAre(root, root / "other"));
  EXPECT_THAT(synced([&] { Journal::create(exp / "journal.jsonl", RunSettings{}); }),
              ElementsAre(exp));
}

}  // namespace
}  // namespace evolve::results
