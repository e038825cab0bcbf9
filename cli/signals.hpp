// Ctrl-C and SIGTERM as requests to stop.
#pragma once

#include <signal.h>

#include "core/stop_source.hpp"

namespace evolve::cli {

/// While it lives, SIGINT and SIGTERM do not end the process but are requests to stop, with the
/// signal's number as their reason. One at a time.
class StopOnSignals {
 public:
  StopOnSignals();
  ~StopOnSignals();
  StopOnSignals(const StopOnSignals&) = delete;
  StopOnSignals& operator=(const StopOnSignals&) = delete;

  const core::StopSource& source() const { return source_; }

 private:
  core::StopSource source_;
  struct sigaction interrupt_before_ {
  }, terminate_before_{};
};

}  // namespace evolve::cli
