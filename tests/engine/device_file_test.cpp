#include "engine/device_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <thread>

#include "tests/files.hpp"
#include "tests/refusal.hpp"
#include "tests/temporary_folder.hpp"

namespace evolve::engine {
namespace {

using testing::ElementsAre;

TEST(DeviceFile, IsASpecificationWithALineForEachItem) {
  EXPECT_EQ(parse_device_file("cuda:0*2\ncpu:0, cpu:1\n"),
            (DeviceRequest{.spec = "cuda:0*2,cpu:0, cpu:1"}));
}

TEST(DeviceFile, HasCommentsAndEmptyLines) {
  EXPECT_EQ(parse_device_file("\xef\xbb\xbf# mine\n\n  cuda:0  # the fast one\r\n"),
            (DeviceRequest{.spec = "cuda:0"}));
}

TEST(DeviceFile, SaysWhatIsTakenAtOnce) {
  EXPECT_EQ(parse_device_file("cuda:0\ntake cuda:1\ntake  cuda:2 \n"),
            (DeviceRequest{.spec = "cuda:0", .taken_at_once = {"cuda:1", "cuda:2"}}));
  EXPECT_EQ(parse_device_file("TAKE\tcuda:1\ntake\ntaker:0"),
            (DeviceRequest{.spec = "taker:0", .taken_at_once = {"cuda:1", ""}}));
}

TEST(DeviceFile, ChangesNothingWhereItIsNoFile) {
  const test::TemporaryFolder folder;
  for (const bool pipe : {false, true}) {
    const auto path = folder / (pipe ? "pipe" : "folder");
    DeviceFile file(path, {{.name = "cpu:0"}});
    std::filesystem::remove(path);
    if (pipe) {
      ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
    } else {
      std::filesystem::create_directory(path);
    }
    EXPECT_EQ(file.changed(), std::nullopt);
  }
}

TEST(DeviceFile, AsksAgainForWhatWasRefusedOnceItIsWrittenAgain) {
  const test::TemporaryFolder folder;
  const auto path = folder / "devices";
  DeviceFile file(path, {{.name = "xpu:0"}});
  // Looks once a second at most.
  const auto start = std::filesystem::last_write_time(path);
  const auto asked_after_writing = [&](const std::string& text, int minutes) {
    test::write_file(path, text);
    std::filesystem::last_write_time(path, start + std::chrono::minutes(minutes));
    std::this_thread::sleep_for(std::chrono::milliseconds(1100));
    return file.changed();
  };
  const DeviceRequest both{.spec = "xpu:0,xpu:1"};
  EXPECT_EQ(asked_after_writing("xpu:0\nxpu:1\n", 1), both);
  EXPECT_EQ(asked_after_writing("xpu:0\nxpu:1\n", 2), std::nullopt);
  file.refused();
  EXPECT_EQ(asked_after_writing("xpu:0\nxpu:1\n", 2), std::nullopt);
  EXPECT_EQ(asked_after_writing("xpu:0\nxpu:1\n", 3), both);
  EXPECT_EQ(asked_after_writing("xpu:0\nxpu:1\n", 4), std::nullopt);
}

TEST(TakenDevices, AreReadAsTheOptionIs) {
  const std::set<std::string> run = {"cuda:0", "cuda:1", "npu:0", "npu:3", "xpu:0+xpu:1", "xpu:2"};
  EXPECT_THAT(devices_named("NPU:3", run), ElementsAre("npu:3"));
  EXPECT_THAT(devices_named("npu", run), ElementsAre("npu:0"));
  EXPECT_THAT(devices_named("npu:*", run), ElementsAre("npu:0", "npu:3"));
  EXPECT_THAT(devices_named("cuda：1，npu", run), ElementsAre("cuda:1", "npu:0"));
  EXPECT_THAT(devices_named("cuda:1*2", run), ElementsAre("cuda:1"));
  EXPECT_THAT(devices_named("xpu:0 + xpu:1", run), ElementsAre("xpu:0+xpu:1"));
  EXPECT_THAT(devices_named("1", run), ElementsAre("cuda:1"));
  EXPECT_THAT(devices_named("1", {"npu:1", "xpu:1"}), ElementsAre("xpu:1"));
}

TEST(TakenDevices, AreOfTheRun) {
  const auto refused = [](const std::string& text) {
    return test::refusal([&] { devices_named(text, {"npu:0", "npu:1"}); });
  };
  const std::string others = "; name one of npu:0, npu:1";
  EXPECT_EQ(refused("npu:7"), "take npu:7: npu:7 is no device of the run" + others);
  EXPECT_EQ(refused("1"), "take 1: 1 is no device of the run" + others);
  EXPECT_EQ(refused("auto"), "take auto: auto is no device of the run" + others);
  EXPECT_EQ(refused("npu:x"), "take npu:x: 'npu:x' is no device" + others);
  EXPECT_EQ(refused(""), "take '': it is empty" + others);
}

}  // namespace
}  // namespace evolve::engine
