// Devices found, chosen and shown to trainers one each, as real processes: with NVIDIA's library
// and Intel's driver replaced by those of tests/fake_drivers.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "process.hpp"

namespace evolve::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::UnorderedElementsAre;

using Variables = std::vector<std::string>;

const std::string intel = "ZE_ENABLE_ALT_DRIVERS=" FAKE_LEVEL_ZERO;
const std::string nvidia = "LD_LIBRARY_PATH=" FAKE_NVML_FOLDER;
const std::string four_xpus =
    "FAKE_XPUS=name=Arc A770,bus=3;name=Arc A750,bus=4;name=Arc A580,bus=5;name=Arc A380,bus=6";
const std::string two_gpus =
    "FAKE_GPUS=name=RTX 4090,uuid=GPU-11aa,bus=1;name=RTX 3090,uuid=GPU-22bb,bus=2";

/// `evolve ARGUMENTS` in an environment with these variables ("NAME=VALUE") and no other that
/// matters.
Ended evolve_with(const Folder& folder, const Variables& variables,
                  const std::vector<std::string>& arguments) {
  std::vector<std::string> command = {"/usr/bin/env"};
  for (const auto* unset : {"CUDA_VISIBLE_DEVICES", "ZE_AFFINITY_MASK", "ZE_FLAT_DEVICE_HIERARCHY",
                            "ONEAPI_DEVICE_SELECTOR", "SLURM_JOB_ID", "LD_LIBRARY_PATH"})
    command.insert(command.end(), {"-u", unset});
  command.insert(command.end(), variables.begin(), variables.end());
  for (const auto& word : evolve_command(arguments)) command.push_back(word);
  return Process(command, folder.path()).wait();
}

