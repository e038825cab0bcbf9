#include "core/device_identity.hpp"

#include <gtest/gtest.h>

namespace evolve::core {
namespace {

TEST(DeviceIdentity, HasTheSameUuidHoweverItIsWritten) {
  EXPECT_TRUE(same_uuid("GPU-ab-cd", "ABCD"));
  EXPECT_TRUE(same_uuid("gpu-ab-cd", "GPU-AB-CD"));
  EXPECT_TRUE(same_uuid("ab-cd", "MIG-ab-cd"));
  EXPECT_FALSE(same_uuid("GPU-ab-cd", "ab-ce"));
  EXPECT_FALSE(same_uuid("GPU-ab-cd", "MIG-ab-cd"));
  EXPECT_FALSE(same_uuid("ab", ""));
}

TEST(DeviceIdentity, HasTheSameAddressWhateverDomainIsWritten) {
  EXPECT_TRUE(same_pci("0000:3B:00.0", "3b:00.0"));
  EXPECT_TRUE(same_pci("0000:03:00.0", "00000000:03:00.0"));
  EXPECT_FALSE(same_pci("0001:03:00.0", "03:00.0"));
  EXPECT_FALSE(same_pci("0000:03:00.0", ""));
}

}  // namespace
}  // namespace evolve::core
