#include "engine/device_file.hpp"

#include <gtest/gtest.h>

namespace evolve::engine {
namespace {

TEST(DeviceFile, IsASpecificationWithALineForEachItem) {
  EXPECT_EQ(parse_device_file("cuda:0*2\ncpu:0, cpu:1\n"),
            (DeviceRequest{.spec = "cuda:0*2,cpu:0, cpu:1"}));
}

TEST(DeviceFile, HasCommentsAndEmptyLines) {
  EXPECT_EQ(parse_device_file("# mine\n\n  cuda:0  # the fast one\r\n"),
            (DeviceRequest{.spec = "cuda:0"}));
}

TEST(DeviceFile, SaysWhatIsTakenAtOnce) {
  EXPECT_EQ(parse_device_file("cuda:0\ntake cuda:1\ntake  cuda:2 \n"),
            (DeviceRequest{.spec = "cuda:0", .taken_at_once = {"cuda:1", "cuda:2"}}));
}

}  // namespace
}  // namespace evolve::engine
