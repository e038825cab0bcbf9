// A small process between evolve and each worker, there to end what evolve itself no longer can.
//
// Were evolve the parent of its workers, they could be made to die with it, but not what they have
// started themselves (data loaders, launchers, what left the process group). The reaper adopts all
// of those when their parents die, and outlives evolve for as long as it takes to kill them.
//
// It is the program trial-reaper (reaper_main.cpp), which needs no library: a thousand forks of
// evolve, which has mapped more than a hundred, would take seconds. Where evolve lies without that
// program, as a copy of its file alone, and under the sanitizers it is such a fork.
#pragma once

#include <chrono>
#include <functional>

namespace evolve::workers {

/// Called in a fresh child with every signal blocked. Starts another child, in which `become` is
/// called: it is the worker, the leader of a session and a process group of its own, that dies with
/// its reaper. Returns an errno when there can be no other child. Until it is another program the
/// worker shares the reaper's memory.
///
/// The caller becomes the reaper and does not return. Each byte out of `lifeline` (one end of a
/// socket pair whose other end only evolve has) is the number of a signal for the worker's group;
/// the end of it kills the worker: at once, or so long after a SIGTERM as it has `grace` to pass
/// that on to what runs elsewhere. When the worker has ended, its descendants are killed, and the
/// reaper ends as the worker did: with its exit code, or by the signal that killed it. Nobody else
/// has this end of the lifeline, so evolve reads its end of file then.
int become_reaper(int lifeline, std::chrono::milliseconds grace,
                  const std::function<void()>& become);

}  // namespace evolve::workers
