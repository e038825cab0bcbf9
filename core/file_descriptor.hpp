// Open files by number, and the pipes between processes.
#pragma once

#include <sys/types.h>

#include <string_view>

namespace evolve::core {

/// An open file, closed at the end of its life.
class FileDescriptor {
 public:
  explicit FileDescriptor(int number = -1) : number_(number) {}
  ~FileDescriptor();
  FileDescriptor(FileDescriptor&& other) noexcept;
  FileDescriptor& operator=(FileDescriptor&& other) noexcept;

  int number() const { return number_; }
  bool is_open() const { return number_ >= 0; }
  void close();
  /// The number, which the caller closes from now on.
  int release();

 private:
  int number_;
};

/// Two ends; what is written to `writer` is read from `reader`. Both are closed at exec.
struct Pipe {
  FileDescriptor reader, writer;
};

/// Throws std::system_error.
Pipe make_pipe();

/// Two ends of one stream, each to be written to and read from. Throws std::system_error.
Pipe make_socket_pair();

/// Writes all of `text`, however many calls that takes. Returns 0, or the errno that stopped it.
int write_all(int descriptor, std::string_view text);

/// write(2), except that a pipe without a reader is just EPIPE: no SIGPIPE comes, whatever this
/// process does with that signal.
ssize_t write_without_sigpipe(int descriptor, std::string_view text);

}  // namespace evolve::core
