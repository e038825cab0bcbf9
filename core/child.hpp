// What a child process does between its fork and its exec or end, and how descendants are ended.
//
// Nothing here allocates memory, so that it may be called in the child of a process with threads.
#pragma once

#include <sys/types.h>

#include <functional>

namespace evolve::core {

/// What a child tells the process that waits for its report when it cannot become a program.
struct NotExecuted {
  int error;
  /// It cannot be bound to its cores.
  bool unbound = false;
};

/// fork(). In the child, which gets 0, every signal has its default action, and all are blocked
/// until unblock_signals(): no handler of its parent ever runs in it. Throws std::system_error.
pid_t fork_child();

/// As fork_child(), for a child that becomes another program or ends at once: `run`, which must not
/// return, is called in it. Nothing is copied: the child has our memory, and this thread stands
/// still meanwhile. Where a hundred libraries and a great heap are mapped, copying them is most of
/// what a start costs. Returns -1 with errno when there can be no other process.
pid_t vfork_child(const std::function<void()>& run);

/// Becomes a program, with no signal blocked, or tells it to the file `report` and ends.
[[noreturn]] void execute(const char* file, char* const* words, char* const* environment,
                          int report);
[[noreturn]] void give_up(int report, const NotExecuted& why);

void unblock_signals();

/// Kills this process when the thread that forked it ends; at once, when `parent` is gone already.
void die_with(pid_t parent);

/// Closes this file and all with a higher number.
void close_files_from(int first);

/// Kills and reaps the children of this thread, and their descendants: each becomes our child when
/// its parent has died (PR_SET_CHILD_SUBREAPER). Waits for 5 s at most: only a process that is
/// stuck in its driver survives that. The wait status of `child` when it was among the reaped, else
/// -1.
int kill_descendants(pid_t child);

/// Ends this process as a wait status says that another has ended: with its exit code, or by the
/// signal that killed it, but without a core file.
[[noreturn]] void end_like(int status);

}  // namespace evolve::core
