#include "workers/protocol/text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <string>
#include <vector>

#include "core/text_file.hpp"

namespace evolve::workers {
namespace {

TEST(LastLine, SkipsBlankLines) {
  EXPECT_EQ(last_line("one\ntwo\n \n\n"), "two");
  EXPECT_EQ(last_line("10%\r 20%\r\n"), "20%");
  EXPECT_EQ(last_line("only"), "only");
  EXPECT_EQ(last_line("\r\x1b[K\x1b[34;1m 1/2\x1b[0m  3/3"), "1/2  3/3");
  EXPECT_EQ(last_line("why\n\x1b[0m\n\x1b[?25h\x1b[K"), "why");
  EXPECT_EQ(last_line("\x1b[K"), "");
  EXPECT_EQ(last_line(" \n\n"), "");
  EXPECT_EQ(last_line(""), "");
}

TEST(LastLine, IsNotWhatALauncherAddsToIt) {
  EXPECT_EQ(last_line("ImportError: no torch\nsrun: error: n1: task 0: Exited with exit code 3\n"),
            "ImportError: no torch");
  EXPECT_EQ(last_line("why\n\nsrun: error: n1: task 0: Exited with exit code 3\n"
                      "srun: Terminating StepId=7.0\n"),
            "why");
  EXPECT_EQ(last_line("Epoch 3/10\nsrun: error: n1: task 0: Out Of Memory\n"),
            "srun: error: n1: task 0: Out Of Memory");
  EXPECT_EQ(last_line("Welcome\nsrun: error: Unable to allocate resources: Invalid account\n"),
            "srun: error: Unable to allocate resources: Invalid account");
  EXPECT_EQ(last_line("srun: error: n1: task 0: Exited with exit code 3\n"),
            "srun: error: n1: task 0: Exited with exit code 3");
}

TEST(LastLine, IsNotPytorchsAdvice) {
  EXPECT_EQ(last_line("RuntimeError: CUDA error: device-side assert triggered\n"
                      "CUDA kernel errors might be asynchronously reported at some other API call\n"
                      "For debugging consider passing CUDA_LAUNCH_BLOCKING=1\n"
                      "Compile with `TORCH_USE_CUDA_DSA` to enable device-side assertions.\n\n"),
            "RuntimeError: CUDA error: device-side assert triggered");
}

// The quoted words of a source file that follow `opening`, up to the end of that list.
std::vector<std::string> words_of(const std::string& file, const std::string& opening,
                                  const std::string& closing) {
  const auto source = core::read_text_file(EVOLVE_SOURCE_DIR + ("/" + file));
  const auto begin = source.find(opening);
  const auto text = source.substr(begin, source.find(closing, begin) + 1 - begin);
  const std::regex quoted("\"([^\"]+)\"");
  std::vector<std::string> words;
  for (std::sregex_iterator word(text.begin(), text.end(), quoted), end; word != end; ++word)
    words.push_back((*word)[1]);
  return words;
}

TEST(LastWords, MeanTheSameToOurTrainersInPython) {
  const std::string ours = "workers/protocol/text.cpp", python = "python/evolve/worker.py";
  auto full = words_of(ours, "signs_of_full_memory = ", "});");
  std::erase(full, "MemoryError");  // Python knows it by its type
  EXPECT_THAT(full, testing::Contains("std::bad_alloc"));
  EXPECT_EQ(words_of(python, "\nFULL_MEMORY = (", "\")"), full);
  const auto lost = words_of(ours, "signs_of_a_lost_device = ", "};");
  EXPECT_THAT(lost, testing::Contains("device lost"));
  EXPECT_EQ(words_of(python, "\nLOST_DEVICE = (", "\")"), lost);
  EXPECT_EQ(full.size(), 17U);
  EXPECT_EQ(lost.size(), 5U);
  for (const auto& words : full)
    EXPECT_EQ(kind_in(words, hyp::FailureKind::other), hyp::FailureKind::oom) << words;
  for (const auto& words : lost)
    EXPECT_EQ(kind_in(words, hyp::FailureKind::other), hyp::FailureKind::device_lost) << words;
}

TEST(LastWords, TellAFullMemoryAndALostDevice) {
  using hyp::FailureKind;
  const auto kind = [](std::string_view words) { return kind_in(words, FailureKind::crash); };
  EXPECT_EQ(kind("RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB\n"),
            FailureKind::oom);
  EXPECT_EQ(kind("XPU out of memory. Tried to allocate"), FailureKind::oom);
  EXPECT_EQ(kind("DefaultCPUAllocator: can't allocate memory"), FailureKind::oom);
  EXPECT_EQ(kind("level_zero backend failed with error: 39 (UR_RESULT_ERROR_OUT_OF_DEVICE_MEMORY)"),
            FailureKind::oom);
  EXPECT_EQ(kind("error: 40 (UR_RESULT_ERROR_OUT_OF_RESOURCES)\nmore"), FailureKind::oom);
  for (const auto* words :
       {"CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`",
        "CUDA error: CUBLAS_STATUS_NOT_INITIALIZED when calling `cublasCreate(handle)`",
        "cuDNN error: CUDNN_STATUS_NOT_INITIALIZED",
        "cuDNN error: CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED",
        "GET was unable to find an engine to execute this computation",
        "Unable to find a valid cuDNN algorithm to run convolution",
        "Current platform can NOT allocate memory block with size larger than 4GB!",
        "AutoBatch: no usable batch size found while profiling batch=[1, 2, 4]. ",
        "RuntimeError: DataLoader worker (pid(s) 5) is killed by signal: Killed. "})
    EXPECT_EQ(kind(words), FailureKind::oom) << words;
  EXPECT_EQ(kind("error: 20 (UR_RESULT_ERROR_DEVICE_LOST)"), FailureKind::device_lost);
  EXPECT_EQ(kind("ZE_RESULT_ERROR_DEVICE_LOST after ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY"),
            FailureKind::oom);
  EXPECT_EQ(kind("CUDA error: device-side assert triggered"), FailureKind::crash);
  EXPECT_EQ(kind("killed by signal 9 (SIGKILL)"), FailureKind::crash);
  EXPECT_EQ(kind_in("", FailureKind::other), FailureKind::other);
}

}  // namespace
}  // namespace evolve::workers
