#include "core/durable_file.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <fstream>
#include <stdexcept>
#include <string>

#include "core/file_descriptor.hpp"
#include "core/text_file.hpp"
#include "tests/temporary_folder.hpp"

namespace evolve::core {
namespace {

namespace fs = std::filesystem;

/// A file with old content, and what a killed process has left beside it.
class DurableFile : public testing::Test {
 protected:
  DurableFile() {
    std::ofstream(file) << "old";
    std::ofstream(temporary_of(file)) << "half of something long";
  }
  std::string content() const { return read_text_file(file); }

  test::TemporaryFolder folder;
  fs::path file = folder / "a.txt";
};

TEST_F(DurableFile, IsReplacedWhole) {
  EXPECT_EQ(replace_file(file, temporary_of(file), [](int to) { return write_all(to, "new"); }), 0);
  EXPECT_EQ(content(), "new");
  EXPECT_FALSE(fs::exists(temporary_of(file)));
}

TEST_F(DurableFile, StaysAsItWasWhereItCannotBeWritten) {
  EXPECT_EQ(replace_file(file, temporary_of(file), [](int) { return ENOSPC; }), ENOSPC);
  EXPECT_EQ(content(), "old");
  EXPECT_FALSE(fs::exists(temporary_of(file)));
  EXPECT_EQ(replace_file(file, folder / "no/a.txt", [](int) { return 0; }), ENOENT);
  EXPECT_EQ(content(), "old");
}

TEST_F(DurableFile, StaysAsItWasWhereThereIsNothingToWrite) {
  const auto throws = [](int) -> int { throw std::runtime_error("no content"); };
  EXPECT_THROW(replace_file(file, temporary_of(file), throws), std::runtime_error);
  EXPECT_EQ(content(), "old");
  EXPECT_FALSE(fs::exists(temporary_of(file)));
}

}  // namespace
}  // namespace evolve::core
