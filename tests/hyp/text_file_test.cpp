#include "core/text_file.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "hyp/hyp_file.hpp"
#include "hyp/space_file.hpp"
#include "tests/hyp/refusal.hpp"
#include "tests/temporary_folder.hpp"

namespace evolve::hyp {
namespace {

TEST(TextFile, IsReadWhole) {
  const test::TemporaryFolder folder;
  const std::string path = folder / "hyp.yaml";
  std::ofstream(path) << "lr0: 0.01\n";
  EXPECT_EQ(core::read_text_file(path), "lr0: 0.01\n");
  EXPECT_EQ(read_hyp_file(path).hyp, (Hyperparameters{{"lr0", 0.01}}));
  EXPECT_EQ(refusal([&] { read_space_file(path); }).substr(0, path.size() + 21),
            path + ":1: lr0 has no bounds");
}

TEST(TextFile, ThatIsMissingIsRefused) {
  EXPECT_EQ(refusal([] { read_hyp_file("/no/such/hyp.yaml"); }),
            "/no/such/hyp.yaml: No such file or directory; check the path and its permissions");
}

TEST(TextFile, ThatIsADirectoryIsRefused) {
  EXPECT_EQ(refusal([] { read_space_file("/usr"); }),
            "/usr: this is a directory; name a file in it");
}

TEST(TextFile, WithoutEndIsRefused) {
  EXPECT_EQ(refusal([] { read_hyp_file("/dev/zero"); }),
            "/dev/zero: this is larger than 16 MiB; check the path");
}

}  // namespace
}  // namespace evolve::hyp
