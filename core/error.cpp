#include "core/error.hpp"

#include "core/utf8.hpp"

namespace evolve {

using core::printable;  // what an error quotes may be anything

std::string text_of(const Where& where) {
  return where.file + (where.line > 0 ? ":" + std::to_string(where.line) : "");
}

Error bad_input(const Where& where, const std::string& what, const std::string& remedy) {
  return {Error::Fault::input, printable(text_of(where) + ": " + what + "; " + remedy)};
}

Error bad_argument(const std::string& what, const std::string& remedy) {
  return {Error::Fault::input, printable(what + "; " + remedy)};
}

Error run_failed(const std::string& what, const std::string& remedy) {
  return {Error::Fault::run, printable(what + "; " + remedy)};
}

}  // namespace evolve
