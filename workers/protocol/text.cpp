#include "workers/protocol/text.hpp"

#include <algorithm>
#include <array>
#include <regex>
#include <string>

#include "core/utf8.hpp"

namespace evolve::workers {
namespace {

constexpr std::string_view blanks = " \t\r\n";

// The same words are in python/evolve/worker.py; a test compares them.
constexpr auto signs_of_full_memory = std::to_array<std::string_view>({
    "out of memory",         // CUDA and XPU allocators
    "OUT_OF_DEVICE_MEMORY",  // Unified Runtime 39, Level Zero
    "OUT_OF_HOST_MEMORY",
    "OUT_OF_RESOURCES",  // Unified Runtime 40
    "not enough memory", "DefaultCPUAllocator", "CUBLAS_STATUS_ALLOC_FAILED",
    "CUDNN_STATUS_ALLOC_FAILED",
    "ALLOCATION_FAILED",  // cuDNN 9: CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED
    // A training has left these libraries no room for their handles or workspaces.
    "CUBLAS_STATUS_NOT_INITIALIZED", "CUDNN_STATUS_NOT_INITIALIZED",
    "find an engine to execute this computation", "find a valid cuDNN algorithm", "std::bad_alloc",
    "can NOT allocate memory block",  // Intel's, of one larger than 4 GB on Arc A
    "no usable batch size found",     // Ultralytics' AutoBatch, where not one image has room
    "MemoryError",                    // Python
    "killed by signal: Killed",       // a DataLoader's worker, by the kernel
});

constexpr std::array<std::string_view, 5> signs_of_a_lost_device = {
    "DEVICE_LOST",  // Unified Runtime 20, Level Zero
    "device lost",
    "GPU is lost",  // NVML
    "fallen off the bus", "uncorrectable ECC error",
};

/// What srun adds once the program of a step has said why it ends, and PyTorch once it has said
/// what went wrong on a GPU.
bool is_an_echo(std::string_view line) {
  constexpr auto of_srun = std::to_array<std::string_view>(
      {"Exited with exit code", "Terminating StepId", "launch/slurm"});
  constexpr auto of_torch = std::to_array<std::string_view>(
      {"Search for `cuda", "CUDA kernel errors might be",
       "For debugging consider passing CUDA_LAUNCH_BLOCKING", "Compile with `TORCH_USE_CUDA_DSA`"});
  const auto has_any = [&](const auto& echoes) {
    return std::ranges::any_of(echoes, [&](auto echo) { return line.find(echo) != line.npos; });
  };
  return (line.starts_with("srun: ") && has_any(of_srun)) || has_any(of_torch);
}

}  // namespace

std::string last_line(std::string_view raw) {
  // What a terminal is told of colours and lines to clear is no word.
  static const std::regex controls("\x1b\\[[0-9;?]{0,32}[A-Za-z]");
  const auto words = std::regex_replace(std::string(raw), controls, "");
  std::string_view last, left = words;
  do {
    const auto end = left.find_last_not_of(blanks);
    if (end == left.npos) break;
    left = left.substr(0, end + 1);
    const auto before = left.find_last_of("\r\n");
    auto line = before == left.npos ? left : left.substr(before + 1);
    line.remove_prefix(line.find_first_not_of(blanks));
    if (last.empty() || !is_an_echo(line)) last = line;
    left = before == left.npos ? "" : left.substr(0, before);
  } while (is_an_echo(last));
  return core::excerpt(last);
}

hyp::FailureKind kind_in(std::string_view words, hyp::FailureKind otherwise) {
  const auto any_of = [&](const auto& signs) {
    return std::ranges::any_of(signs, [&](auto sign) { return words.find(sign) != words.npos; });
  };
  if (any_of(signs_of_full_memory)) return hyp::FailureKind::oom;
  if (any_of(signs_of_a_lost_device)) return hyp::FailureKind::device_lost;
  return otherwise;
}

}  // namespace evolve::workers
