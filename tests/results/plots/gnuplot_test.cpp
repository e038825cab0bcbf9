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

TEST(Gnuplot, ThatIsMissingNamesItsPackage) {
  const Folder folder;
  const auto image = folder / "a.png";
  const std::string path = ::getenv("PATH");
  ::setenv("PATH", folder.path().c_str(), 1);
  const std::string line = run_failure([&] { run_gnuplot("", image); });
  ::setenv("PATH", path.c_str(), 1);
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
