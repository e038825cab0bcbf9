#include "workers/supervise/child_reaper.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "core/child.hpp"

namespace evolve::workers {
namespace {

void keep_only(int file) {
  ::dup2(file, 0);
  core::close_files_from(1);
}

/// Whether the worker is dead; it is not reaped yet, others among our children are.
bool is_dead(pid_t worker) {
  while (true) {
    siginfo_t dead{};
    if (::waitid(P_ALL, 0, &dead, WEXITED | WNOHANG | WNOWAIT) != 0) return true;
    if (dead.si_pid == 0) return false;
    if (dead.si_pid == worker) return true;
    ::waitpid(dead.si_pid, nullptr, 0);
  }
}

/// Sends the signals that come out of the lifeline until the worker is dead.
void watch(pid_t worker, int lifeline, std::chrono::milliseconds grace, int deaths) {
  using Clock = std::chrono::steady_clock;
  std::array<pollfd, 2> watched{{{lifeline, POLLIN, 0}, {deaths, POLLIN, 0}}};
  constexpr auto never = Clock::time_point::max();
  auto kill_at = never;
  const auto milliseconds_left = [&] {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(kill_at - Clock::now()).count();
    return static_cast<int>(std::max<std::int64_t>(left, 0));
  };
  while (!is_dead(worker)) {
    if (Clock::now() >= kill_at) {
      ::kill(worker, SIGKILL);
      kill_at = never;
    }
    ::poll(watched.data(), watched.size(), kill_at == never ? -1 : milliseconds_left());
    signalfd_siginfo death;
    while (::read(deaths, &death, sizeof(death)) > 0) {
    }
    if (watched[0].revents == 0) continue;
    unsigned char signal = 0;
    if (::read(lifeline, &signal, 1) == 1) {
      ::kill(-worker, signal);
    } else {
      // It may not lead its group yet.
      if (grace.count() > 0) ::kill(worker, SIGTERM);
      kill_at = Clock::now() + grace;
      watched[0].fd = -1;
    }
  }
}

/// Not "evolve …": whoever kills all that is called so would leave what a worker has started alone.
void rename_this_process() {
  constexpr std::string_view name = "trial-reaper";
  ::prctl(PR_SET_NAME, name.data());
  // The command line, too, which lies before the environment. Fields 48 and 49 of `stat` say where
  // (proc_pid_stat(5)); what follows the brackets begins with the third.
  std::array<char, 2048> stat{};
  const int file = ::open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
  const auto count = ::read(file, stat.data(), stat.size() - 1);
  ::close(file);
  const char* at = count > 0 ? std::strrchr(stat.data(), ')') : nullptr;
  for (int field = 2; at && field < 48; ++field) at = std::strchr(at + 1, ' ');
  if (!at) return;
  char* end = nullptr;
  auto* const first = reinterpret_cast<char*>(std::strtoull(at, &end, 10));
  auto* const last = reinterpret_cast<char*>(std::strtoull(end, nullptr, 10));
  if (!first || last <= first) return;
  const auto size = static_cast<std::size_t>(last - first);
  std::memset(first, 0, size);
  std::memcpy(first, name.data(), std::min(size, name.size()));
}

[[noreturn]] void reap(pid_t worker, int lifeline, std::chrono::milliseconds grace) {
  rename_this_process();
  keep_only(lifeline);
  sigset_t death;
  ::sigemptyset(&death);
  ::sigaddset(&death, SIGCHLD);
  watch(worker, 0, grace, ::signalfd(-1, &death, SFD_CLOEXEC | SFD_NONBLOCK));
  // As long as it is not reaped, its group has its number.
  ::kill(-worker, SIGKILL);
  core::end_like(core::kill_descendants(worker));
}

}  // namespace

int become_reaper(int lifeline, std::chrono::milliseconds grace,
                  const std::function<void()>& become) {
  ::setsid();
  // Before there is a worker: what it starts may lose its parent at once.
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  const pid_t worker = core::vfork_child([reaper = ::getpid(), &become] {
    ::setsid();
    core::die_with(reaper);
    become();
  });
  if (worker < 0) return errno;
  reap(worker, lifeline, grace);
}

}  // namespace evolve::workers
