// The built-in trainer on devices that its libtorch was not built for.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <map>

#include "process.hpp"

namespace evolve::test {
namespace {

using testing::HasSubstr;

const std::string worker =
    (std::filesystem::path(EVOLVE_BINARY).parent_path() / "evolve-worker").string();

/// A machine with one Intel card, and a libtorch that has only the CPU.
class ALibtorchWithoutXpus : public testing::Test {
 protected:
  void SetUp() override {
    if (Process({worker, "--kinds"}, folder.path()).wait().out.find("xpu") != std::string::npos)
      GTEST_SKIP() << "this libtorch has XPUs";
  }
  Ended with_card(std::vector<std::string> command) {
    command.insert(command.begin(), {"/usr/bin/env", "ZE_ENABLE_ALT_DRIVERS=" FAKE_LEVEL_ZERO,
                                     "LD_LIBRARY_PATH=" FAKE_NVML_FOLDER, "FAKE_NVML=unloaded",
                                     "FAKE_XPUS=name=Arc A770,bus=3", "EVOLVE_DEVICE=xpu:0"});
    return Process(command, folder.path()).wait();
  }
  Folder folder;
};

TEST_F(ALibtorchWithoutXpus, RefusesAnXpuThatIsNamed) {
  for (const std::string command : {"", "train", "val"}) {
    std::vector<std::string> words = {EVOLVE_BINARY};
    if (!command.empty()) words.push_back(command);
    if (command == "val") words.insert(words.end(), {"--weights", "shapes-base"});
    words.insert(words.end(), {"--device", "xpu:0"});
    EXPECT_THAT(refusal_of(with_card(words)),
                HasSubstr("--devices xpu:0: the built-in trainer's libtorch has no xpu "
                          "devices (docs/libtorch.md); choose among cpu"));
  }
  EXPECT_FALSE(std::filesystem::exists(folder / "runs"));
}

TEST_F(ALibtorchWithoutXpus, RefusesTheXpusOfASlurmJob) {
  const auto path = EVOLVE_SOURCE_DIR "/tests/end_to_end:" + std::string(std::getenv("PATH"));
  const auto ended = with_card({"PATH=" + path, "SLURM_JOB_ID=7", "SLURM_NNODES=2",
                                "FAKE_ZE_MASK=0", EVOLVE_BINARY, "--launcher", "slurm"});
  EXPECT_EQ(ended.code, 2) << ended.out;
  EXPECT_THAT(ended.err,
              HasSubstr("--launcher slurm: the built-in trainer's libtorch has no xpu devices "
                        "(docs/libtorch.md); name other devices, or use another libtorch"));
}

TEST_F(ALibtorchWithoutXpus, TrainsOnTheCpuWhenItMayAndSaysSo) {
  const auto ended = with_card({EVOLVE_BINARY, "--dry-run"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.out,
              HasSubstr("auto: found 1 xpu device, which the built-in trainer's libtorch "
                        "cannot use (docs/libtorch.md)\n"
                        "auto: training on the CPU, a slot per core ("));
}

TEST_F(ALibtorchWithoutXpus, IsNoExcuseForTheWorkerToTrainOnTheCpu) {
  const auto ended = with_card({worker});
  EXPECT_EQ(ended.code, 1);
  EXPECT_EQ(ended.out, "") << "it was ready";
  EXPECT_THAT(ended.err, HasSubstr("evolve-worker: xpu:0: libtorch "));
  EXPECT_THAT(ended.err,
              HasSubstr(" was built without such devices; build with one that has them"));
}

/// The libraries that a process opened, by its number, as the dynamic loader traced them.
std::map<std::string, std::string> opened(const Folder& folder) {
  std::map<std::string, std::string> traces;
  for (const auto& file : std::filesystem::directory_iterator(folder / "traces"))
    traces[file.path().extension()] = read_file(file.path());
  return traces;
}

TEST(ATrace, OfARunOnTheCpuHasNoVendorsLibraryAndTorchInTheWorkerAlone) {
  Folder folder;
  std::filesystem::create_directory(folder / "traces");
  auto command = evolve_command(
      {"--epochs", "1", "--imgsz", "64", "--trials", "1", "--devices", "cpu:0", "--output", "run"});
  // Libraries that would be found, were they looked for.
  command.insert(command.begin(), {"/usr/bin/env", "LD_DEBUG=files",
                                   "LD_DEBUG_OUTPUT=" + (folder / "traces/of").string(),
                                   "LD_LIBRARY_PATH=" TRAP_NVML_FOLDER ":" TRAP_LEVEL_ZERO_FOLDER});
  const auto ended = Process(command, folder.path()).wait();
  ASSERT_EQ(ended.code, 0) << ended.err;
  int with_torch = 0;
  for (const auto& [process, trace] : opened(folder)) {
    // Drivers, and torch's part for them. Of a build for CUDA the CPU's part needs libcudart
    // itself.
    EXPECT_THAT(trace, testing::Not(testing::ContainsRegex(
                           "libnvidia|libcuda\\.so|libtorch_cuda|libze_|libsycl|libtorch_xpu")));
    const bool has_torch = trace.find("libtorch") != std::string::npos;
    with_torch += has_torch;
    if (has_torch) {
      EXPECT_THAT(trace, HasSubstr("evolve-worker"));
    }
  }
  EXPECT_EQ(with_torch, 1);
}

TEST(AWorker, IsNotReadyWithoutItsDevice) {
  Folder folder;
  const auto ended = Process({"/usr/bin/env", "ZE_ENABLE_ALT_DRIVERS=" FAKE_LEVEL_ZERO,
                              "FAKE_XPU_INIT=none", "EVOLVE_DEVICE=xpu:3", worker},
                             folder.path())
                         .wait();
  EXPECT_EQ(ended.code, 1);
  EXPECT_EQ(ended.out, "");
  EXPECT_THAT(ended.err, HasSubstr("no xpu:0 is visible here: Level Zero has no driver"));
}

}  // namespace
}  // namespace evolve::test
