#include "workers/supervise/child_reaper.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <string_view>

namespace evolve::workers {
namespace {

/// Nothing survives SIGKILL for so long but a process stuck in its driver, for which nobody should
/// wait.
constexpr std::chrono::seconds longest_death{5};

void keep_only(int file) {
  ::dup2(file, 0);
  if (::close_range(1, ~0U, 0) == 0) return;
  // Linux before 5.9
  for (int other = 1; other < 1024; ++other) ::close(other);
}

/// Kills our children, as many as one look at them shows: after their deaths we have theirs.
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

/// Buries the dead among our children; false when none is left. `status` becomes that of `worker`
/// when it is one of them.
bool bury(pid_t worker, int& status) {
  while (true) {
    int its_status = 0;
    const pid_t dead = ::waitpid(-1, &its_status, WNOHANG);
    if (dead == worker) status = its_status;
    if (dead == 0) return true;
    if (dead < 0) return false;
  }
}

/// Kills the worker's descendants, when it is dead and not buried: its group still has its number.
/// Returns the worker's wait status.
int end_descendants(pid_t worker) {
  using Clock = std::chrono::steady_clock;
  ::kill(-worker, SIGKILL);
  int status = 0;
  const auto deadline = Clock::now() + longest_death;
  while (bury(worker, status) && Clock::now() < deadline) {
    kill_children();
    ::usleep(1000);
  }
  return status;
}

/// Whether the worker is dead, who is not buried yet; other dead among our children are.
bool is_dead(pid_t worker) {
  while (true) {
    siginfo_t dead{};
    if (::waitid(P_ALL, 0, &dead, WEXITED | WNOHANG | WNOWAIT) != 0) return true;
    if (dead.si_pid == 0) return false;
    if (dead.si_pid == worker) return true;
    ::waitpid(dead.si_pid, nullptr, 0);
  }
}

/// Does what comes out of the lifeline until the worker is dead.
void watch(pid_t worker, int lifeline, int deaths) {
  std::array<pollfd, 2> watched{{{lifeline, POLLIN, 0}, {deaths, POLLIN, 0}}};
  while (!is_dead(worker)) {
    ::poll(watched.data(), watched.size(), -1);
    signalfd_siginfo death;
    while (::read(deaths, &death, sizeof(death)) > 0) {
    }
    if (watched[0].revents == 0) continue;
    unsigned char signal = 0;
    if (::read(lifeline, &signal, 1) == 1) {
      ::kill(-worker, signal);
    } else {
      // It may not lead its group yet.
      ::kill(worker, SIGKILL);
      watched[0].fd = -1;
    }
  }
}

[[noreturn]] void end_like(int status) {
  if (WIFEXITED(status)) ::_exit(WEXITSTATUS(status));
  ::prctl(PR_SET_DUMPABLE, 0);  // the worker has left its core, if any
  const int number = WTERMSIG(status);
  ::signal(number, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::kill(::getpid(), number);
  ::_exit(128 + number);
}

[[noreturn]] void keep(pid_t worker, int lifeline) {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  ::prctl(PR_SET_NAME, "worker-keeper");
  keep_only(lifeline);
  sigset_t death;
  ::sigemptyset(&death);
  ::sigaddset(&death, SIGCHLD);
  watch(worker, 0, ::signalfd(-1, &death, SFD_CLOEXEC | SFD_NONBLOCK));
  end_like(end_descendants(worker));
}

}  // namespace

void fork_from_reaper(int lifeline) {
  // The keeper hears of no signal but from the lifeline; evolve's handlers are not its own.
  sigset_t all, before;
  ::sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, &before);
  ::setsid();
  const pid_t keeper = ::getpid();
  const pid_t worker = ::fork();
  if (worker > 0) keep(worker, lifeline);
  if (worker < 0) {
    constexpr std::string_view text = "cannot be started: no further process is possible\n";
    if (::write(STDERR_FILENO, text.data(), text.size())) {
    }
    ::_exit(1);
  }
  ::setsid();
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  // Our keeper may have died before the line above.
  if (::getppid() != keeper) ::_exit(1);
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace evolve::workers
