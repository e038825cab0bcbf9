#include "core/text_file.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/refusal.hpp"
#include "tests/temporary_folder.hpp"

namespace evolve::core {
namespace {

TEST(TextFile, IsReadWhole) {
  const test::TemporaryFolder folder;
  const std::string path = folder / "hyp.yaml";
  std::ofstream(path) << "lr0: 0.01\n";
  EXPECT_EQ(read_text_file(path), "lr0: 0.01\n");
}

TEST(TextFile, ThatIsMissingIsRefused) {
  EXPECT_EQ(test::refusal([] { read_text_file("/no/such/hyp.yaml"); }),
            "/no/such/hyp.yaml: No such file or directory; check the path and its permissions");
}

TEST(TextFile, ThatIsADirectoryIsRefused) {
  EXPECT_EQ(test::refusal([] { read_text_file("/usr"); }),
            "/usr: this is a folder; name a file in it");
}

TEST(TextFile, WithoutEndIsRefused) {
  EXPECT_EQ(test::refusal([] { read_text_file("/dev/zero"); }),
            "/dev/zero: this is larger than 16 MiB; check the path");
}

}  // namespace
}  // namespace evolve::core
