// A command that runs once, watched by a process that has nothing else to do.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "core/file_descriptor.hpp"

namespace evolve::workers {

/// A running command in our process group. Its standard input is empty, its standard output and
/// error are one pipe. It dies with us, and in the end whatever it has started dies too.
class Subprocess {
 public:
  /// Starts the command without these variables of our environment. Throws std::system_error when
  /// it cannot be executed.
  Subprocess(const std::vector<std::string>& command, const std::vector<std::string>& unset);
  /// Tells the command to end, and kills it and its descendants when it has, or after a second.
  ~Subprocess();
  Subprocess(const Subprocess&) = delete;
  Subprocess& operator=(const Subprocess&) = delete;

  /// The pipe's end to be polled.
  int output() const { return output_.number(); }
  /// What is there to be read, at most a part of it; nothing at the end of the stream or when there
  /// is nothing.
  std::string read();
  /// The wait status, once it has ended.
  std::optional<int> status();

 private:
  void end();

  pid_t id_ = -1;
  core::FileDescriptor output_;
  std::optional<int> status_;
};

}  // namespace evolve::workers
