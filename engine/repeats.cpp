#include "engine/repeats.hpp"

namespace evolve::engine {

void Repeats::add(const hyp::Outcome& outcome, std::uint64_t seed, const CompletedTrial& first) {
  const auto* completed = std::get_if<hyp::Completed>(&outcome.result);
  if (!completed) return;
  completed_.push_back({.trial = outcome.trial,
                        .seed = seed,
                        .first = first.fitness,
                        .again = completed->fitness,
                        .metrics = completed->metrics});
}

}  // namespace evolve::engine
