#include "core/spawn.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <thread>

#include "core/child.hpp"
#include "core/core_mask.hpp"
#include "core/file_descriptor.hpp"

namespace evolve::core {
namespace {

/// Everything that the child needs, made before the fork: a child of a process with threads may
/// allocate no memory.
class Plan {
 public:
  explicit Plan(const Command& command)
      : command_(command), file_(program_file(command.words.front())), words_(command.words) {
    if (command.starter) {
      std::vector<std::string> words = command.starter->words;
      words.push_back(fmt::format("{}", fmt::join(command.cores, ",")));
      words.push_back(file_);
      words_.insert(words_.begin(), words.begin(), words.end());
      file_ = words.front();
    } else if (!command.cores.empty()) {
      cores_.emplace(command.cores);
    }
    std::map<std::string, std::string> environment;
    for (char** variable = ::environ; variable && *variable; ++variable) {
      const std::string text = *variable;
      const auto end = text.find('=');
      if (end != text.npos) environment.emplace(text.substr(0, end), text.substr(end + 1));
    }
    for (const auto& name : command.unset) environment.erase(name);
    for (const auto& [name, value] : command.set) environment.insert_or_assign(name, value);
    for (const auto& [name, value] : environment) environment_.push_back(name + "=" + value);
    const auto point_to = [](std::vector<std::string>& texts, std::vector<char*>& pointers) {
      for (auto& text : texts) pointers.push_back(text.data());
      pointers.push_back(nullptr);
    };
    point_to(words_, arguments_);
    point_to(environment_, variables_);
  }

  /// What comes first in the child; 0 or an errno.
  int prepare(const std::function<void()>& become) const {
    return command_.in_child ? command_.in_child(become) : 0;
  }

  /// In the child.
  [[noreturn]] void become_the_program(int report) const {
    if (cores_ && !cores_->bind_this_thread()) give_up(report, {.error = errno, .unbound = true});
    if (!arrange_files(report)) give_up(report, {.error = errno});
    if (!command_.starter) execute(file_.c_str(), arguments_.data(), variables_.data(), report);
    ::setsid();
    ::execve(file_.c_str(), arguments_.data(), variables_.data());
    give_up(report, {.error = errno});
  }

 private:
  /// The three streams, what a starter gets, and the report, which only a starter inherits.
  bool arrange_files(int& report) const {
    const int errors = command_.errors == same_as_output ? command_.output : command_.errors;
    std::array<int, 5> all{command_.input, command_.output, errors, report};
    if (command_.starter) {
      all[3] = command_.starter->file;
      all[4] = report;
    }
    const std::span files(all.data(), command_.starter ? 5 : 4);
    const auto count = static_cast<int>(files.size());
    // Out of the way first: ours may have any number.
    for (int& file : files) {
      file = file == no_file ? ::open("/dev/null", O_RDWR | O_CLOEXEC) : file;
      file = ::fcntl(file, F_DUPFD_CLOEXEC, count);
      if (file < 0) return false;
    }
    report = files.back();
    for (int number = 0; const int file : files)
      if (::dup2(file, number++) < 0) return false;
    report = count - 1;
    if (!command_.starter) ::fcntl(report, F_SETFD, FD_CLOEXEC);
    close_files_from(count);
    return true;
  }

