#include "core/file_descriptor.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <ctime>
#include <system_error>
#include <utility>

namespace evolve::core {
namespace {

Pipe ends_of(int failed, const std::array<int, 2>& ends) {
  if (failed) throw std::system_error(errno, std::system_category(), "no pipe");
  return {FileDescriptor(ends[0]), FileDescriptor(ends[1])};
}

}  // namespace

FileDescriptor::~FileDescriptor() {
  close();
}

FileDescriptor::FileDescriptor(FileDescriptor&& other) noexcept : number_(other.release()) {}

FileDescriptor& FileDescriptor::operator=(FileDescriptor&& other) noexcept {
  std::swap(number_, other.number_);
  return *this;
}

void FileDescriptor::close() {
  if (is_open()) ::close(release());
}

int FileDescriptor::release() {
  return std::exchange(number_, -1);
}

Pipe make_pipe() {
  std::array<int, 2> ends{};
  return ends_of(::pipe2(ends.data(), O_CLOEXEC), ends);
}

Pipe make_socket_pair() {
  std::array<int, 2> ends{};
  return ends_of(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), ends);
}

int write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = ::write(descriptor, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno;
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  return 0;
}

ssize_t write_without_sigpipe(int descriptor, std::string_view text) {
  sigset_t broken_pipe, before, pending;
  ::sigemptyset(&broken_pipe);
  ::sigaddset(&broken_pipe, SIGPIPE);
  ::sigpending(&pending);
  ::pthread_sigmask(SIG_BLOCK, &broken_pipe, &before);
  const auto count = ::write(descriptor, text.data(), text.size());
  const int error = errno;
  // The signal of a write is sent to the thread that writes. One that waited before is not ours.
  if (count < 0 && error == EPIPE && !::sigismember(&pending, SIGPIPE)) {
    constexpr timespec at_once{};
    while (::sigtimedwait(&broken_pipe, nullptr, &at_once) < 0 && errno == EINTR) {
    }
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = error;
  return count;
}

}  // namespace evolve::core
