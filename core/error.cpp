#include "core/error.hpp"

#include <algorithm>

namespace evolve {
namespace {

/// What an error quotes may have line ends and other control characters.
std::string one_line(std::string text) {
  std::ranges::replace_if(
      text, [](unsigned char c) { return c < 0x20 || c == 0x7f; }, ' ');
  return text;
}

}  // namespace

Error bad_input(const Where& where, const std::string& what, const std::string& remedy) {
  const std::string line = where.line > 0 ? ":" + std::to_string(where.line) : "";
  return {Error::Fault::input, one_line(where.file + line + ": " + what + "; " + remedy)};
}

Error bad_argument(const std::string& what, const std::string& remedy) {
  return {Error::Fault::input, one_line(what + "; " + remedy)};
}

Error run_failed(const std::string& what, const std::string& remedy) {
  return {Error::Fault::run, one_line(what + "; " + remedy)};
}

}  // namespace evolve
