// One job of `evolve train` or `evolve val`: a worker process that lives as long as its job.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/slot.hpp"
#include "core/stop_source.hpp"
#include "workers/protocol/jobs.hpp"
#include "workers/supervise/supervised_process.hpp"

namespace evolve::workers {

struct JobSettings {
  /// The worker's command: program and arguments, run without a shell.
  std::vector<std::string> command;
  /// The longest silence of the worker; nothing: as long as it takes. Its log is not a sign of
  /// life.
  std::optional<std::chrono::seconds> hang_timeout;
};

/// What the caller is notified of while the job goes on.
struct JobEvents {
  /// A `BatchReport`, `EpochReport`, `TrainingReport` or `ValidationReport`.
  std::function<void(const JobReport&)> report;
  /// What the worker wrote to standard error.
  std::function<void(std::string_view)> log;
};

/// How a job ended: done, when there is neither.
struct JobEnd {
  std::optional<Ending> failure;
  /// The job was interrupted by a request to stop.
  bool stopped = false;
};

/// Starts a worker on the slot, gives it the job and waits until it is done, has failed or `stop`
/// is requested. On return the worker and its descendants are gone; a further request kills them at
/// once. What the events throw ends the job and is passed on. Throws `Error` when the command
/// cannot be executed.
JobEnd run_job(const JobSettings& settings, const core::Slot& slot, const Job& job,
               const JobEvents& events, const core::StopSource& stop);

}  // namespace evolve::workers
