#include "core/device_kind.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace evolve::core {
namespace {

using testing::ElementsAre;
using testing::Field;

TEST(DeviceKind, IsTheFirstWordOfASlotsName) {
  EXPECT_EQ(kind_of("cuda:12"), "cuda");
  EXPECT_EQ(kind_of("xpu:0+xpu:1"), "xpu");
  EXPECT_EQ(kind_of("cpu"), "cpu");
}

TEST(DeviceKind, IsFollowedByTheDevicesNumber) {
  EXPECT_EQ(index_of("cuda:12"), 12);
  EXPECT_EQ(index_of("cpu"), 0);
}

TEST(DeviceKind, IsTheCpusForSharesOfItToo) {
  EXPECT_TRUE(is_cpu("cpu"));
  EXPECT_TRUE(is_cpu("cpu:3"));
  EXPECT_FALSE(is_cpu("cuda:0"));
  EXPECT_FALSE(is_cpu("cpux:0"));
}

TEST(DeviceKind, HasOneRow) {
  const auto mask = [](const char* name) { return find_device_kind(name)->mask; };
  EXPECT_EQ(mask("npu"), "ASCEND_RT_VISIBLE_DEVICES");
  EXPECT_EQ(mask("gcu"), "TOPS_VISIBLE_DEVICES");
  EXPECT_EQ(mask("mlu"), "MLU_VISIBLE_DEVICES");
  EXPECT_EQ(mask("hpu"), "HABANA_VISIBLE_MODULES");
  EXPECT_EQ(mask("hip"), "HIP_VISIBLE_DEVICES");
  EXPECT_FALSE(find_device_kind("np"));
  for (const auto& kind : device_kinds()) EXPECT_EQ(find_device_kind(kind.name), &kind);
}

TEST(DeviceKind, WithADriverIsNvidiasBeforeIntels) {
  EXPECT_THAT(kinds_with_driver(),
              ElementsAre(Field(&DeviceKind::name, "cuda"), Field(&DeviceKind::name, "xpu")));
  // Slots of other kinds would see its devices.
  for (const auto& kind : kinds_with_driver()) EXPECT_NE(kind.hidden_by.first, "") << kind.name;
}

}  // namespace
}  // namespace evolve::core
