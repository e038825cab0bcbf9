#include "engine/kept_weights.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <system_error>
#include <vector>

#include "hyp/trial_folder.hpp"

namespace evolve::engine {

KeptWeights::KeptWeights(std::filesystem::path root, std::optional<int> most, const RunState& state)
    : root_(std::move(root)), most_(most) {
  // A coordinator that was killed may not have removed what its last trials left.
  if (most_) kept_.insert(state.ended().begin(), state.ended().end());
}

void KeptWeights::update(const hyp::Outcome& outcome, std::optional<std::size_t> recommended,
                         const RunState& state) {
  if (!most_ || !hyp::ends_trial(outcome)) return;
  if (outcome.repeat > 0) remove(outcome.trial, outcome.repeat);
  kept_.insert(outcome.trial);
  auto chosen = this->chosen(recommended, state);
  std::vector<int> others;
  std::ranges::set_difference(kept_, chosen, std::back_inserter(others));
  for (const int trial : others) remove(trial);
  kept_ = std::move(chosen);
}

std::set<int> KeptWeights::chosen(std::optional<std::size_t> recommended,
                                  const RunState& state) const {
  const auto& all = state.completed();
  std::vector<CompletedTrial> best(std::min(all.size(), static_cast<std::size_t>(*most_)));
  std::ranges::partial_sort_copy(all, best, std::greater(), &CompletedTrial::fitness,
                                 &CompletedTrial::fitness);
  std::set<int> chosen;
  for (const auto& one : best) chosen.insert(one.trial);
  if (recommended) chosen.insert(state.completed()[*recommended].trial);
  return chosen;
}

void KeptWeights::remove(int trial, int repeat) const {
  std::error_code stays;
  std::filesystem::remove_all(root_ / hyp::trial_folder(trial, repeat) / hyp::weights_folder,
                              stays);
}

}  // namespace evolve::engine
