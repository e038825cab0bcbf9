#include "engine/surroundings.hpp"

#include <algorithm>

namespace evolve::engine {

void Surroundings::apply(const hyp::Outcome& outcome, std::int64_t started) {
  const auto* failure = std::get_if<hyp::Failed>(&outcome.result);
  if (failure && failure->excused) return;
  const bool is_trained = !failure || failure->epoch > 0;
  const bool is_unexplained = failure && failure->final && hyp::is_unexplained(failure->kind);
  if (is_trained) {
    failed_in_a_row_ = 0;
  } else if (is_unexplained) {
    ++failed_in_a_row_;
  }
  if (is_trained && is_unexplained && !succeeded_) {
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
