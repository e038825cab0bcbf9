#include "results/plots/gnuplot.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "tests/results/folder.hpp"

namespace {

/// This process gets no files in memory: a system that forbids them.
bool memory_files_fail = false;

}  // namespace

/// In the place of the C library's.
extern "C" int memfd_create(const char* name, unsigned flags) noexcept {
  if (!memory_files_fail) return static_cast<int>(::syscall(SYS_memfd_create, name, flags));
  errno = EACCES;
  return -1;
}

namespace evolve::results {
namespace {

TEST(Gnuplot, KeepsWhatItDraws) {
  const Folder folder;
  run_gnuplot("set terminal svg\nplot x\n", folder / "a.svg");
  EXPECT_EQ(read_file(folder / "a.svg").substr(0, 5), "<?xml");
}

TEST(Gnuplot, IsToldTextsAsUtf8InOneLine) {
  EXPECT_EQ(gnuplot_quoted("it's \xff\n\x7f"), "'it’s \xef\xbf\xbd  '");
}

TEST(Gnuplot, LeavesALinkToItsPicture) {
  const Folder folder;
  std::filesystem::create_symlink("b.svg", folder / "a.svg");
  run_gnuplot("set terminal svg\nplot x\n", folder / "a.svg");
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "a.svg"));
  EXPECT_EQ(read_file(folder / "b.svg").substr(0, 5), "<?xml");
}

TEST(Gnuplot, DrawsWhereTheSystemForbidsFilesInMemory) {
  const Folder folder;
  memory_files_fail = true;
  run_gnuplot("set terminal svg\nplot x\n", folder / "a.svg");
  memory_files_fail = false;
  EXPECT_EQ(read_file(folder / "a.svg").substr(0, 5), "<?xml");
}

TEST(Gnuplot, ThatComplainsIsReportedAndLeavesNothing) {
  const Folder folder;
  const auto image = folder / "a.png";
  EXPECT_EQ(run_failure([&] { run_gnuplot("set terminal dumb\nplot nonsense(x)\n", image); }),
            image.string() +
                ": gnuplot failed (undefined function: nonsense); only the plot is missing: "
                "draw again");
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

/// Programs are looked for in `folders` only.
class Path {
 public:
  explicit Path(const std::string& folders) : before_(::getenv("PATH")) {
    ::setenv("PATH", folders.c_str(), 1);
  }
  ~Path() { ::setenv("PATH", before_.c_str(), 1); }
  Path(const Path&) = delete;
  Path& operator=(const Path&) = delete;

 private:
  std::string before_;
};

/// A gnuplot that is this shell script, in the folder.
void stand_in(const Folder& folder, const std::string& script) {
  write_file(folder / "gnuplot", "#!/bin/sh\n" + script + "\n");
  std::filesystem::permissions(folder / "gnuplot", std::filesystem::perms::owner_all);
}

TEST(Gnuplot, ThatSaysNothingIsReportedWithItsEnd) {
  const Folder folder;
  stand_in(folder, "kill -9 $$");
  const Path path(folder.path());
  const auto image = folder / "a.png";
  EXPECT_EQ(run_failure([&] { run_gnuplot("", image); }),
            image.string() +
                ": gnuplot failed (killed by signal 9 (SIGKILL)); only the plot is missing: draw "
                "again");
}

TEST(Gnuplot, ThatEndsWithHalfAnImageLeavesTheWholeOneOfBefore) {
  const Folder folder;
  const auto image = folder / "a.png";
  write_file(image, "whole");
  stand_in(folder, "echo half; exit 1");
  const Path path(folder.path());
  EXPECT_THAT(run_failure([&] { run_gnuplot("", image); }),
              testing::HasSubstr("gnuplot failed (exit code 1)"));
  EXPECT_EQ(read_file(image), "whole");
}

TEST(Gnuplot, ThatIsMissingNamesItsPackage) {
  const Folder folder;
  const auto image = folder / "a.png";
  const Path path(folder.path());
  const std::string line = run_failure([&] { run_gnuplot("", image); });
  EXPECT_EQ(line, image.string() +
                      ": gnuplot is not installed; install it (Debian: apt install "
                      "gnuplot-nox), then draw with evolve plot or explain");
}

TEST(Gnuplot, DoesNothingThatATextSays) {
  const Folder folder;
  const auto trap = folder / "trap";
  for (const std::string& text :
       {"`touch " + trap.string() + "`", "' ; system('touch " + trap.string() + "') ; '",
        "x\n! touch " + trap.string()}) {
    run_gnuplot("set terminal dumb\nset title " + gnuplot_quoted(text) + " noenhanced\nplot x\n",
                folder / "a.txt");
    EXPECT_FALSE(std::filesystem::exists(trap)) << text;
  }
}

}  // namespace
}  // namespace evolve::results
