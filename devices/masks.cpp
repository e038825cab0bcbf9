#include "devices/masks.hpp"

#include <algorithm>

#include "core/number.hpp"
#include "core/split.hpp"

namespace evolve::devices {
namespace {

/// The GPU of that number: of several MIG instances the first.
const Accelerator* numbered(const std::vector<Accelerator>& all, std::size_t number) {
  const auto numbers = gpu_numbers(all);
  const auto first = std::ranges::find(numbers, number);
  return first == numbers.end() ? nullptr : &all[static_cast<std::size_t>(first - numbers.begin())];
}

const Accelerator* named(const std::vector<Accelerator>& all, const std::string& beginning) {
  if (!is_uuid_for_cuda(beginning)) return nullptr;
  const auto fits = [&](const Accelerator& a) { return a.uuid.starts_with(beginning); };
  const auto first = std::ranges::find_if(all, fits);
  return std::ranges::count_if(all, fits) == 1 ? &*first : nullptr;
}

}  // namespace

bool is_uuid_for_cuda(std::string_view entry) {
  return entry.starts_with("GPU-") || entry.starts_with("MIG-");
}

std::optional<std::vector<std::string>> shown_by(const Environment& environment,
                                                 const std::string& variable) {
  const auto found = environment.find(variable);
  if (found == environment.end()) return {};
  auto shown = core::split_and_trim(found->second, ',');
  shown.erase(std::ranges::find(shown, "-1"), shown.end());
  return shown;
}

bool is_empty_for_slurm(const std::string& mask) {
  return mask.empty() || mask == "NoDevFiles" || mask == "-1";
}

std::vector<std::size_t> gpu_numbers(const std::vector<Accelerator>& all) {
  std::vector<std::size_t> numbers;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const bool same_gpu = i > 0 && !all[i].pci.empty() && all[i].pci == all[i - 1].pci;
    numbers.push_back(i == 0 ? 0 : numbers.back() + (same_gpu ? 0 : 1));
  }
  return numbers;
}

std::vector<Accelerator> seen_by_cuda(const std::vector<Accelerator>& all, std::string_view list) {
  std::vector<Accelerator> seen;
  for (const auto& entry : core::split_and_trim(list, ',')) {
    const auto number = core::parse_integer<std::size_t>(entry);
    const auto* device = number ? numbered(all, *number) : named(all, entry);
    if (!device || std::ranges::find(seen, *device) != seen.end()) break;
    seen.push_back(*device);
  }
  return seen;
}

}  // namespace evolve::devices
