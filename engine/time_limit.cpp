#include "engine/time_limit.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace evolve::engine {
namespace {

// Of so many seconds in all, those that are kept for repeats.
double kept_for_repeats(double seconds, const RunState& state, std::ptrdiff_t slots) {
  constexpr double largest_share = 0.25;  // of the time, however long a training takes
  constexpr double choice = 1;            // seconds to choose a set
  const int repeats = state.repeats().wanted();
  if (repeats == 0) return 0;
  const auto together = std::min<std::ptrdiff_t>(
      slots, state.evolution().settings().lag.value_or(std::numeric_limits<int>::max()));
  const double in_a_row = std::ceil(repeats / static_cast<double>(together));
  return std::min((1 + in_a_row) * (state.training_seconds() + choice), largest_share * seconds);
}

}  // namespace

double trainings_ended(const RunState& state) {
  const auto& search = state.evolution();
  if (!search.pausing()) return search.ended();
  return static_cast<double>(state.epochs_trained()) / search.settings().epochs;
}

bool TimeLimit::is_time_for_repeats(double taken, const RunState& state,
                                    std::ptrdiff_t slots) const {
  if (!seconds || state.repeats().wanted() == 0 || state.completed().empty() ||
      state.evolution().done())
    return false;
  return taken >= *seconds - kept_for_repeats(*seconds, state, slots);
}

std::optional<results::Expected> TimeLimit::expected_end(double taken, const RunState& state,
                                                         std::ptrdiff_t slots) const {
  const auto& search = state.evolution();
  const double trained = trainings_ended(state) - ended_before;
  // Before that the first ones' starts would count for more than their trainings.
  const bool has_rate = trained > 0 && trained >= static_cast<double>(slots);
  if (!seconds || !has_rate || search.expected() || !search.screened()) return {};
  const double left = std::max(0.0, *seconds - kept_for_repeats(*seconds, state, slots) - taken);
  const auto all = search.begun() + std::llround(trained / taken * left);
  if (all >= ga::at_most_whole(search.planned(), search.settings()) ||
      !ga::among_the_last(search.begun(), all))
    return {};
  return results::Expected{static_cast<int>(all)};
}

}  // namespace evolve::engine