/// `evolve` on these devices with the fake trainer, which leaves what it sees in the file "seen".
Ended run(const Folder& folder, const Variables& variables, const std::string& devices,
          std::vector<std::string> more = {}, const std::string& trainer_options = "") {
  std::vector<std::string> arguments = {
      "--trainer-command", fake_trainer("--seen " + (folder / "seen").string() + trainer_options),
      "--devices",         devices,
      "--population",      "4",
      "--generations",     "2",
      "--output",          "run"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return evolve_with(folder, variables, arguments);
}

std::vector<nlohmann::json> seen(const Folder& folder) {
  std::vector<nlohmann::json> all;
  for (const auto& line : lines_of(read_file(folder / "seen")))
    all.push_back(nlohmann::json::parse(line));
  return all;
}

/// What the trainers of a device had in a variable of their environment ("-" for nothing).
std::set<std::string> values(const Folder& folder, const std::string& device,
                             const std::string& variable) {
  std::set<std::string> all;
  for (const auto& line : seen(folder))
    if (line["device"] == device) all.insert(line["environment"].value(variable, "-"));
  return all;
}

const std::string looking = " --look " EVOLVE_BINARY;

TEST(Devices, AreListedForPeople) {
  Folder folder;
  const auto ended = evolve_with(
      folder,
      {intel, nvidia,
       "FAKE_XPUS=name=Intel(R) Arc(TM) A770 "
       "Graphics,bus=3,memory=16,free=15,load=0,celsius=41,watts=38;name=Arc,bus=4,lost",
       "FAKE_GPUS=name=NVIDIA RTX 4090,uuid=GPU-11aa,bus=1,load=100,celsius=80,watts=450,free=2"},
      {"devices"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  const auto lines = lines_of(ended.out);
  ASSERT_GE(lines.size(), 5u) << ended.out;
  // The name of this machine's CPU decides how wide the columns are.
  const auto words = [](const std::string& line) {
    std::string text;
    for (const char c : line)
      if (c != ' ' || (!text.empty() && text.back() != ' ')) text += c;
    return text;
  };
  EXPECT_EQ(words(lines[0]), "device name free memory load temp power state address");
  EXPECT_EQ(words(lines[1]),
            "cuda:0 NVIDIA RTX 4090 2.0 of 24.0 GiB 100 % 80 °C 450 W ok 0000:01:00.0");
  EXPECT_EQ(words(lines[2]),
            "xpu:0 Intel Arc A770 Graphics 15.0 of 16.0 GiB 0 % 41 °C 38 W ok 0000:03:00.0");
  EXPECT_EQ(words(lines[3]), "xpu:1 Intel GPU lost");
  EXPECT_EQ(words(lines[4]).substr(0, 4), "cpu ");
}

TEST(Devices, AreListedForPrograms) {
  Folder folder;
  const auto ended =
      evolve_with(folder, {intel, nvidia, four_xpus, two_gpus}, {"devices", "--json"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  const auto list = nlohmann::json::parse(ended.out);
  std::vector<std::string> names;
  for (const auto& device : list) names.push_back(device["device"]);
  EXPECT_THAT(names, ElementsAre("cuda:0", "cuda:1", "xpu:0", "xpu:1", "xpu:2", "xpu:3", "cpu"));
  EXPECT_EQ(list[1]["name"], "RTX 3090");
  EXPECT_EQ(list[1]["uuid"], "GPU-22bb");
  EXPECT_EQ(list[1]["pci"], "0000:02:00.0");
  EXPECT_EQ(list[1]["memory_total_bytes"], 24LL << 30);
  EXPECT_EQ(list[1]["memory_free_bytes"], 24LL << 30);
  EXPECT_EQ(list[1]["state"], "ok");
  EXPECT_EQ(list[2]["uuid"], "86800000-0300-0000-0000-000000000000");
  EXPECT_GT(list[6]["memory_total_bytes"], 0);
}

TEST(Devices, OfNoKindButTheCpuAreSaidToBeMissingAndWhy) {
  Folder folder;
  const auto ended =
      evolve_with(folder, {intel, nvidia, "FAKE_XPU_INIT=none", "FAKE_NVML=unloaded"}, {"devices"});
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("no NVIDIA GPU: the NVIDIA driver is not loaded\n"));
  EXPECT_THAT(ended.out,
              HasSubstr("no Intel GPU: Level Zero has no driver (zeInit: 0x78000001)\n"));
  EXPECT_THAT(ended.out, HasSubstr("--devices auto takes cpu:0"));
}

TEST(Devices, WhoseDriverCrashesCostALine) {
  Folder folder;
  const auto ended =
      evolve_with(folder, {intel, nvidia, four_xpus, "FAKE_NVML=crash"}, {"devices"});
  EXPECT_EQ(ended.code, 0);
  EXPECT_THAT(ended.out, HasSubstr("the driver of NVIDIA GPUs fails: it crashed (SIGABRT)\n"));
  EXPECT_THAT(ended.out, HasSubstr("xpu:3"));
}

TEST(Devices, ThatFailWithoutAWordHaveTheErrorsNumber) {
  Folder folder;
  const auto ended =
      evolve_with(folder, {nvidia, "FAKE_GPUS=name=A,uuid=GPU-1,bus=1,odd;name=B,uuid=GPU-2,bus=2"},
                  {"devices", "--json"});
  const auto list = nlohmann::json::parse(ended.out);
  ASSERT_GE(list.size(), 2u);
  EXPECT_EQ(list[0]["state"], "error 77");
  EXPECT_EQ(list[1]["uuid"], "GPU-2");
}

TEST(Devices, InMigModeAreTheirInstances) {
  Folder folder;
  const auto ended = evolve_with(
      folder, {nvidia, "FAKE_GPUS=name=A100,uuid=GPU-1,bus=1,mig=2;name=A30,uuid=GPU-2,bus=2"},
      {"devices", "--json"});
  const auto list = nlohmann::json::parse(ended.out);
  ASSERT_GE(list.size(), 3u);
  EXPECT_EQ(list[0]["uuid"], "MIG-1-0");
  EXPECT_EQ(list[1]["uuid"], "MIG-1-1");
  EXPECT_EQ(list[1]["pci"], "0000:01:00.0");
  EXPECT_EQ(list[2]["uuid"], "GPU-2");
}

TEST(Devices, OfAnotherJobAreNotCounted) {
  Folder folder;
  const auto ended = evolve_with(
      folder,
      {nvidia,
       "FAKE_GPUS=name=A,uuid=GPU-1,bus=1,foreign;name=B,uuid=GPU-2,bus=2;name=C,bus=3,lost"},
      {"devices", "--json"});
  const auto list = nlohmann::json::parse(ended.out);
  ASSERT_GE(list.size(), 2u);
  EXPECT_EQ(list[0]["uuid"], "GPU-2");
  EXPECT_EQ(list[1]["state"], "lost");
}

TEST(Devices, TrainOneCardEach) {
  Folder folder;
  const auto ended = run(folder, {intel, four_xpus}, "xpu:0,xpu:2", {}, looking + " --sleep 20");
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("xpu:2 is Arc A580, 16.0 GiB, 0000:05:00.0, "
                                   "86800000-0500-0000-0000-000000000000\n"));
  // Each trainer has asked the driver for itself.
  std::set<std::string> cards;
  for (const auto& line : seen(folder))
    cards.insert(line["device"].get<std::string>() + " " + line["uuid"].get<std::string>());
  EXPECT_THAT(cards, UnorderedElementsAre("xpu:0 86800000-0300-0000-0000-000000000000",
                                          "xpu:2 86800000-0500-0000-0000-000000000000"));
  EXPECT_THAT(values(folder, "xpu:2", "ZE_AFFINITY_MASK"), ElementsAre("2"));
  EXPECT_THAT(values(folder, "xpu:2", "ZE_FLAT_DEVICE_HIERARCHY"), ElementsAre("COMPOSITE"));
  EXPECT_THAT(values(folder, "xpu:2", "CUDA_VISIBLE_DEVICES"), ElementsAre("-1"));
}

TEST(Devices, AreCountedWithinAnOuterMask) {
  Folder folder;
  const auto ended = run(folder, {intel, four_xpus, "ZE_AFFINITY_MASK=2,3"}, "xpu:0", {}, looking);
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(values(folder, "xpu:0", "ZE_AFFINITY_MASK"), ElementsAre("2"));
  EXPECT_EQ(seen(folder)[0]["uuid"], "86800000-0500-0000-0000-000000000000");
}

TEST(Devices, OfNvidiaAreShownByTheirUuids) {
  Folder folder;
  const auto ended =
      run(folder, {nvidia, two_gpus, "CUDA_VISIBLE_DEVICES=1,0"}, "cuda:0", {}, looking);
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(values(folder, "cuda:0", "CUDA_VISIBLE_DEVICES"), ElementsAre("GPU-22bb"));
  EXPECT_THAT(values(folder, "cuda:0", "ONEAPI_DEVICE_SELECTOR"), ElementsAre("*:cpu"));
  EXPECT_EQ(seen(folder)[0]["uuid"], "GPU-22bb");
}

TEST(Devices, TakeSeveralTrialsAtATime) {
  Folder folder;
  const auto ended = run(folder, {nvidia, two_gpus}, "cuda:1*2", {}, " --sleep 400");
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(journal(folder / "run")[0]["slots"], (std::vector<std::string>{"cuda:1", "cuda:1"}));
  std::set<int> processes;
  for (const auto& line : seen(folder)) processes.insert(line["pid"].get<int>());
  EXPECT_EQ(processes.size(), 2u);
}

TEST(Devices, WithSeveralTrialsTryAFailedOneAgain) {
  Folder folder;
  const auto ended = run(folder, {nvidia, two_gpus}, "cuda:1*2", {}, " --crash-trial 3");
  ASSERT_EQ(ended.code, 0) << ended.err << ended.out;
  EXPECT_EQ(count(journal(folder / "run"), "completed"), 7);
  EXPECT_EQ(count(journal(folder / "run"), "failed"), 3);
}

TEST(Devices, ThatAreNotTheSlotsAreNeverTrainedOn) {
  Folder folder;
  const auto ended = run(folder, {intel, four_xpus, "FAKE_XPU_BLIND=yes"}, "xpu:1",
                         {"--retries", "0", "--trials", "1"}, looking);
  EXPECT_EQ(ended.code, 1);
  EXPECT_THAT(ended.err, HasSubstr("it has the device 86800000-0300-0000-0000-000000000000, its "
                                   "slot's is 86800000-0400-0000-0000-000000000000"));
  EXPECT_FALSE(std::filesystem::exists(folder / "seen")) << "it has trained";
}

TEST(Devices, OfKindsThatOnlyATrainerKnowsAreMasked) {
  Folder folder;
  const auto ended = run(folder, {"ASCEND_RT_VISIBLE_DEVICES=4,5"}, "npu:1,gcu:3",
                         {"--trials", "8"}, " --sleep 20");
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(values(folder, "npu:1", "ASCEND_RT_VISIBLE_DEVICES"), ElementsAre("5"));
  EXPECT_THAT(values(folder, "gcu:3", "TOPS_VISIBLE_DEVICES"), ElementsAre("3"));
}

TEST(Devices, OfAnUnknownKindAreMaskedByTheVariableThatIsNamed) {
  Folder folder;
  ASSERT_EQ(run(folder, {}, "abc:3", {"--device-env", "ABC_DEVICES"}).code, 0);
  EXPECT_THAT(values(folder, "abc:3", "ABC_DEVICES"), ElementsAre("3"));
}

TEST(Devices, OfSlurmAreTheAllocations) {
  Folder folder;
  const auto ended =
      run(folder, {nvidia, two_gpus, "SLURM_JOB_ID=7", "CUDA_VISIBLE_DEVICES=1"}, "slurm");
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(journal(folder / "run")[0]["slots"], (std::vector<std::string>{"cuda:0"}));
  EXPECT_THAT(values(folder, "cuda:0", "CUDA_VISIBLE_DEVICES"), ElementsAre("GPU-22bb"));
}

/// What `evolve --dry-run --devices DEVICES` says, or its error.
std::string plan(const Variables& variables, const std::string& devices) {
  Folder folder;
  const auto ended = run(folder, variables, devices, {"--dry-run"});
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

TEST(NumberedDevices, AreOfCudaElseXpus) {
  EXPECT_THAT(plan({nvidia, intel, two_gpus, four_xpus}, "0,1"),
              HasSubstr("on 2 slots: cuda:0, cuda:1\n"));
  EXPECT_THAT(plan({nvidia, intel, "FAKE_NVML=unloaded", four_xpus}, "3,0"),
              HasSubstr("on 2 slots: xpu:3, xpu:0\n"));
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
  EXPECT_THAT(plan({nvidia, cards}, "-1,-1,-1,-1"),
              HasSubstr("there are 3 GPUs here, 4 asked for; choose among cpu, cpu:0"));
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
              HasSubstr("cuda:0 cannot be asked for, its driver fails: nvmlInit: Unknown Error;"));
  EXPECT_THAT(plan({intel, "FAKE_XPUS=name=Arc,bus=3,wedged"}, "xpu:0"),
              HasSubstr("xpu:0 (Arc) is out of order: wedged;"));
  EXPECT_THAT(plan({}, "slurm"), HasSubstr("this is no Slurm job;"));
  EXPECT_THAT(plan({}, "abc:0"), HasSubstr("name it (--device-env);"));
  EXPECT_THAT(plan({}, "mps"), HasSubstr("there is no mps here;"));
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
    return run(own, with(variables), devices);
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

TEST(Auto, GoesOnWithNoCpuWhereTheRunHadGpus) {
  Folder folder;
  ASSERT_EQ(run(folder, {nvidia, two_gpus}, "auto", {"--trials", "2"}).code, 0);
  const auto refused = evolve_with(folder, {}, {"--resume", "run", "--trials", "4"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err, HasSubstr("evolve: --devices auto: the run had cuda:0, cuda:1, and now "
                                     "there is no GPU (auto: "));
  EXPECT_THAT(refused.err, HasSubstr("; mend the driver, or go on with --devices cpu"));
  const auto given =
      evolve_with(folder, {}, {"--resume", "run", "--trials", "4", "--devices", "cpu"});
  EXPECT_EQ(given.code, 0) << given.err;
}

}  // namespace
}  // namespace evolve::test
