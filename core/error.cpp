#include "core/error.hpp"

namespace evolve {

Error bad_input(const Where& where, const std::string& what, const std::string& remedy) {
  const std::string line = where.line > 0 ? ":" + std::to_string(where.line) : "";
  return {Error::Fault::input, where.file + line + ": " + what + "; " + remedy};
}

Error bad_argument(const std::string& what, const std::string& remedy) {
  return {Error::Fault::input, what + "; " + remedy};
}

Error run_failed(const std::string& what, const std::string& remedy) {
  return {Error::Fault::run, what + "; " + remedy};
}

}  // namespace evolve
