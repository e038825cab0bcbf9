#include "devices/probe.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>
#include <thread>
#include <utility>

#include "core/child.hpp"
#include "core/number.hpp"

namespace evolve::devices {
namespace {

using std::chrono::milliseconds;

/// Exit codes of the child: it says its text, or what is wrong. A library that ends the process
/// takes neither.
constexpr int has_text = 113, has_problem = 114;

/// Leaves the child nothing of ours but `pipe`, which gets this number.
constexpr int our_pipe = 3;
void seclude(int pipe) {
  ::setsid();
  constexpr rlimit no_core_file{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core_file);
  if (pipe != our_pipe) ::dup2(pipe, our_pipe);
  core::close_files_from(our_pipe + 1);
  const int nowhere = ::open("/dev/null", O_RDWR);
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(nowhere, stream);
  if (nowhere > our_pipe) ::close(nowhere);
}

[[noreturn]] void child(const std::function<std::string()>& work, int pipe, pid_t parent) {
  core::die_with(parent);
  seclude(pipe);
  core::unblock_signals();
  std::string text;
  int code = has_text;
  try {
    text = work();
  } catch (const std::exception& error) {
    text = error.what();
    code = has_problem;
  }
  core::write_all(our_pipe, text);
  // The vendors' libraries are not shut down: some hang in that.
  ::_exit(code);
}

}  // namespace

Probe::Probe(const std::function<std::string()>& work, milliseconds limit)
    : limit_(limit), until_(Clock::now() + limit) {
  auto pipe = core::make_pipe();
  const auto parent = ::getpid();
  id_ = core::fork_child();
  if (id_ == 0) child(work, pipe.writer.number(), parent);
  pipe_ = std::move(pipe.reader);
}

Probe::~Probe() {
  end();
}

bool Probe::wait(milliseconds patience) {
  const auto give_up = std::min(Clock::now() + patience, until_);
  while (true) {
    bool progress = false;
    if (pipe_.is_open()) {
      progress = read(give_up);
    } else if (::waitpid(id_, &status_, WNOHANG) == id_) {
      id_ = -1;
      return true;
    } else {
      std::this_thread::sleep_for(milliseconds(1));
    }
    if (!progress && Clock::now() >= give_up) return Clock::now() >= until_;
  }
}

bool Probe::read(Clock::time_point until) {
  const auto left = std::chrono::ceil<milliseconds>(until - Clock::now()).count();
  pollfd readable{pipe_.number(), POLLIN, 0};
  if (::poll(&readable, 1, static_cast<int>(std::max<long>(left, 0))) <= 0) return false;
  std::array<char, 1 << 14> buffer;
  const auto n = ::read(pipe_.number(), buffer.data(), buffer.size());
  if (n > 0) text_.append(buffer.data(), static_cast<std::size_t>(n));
  if (n > 0 || (n < 0 && errno == EINTR)) return true;
  pipe_.close();
  return true;
}

pid_t Probe::end() {
  pipe_.close();
  const auto id = std::exchange(id_, -1);
  if (id == -1) return 0;
  ::kill(id, SIGKILL);
  // One that is stuck in its driver does not even die; nobody waits for it for ever.
  for (int tries = 0; tries < 1000; ++tries) {
    if (::waitpid(id, &status_, WNOHANG) != 0) return 0;
    std::this_thread::sleep_for(milliseconds(1));
  }
  return id;
}

Probed Probe::result() {
  if (id_ != -1)
    return {.text = "",
            .problem = "it does not answer within " +
                       core::shortest(static_cast<double>(limit_.count()) / 1000) + " s",
            .stuck = end()};
  if (WIFSIGNALED(status_)) {
    const auto* name = ::sigabbrev_np(WTERMSIG(status_));
    return {.text = "",
            .problem = std::string("it crashed (SIG") + (name ? name : "?") + ")",
            .crashed = true};
  }
  const int code = WEXITSTATUS(status_);
  if (code == has_text) return {.text = std::move(text_), .problem = ""};
  if (code == has_problem && !text_.empty()) return {.text = "", .problem = std::move(text_)};
  return {.text = "", .problem = "it ended with exit code " + std::to_string(code)};
}

Probed in_a_probe(const std::function<std::string()>& work, milliseconds limit) {
  try {
    Probe probe(work, limit);
    while (!probe.wait(limit)) {
    }
    return probe.result();
  } catch (const std::system_error& error) {  // too few processes or files at the moment
    return {.text = "", .problem = error.what()};
  }
}

}  // namespace evolve::devices
