#include "engine/repeats.hpp"

namespace evolve::engine {

void Repeats::begin(int trial) {
  ++begun_;
  ++begun_of_[trial];
}

int Repeats::begun(int trial) const {
  const auto found = begun_of_.find(trial);
  return found == begun_of_.end() ? 0 : found->second;
}

void Repeats::add(const hyp::Outcome& outcome, std::uint64_t seed, const Finished& first) {
  const auto* completed = std::get_if<hyp::Completed>(&outcome.result);
  if (!completed) return;
  completed_.push_back({.trial = outcome.trial,
                        .seed = seed,
                        .first = first.fitness,
                        .again = completed->fitness,
                        .metrics = completed->metrics});
}

}  // namespace evolve::engine
