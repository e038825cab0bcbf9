// The one exception that a person reads. A failed trial is data (`hyp/outcome.hpp`), not an error.
#pragma once

#include <stdexcept>
#include <string>

namespace evolve {

/// A place in a file: its path and, where known, the line (from 1).
struct Where {
  std::string file;
  int line = 0;
};

/// "hyp.yaml:3", or "hyp.yaml" without a line.
std::string text_of(const Where& where);

/// What went wrong, in one line that says where, what is wrong and what would be right.
class Error : public std::runtime_error {
 public:
  /// `input`: the arguments or an input file are wrong (exit code 2). `run`: the run failed (exit
  /// code 1).
  enum class Fault { input, run };

  Error(Fault fault, const std::string& line) : std::runtime_error(line), fault_(fault) {}

  Fault fault() const { return fault_; }
  int exit_code() const { return fault_ == Fault::input ? 2 : 1; }

 private:
  Fault fault_;
};

/// "hyp.yaml:12: lr0 is 'abc'; write a number". The line is left out when it is 0.
Error bad_input(const Where& where, const std::string& what, const std::string& remedy);

/// "--devices cpu:9: there is no such device; choose among cpu:0, cpu:1".
Error bad_argument(const std::string& what, const std::string& remedy);

/// A run that cannot go on: a full disk, a dead file system.
Error run_failed(const std::string& what, const std::string& remedy);

}  // namespace evolve
