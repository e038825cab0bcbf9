#include "devices/machine.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "core/core_mask.hpp"
#include "devices/environment.hpp"
#include "tests/files.hpp"
#include "tests/temporary_folder.hpp"

namespace evolve::devices {
namespace {

/// A folder that stands for "/".
class Quota : public testing::Test {
 protected:
  void file(const std::string& path, const std::string& text) {
    test::write_file(root / path, text);
  }

  test::TemporaryFolder root;
};

TEST_F(Quota, IsNoneWithoutControlGroups) {
  EXPECT_EQ(cpu_quota(root.path()), std::nullopt);
}

TEST_F(Quota, IsNoneWhenTheGroupHasNoLimit) {
  file("proc/self/cgroup", "0::/job\n");
  file("sys/fs/cgroup/job/cpu.max", "max 100000\n");
  EXPECT_EQ(cpu_quota(root.path()), std::nullopt);
}

TEST_F(Quota, IsThatOfVersionTwo) {
  file("proc/self/cgroup", "0::/\n");
  file("sys/fs/cgroup/cpu.max", "150000 100000\n");
  EXPECT_EQ(cpu_quota(root.path()), 1.5);
}

TEST_F(Quota, IsTheLeastOfTheGroupAndItsParents) {
  file("proc/self/cgroup", "0::/slice/job\n");
  file("sys/fs/cgroup/slice/job/cpu.max", "400000 100000\n");
  file("sys/fs/cgroup/slice/cpu.max", "200000 100000\n");
  EXPECT_EQ(cpu_quota(root.path()), 2.0);
}

TEST_F(Quota, IsFoundWhereTheMountIsTheContainersOwn) {
  file("proc/self/cgroup", "0::/docker/0123\n");
  file("sys/fs/cgroup/cpu.max", "300000 100000\n");
  EXPECT_EQ(cpu_quota(root.path()), 3.0);
}

TEST_F(Quota, IsThatOfVersionOne) {
  file("proc/self/cgroup", "5:memory:/job\n2:cpu,cpuacct:/job\n0::/\n");
  file("sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "50000\n");
  file("sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(cpu_quota(root.path()), 0.5);
}

TEST_F(Quota, IsNoneWhenVersionOneSaysMinusOne) {
  file("proc/self/cgroup", "2:cpu,cpuacct:/\n");
  file("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n");
  file("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(cpu_quota(root.path()), std::nullopt);
}

TEST(Machine, HasTheFirstNameThatItsCpuIsGiven) {
  const test::TemporaryFolder root;
  std::filesystem::create_directory(root / "proc");
  std::ofstream(root / "proc/cpuinfo") << "processor\t: 0\nmodel name\t:\n"
                                          "model name\t: EPYC 7763\nmodel name\t: EPYC 9654\n";
  EXPECT_EQ(host(root.path()).name, "EPYC 7763");
}

TEST(Machine, IsACpuWhereNothingIsTold) {
  const test::TemporaryFolder root;
  EXPECT_EQ(host(root.path()).name, "CPU");
}

TEST(Machine, HasTheCoresOfThisProcessAffinity) {
  const auto machine = this_machine();
  EXPECT_EQ(machine.cores, core::CoreMask::of_this_thread().cores());
  EXPECT_GE(machine.usable_cores, 1);
  EXPECT_LE(machine.usable_cores, static_cast<int>(machine.cores.size()));
}

TEST(Machine, KnowsWhatHidesDevicesOfAnUnknownKind) {
  ::setenv("NPU_SET", "4,6", 1);
  EXPECT_EQ(value_in(this_machine("NPU_SET").environment, "NPU_SET"), "4,6");
  EXPECT_EQ(value_in(this_machine().environment, "NPU_SET"), "");
  ::unsetenv("NPU_SET");
}

TEST(Machine, SeesAnAffinityNarrowedToOneCore) {
  const auto all = core::CoreMask::of_this_thread();
  const int last = this_machine().cores.back();
  ASSERT_TRUE(core::CoreMask({last}).bind_this_thread());
  const auto machine = this_machine();
  all.bind_this_thread();
  EXPECT_EQ(machine.cores, std::vector<int>{last});
  EXPECT_EQ(machine.usable_cores, 1);
}

}  // namespace
}  // namespace evolve::devices
