// Devices found and shown to trainers one each, as real processes, with cards that are not there.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "fake_cards.hpp"

namespace evolve::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

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

// Debian's libtorch drives none of them.
TEST(Devices, AreTakenByAutoForEachTrainerAsItCanUseThem) {
  Folder folder;
  const auto ended = evolve_with(folder, {nvidia, two_gpus}, {"devices"});
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.out, testing::ContainsRegex("--devices auto takes (cpu:0.* for the built-in "
                                                "trainer, )?cuda:0,cuda:1( for any other)?\n"));
}

TEST(Devices, AreListedUnderASelectorThatCannotBeFollowed) {
  Folder folder;
  const auto ended =
      evolve_with(folder, {intel, four_xpus, "ONEAPI_DEVICE_SELECTOR=opencl:gpu"}, {"devices"});
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("Intel GPUs are not listed: ONEAPI_DEVICE_SELECTOR"));
  EXPECT_THAT(ended.out, HasSubstr("nothing (--devices auto: "));
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

TEST(Devices, InMigModeWithoutAnInstanceAreOutOfOrder) {
  Folder folder;
  const Variables cards = {nvidia,
                           "FAKE_GPUS=name=A100,uuid=GPU-1,bus=1,mig=0;name=A30,uuid=GPU-2,bus=2"};
  const auto list = nlohmann::json::parse(evolve_with(folder, cards, {"devices", "--json"}).out);
  ASSERT_GE(list.size(), 2u);
  EXPECT_EQ(list[0]["uuid"], "GPU-1");
  EXPECT_EQ(list[0]["state"], "in MIG mode, without an instance");
  EXPECT_EQ(list[1]["state"], "ok");
  const auto ended = evolve_with(folder, cards, {"--trainer-command", "true", "--dry-run"});
  EXPECT_THAT(ended.out, HasSubstr(" on 1 slot: cuda:1\n")) << ended.err;
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
  const auto ended = run_on(folder, {intel, four_xpus}, "xpu:0,xpu:2", {}, looking + " --sleep 20");
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
  const auto ended =
      run_on(folder, {intel, four_xpus, "ZE_AFFINITY_MASK=2,3"}, "xpu:0", {}, looking);
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(values(folder, "xpu:0", "ZE_AFFINITY_MASK"), ElementsAre("2"));
  EXPECT_EQ(seen(folder)[0]["uuid"], "86800000-0500-0000-0000-000000000000");
}

TEST(Devices, OfNvidiaAreShownByTheirUuids) {
  Folder folder;
  const auto ended =
      run_on(folder, {nvidia, two_gpus, "CUDA_VISIBLE_DEVICES=1,0"}, "cuda:0", {}, looking);
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(values(folder, "cuda:0", "CUDA_VISIBLE_DEVICES"), ElementsAre("GPU-22bb"));
  EXPECT_THAT(values(folder, "cuda:0", "ONEAPI_DEVICE_SELECTOR"), ElementsAre("*:cpu"));
  EXPECT_EQ(seen(folder)[0]["uuid"], "GPU-22bb");
}

TEST(Devices, TakeSeveralTrialsAtATime) {
  Folder folder;
  const auto ended = run_on(folder, {nvidia, two_gpus}, "cuda:1*2", {}, " --sleep 400");
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(journal(folder / "run")[0]["slots"], (std::vector<std::string>{"cuda:1", "cuda:1"}));
  std::set<int> processes;
  for (const auto& line : seen(folder)) processes.insert(line["pid"].get<int>());
  EXPECT_EQ(processes.size(), 2u);
}

TEST(Devices, WithSeveralTrialsTryAFailedOneAgain) {
  Folder folder;
  const auto ended = run_on(folder, {nvidia, two_gpus}, "cuda:1*2", {}, " --crash-trial 3");
  ASSERT_EQ(ended.code, 0) << ended.err << ended.out;
  EXPECT_EQ(count(journal(folder / "run"), "completed"), 7);
  EXPECT_EQ(count(journal(folder / "run"), "failed"), 3);
}

TEST(Devices, ThatAreNotTheSlotsAreNeverTrainedOn) {
  Folder folder;
  const auto ended = run_on(folder, {intel, four_xpus, "FAKE_XPU_BLIND=yes"}, "xpu:1",
                            {"--retries", "0", "--trials", "1"}, looking);
  EXPECT_EQ(ended.code, 1);
  EXPECT_THAT(ended.err,
              HasSubstr("it has the device 86800000-0300-0000-0000-000000000000, but its "
                        "slot's is 86800000-0400-0000-0000-000000000000"));
  EXPECT_FALSE(std::filesystem::exists(folder / "seen")) << "it has trained";
}

TEST(Devices, OfKindsThatOnlyATrainerKnowsAreMasked) {
  Folder folder;
  const auto ended = run_on(folder, {"ASCEND_RT_VISIBLE_DEVICES=4,5"}, "npu:1,gcu:3",
                            {"--trials", "8"}, " --sleep 20");
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(values(folder, "npu:1", "ASCEND_RT_VISIBLE_DEVICES"), ElementsAre("5"));
  EXPECT_THAT(values(folder, "gcu:3", "TOPS_VISIBLE_DEVICES"), ElementsAre("3"));
}

