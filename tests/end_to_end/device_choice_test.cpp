// Which devices are chosen, and which drivers are asked for them, as real processes, with cards
// that are not there.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fake_cards.hpp"

namespace evolve::test {
namespace {

using testing::HasSubstr;

/// What `evolve --dry-run --devices DEVICES` says, or its error.
std::string plan(const Variables& variables, const std::string& devices) {
  Folder folder;
  const auto ended = run_on(folder, variables, devices, {"--dry-run"});
  EXPECT_EQ(ended.code, ended.err.empty() ? 0 : 2);
  EXPECT_LE(lines_of(ended.err).size(), 1u) << ended.err;
  return ended.out + ended.err;
}

TEST(AutomaticDevices, AreAllOfCudaAndSaid) {
  const auto text = plan({nvidia, intel, two_gpus, four_xpus}, "auto");
  EXPECT_THAT(text, HasSubstr("on 2 slots: cuda:0, cuda:1\n"
                              "auto: found 2 cuda devices, training on them\n"
                              "cuda:0 is RTX 4090, 24.0 GiB, 0000:01:00.0, GPU-11aa\n"));
}

TEST(AutomaticDevices, AreElseAllXpus) {
  const auto text = plan({nvidia, intel, "FAKE_NVML=unloaded", four_xpus}, "auto");
  EXPECT_THAT(text, HasSubstr("on 4 slots: xpu:0, xpu:1, xpu:2, xpu:3\n"));
}

TEST(AutomaticDevices, AreElseCores) {
  const auto text = plan({nvidia, intel, "FAKE_NVML=unloaded", "FAKE_XPU_INIT=none"}, "auto");
  EXPECT_THAT(text, HasSubstr("auto: found no CUDA device and no XPU, training on the CPU, a slot "
                              "per core ("));
}

TEST(AutomaticDevices, LeaveOutWhatCannotWork) {
  const auto text =
      plan({nvidia, intel, "FAKE_NVML=unloaded",
            "FAKE_XPUS=name=Arc,bus=3;name=Arc,bus=4,lost;name=Iris,bus=0,integrated"},
           "auto");
  EXPECT_THAT(text, HasSubstr("on 1 slot: xpu:0\n"));
  EXPECT_THAT(text, HasSubstr("left out: xpu:1, Intel GPU, lost\n"));
  EXPECT_THAT(text, HasSubstr("left out: xpu:2, Iris, which shares the host's memory\n"));
}

TEST(AutomaticDevices, SayThatADriverFails) {
  const auto text = plan({nvidia, intel, "FAKE_NVML=crash", four_xpus}, "auto");
  EXPECT_THAT(text, HasSubstr("auto: no cuda device: it crashed (SIGABRT)\n"));
  EXPECT_THAT(text, HasSubstr("on 4 slots: xpu:0"));
}

TEST(AutomaticDevices, AreNotCoresWhereSomebodyHasChosenOneInAWayThatEvolveCannotFollow) {
  const auto plan_with = [&](const std::string& selector) {
    return plan(
        {nvidia, intel, "FAKE_NVML=unloaded", four_xpus, "ONEAPI_DEVICE_SELECTOR=" + selector},
        "auto");
  };
  EXPECT_THAT(plan_with("level_zero:0;opencl:0"),
              HasSubstr("--devices auto: ONEAPI_DEVICE_SELECTOR='level_zero:0;opencl:0' is more "
                        "than evolve can follow: hide devices with ZE_AFFINITY_MASK;"));
  EXPECT_THAT(plan_with("*:cpu"), HasSubstr("auto: found no CUDA device and no XPU, training on"));
}

TEST(NumberedDevices, AreOfCudaElseXpus) {
  EXPECT_THAT(plan({nvidia, intel, two_gpus, four_xpus}, "0,1"),
              HasSubstr("on 2 slots: cuda:0, cuda:1\n"));
  EXPECT_THAT(plan({nvidia, intel, "FAKE_NVML=unloaded", four_xpus}, "3,0"),
              HasSubstr("on 2 slots: xpu:3, xpu:0\n"));
  const auto neither = plan({nvidia, intel, "FAKE_NVML=crash", "FAKE_XPU_INIT=none"}, "auto");
  EXPECT_THAT(neither, HasSubstr("auto: training on the CPU, a slot per core (")) << "who knows";
  EXPECT_THAT(plan({nvidia, intel, "FAKE_NVML=crash", four_xpus}, "0"),
              HasSubstr("--devices 0: the NVIDIA driver cannot be asked: it crashed (SIGABRT);"));
}

TEST(IdleDevices, AreTheIdlestFirst) {
  const std::string cards =
      "FAKE_GPUS=name=A,uuid=GPU-1,bus=1,load=90;name=B,uuid=GPU-2,bus=2,load=0,free=20;"
      "name=C,uuid=GPU-3,bus=3,load=0,free=23";
  EXPECT_THAT(plan({nvidia, cards}, "-1"), HasSubstr("on 1 slot: cuda:2\n"));
  EXPECT_THAT(plan({nvidia, cards}, "-1,-1"), HasSubstr("on 2 slots: cuda:2, cuda:1\n"));
  EXPECT_THAT(plan({nvidia, cards}, "cuda:2,-1"), HasSubstr("on 2 slots: cuda:2, cuda:1\n"));
  EXPECT_THAT(
      plan({nvidia, cards}, "-1,-1,-1,-1"),
      HasSubstr("there are 3 working cuda devices here, 4 asked for; choose among cpu, cpu:0"));
  EXPECT_THAT(plan({nvidia, cards}, "0,cuda:1,-1,-1"),
              HasSubstr("there is 1 working cuda device here besides those named, 2 asked for;"));
}

TEST(MixedDevices, KeepTheirOrder) {
  EXPECT_THAT(plan({intel, four_xpus}, "xpu:1,cpu:0,xpu:0"),
              HasSubstr("on 3 slots: xpu:1, cpu:0, xpu:0\n"));
  EXPECT_THAT(plan({intel, four_xpus}, "xpu:*"), HasSubstr("on 4 slots: xpu:0, "));
}

TEST(AbsentDevices, AreRefusedWithThoseThatExist) {
  const auto missing = plan({intel, four_xpus}, "xpu:0,xpu:7");
  EXPECT_THAT(missing,
              HasSubstr("--devices xpu:0,xpu:7: there is no xpu:7 here; choose among cpu, cpu:0"));
  EXPECT_THAT(missing, HasSubstr("xpu:0, xpu:1, xpu:2, xpu:3\n"));
  EXPECT_THAT(plan({nvidia, intel, two_gpus, four_xpus}, "gpu:0"),
              HasSubstr("cuda:0, cuda:1, xpu:0, xpu:1, xpu:2, xpu:3\n"));
  EXPECT_THAT(plan({nvidia, intel, two_gpus, four_xpus}, ""), HasSubstr("cuda:1, xpu:0"));
  EXPECT_THAT(plan({nvidia, intel, two_gpus, four_xpus}, "0,cuda:0"),
              HasSubstr("0 and cuda:0 name the same device"));
  EXPECT_THAT(plan({nvidia, "FAKE_NVML=broken"}, "cuda:0"),
              HasSubstr("cuda:0 cannot be used, its driver fails: nvmlInit: Unknown Error;"));
  EXPECT_THAT(plan({intel, "FAKE_XPUS=name=Arc,bus=3,wedged"}, "xpu:0"),
              HasSubstr("xpu:0 (Arc) is out of order: wedged;"));
  EXPECT_THAT(plan({}, "slurm"), HasSubstr("this is no Slurm job;"));
  EXPECT_THAT(plan({}, "abc:0"), HasSubstr("name it (--device-env);"));
  EXPECT_THAT(plan({}, "mps"), HasSubstr("there is no mps here;"));
  EXPECT_THAT(plan({}, "gpu:0"), HasSubstr("gpu is no kind of device; auto takes what there is;"));
}

/// What this run loaded of the vendors' libraries that it must not load.
class NamedDevice : public testing::Test {
 protected:
  std::string marks() const { return read_file(folder / "mark"); }
  Variables with(Variables variables) const {
    variables.push_back("TRAP_MARK=" + (folder / "mark").string());
    return variables;
  }
  /// A run on these devices, in a folder of its own.
  Ended run_on(const std::string& devices, const Variables& variables) const {
    const Folder own;
    return test::run_on(own, with(variables), devices);
  }
  Folder folder;
  const std::string both = "LD_LIBRARY_PATH=" TRAP_NVML_FOLDER ":" TRAP_LEVEL_ZERO_FOLDER;
};

TEST_F(NamedDevice, IsWatchedByTrapsThatWork) {
  const auto ended = evolve_with(folder, with({both}), {"devices"});
  EXPECT_EQ(ended.code, 0);
  EXPECT_EQ(marks(), "libnvidia-ml\nlibze_loader\n");
  EXPECT_THAT(ended.out,
              HasSubstr("the driver of Intel GPUs fails: libze_loader.so.1 has no zeInit"));
}

TEST_F(NamedDevice, OpensNoDriverWhereItIsACpu) {
  for (const std::string devices : {"cpu", "cpu:0", "npu:0"}) {
    const auto ended = run_on(devices, {both});
    EXPECT_EQ(ended.code, 0) << devices << ": " << ended.err;
  }
  for (const auto& [devices, why] : {std::pair("cpu:99999", "there is no cpu:99999 here"),
                                     std::pair("cpu:0,cpu:0", "cpu:0 is named twice")}) {
    const auto refused = run_on(devices, {both});
    EXPECT_EQ(refused.code, 2) << devices;
    EXPECT_THAT(refused.err, HasSubstr(why));
  }
  EXPECT_EQ(marks(), "");
}

TEST_F(NamedDevice, OpensNoDriverOfNvidiaWhereItIsAnXpu) {
  const Variables variables = {"LD_LIBRARY_PATH=" TRAP_NVML_FOLDER, intel, four_xpus};
  const auto ended = run_on("xpu:0", variables);
  EXPECT_EQ(ended.code, 0) << ended.err;
  const auto refused = run_on("xpu:9", variables);
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err, HasSubstr("there is no xpu:9 here"));
  EXPECT_EQ(marks(), "");
}

TEST_F(NamedDevice, OpensNoLevelZeroWhereItIsACudaDevice) {
  const Variables variables = {"LD_LIBRARY_PATH=" FAKE_NVML_FOLDER ":" TRAP_LEVEL_ZERO_FOLDER,
                               two_gpus};
  const auto ended = run_on("cuda:0", variables);
  EXPECT_EQ(ended.code, 0) << ended.err;
  const auto refused = run_on("cuda:9", variables);
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err, HasSubstr("there is no cuda:9 here"));
  EXPECT_EQ(marks(), "");
}

}  // namespace
}  // namespace evolve::test
