// What a child process does between its fork and its exec or end, and how descendants are ended.
//
// Nothing here allocates memory, so that it may be called in the child of a process with threads.
#pragma once

#include <sys/types.h>

namespace evolve::core {

/// fork(). In the child, which gets 0, every signal has its default action, and all are blocked
/// until unblock_signals(): no handler of its parent ever runs in it. Throws std::system_error.
pid_t fork_child();

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
