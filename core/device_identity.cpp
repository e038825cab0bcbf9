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

std::string uuid_digits(std::string_view uuid) {
  if (uuid.starts_with("GPU-")) uuid.remove_prefix(4);
  return digits_of(uuid);
}

std::string pci_digits(std::string_view pci) {
  auto digits = digits_of(pci);
  if (std::ranges::count(digits, ':') == 1) digits = "0:" + digits;
  return digits.substr(std::min(digits.find_first_not_of('0'), digits.size()));
}

}  // namespace

bool same_uuid(std::string_view a, std::string_view b) {
  return uuid_digits(a) == uuid_digits(b);
}

bool same_pci(std::string_view a, std::string_view b) {
  return pci_digits(a) == pci_digits(b);
}

}  // namespace evolve::core
