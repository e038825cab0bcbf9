// Intel's cards as the real Level Zero loader shows them with a driver of cards that are not there.
#include "devices/discovery.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

namespace evolve::devices {
namespace {

using std::chrono::milliseconds;
using testing::AnyOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

constexpr std::int64_t gib = 1 << 30;

/// This process has the fake driver and, by these, what it shows.
class Xpus : public testing::Test {
 protected:
  void SetUp() override { set("ZE_ENABLE_ALT_DRIVERS", FAKE_LEVEL_ZERO); }
  void TearDown() override {
    for (const auto& variable : set_) ::unsetenv(variable.c_str());
  }
  void set(const std::string& variable, const std::string& value) {
    ::setenv(variable.c_str(), value.c_str(), 1);
    set_.push_back(variable);
  }
  static Discovery found(milliseconds limit = probe_limit) {
    return discover("xpu", device_environment(), limit);
  }
  /// "name mask hierarchy" of each.
  static std::vector<std::string> masks() {
    std::vector<std::string> all;
    const auto discovery = found();
    EXPECT_EQ(discovery.remark, "");
    for (const auto& xpu : discovery.devices)
      all.push_back(xpu.name + " " + xpu.mask.at(0).second + " " + xpu.mask.at(1).second);
    return all;
  }

