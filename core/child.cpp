#include "core/child.hpp"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <system_error>

namespace evolve::core {
namespace {

constexpr std::chrono::seconds longest_death{5};

// The sanitizers know threads and forks, and nothing between them.
#ifdef EVOLVE_SANITIZED
constexpr int sharing = 0;
#else
constexpr int sharing = CLONE_VM | CLONE_VFORK;
#endif

/// As many as one look shows; after their deaths we have their children.
void kill_children() {
  std::array<char, 4096> text;
  const int file = ::open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
  if (file < 0) return;  // a kernel without it: then those who left the group live on
  const auto size = ::read(file, text.data(), text.size());
  ::close(file);
  pid_t child = 0;
  for (ssize_t i = 0; i < size; ++i) {
    const char c = text[static_cast<std::size_t>(i)];
    if (c != ' ') {
      child = 10 * child + (c - '0');
    } else {
      ::kill(child, SIGKILL);
      child = 0;
    }
  }
}

/// Reaps the dead among our children; false when no child is left.
bool reap_children(pid_t child, int& status) {
  while (true) {
    int its_status = 0;
    const pid_t dead = ::waitpid(-1, &its_status, WNOHANG);
    if (dead == child) status = its_status;
    if (dead == 0) return true;
    if (dead < 0) return false;
  }
}

void set_default_actions() {
  for (int number = 1; number < NSIG; ++number) ::signal(number, SIG_DFL);
}

/// What `make` returns, which makes a child whose signals are all blocked.
pid_t with_signals_blocked(const auto& make) {
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t child = make();
  const int error = errno;
  if (child != 0) ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = error;
  return child;
}

int run_in_child(void* run) {
  set_default_actions();
  (*static_cast<const std::function<void()>*>(run))();
  ::_exit(127);  // not reached
}

}  // namespace

pid_t fork_child() {
  const pid_t child = with_signals_blocked([] { return ::fork(); });
  if (child < 0) throw std::system_error(errno, std::system_category(), "no further process");
  if (child == 0) set_default_actions();
  return child;
}

pid_t vfork_child(const std::function<void()>& run) {
  alignas(16) std::array<char, 1 << 16> stack;
  return with_signals_blocked([&] {
    return ::clone(run_in_child, stack.data() + stack.size(), sharing | SIGCHLD,
                   const_cast<std::function<void()>*>(&run));
  });
}

void execute(const char* file, char* const* words, char* const* environment, int report) {
  unblock_signals();
  ::execve(file, words, environment);
  give_up(report, {.error = errno});
}

void give_up(int report, const NotExecuted& why) {
  if (::write(report, &why, sizeof(why)) < 0) ::_exit(126);
  ::_exit(127);
}

void unblock_signals() {
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

void die_with(pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  // It may have died before the line above.
  if (::getppid() != parent) ::_exit(1);
}

void close_files_from(int first) {
  if (::close_range(static_cast<unsigned>(first), ~0U, 0) == 0) return;
  // Linux before 5.9
  rlimit most{1024, 1024};
  ::getrlimit(RLIMIT_NOFILE, &most);
  const int end = static_cast<int>(std::min<rlim_t>(most.rlim_cur, 1 << 20));
  for (int file = first; file < end; ++file) ::close(file);
}

int kill_descendants(pid_t child) {
  using Clock = std::chrono::steady_clock;
  int status = -1;
  const auto deadline = Clock::now() + longest_death;
  while (reap_children(child, status) && Clock::now() < deadline) {
    kill_children();
    ::usleep(1000);
  }
  return status;
}

void end_like(int status) {
  if (WIFEXITED(status)) ::_exit(WEXITSTATUS(status));
  if (!WIFSIGNALED(status)) ::_exit(1);
  ::prctl(PR_SET_DUMPABLE, 0);
  const int number = WTERMSIG(status);
  ::signal(number, SIG_DFL);
  unblock_signals();
  ::kill(::getpid(), number);
  ::_exit(128 + number);
}

}  // namespace evolve::core
