#include "results/gnuplot.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include "tests/results/folder.hpp"

namespace evolve::results {
namespace {

TEST(Gnuplot, KeepsWhatItDraws) {
  const Folder folder;
  run_gnuplot("set terminal svg\nplot x\n", folder / "a.svg");
  EXPECT_EQ(content(folder / "a.svg").substr(0, 5), "<?xml");
}

TEST(Gnuplot, ThatComplainsIsReportedAndLeavesNothing) {
  const Folder folder;
  const auto image = folder / "a.png";
  EXPECT_EQ(refusal([&] { run_gnuplot("set terminal dumb\nplot nonsense(x)\n", image); }),
            "1: " + image.string() +
                ": gnuplot failed (undefined function: nonsense); only the plot is missing: "
                "draw again");
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(Gnuplot, ThatIsMissingNamesItsPackage) {
  const Folder folder;
  const auto image = folder / "a.png";
  const std::string path = ::getenv("PATH");
  ::setenv("PATH", folder.path().c_str(), 1);
  const std::string complaint = refusal([&] { run_gnuplot("", image); });
  ::setenv("PATH", path.c_str(), 1);
  EXPECT_EQ(complaint, "1: " + image.string() +
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
