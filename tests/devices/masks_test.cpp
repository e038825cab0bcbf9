#include "devices/masks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace evolve::devices {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Accelerator gpu(const std::string& uuid, const std::string& pci) {
  return {.kind = "cuda", .uuid = uuid, .pci = pci};
}

const std::vector<Accelerator> four = {gpu("GPU-1a2b", "03"), gpu("GPU-1a3c", "04"),
                                       gpu("GPU-9999", "05"), gpu("GPU-abcd", "06")};

std::vector<std::string> seen(const std::string& list, const std::vector<Accelerator>& all = four) {
  std::vector<std::string> uuids;
  for (const auto& device : seen_by_cuda(all, list)) uuids.push_back(device.uuid);
  return uuids;
}

TEST(CudaMask, ShowsNumbersInItsOrder) {
  EXPECT_THAT(seen("2,3"), ElementsAre("GPU-9999", "GPU-abcd"));
  EXPECT_THAT(seen("3, 0"), ElementsAre("GPU-abcd", "GPU-1a2b"));
}

TEST(CudaMask, ShowsUuidsAndTheirBeginnings) {
  EXPECT_THAT(seen("GPU-abcd,GPU-1a2b"), ElementsAre("GPU-abcd", "GPU-1a2b"));
  EXPECT_THAT(seen("GPU-9"), ElementsAre("GPU-9999"));
  EXPECT_THAT(seen("GPU-1a3,1"), ElementsAre("GPU-1a3c"));
}

TEST(CudaMask, EndsAtTheFirstEntryThatNamesNothing) {
  EXPECT_THAT(seen("1,7,0"), ElementsAre("GPU-1a3c"));
  EXPECT_THAT(seen("1,GPU-ffff,0"), ElementsAre("GPU-1a3c"));
  EXPECT_THAT(seen("1,-1,0"), ElementsAre("GPU-1a3c"));
  EXPECT_THAT(seen("GPU-1a,0"), IsEmpty()) << "two GPUs begin like this";
  EXPECT_THAT(seen("0,0,1"), ElementsAre("GPU-1a2b"));
}

TEST(CudaMask, HidesAllWhenItIsEmptyOrNoNumber) {
  for (const std::string list : {"", " ", "-1", "NoDevFiles", "all", "1.5", "0x1", ","})
    EXPECT_THAT(seen(list), IsEmpty()) << list;
}

TEST(CudaMask, CountsGpusAndNotTheirMigInstances) {
  const std::vector<Accelerator> all = {gpu("GPU-1", "03"), gpu("MIG-1", "04"), gpu("MIG-2", "04"),
                                        gpu("GPU-2", "05")};
  EXPECT_THAT(seen("1", all), ElementsAre("MIG-1"));
  EXPECT_THAT(seen("2", all), ElementsAre("GPU-2"));
  EXPECT_THAT(seen("MIG-2", all), ElementsAre("MIG-2"));
}

TEST(GpuNumbers, CountGpusAndNotTheirMigInstances) {
  EXPECT_THAT(gpu_numbers({gpu("GPU-1", "03"), gpu("MIG-1", "04"), gpu("MIG-2", "04"),
                           gpu("GPU-2", "05"), gpu("GPU-3", ""), gpu("GPU-4", "")}),
              ElementsAre(0, 1, 1, 2, 3, 4));
  EXPECT_THAT(gpu_numbers({}), IsEmpty());
}

TEST(Masks, OfSlurmMayBeEmpty) {
  for (const std::string mask : {"", "NoDevFiles", "-1"})
    EXPECT_TRUE(is_empty_for_slurm(mask)) << mask;
  EXPECT_FALSE(is_empty_for_slurm("0"));
}

TEST(Masks, ShowWhatStandsBeforeMinusOneAndAllWhereTheyAreNotSet) {
  EXPECT_EQ(shown_by({}, "FOO"), std::nullopt);
  EXPECT_THAT(shown_by({{"FOO", "4, 5"}}, "FOO"), testing::Optional(ElementsAre("4", "5")));
  EXPECT_THAT(shown_by({{"FOO", "4,-1,5"}}, "FOO"), testing::Optional(ElementsAre("4")));
  for (const std::string nothing : {"-1", "", " "})
    EXPECT_THAT(shown_by({{"FOO", nothing}}, "FOO"), testing::Optional(IsEmpty()));
}

}  // namespace
}  // namespace evolve::devices
