#include "devices/probe.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <system_error>
#include <thread>

namespace evolve::devices {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

/// Exit codes of the child: it says its text, or what is wrong.
constexpr int has_text = 0, has_problem = 1;

/// Leaves the child nothing of ours but `pipe`.
void seclude(int pipe, pid_t parent) {
  ::setsid();
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(has_problem);
  for (const int number : {SIGINT, SIGTERM, SIGCHLD, SIGPIPE}) ::signal(number, SIG_DFL);
  constexpr rlimit no_core_file{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core_file);
  const int nowhere = ::open("/dev/null", O_RDWR);
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(nowhere, stream);
  constexpr int our_pipe = 3;
  if (pipe != our_pipe) ::dup2(pipe, our_pipe);
  if (::close_range(our_pipe + 1, ~0U, 0) == 0) return;
  for (int file = our_pipe + 1; file < 1024; ++file) ::close(file);  // Linux before 5.9
}

[[noreturn]] void child(const std::function<std::string()>& work, int pipe, pid_t parent) {
  seclude(pipe, parent);
  std::string text;
  int code = has_text;
  try {
    text = work();
  } catch (const std::exception& error) {
    text = error.what();
    code = has_problem;
  }
  for (std::size_t written = 0; written < text.size();) {
    const auto n = ::write(3, text.data() + written, text.size() - written);
    if (n <= 0) break;
    written += static_cast<std::size_t>(n);
  }
  // No farewell to the vendors' libraries: some hang in theirs.
  ::_exit(code);
}

/// All that is written until the end of the pipe; false when that does not come in time.
bool read_all(int pipe, std::string& text, Clock::time_point until) {
  std::array<char, 1 << 14> buffer;
  while (true) {
    const auto left = std::chrono::ceil<milliseconds>(until - Clock::now()).count();
    if (left <= 0) return false;
    pollfd readable{pipe, POLLIN, 0};
    if (::poll(&readable, 1, static_cast<int>(left)) <= 0) continue;
    const auto n = ::read(pipe, buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return true;
    text.append(buffer.data(), static_cast<std::size_t>(n));
  }
}

/// The wait status of a child, if it ends in time.
bool reap(pid_t child, int& status, Clock::time_point until) {
  while (true) {
    const auto reaped = ::waitpid(child, &status, WNOHANG);
    if (reaped == child) return true;
    if ((reaped < 0 && errno != EINTR) || Clock::now() >= until) return false;
    std::this_thread::sleep_for(milliseconds(1));
  }
}

std::string seconds_text(milliseconds duration) {
  auto text = std::to_string(static_cast<double>(duration.count()) / 1000);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text + " s";
}

}  // namespace

Probed in_a_probe(const std::function<std::string()>& work, milliseconds limit) {
  std::array<int, 2> pipe{};
  if (::pipe2(pipe.data(), O_CLOEXEC) != 0)
    throw std::system_error(errno, std::system_category(), "no pipe for a probe");
  const auto parent = ::getpid();
  const auto id = ::fork();
  if (id == 0) child(work, pipe[1], parent);
  ::close(pipe[1]);
  if (id < 0) {
    const int error = errno;
    ::close(pipe[0]);
    throw std::system_error(error, std::system_category(), "no process for a probe");
  }
  const auto until = Clock::now() + limit;
  std::string text;
  int status = 0;
  const bool answered = read_all(pipe[0], text, until) && reap(id, status, until);
  ::close(pipe[0]);
  if (!answered) {
    ::kill(id, SIGKILL);
    // One that is stuck in its driver does not even die; nobody waits for it for ever.
    reap(id, status, Clock::now() + milliseconds(1000));
    return {.text = "", .problem = "it does not answer within " + seconds_text(limit)};
  }
  if (WIFSIGNALED(status)) {
    const auto* name = ::sigabbrev_np(WTERMSIG(status));
    return {.text = "", .problem = std::string("it crashed (SIG") + (name ? name : "?") + ")"};
  }
  if (WEXITSTATUS(status) == has_text) return {.text = std::move(text), .problem = ""};
  if (text.empty()) text = "it ended with exit code " + std::to_string(WEXITSTATUS(status));
  return {.text = "", .problem = std::move(text)};
}

}  // namespace evolve::devices