 private:
  std::vector<std::string> set_;
};

const std::string four_cards = "name=A,bus=3;name=B,bus=4;name=C,bus=5;name=D,bus=6";

TEST_F(Xpus, AreDescribedWithTheirSensors) {
  set("FAKE_XPUS",
      "name=Arc A770,bus=3,memory=16,free=10,load=5,celsius=45,watts=80;name=Arc B580,bus=11");
  const auto discovery = found();
  ASSERT_EQ(discovery.devices.size(), 2u) << discovery.remark;
  EXPECT_EQ(discovery.devices[0],
            (Accelerator{
                .kind = "xpu",
                .index = 0,
                .number = "0",
                .name = "Arc A770",
                .uuid = "86800000-0300-0000-0000-000000000000",
                .pci = "0000:03:00.0",
                .memory_total_bytes = 16 * gib,
                .memory_free_bytes = 10 * gib,
                .load_percent = 5,
                .temperature_celsius = 45,
                .power_watts = 80,
                .mask = {{"ZE_AFFINITY_MASK", "0"}, {"ZE_FLAT_DEVICE_HIERARCHY", "COMPOSITE"}}}));
  EXPECT_EQ(name_of(discovery.devices[1]), "xpu:1");
  EXPECT_EQ(discovery.devices[1].pci, "0000:0b:00.0");
  EXPECT_EQ(discovery.devices[1].load_percent, std::nullopt);
}

TEST_F(Xpus, AreNotIdleWhereTheirSensorsReadZero) {
  set("FAKE_XPUS",
      "name=A,bus=3,load=0,celsius=0,watts=80,silent;name=B,bus=4,load=0,celsius=30,watts=20");
  const auto discovery = found();
  ASSERT_EQ(discovery.devices.size(), 2u) << discovery.remark;
  EXPECT_EQ(discovery.devices[0].load_percent, std::nullopt);
  EXPECT_EQ(discovery.devices[0].temperature_celsius, std::nullopt);
  EXPECT_EQ(discovery.devices[0].power_watts, std::nullopt);
  EXPECT_EQ(discovery.devices[1].load_percent, 0);
  EXPECT_EQ(discovery.devices[1].temperature_celsius, 30);
  EXPECT_EQ(discovery.devices[1].power_watts, 20);
}

TEST_F(Xpus, AreMaskedByTheirPlaces) {
  set("FAKE_XPUS", four_cards);
  EXPECT_THAT(masks(),
              ElementsAre("A 0 COMPOSITE", "B 1 COMPOSITE", "C 2 COMPOSITE", "D 3 COMPOSITE"));
}

TEST_F(Xpus, KeepToAnOuterMaskAndCountWithinIt) {
  set("FAKE_XPUS", four_cards);
  set("ZE_AFFINITY_MASK", "2,3");
  EXPECT_THAT(masks(), ElementsAre("C 2 COMPOSITE", "D 3 COMPOSITE"));
}

TEST_F(Xpus, AreNotReorderedByAnOuterMask) {
  set("FAKE_XPUS", four_cards);
  set("ZE_AFFINITY_MASK", "3,9,1");
  EXPECT_THAT(masks(), ElementsAre("B 1 COMPOSITE", "D 3 COMPOSITE"));
}

TEST_F(Xpus, AreAllVisibleUnderAnEmptyMask) {
  set("FAKE_XPUS", four_cards);
  set("ZE_AFFINITY_MASK", "");
  EXPECT_EQ(masks().size(), 4u);
}

TEST_F(Xpus, CanAllBeHidden) {
  set("FAKE_XPUS", four_cards);
  set("ZE_AFFINITY_MASK", "7");
  const auto discovery = found();
  EXPECT_THAT(discovery.devices, IsEmpty());
  EXPECT_EQ(discovery.remark, "ZE_AFFINITY_MASK='7' hides every Intel GPU");
  EXPECT_FALSE(discovery.failed);
}

const std::string two_tiled = "name=A,bus=3,tiles=2;name=B,bus=4,tiles=2";

TEST_F(Xpus, OfSeveralTilesAreCardsWhereTheDriverNumbersCards) {
  set("FAKE_XPUS", two_tiled);
  EXPECT_THAT(masks(), ElementsAre("A 0 COMPOSITE", "B 1 COMPOSITE"));
}

TEST_F(Xpus, OfSeveralTilesAreTilesWhereTheDriverNumbersTiles) {
  set("FAKE_XPUS", two_tiled);
  set("FAKE_XPU_HIERARCHY", "FLAT");
  EXPECT_THAT(masks(), ElementsAre("A 0 FLAT", "A 1 FLAT", "B 2 FLAT", "B 3 FLAT"));
  // The mask alone shows one device: what its number counts is found out without it.
  set("ZE_AFFINITY_MASK", "1");
  EXPECT_THAT(masks(), ElementsAre("A 1 FLAT"));
}

TEST_F(Xpus, KeepToAnOuterHierarchy) {
  set("FAKE_XPUS", two_tiled);
  set("ZE_FLAT_DEVICE_HIERARCHY", "COMBINED");
  set("ZE_AFFINITY_MASK", "3");
  EXPECT_THAT(masks(), ElementsAre("B 3 COMBINED"));
}

TEST_F(Xpus, MayBeATileThatAnOuterMaskNames) {
  set("FAKE_XPUS", two_tiled);
  set("ZE_AFFINITY_MASK", "1.0");
  EXPECT_THAT(masks(), ElementsAre("B 1.0 COMPOSITE"));
}

TEST_F(Xpus, AreFilteredOnceWhenSyclHasASelector) {
  set("FAKE_XPUS", four_cards);
  set("ZE_AFFINITY_MASK", "1,2,3");
  set("ONEAPI_DEVICE_SELECTOR", "level_zero:1,2");
  const auto discovery = found();
  ASSERT_EQ(discovery.devices.size(), 2u) << discovery.remark;
  EXPECT_EQ(name_of(discovery.devices[0]), "xpu:0");
  EXPECT_THAT(
      discovery.devices[0].mask,
      ElementsAre(Pair("ZE_AFFINITY_MASK", "2"), Pair("ZE_FLAT_DEVICE_HIERARCHY", "COMPOSITE"),
                  Pair("ONEAPI_DEVICE_SELECTOR", "level_zero:*")));
}

void expect_failed(const Discovery& discovery, const testing::Matcher<std::string>& remark) {
  EXPECT_THAT(discovery.devices, IsEmpty());
  EXPECT_TRUE(discovery.failed);
  EXPECT_THAT(discovery.remark, remark);
}

TEST_F(Xpus, AreRefusedUnderASelectorThatSaysMore) {
  set("FAKE_XPUS", four_cards);
  set("ONEAPI_DEVICE_SELECTOR", "opencl:gpu;level_zero:0");
  expect_failed(found(), HasSubstr("ONEAPI_DEVICE_SELECTOR='opencl:gpu;level_zero:0'"));
}

TEST_F(Xpus, AreNoNpus) {
  set("FAKE_XPUS", "name=NPU,bus=1,npu;name=Arc,bus=3");
  EXPECT_THAT(masks(), ElementsAre("Arc 1 COMPOSITE"));
}

TEST_F(Xpus, MayBeIntegratedLostOrWedged) {
  set("FAKE_XPUS", "name=Arc,bus=3,wedged;name=Arc,bus=4,lost;name=Iris,bus=0,integrated");
  const auto discovery = found();
  ASSERT_EQ(discovery.devices.size(), 3u) << discovery.remark;
  EXPECT_EQ(discovery.devices[0].state, "wedged");
  EXPECT_EQ(discovery.devices[1].state, "lost");
  EXPECT_EQ(discovery.devices[2].state, "ok");
  EXPECT_TRUE(discovery.devices[2].integrated);
}

TEST_F(Xpus, AreAskedAgainWithoutTheirSensorsWhenThoseCrash) {
  set("FAKE_XPUS", four_cards);
  set("FAKE_XPU_INIT", "sensors crash");
  const auto discovery = found();
  ASSERT_EQ(discovery.devices.size(), 4u) << discovery.remark;
  EXPECT_EQ(discovery.devices[0].memory_free_bytes, std::nullopt);
}

TEST_F(Xpus, OfADriverThatCrashesAreNone) {
  set("FAKE_XPU_INIT", "crash");
  expect_failed(found(), "it crashed (SIGABRT)");
}

TEST_F(Xpus, OfADriverThatEndsItsProcessAreNone) {
  set("FAKE_XPU_INIT", "exit");
  expect_failed(found(), "it ended with exit code 0");
}

TEST_F(Xpus, OfADriverThatHangsAreNone) {
  set("FAKE_XPU_INIT", "hang");
  expect_failed(found(milliseconds(500)), "it does not answer within 0.5 s");
}

TEST_F(Xpus, OfADriverThatPrintsAreFoundInSilence) {
  set("FAKE_XPUS", four_cards);
  set("FAKE_XPU_INIT", "print");
  testing::internal::CaptureStdout();
  const auto discovery = found();
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
  EXPECT_EQ(discovery.devices.size(), 4u);
}

TEST_F(Xpus, AreNoneWithoutADriver) {
  set("FAKE_XPU_INIT", "none");
  const auto discovery = found();
  EXPECT_THAT(discovery.devices, IsEmpty());
  EXPECT_FALSE(discovery.failed);
  EXPECT_EQ(discovery.remark, "Level Zero has no driver (zeInit: 0x78000001)");
}

TEST_F(Xpus, OfADriverThatCannotListThemAreAFailure) {
  set("FAKE_XPUS", four_cards);
  set("FAKE_XPU_INIT", "unlisted");
  // Debian 13's loader asks it itself.
  expect_failed(found(),
                AnyOf(HasSubstr("zeDeviceGet: 0x70000001"), HasSubstr("zeInit: 0x70000001")));
}

TEST_F(Xpus, OfADriverThatIgnoresTheMaskAreStillThere) {
  set("FAKE_XPUS", four_cards);
  set("FAKE_XPU_BLIND", "yes");
  set("ZE_AFFINITY_MASK", "2");
  EXPECT_EQ(masks().size(), 4u);
}

TEST(Discovery, KnowsNoOtherKind) {
  EXPECT_THAT(discover("gcu", {}).devices, IsEmpty());
}

TEST(Accelerator, ComesBackFromJson) {
  const Accelerator full{.kind = "cuda",
                         .index = 3,
                         .name = "RTX",
                         .uuid = "GPU-1",
                         .pci = "0000:03:00.0",
                         .integrated = true,
                         .state = "lost",
                         .memory_total_bytes = 3,
                         .memory_free_bytes = 2,
                         .load_percent = 1.5,
                         .temperature_celsius = 40,
                         .power_watts = 200,
                         .mask = {{"CUDA_VISIBLE_DEVICES", "GPU-1"}}};
  EXPECT_EQ(accelerator_from_json(to_json(full)), full);
  const Accelerator unknown{.kind = "xpu"};
  EXPECT_EQ(accelerator_from_json(to_json(unknown)), unknown);
  EXPECT_TRUE(to_json(unknown)["uuid"].is_null());
}

}  // namespace
}  // namespace evolve::devices
