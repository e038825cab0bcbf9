#include "trainer/device/torch_version.hpp"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cstdlib>
#include <string>

namespace evolve::trainer {
namespace {

/// Ends the process, whose settings make_repeatable() has changed.
[[noreturn]] void exit_with_cuda_module_loading() {
  make_repeatable();
  const char* how = std::getenv("CUDA_MODULE_LOADING");
  std::fprintf(stderr, "%s", how ? how : "nothing");
  std::exit(0);
}

TEST(MakeRepeatable, LetsCudaLoadKernelsWhenTheyAreUsed) {
  ::unsetenv("CUDA_MODULE_LOADING");
  EXPECT_EXIT(exit_with_cuda_module_loading(), testing::ExitedWithCode(0), "^LAZY$");
  ::setenv("CUDA_MODULE_LOADING", "EAGER", /*replace=*/1);
  EXPECT_EXIT(exit_with_cuda_module_loading(), testing::ExitedWithCode(0), "^EAGER$");
  ::unsetenv("CUDA_MODULE_LOADING");
}

TEST(MemoryBytes, AreNoneWhereTheDevicesAllocatorDoesNotTell) {
  EXPECT_EQ(memory_bytes(torch::kCPU), 0);
  EXPECT_EQ(memory_bytes({torch::kCUDA, 0}), 0);  // its library has not been opened
}

TEST(BoundOfAnXpusMemory, IsMissedInALineWhereLibtorchHasNone) {
  testing::internal::CaptureStderr();
  bound_xpu_memory(dlopen("libc.so.6", RTLD_NOW));
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              testing::MatchesRegex("libtorch .* sets no bound to an XPU's memory .*\n"));
}

}  // namespace
}  // namespace evolve::trainer
