#include "workers/exec/subprocess.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "core/child.hpp"
#include "core/environment.hpp"
#include "core/file_descriptor.hpp"
#include "core/spawn.hpp"

namespace evolve::workers {

Subprocess::Subprocess(const std::vector<std::string>& command,
                       const std::vector<std::string>& unset) {
  auto pipe = core::make_pipe();
  ::fcntl(pipe.reader.number(), F_SETFL, O_NONBLOCK);
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  std::vector<std::pair<std::string, std::string>> set;
  // Else what Python prints stays with it, 8 KB at a time, and nobody sees that it works.
  if (core::environment_variable("PYTHONUNBUFFERED").empty()) set = {{"PYTHONUNBUFFERED", "1"}};
  id_ = core::spawn({.words = command,
                     .set = set,
                     .unset = unset,
                     .output = pipe.writer.number(),
                     .errors = core::same_as_output,
                     .in_child = core::die_with_us()});
  output_ = std::move(pipe.reader);
}

Subprocess::~Subprocess() {
  if (!status()) end();
  core::kill_descendants(id_);
}

// Whoever is behind a shell has that second, too: a shell ends at once, and what it leaves is our
// child then. What they say is passed on.
void Subprocess::end() {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::seconds grace{1};
  // We go on. (Of a launcher that waits for us the group is not ours.)
  ::kill(::getpgrp() == ::getpid() ? 0 : id_, SIGTERM);
  for (const auto until = Clock::now() + grace; Clock::now() < until;
       core::write_without_sigpipe(STDERR_FILENO, read())) {
    int status = 0;
    const pid_t ended = ::waitpid(-1, &status, WNOHANG);
    if (ended < 0) return;
    if (ended == id_) status_ = status;
    if (ended == 0) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

std::string Subprocess::read() {
  std::string bytes(1 << 16, '\0');
  const auto count = ::read(output(), bytes.data(), bytes.size());
  bytes.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
  return bytes;
}

std::optional<int> Subprocess::status() {
  int status = 0;
  if (!status_ && ::waitpid(id_, &status, WNOHANG) == id_) {
    status_ = status;
    core::kill_descendants(id_);
  }
  return status_;
}

}  // namespace evolve::workers
