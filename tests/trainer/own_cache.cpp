// Where a test program keeps images: in a folder of its own, not in that of the user or of programs
// that run beside it.

#include <gtest/gtest.h>
#include <stdlib.h>

#include <optional>

#include "tests/temporary_folder.hpp"

namespace evolve::test {
namespace {

/// One folder for all tests of the program: what one has decoded the next need not.
class OwnCache : public ::testing::Environment {
 public:
  void SetUp() override {
    folder_.emplace();
    ::setenv("XDG_CACHE_HOME", folder_->path().c_str(), /*overwrite=*/1);
  }
  void TearDown() override { folder_.reset(); }

 private:
  std::optional<TemporaryFolder> folder_;
};

[[maybe_unused]] const auto* const own_cache = ::testing::AddGlobalTestEnvironment(new OwnCache);

}  // namespace
}  // namespace evolve::test
