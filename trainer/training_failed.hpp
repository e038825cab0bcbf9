// How a training says that it cannot go on.
#pragma once

#include <stdexcept>
#include <string>

#include "hyp/outcome.hpp"

namespace evolve::trainer {

/// A training that cannot go on, with the kind that the journal records.
class TrainingFailed : public std::runtime_error {
 public:
  TrainingFailed(hyp::FailureKind failure_kind, const std::string& message)
      : std::runtime_error(message), kind(failure_kind) {}
  hyp::FailureKind kind;
};

}  // namespace evolve::trainer
