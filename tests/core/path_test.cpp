#include "core/path.hpp"

#include <gtest/gtest.h>

#include "tests/temporary_folder.hpp"

namespace evolve::core {
namespace {

TEST(Path, LosesItsDotsAndKeepsItsLinks) {
  EXPECT_EQ(without_dots("a/./b"), "a/b");
  EXPECT_EQ(without_dots("a/b/../c"), "a/c");
  EXPECT_EQ(without_dots("../a"), "../a");
  EXPECT_EQ(without_dots("/nowhere/../a"), "/a");
  test::TemporaryFolder folder;
  std::filesystem::create_directory(folder / "real");
  std::filesystem::create_directory_symlink("real", folder / "link");
  EXPECT_EQ(without_dots(folder / "link/./file"), folder / "link/file");
  EXPECT_EQ(without_dots(folder / "link/../link/file"), folder / "link/file");
}

TEST(Path, HasTwoDotsForTheFolderAboveTheOneWhereALinkLeads) {
  test::TemporaryFolder folder;
  std::filesystem::create_directories(folder / "real/deep");
  std::filesystem::create_directory_symlink("real/deep", folder / "link");
  EXPECT_EQ(without_dots(folder / "link/../file"), folder / "real/file");
  EXPECT_EQ(without_dots(folder / "link/../none/../other"), folder / "real/other");
}

}  // namespace
}  // namespace evolve::core
