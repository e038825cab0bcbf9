#include "devices/spec.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

#include "tests/refusal.hpp"

namespace evolve::devices {
namespace {

using Requests = std::vector<Request>;

std::string refused(std::string_view spec) {
  return test::refusal<std::invalid_argument>([&] { parse_spec(spec); });
}

TEST(Spec, NamesOneDevice) {
  EXPECT_EQ(parse_spec("auto"), Requests{Automatic{}});
  EXPECT_EQ(parse_spec("slurm"), Requests{Allocation{}});
  EXPECT_EQ(parse_spec("cpu"), Requests{WholeCpu{}});
  EXPECT_EQ(parse_spec("cpu:0"), (Requests{Device{"cpu", 0}}));
  EXPECT_EQ(parse_spec("cuda:12"), (Requests{Device{"cuda", 12}}));
  EXPECT_EQ(parse_spec("mps"), (Requests{Device{"mps", 0}}));
  EXPECT_EQ(parse_spec("gcu:3"), (Requests{Device{"gcu", 3}}));
  EXPECT_EQ(parse_spec("xpu:*"), Requests{AllOf{"xpu"}});
  EXPECT_EQ(parse_spec("cuda:0*2"), (Requests{Device{"cuda", 0, 2}}));
  EXPECT_EQ(parse_spec("0"), Requests{Gpu{0}});
  EXPECT_EQ(parse_spec("-1"), Requests{IdleGpu{}});
}

TEST(Spec, TakesAKindWithoutIndexAsTheFirstOfIt) {
  EXPECT_EQ(parse_spec("xpu"), parse_spec("xpu:0"));
}

TEST(Spec, KeepsTheOrderOfAList) {
  EXPECT_EQ(parse_spec("cpu:1,cpu:0"), (Requests{Device{"cpu", 1}, Device{"cpu", 0}}));
  EXPECT_EQ(parse_spec("xpu:0,xpu:1,cpu:0"),
            (Requests{Device{"xpu", 0}, Device{"xpu", 1}, Device{"cpu", 0}}));
  EXPECT_EQ(parse_spec("0,1"), (Requests{Gpu{0}, Gpu{1}}));
  EXPECT_EQ(parse_spec("cuda:*,xpu:0*3,cpu"),
            (Requests{AllOf{"cuda"}, Device{"xpu", 0, 3}, WholeCpu{}}));
}

TEST(Spec, CountsIdleGpusByRepetition) {
  EXPECT_EQ(parse_spec("-1,-1"), (Requests{IdleGpu{}, IdleGpu{}}));
  EXPECT_EQ(parse_spec("-1,0"), (Requests{IdleGpu{}, Gpu{0}}));
}

TEST(Spec, ReadsFullWidthSignsCapitalsAndBlanks) {
  const Requests both{Device{"cpu", 0}, Device{"cpu", 1}};
  EXPECT_EQ(parse_spec("cpu：0，cpu：1"), both);
  EXPECT_EQ(parse_spec(" CPU:0, cpu:1\t"), both);
}

TEST(Spec, RefusesNothing) {
  EXPECT_EQ(refused(""), "it is empty");
  EXPECT_EQ(refused("  "), "it is empty");
  EXPECT_EQ(refused(","), "a device is missing");
  EXPECT_EQ(refused("cpu:0,"), "a device is missing");
  EXPECT_EQ(refused(",cpu:0"), "a device is missing");
  EXPECT_EQ(refused("cpu:0,,cpu:1"), "a device is missing");
}

TEST(Spec, RefusesWhatIsMalformed) {
  for (const std::string item :
       {"cpu:",    "cpu:x",       "cpu:-1",        "cpu:+1",   "cpu:1.0",
        "cpu:01",  "cpu:0:1",     "cpu: 0",        ":0",       "cpu 0",
        "cpu;0",   "cpu0:",       "xpu:**2",       "xpu*2",    "xpu:0*",
        "xpu:0*0", "xpu:0*1001",  "xpu:0*x",       "xpu:0*-1", "0*2",
        "00",      "-2",          "--1",           "*",        ":",
        "1.5",     "auto:0",      "slurm:*",       "slurm:1",  "-1*2",
        "9999999", "cpu:9999999", "cpu:0*9999999", "٣",        "cpu:0\ncpu:1"})
    EXPECT_EQ(refused(item), "'" + item + "' is no device");
}

TEST(Spec, RefusesADeviceNamedTwice) {
  EXPECT_EQ(refused("cpu,cpu"), "cpu is named twice");
  EXPECT_EQ(refused("cpu:0,cpu:1,cpu:0"), "cpu:0 is named twice");
  EXPECT_EQ(refused("xpu,xpu:0"), "xpu:0 is named twice");
  EXPECT_EQ(refused("cuda:0,cuda:0*2"), "cuda:0*2 is named twice");
  EXPECT_EQ(refused("0,0"), "0 is named twice");
  EXPECT_EQ(refused("xpu:*,xpu:*"), "xpu:* is named twice");
  EXPECT_EQ(refused("xpu:*,xpu:1"), "xpu:* and xpu:1 name the same device");
  EXPECT_EQ(refused("xpu:1,xpu:*"), "xpu:1 and xpu:* name the same device");
  EXPECT_EQ(refused("cpu,cpu:0"), "cpu and cpu:0 name the same device");
  EXPECT_EQ(refused("auto,auto"), "auto is named twice");
}

TEST(Spec, LetsAutoAndSlurmStandAlone) {
  EXPECT_EQ(refused("auto,cpu:0"), "auto stands alone");
  EXPECT_EQ(refused("cpu:0,auto"), "auto stands alone");
  EXPECT_EQ(refused("xpu:0,slurm"), "slurm stands alone");
}

TEST(Spec, NamesDevicesThatTrainTogether) {
  EXPECT_EQ(parse_spec("xpu:0+xpu:1"), (Requests{Group{"xpu", {0, 1}}}));
  EXPECT_EQ(parse_spec("cuda:2+cuda:0+cuda:1"), (Requests{Group{"cuda", {2, 0, 1}}}));
  EXPECT_EQ(parse_spec(" CPU：0 + cpu:1, cpu:2"),
            (Requests{Group{"cpu", {0, 1}}, Device{"cpu", 2}}));
}

TEST(Spec, RefusesWhatCannotTrainTogether) {
  EXPECT_EQ(refused("xpu:0+cpu:0"), "xpu:0+cpu:0: the devices of a group are of one kind");
  EXPECT_EQ(refused("xpu:0+xpu:0"), "xpu:0+xpu:0: xpu:0 is named twice");
  EXPECT_EQ(refused("xpu:0+xpu:1*2"), "xpu:0+xpu:1*2: a group trains one trial at a time");
  for (const std::string item :
       {"0+1", "cpu+cpu:1", "xpu:*+xpu:1", "-1+-1", "auto+cpu:0", "xpu:0+1"})
    EXPECT_EQ(refused(item),
              "'" + item + "' is no group: each of its devices has a kind and a number");
  for (const std::string item : {"xpu:0+", "+xpu:0", "+", "xpu:0++xpu:1", "xpu:0+xpu:x"})
    EXPECT_EQ(refused(item), "'" + item + "' is no device");
}

TEST(Spec, RefusesADeviceInTwoSlots) {
  EXPECT_EQ(refused("xpu:0+xpu:1,xpu:1"), "xpu:0+xpu:1 and xpu:1 name the same device");
  EXPECT_EQ(refused("xpu:2,xpu:1+xpu:2"), "xpu:2 and xpu:1+xpu:2 name the same device");
  EXPECT_EQ(refused("xpu:0+xpu:1,xpu:1+xpu:2"), "xpu:0+xpu:1 and xpu:1+xpu:2 name the same device");
  EXPECT_EQ(refused("xpu:*,xpu:0+xpu:1"), "xpu:* and xpu:0+xpu:1 name the same device");
  EXPECT_EQ(refused("cpu,cpu:0+cpu:1"), "cpu and cpu:0+cpu:1 name the same device");
  EXPECT_EQ(refused("xpu:0+xpu:1,cuda:0+cuda:1"), "accepted");
}

TEST(Spec, NamesARequestAsItIsWritten) {
  for (const std::string item :
       {"auto", "slurm", "-1", "3", "cpu", "xpu:*", "npu:7", "cuda:1+cuda:0"})
    EXPECT_EQ(name_of(parse_spec(item).front()), item);
}

}  // namespace
}  // namespace evolve::devices