TEST(Devices, OfAnUnknownKindAreMaskedByTheVariableThatIsNamed) {
  Folder folder;
  ASSERT_EQ(run_on(folder, {}, "abc:3", {"--device-env", "ABC_DEVICES"}).code, 0);
  EXPECT_THAT(values(folder, "abc:3", "ABC_DEVICES"), ElementsAre("3"));
}

TEST(Devices, OfSlurmAreTheAllocations) {
  Folder folder;
  const auto ended =
      run_on(folder, {nvidia, two_gpus, "SLURM_JOB_ID=7", "CUDA_VISIBLE_DEVICES=1"}, "slurm");
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(journal(folder / "run")[0]["slots"], (std::vector<std::string>{"cuda:0"}));
  EXPECT_THAT(values(folder, "cuda:0", "CUDA_VISIBLE_DEVICES"), ElementsAre("GPU-22bb"));
}

TEST(Devices, OfSlurmAreNoCoresWhereTheAllocationHasAmdsGpus) {
  Folder folder;
  const auto refused = run_on(
      folder, {"SLURM_JOB_ID=7", "CUDA_VISIBLE_DEVICES=", "ROCR_VISIBLE_DEVICES=0,1"}, "slurm");
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err, HasSubstr("the allocation has AMD's GPUs, which are named one by one "
                                     "(hip:0,hip:1)"));
  EXPECT_FALSE(std::filesystem::exists(folder / "run"));
}

TEST(Auto, GoesOnWithNoCpuWhereTheRunHadGpus) {
  Folder folder;
  ASSERT_EQ(run_on(folder, {nvidia, two_gpus}, "auto", {"--trials", "2"}).code, 0);
  const auto refused = evolve_with(folder, {}, {"--resume", "run", "--trials", "4"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err, HasSubstr("evolve: --devices auto: the run had cuda:0, cuda:1, and now "
                                     "auto finds none of that kind (auto: "));
  EXPECT_THAT(refused.err, HasSubstr("; mend the driver, or go on with --devices cpu"));
  const auto mended = evolve_with(folder, {nvidia, two_gpus}, {"--resume", "run", "--trials", "3"});
  EXPECT_EQ(mended.code, 0) << mended.err;
  const auto given =
      evolve_with(folder, {}, {"--resume", "run", "--trials", "4", "--devices", "cpu"});
  EXPECT_EQ(given.code, 0) << given.err;
}

TEST(Auto, GoesOnWithNoOtherGpusThanTheRunHadLast) {
  Folder folder;
  ASSERT_EQ(run_on(folder, {}, "auto", {"--trials", "2"}).code, 0);
  ASSERT_EQ(evolve_with(folder, {nvidia, two_gpus}, {"--resume", "run", "--trials", "4"}).code, 0);
  const auto refused =
      evolve_with(folder, {intel, four_xpus}, {"--resume", "run", "--trials", "6"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err, HasSubstr("evolve: --devices auto: the run had cuda:0, cuda:1, and now "
                                     "auto finds none of that kind ("));
  EXPECT_THAT(refused.err, HasSubstr("go on with --devices xpu:0,xpu:1,xpu:2,xpu:3\n"));
}

TEST(Auto, GoesOnWithNoOtherKindHoweverItIsWritten) {
  Folder folder;
  ASSERT_EQ(run_on(folder, {nvidia, two_gpus}, "0", {"--trials", "2"}).code, 0);
  for (const std::string spec : {"Auto", " AUTO", "0"}) {
    const auto refused = evolve_with(folder, {intel, four_xpus},
                                     {"--resume", "run", "--trials", "4", "--devices", spec});
    EXPECT_EQ(refused.code, 2) << spec;
    EXPECT_THAT(refused.err,
                HasSubstr("the run had cuda:0, and now " + spec + " finds none of that kind"));
  }
}

TEST(Auto, GoesOnWithNoCpuWhereTheFileHadTakenTheGpusOut) {
  Folder folder;
  ASSERT_EQ(run_on(folder, {nvidia, two_gpus}, "auto", {"--trials", "2"}).code, 0);
  ASSERT_EQ(evolve_with(folder, {nvidia, two_gpus},
                        {"--resume", "run", "--trials", "3", "--devices", "cpu"})
                .code,
            0);
  const auto refused = evolve_with(folder, {}, {"--resume", "run", "--trials", "4"});
  EXPECT_EQ(refused.code, 2) << refused.out;
}

TEST(Auto, TakesOneOfTheKindsThatARunHad) {
  Folder folder;
  const Variables both = {nvidia, two_gpus, intel, four_xpus};
  ASSERT_EQ(run_on(folder, both, "xpu:0,cuda:0", {"--trials", "2"}).code, 0);
  const auto ended =
      evolve_with(folder, both, {"--resume", "run", "--trials", "4", "--devices", "auto"});
  EXPECT_EQ(ended.code, 0) << ended.err;
}

// Its UUIDs have no "GPU-", without which CUDA would take them for a list of numbers.
TEST(Devices, OfAJetsonAreMaskedByTheirNumbers) {
  Folder folder;
  const Variables card = {nvidia,
                          "FAKE_GPUS=name=Orin,uuid=54d0709b-558d-5a59-9c65-0c5fc14a21a4,bus=1"};
  const auto list = nlohmann::json::parse(evolve_with(folder, card, {"devices", "--json"}).out);
  EXPECT_EQ(list[0]["mask"], (nlohmann::json{{"CUDA_VISIBLE_DEVICES", "0"}}));
}

}  // namespace
}  // namespace evolve::test
