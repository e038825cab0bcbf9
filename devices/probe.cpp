#include "devices/probe.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <system_error>
#include <thread>

namespace evolve::devices {
namespace {

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

std::string seconds_text(milliseconds duration) {
  auto text = std::to_string(static_cast<double>(duration.count()) / 1000);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text + " s";
}

}  // namespace

Probe::Probe(const std::function<std::string()>& work, milliseconds limit)
    : limit_(limit), until_(Clock::now() + limit) {
  std::array<int, 2> pipe{};
  if (::pipe2(pipe.data(), O_CLOEXEC) != 0)
    throw std::system_error(errno, std::system_category(), "no pipe for a probe");
  const auto parent = ::getpid();
  id_ = ::fork();
  if (id_ == 0) child(work, pipe[1], parent);
  const int error = errno;
  ::close(pipe[1]);
  pipe_ = pipe[0];
  if (id_ > 0) return;
  ::close(pipe_);
  throw std::system_error(error, std::system_category(), "no process for a probe");
}

Probe::~Probe() {
  end();
}

bool Probe::wait(milliseconds patience) {
  const auto give_up = std::min(Clock::now() + patience, until_);
  while (true) {
    bool progress = false;
    if (pipe_ != -1) {
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
  pollfd readable{pipe_, POLLIN, 0};
  if (::poll(&readable, 1, static_cast<int>(std::max<long>(left, 0))) <= 0) return false;
  std::array<char, 1 << 14> buffer;
  const auto n = ::read(pipe_, buffer.data(), buffer.size());
  if (n > 0) text_.append(buffer.data(), static_cast<std::size_t>(n));
  if (n > 0 || (n < 0 && errno == EINTR)) return true;
  ::close(pipe_);
  pipe_ = -1;
  return true;
}

void Probe::end() {
  if (pipe_ != -1) ::close(pipe_);
  pipe_ = -1;
  if (id_ == -1) return;
  ::kill(id_, SIGKILL);
  // One that is stuck in its driver does not even die; nobody waits for it for ever.
  for (int tries = 0; tries < 1000 && ::waitpid(id_, &status_, WNOHANG) == 0; ++tries)
    std::this_thread::sleep_for(milliseconds(1));
  id_ = -1;
}

Probed Probe::result() {
  if (id_ != -1) {
    end();
    return {.text = "", .problem = "it does not answer within " + seconds_text(limit_)};
  }
  if (WIFSIGNALED(status_)) {
    const auto* name = ::sigabbrev_np(WTERMSIG(status_));
    return {.text = "", .problem = std::string("it crashed (SIG") + (name ? name : "?") + ")"};
  }
  if (WEXITSTATUS(status_) == has_text) return {.text = std::move(text_), .problem = ""};
  if (text_.empty()) text_ = "it ended with exit code " + std::to_string(WEXITSTATUS(status_));
  return {.text = "", .problem = std::move(text_)};
}

Probed in_a_probe(const std::function<std::string()>& work, milliseconds limit) {
  Probe probe(work, limit);
  while (!probe.wait(limit)) {
  }
  return probe.result();
}

}  // namespace evolve::devices
