#include "results/plots/gnuplot.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include "tests/results/folder.hpp"

namespace evolve::results {
namespace {

TEST(Gnuplot, KeepsWhatItDraws) {
  const Folder folder;
  run_gnuplot("set terminal svg\nplot x\n", folder / "a.svg");
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

// It would end well with half an image, and this would replace a whole one.
TEST(Gnuplot, DrawsInMemoryWhereNoFullDiskCutsTheImageOff) {
  const Folder folder;
  stand_in(folder, "exec /bin/readlink /proc/self/fd/1");
  const Path path(folder.path());
  run_gnuplot("", folder / "a.png");
  EXPECT_EQ(read_file(folder / "a.png"), "/memfd:gnuplot (deleted)\n");
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
