#include "core/device_identity.hpp"

#include <algorithm>
#include <cctype>

namespace evolve::core {
namespace {

/// In small letters, without dashes.
std::string digits_of(std::string_view text) {
  std::string digits;
  for (const char c : text)
    if (c != '-') digits += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return digits;
}

/// Without "GPU-" or "MIG-", which NVML puts before a UUID and torch does not.
std::string without_prefix(const std::string& digits) {
  return digits.starts_with("gpu") || digits.starts_with("mig") ? digits.substr(3) : digits;
}

std::string pci_digits(std::string_view pci) {
  auto digits = digits_of(pci);
  if (std::ranges::count(digits, ':') == 1) digits = "0:" + digits;
  return digits.substr(std::min(digits.find_first_not_of('0'), digits.size()));
}

}  // namespace

bool same_uuid(std::string_view a, std::string_view b) {
  const auto one = digits_of(a), other = digits_of(b);
  return one == other || without_prefix(one) == other || one == without_prefix(other);
}

bool same_pci(std::string_view a, std::string_view b) {
  return pci_digits(a) == pci_digits(b);
}

}  // namespace evolve::core
