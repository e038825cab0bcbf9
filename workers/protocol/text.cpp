#include "workers/protocol/text.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <string>

#include "core/utf8.hpp"

namespace evolve::workers {
namespace {

constexpr std::string_view blanks = " \t\r\n";

constexpr std::array<std::string_view, 3> no_numbers = {"NaN", "Infinity", "-Infinity"};

constexpr auto signs_of_full_memory = std::to_array<std::string_view>({
    "out of memory",         // CUDA and XPU allocators
    "OUT_OF_DEVICE_MEMORY",  // Unified Runtime 39, Level Zero
    "OUT_OF_HOST_MEMORY",
    "OUT_OF_RESOURCES",  // Unified Runtime 40
    "not enough memory", "DefaultCPUAllocator", "CUBLAS_STATUS_ALLOC_FAILED",
    "CUDNN_STATUS_ALLOC_FAILED",
    // A training has left these libraries no room for their handles or workspaces.
    "CUBLAS_STATUS_NOT_INITIALIZED", "CUDNN_STATUS_NOT_INITIALIZED",
    "find an engine to execute this computation", "find a valid cuDNN algorithm", "std::bad_alloc",
    "MemoryError",  // Python
});

constexpr std::array<std::string_view, 5> signs_of_a_lost_device = {
    "DEVICE_LOST",  // Unified Runtime 20, Level Zero
    "device lost",
    "GPU is lost",  // NVML
    "fallen off the bus", "uncorrectable ECC error",
};

/// The number with which a text begins, or "": all of the letters that numbers have.
std::string_view leading_number(std::string_view text) {
  return text.substr(0, text.find_first_not_of("+-.0123456789eE"));
}

}  // namespace

std::string printable(std::string_view raw, std::size_t most) {
  const bool cut = raw.size() > most;
  auto text = core::one_line(core::valid_utf8(std::string(raw.substr(0, most))));
  return cut ? text + "…" : text;
}

std::string last_line(std::string_view raw) {
  const auto end = raw.find_last_not_of(blanks);
  if (end == raw.npos) return "";
  raw = raw.substr(0, end + 1);
  const auto before = raw.find_last_of("\r\n");
  raw = before == raw.npos ? raw : raw.substr(before + 1);
  return printable(raw.substr(raw.find_first_not_of(blanks)));
}

std::string with_quoted_nans(std::string_view line) {
  std::string quoted;
  bool in_text = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const auto rest = line.substr(i);
    const auto none = std::ranges::find_if(
        no_numbers, [&](auto word) { return !in_text && rest.starts_with(word); });
    if (none != no_numbers.end()) {
      quoted.append("\"").append(*none).append("\"");
      i += none->size() - 1;
      continue;
    }
    const auto number = in_text ? std::string_view() : leading_number(rest);
    if (!number.empty()) {
      const double value = std::strtod(std::string(number).c_str(), nullptr);
      quoted += std::isfinite(value) ? number : value > 0 ? "\"Infinity\"" : "\"-Infinity\"";
      i += number.size() - 1;
      continue;
    }
    quoted += line[i];
    if (line[i] == '"') in_text = !in_text;
    if (in_text && line[i] == '\\' && i + 1 < line.size()) quoted += line[++i];
  }
  return quoted;
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