  const Command& command_;
  std::string file_;
  std::vector<std::string> words_, environment_;
  std::vector<char*> arguments_, variables_;
  std::optional<CoreMask> cores_;
};

[[noreturn]] void run_child(const Plan& plan, int report) {
  const auto become = [&plan, report] { plan.become_the_program(report); };
  if (const int error = plan.prepare(become)) give_up(report, {.error = error});
  become();
  ::_exit(127);  // not reached
}

/// Throws what kept the child from becoming the program, once it is reaped. A report that ends
/// empty says that the program runs.
void throw_failure(int report, pid_t child, const std::string& program) {
  NotExecuted failure{};
  ssize_t count = 0;
  do {
    count = ::read(report, &failure, sizeof(failure));
  } while (count < 0 && errno == EINTR);
  if (count != sizeof(failure)) return;
  wait_status(child);
  throw std::system_error(failure.error, std::system_category(),
                          failure.unbound ? program + " on the cores of its slot" : program);
}

}  // namespace

std::string program_file(const std::string& program) {
  struct stat found {};
  if (program.find('/') != program.npos) {
    const bool folder = ::stat(program.c_str(), &found) == 0 && S_ISDIR(found.st_mode);
    if (!folder && ::access(program.c_str(), X_OK) == 0) return program;
    throw std::system_error(folder ? EACCES : errno, std::system_category(), program);
  }
  const char* path = std::getenv("PATH");
  std::string_view folders = path ? path : "/usr/bin:/bin";
  int error = ENOENT;
  while (true) {
    const auto folder = folders.substr(0, folders.find(':'));
    const auto file = std::string(folder.empty() ? "." : folder) + "/" + program;
    if (::stat(file.c_str(), &found) == 0 && S_ISREG(found.st_mode)) {
      if (::access(file.c_str(), X_OK) == 0) return file;
      error = errno;
    }
    if (folder.size() == folders.size()) break;
    folders.remove_prefix(folder.size() + 1);
  }
  throw std::system_error(error, std::system_category(), program);
}

std::string cannot_start(const std::string& program, const std::system_error& error) {
  // Of a script that is there the system misses what its first line names.
  std::string first;
  std::error_code gone;
  if (error.code() == std::errc::no_such_file_or_directory &&
      std::filesystem::is_regular_file(program, gone)) {
    if (program.find('/') == program.npos)
      return fmt::format("'{0}' cannot be started: it is not in PATH (here it is ./{0})", program);
    std::ifstream script(program);
    std::getline(script, first);
  }
  if (first.starts_with("#!"))
    return fmt::format(
        "'{}' cannot be started: the program that its first line names is not there{}", program,
        first.ends_with('\r') ? " (its lines end as those of Windows)" : "");
  return fmt::format("'{}' cannot be started ({})", program, error.code().message());
}

std::filesystem::path this_program() {
  return std::filesystem::read_symlink("/proc/self/exe");
}

pid_t spawn(const Command& command) {
  const Plan plan(command);
  auto report = make_pipe();
  const auto run = [&] { run_child(plan, report.writer.number()); };
  const pid_t child = command.in_child ? fork_child() : vfork_child(run);
  if (child < 0) throw std::system_error(errno, std::system_category(), "no further process");
  if (child == 0) run();
  report.writer.close();
  throw_failure(report.reader.number(), child, command.words.front());
  return child;
}

int wait_status(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return -1;
  return status;
}

int wait_status(pid_t child, std::chrono::milliseconds limit) {
  const auto until = std::chrono::steady_clock::now() + limit;
  siginfo_t ended{};
  // Left to be reaped below.
  while (::waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         ended.si_pid == 0) {
    if (std::chrono::steady_clock::now() >= until) ::kill(child, SIGKILL);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return wait_status(child);
}

std::string ending_text(int status) {
  if (status == -1) return "it is gone";
  if (WIFEXITED(status)) return fmt::format("exit code {}", WEXITSTATUS(status));
  const int number = WTERMSIG(status);
  const auto* name = ::sigabbrev_np(number);
  return fmt::format("killed by signal {}{}", number, name ? fmt::format(" (SIG{})", name) : "");
}

std::function<int(const std::function<void()>& become)> die_with_us() {
  return [parent = ::getpid()](const auto&) {
    die_with(parent);
    return 0;
  };
}

Finished run(Command command) {
  auto pipe = make_pipe();
  command.output = pipe.writer.number();
  command.in_child = die_with_us();
  const pid_t child = spawn(command);
  pipe.writer.close();
  Finished finished;
  std::array<char, 1 << 14> buffer;
  while (true) {
    const auto count = ::read(pipe.reader.number(), buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    finished.output.append(buffer.data(), static_cast<std::size_t>(count));
  }
  finished.status = wait_status(child);
  return finished;
}

}  // namespace evolve::core
