#include "workers/exec/subprocess.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <boost/process/args.hpp>
#include <boost/process/child.hpp>
#include <boost/process/error.hpp>
#include <boost/process/exe.hpp>
#include <boost/process/extend.hpp>
#include <boost/process/io.hpp>
#include <boost/process/posix.hpp>
#include <fstream>
#include <system_error>

#include "workers/supervise/process.hpp"

namespace evolve::workers {
namespace {

namespace bp = boost::process;

/// Kills our children, and theirs: each becomes ours when its parent has died.
void kill_all_descendants() {
  do {
    std::ifstream children("/proc/self/task/" + std::to_string(::getpid()) + "/children");
    for (pid_t child = 0; children >> child;) ::kill(child, SIGKILL);
  } while (::waitpid(-1, nullptr, 0) > 0);
}

}  // namespace

Subprocess::Subprocess(const std::vector<std::string>& command, const std::vector<std::string>& unset) {
  const auto file = program_file(command.front());
  std::array<int, 2> pipe{};
  if (::pipe2(pipe.data(), O_CLOEXEC) != 0)
    throw std::system_error(errno, std::system_category(), "no pipe");
  output_ = pipe[0];
  ::fcntl(output_, F_SETFL, O_NONBLOCK);
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  const auto parent = ::getpid();
  std::error_code failed;
  bp::child child(
      bp::exe = file, bp::args = std::vector<std::string>(command.begin() + 1, command.end()),
      failed, bp::std_in < bp::null, bp::posix::fd.bind(STDOUT_FILENO, pipe[1]),
      bp::posix::fd.bind(STDERR_FILENO, pipe[1]),
      bp::extend::on_exec_setup =
          [&](auto& executor) {
            ::prctl(PR_SET_PDEATHSIG, SIGKILL);
            if (::getppid() != parent) ::_exit(1);
            for (const auto& name : unset) ::unsetenv(name.c_str());
            executor.env = ::environ;
          },
      bp::extend::on_error =
          [](auto& executor, const std::error_code&) {
            if (executor.pid > 0) ::waitpid(executor.pid, nullptr, 0);
          });
  ::close(pipe[1]);
  if (failed) {
    ::close(output_);
    throw std::system_error(failed, command.front());
  }
  id_ = child.id();
  child.detach();
}

Subprocess::~Subprocess() {
  kill_all_descendants();
  ::close(output_);
}

std::string Subprocess::read() {
  std::string bytes(1 << 16, '\0');
  const auto count = ::read(output_, bytes.data(), bytes.size());
  bytes.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
  return bytes;
}

std::optional<int> Subprocess::status() {
  int status = 0;
  if (!status_ && ::waitpid(id_, &status, WNOHANG) == id_) status_ = status;
  if (status_) kill_all_descendants();
  return status_;
}

}  // namespace evolve::workers
