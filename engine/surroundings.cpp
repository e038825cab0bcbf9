#include "engine/surroundings.hpp"

#include <algorithm>

namespace evolve::engine {

void Surroundings::apply(const hyp::Outcome& outcome, std::int64_t started) {
  const auto* failure = std::get_if<hyp::Failed>(&outcome.result);
  if (failure && failure->excused) return;
  if (!failure || failure->epoch > 0) {
    failed_in_a_row_ = 0;
  } else if (failure->final && hyp::is_unexplained(failure->kind)) {
    ++failed_in_a_row_;
  }
  if (failure && failure->final && failure->epoch > 0 && hyp::is_unexplained(failure->kind) &&
      !succeeded_) {
    ++failed_without_success_;
    last_without_success_ = *failure;
  }
  if (!failure) {
    failures_ = 0;
    succeeded_ = true;
    failed_without_success_ = 0;
    trained_start_ = std::max(trained_start_, started);
    if (std::holds_alternative<hyp::Paused>(outcome.result))
      paused_start_ = std::max(paused_start_, started);
  } else if (failure->of_surroundings) {
    ++failures_;
    last_failure_ = *failure;
  }
}

void Surroundings::in_order(std::int64_t event) {
  failures_ = 0;
  failed_in_a_row_ = 0;
  trained_start_ = event;
}

}  // namespace evolve::engine
