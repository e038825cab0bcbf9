#include "core/error.hpp"

#include "core/utf8.hpp"

namespace evolve {

using core::one_line;  // what an error quotes may have more
using core::valid_utf8;

Error bad_input(const Where& where, const std::string& what, const std::string& remedy) {
  const std::string line = where.line > 0 ? ":" + std::to_string(where.line) : "";
  return {Error::Fault::input,
          one_line(valid_utf8(where.file + line + ": " + what + "; " + remedy))};
}

Error bad_argument(const std::string& what, const std::string& remedy) {
  return {Error::Fault::input, one_line(valid_utf8(what + "; " + remedy))};
}

Error run_failed(const std::string& what, const std::string& remedy) {
  return {Error::Fault::run, one_line(valid_utf8(what + "; " + remedy))};
}

}  // namespace evolve
