// Fuzzers of what evolve reads: each input is taken or refused with the exception that the reader's
// docstring promises. Anything else is a find: another exception, a crash, a hang, memory without
// bounds, undefined behaviour. scripts/fuzz builds and runs them; what they find becomes a test
// beside the reader's others.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <string>

#include "core/error.hpp"

namespace evolve::fuzz {

/// A file with these bytes, in memory.
class File {
 public:
  explicit File(const std::string& bytes) : number_(::memfd_create("input", MFD_CLOEXEC)) {
    if (::write(number_, bytes.data(), bytes.size()) < 0) ::abort();
  }
  ~File() { ::close(number_); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  std::string path() const { return "/proc/self/fd/" + std::to_string(number_); }

 private:
  int number_;
};

/// Calls what may refuse its input.
template <class Refusal = Error, class Read>
void refusable(Read read) try {
  read();
} catch (const Refusal&) {
}

// What each fuzzer does with an input.
void csv(const std::string& input);
void data_yaml(const std::string& input);
void hyp(const std::string& input);
void image(const std::string& input);
void journal(const std::string& input);
void labels(const std::string& input);
void messages(const std::string& input);
void model(const std::string& input);
void population(const std::string& input);
void space(const std::string& input);
void weights(const std::string& input);
void words(const std::string& input);

}  // namespace evolve::fuzz
