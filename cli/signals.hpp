// Ctrl-C, SIGTERM and a terminal that is closed as requests to stop.
#pragma once

#include <signal.h>

#include <array>

#include "core/stop_source.hpp"

namespace evolve::cli {

/// While it lives, SIGINT, SIGTERM and SIGHUP do not end the process but are requests to stop, with
/// the signal's number as their reason. One that is ignored (`nohup`) stays so. One at a time.
class StopOnSignals {
 public:
  StopOnSignals();
  ~StopOnSignals();
  StopOnSignals(const StopOnSignals&) = delete;
  StopOnSignals& operator=(const StopOnSignals&) = delete;

  const core::StopSource& source() const { return source_; }

 private:
  core::StopSource source_;
  std::array<struct sigaction, 3> before_{};
};

}  // namespace evolve::cli
