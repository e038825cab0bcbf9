// The one way to start another program.
//
// It may be used from several threads at a time: nothing is changed in this process, no signal is
// handled, and nobody waits for another's child. Whoever starts a child waits for it by its id.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace evolve::core {

/// In place of a file's number: /dev/null, and, for the errors, what the output is.
constexpr int no_file = -1, same_as_output = -2;

/// A program that starts another one in its turn and stays its parent.
struct Starter {
  /// Its file and its words, to which are added the cores that it is to bind the other to ("0,1";
  /// "": as it is itself), the other's file, and the other's words.
  std::vector<std::string> words;
  /// The file that it gets as number 3. Number 4 is its report: it writes there why the other
  /// cannot be executed (`NotExecuted`, core/child.hpp); that nobody has it open means that it is.
  int file = no_file;
};

struct Command {
  /// The program, which is looked for in PATH, and its arguments; run without a shell.
  std::vector<std::string> words;
  /// Variables that are set and removed, over ours.
  std::vector<std::pair<std::string, std::string>> set = {};
  std::vector<std::string> unset = {};
  /// The files that become its three streams; it inherits no other.
  int input = no_file, output = no_file, errors = no_file;
  /// The CPU cores it is bound to; empty: as we are.
  std::vector<int> cores = {};
  /// The child becomes this program instead, the leader of a session of its own with every signal
  /// blocked.
  std::optional<Starter> starter = {};
  /// Called in the child, which is a fork of this process then, before the rest of the above is
  /// done; it may allocate no memory. Returns 0, and the child becomes the program, or an errno,
  /// which is what spawn() fails with. It may call `become` instead, in a child of its own (which
  /// may share its memory): that becomes the program, and the call never returns.
  std::function<int(const std::function<void()>& become)> in_child = {};
};

/// The file of a program, which is looked for in PATH. Throws std::system_error when there is none
/// that can be executed.
std::string program_file(const std::string& program);

/// "'PROGRAM' cannot be started (No such file or directory)", of what program_file() and spawn()
/// throw.
std::string cannot_start(const std::string& program, const std::system_error& error);

/// The file of this program.
std::filesystem::path this_program();

/// Starts a program with every signal at its default and none blocked, and returns the id of the
/// child. Throws std::system_error when it cannot be executed; no child is left then.
pid_t spawn(const Command& command);

/// Waits for the end of a child: its wait status, or -1 when another part of the process has reaped
/// it.
int wait_status(pid_t child);

/// Waits for the end of a child, which is killed where it has not ended within `limit`: its wait
/// status, or -1 when another part of the process has reaped it.
int wait_status(pid_t child, std::chrono::milliseconds limit);

/// "exit code 3", "killed by signal 9 (SIGKILL)", from a wait status or -1.
std::string ending_text(int status);

struct Finished {
  std::string output;
  /// The wait status as waitpid() gives it, or -1 when it is unknown.
  int status = 0;
};

/// For Command::in_child: the child is killed when the thread that starts it ends.
std::function<int(const std::function<void()>& become)> die_with_us();

/// Starts a program and reads its standard output (instead of `command.output`) to the end. It is
/// killed when this thread ends (instead of `command.in_child`). Throws as spawn() does.
Finished run(Command command);

}  // namespace evolve::core
