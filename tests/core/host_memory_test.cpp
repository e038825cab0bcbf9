#include "core/host_memory.hpp"

#include <gtest/gtest.h>

#include "tests/files.hpp"
#include "tests/temporary_folder.hpp"

namespace evolve::core {
namespace {

namespace fs = std::filesystem;

class HostMemoryTest : public testing::Test {
 protected:
  HostMemoryTest() {
    file("proc/meminfo",
         "MemTotal:       16000 kB\nMemFree:         1000 kB\nMemAvailable:    8000 kB\n");
  }

  void file(const std::string& name, const std::string& text) {
    test::write_file(root / name, text);
  }
  void expect(std::int64_t total, std::int64_t available) {
    const auto memory = host_memory(root.path());
    EXPECT_EQ(memory.total, total);
    EXPECT_EQ(memory.available, available);
  }

  test::TemporaryFolder root;
};

TEST_F(HostMemoryTest, IsWhatTheKernelCallsAvailable) {
  expect(16000 * 1024, 8000 * 1024);
}

TEST_F(HostMemoryTest, IsNothingWhereNothingIsTold) {
  fs::remove_all(root / "proc");
  expect(0, 0);
}

TEST_F(HostMemoryTest, IsWhatTheTightestGroupLeavesWhoseFilesCountAsFree) {
  file("proc/self/cgroup", "0::/slice/job\n");
  file("sys/fs/cgroup/slice/job/memory.max", "max\n");
  file("sys/fs/cgroup/slice/job/memory.current", "900000\n");
  file("sys/fs/cgroup/slice/memory.max", "1000000\n");
  file("sys/fs/cgroup/slice/memory.current", "900000\n");
  file("sys/fs/cgroup/slice/memory.stat", "anon 200000\ninactive_file 600000\n");
  expect(1000000, 700000);
}

TEST_F(HostMemoryTest, KnowsTheLimitsOfVersionOne) {
  file("proc/self/cgroup", "4:memory:/job\n");
  file("sys/fs/cgroup/memory/job/memory.limit_in_bytes", "1000000\n");
  file("sys/fs/cgroup/memory/job/memory.usage_in_bytes", "400000\n");
  file("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  file("sys/fs/cgroup/memory/memory.usage_in_bytes", "400000\n");
  expect(1000000, 600000);
}

}  // namespace
}  // namespace evolve::core
