#include "ga/breeding.hpp"

#include <algorithm>
#include <optional>
#include <ranges>
#include <span>
#include <utility>

#include "ga/classic/classic.hpp"
#include "ga/classic/operators.hpp"
#include "ga/classic/schedule.hpp"
#include "ga/knowledge.hpp"
#include "ga/pauses.hpp"
#include "ga/retraining.hpp"
#include "ga/screened/prior.hpp"
#include "ga/screened/screened.hpp"

namespace evolve::ga {
namespace {

using Ending = Observation::Ending;

std::optional<hyp::Genes> first_set(const EvolutionState& state) {
  const auto number = static_cast<std::size_t>(state.asked());
  return number < state.first_sets.size() ? std::optional(state.first_sets[number]) : std::nullopt;
}

// The sets that the next trial is not to have: all that were handed out, or where the space has no
// others, those that were with its seed.
class Taken {
 public:
  explicit Taken(const EvolutionState& state) : all_(state.visited) {
    if (all_.exhausted()) with_seed_ = sets_with_seed_of(state, state.asked());
  }
  const Visited& sets() const { return with_seed_ ? *with_seed_ : all_; }

 private:
  const Visited& all_;
  std::optional<Visited> with_seed_;
};

// The child, or where that set is taken, one that is not: a mutant of the child, or a random one,
// or in a small space whatever is left.
hyp::Genes unseen(const EvolutionState& state, const Visited& visited, hyp::Genes child, int number,
                  Rng& rng) {
  constexpr int tries = 20;
  const auto& genes = state.genes;
  if (visited.exhausted()) return child;
  const double rate =
      std::max(mutation_rate(progress(state, number)), 1.0 / static_cast<double>(genes.size()));
  for (int i = 0; i < tries && visited.contains(child); ++i)
    child = mutate(genes, std::move(child), rate, rng);
  for (int i = 0; i < tries && visited.contains(child); ++i) child = random_genes(genes, rng);
  if (!visited.contains(child)) return child;
  return visited.find_unseen(rng).value_or(child);
}

hyp::Genes classic_set(const EvolutionState& state, Rng& rng) {
  const double t = progress(state, state.asked());
  const std::vector<Individual> parents = state.known.pool.members(elite_count(t));
  const bool random = state.asked() < state.settings.population || parents.empty();
  return random ? random_genes(state.genes, rng) : classic_child(state.genes, parents, t, rng);
}

// Breeding knows of a trial that had less than half of what the start had, in the end or at a rung,
// or failed where the start did not.
bool far_worse_known(const EvolutionState& state) {
  constexpr double much = 0.5;
  const auto& pending = state.known.pending;
  const Record& start = state.trial(0);
  // Half of a fitness below 0 means nothing.
  if (pending.contains(0) || !start.observation || start.observation->ending != Ending::completed ||
      start.observation->fitness <= 0)
    return false;
  const auto rungs = pause_epochs(state);
  const auto far_worse = [&](const Record& record) {
    const auto& end = record.observation;
    if (end && end->ending == Ending::failed) return true;
    if (end && end->ending == Ending::completed)
      return end->fitness < much * start.observation->fitness;
    return std::ranges::any_of(rungs, [&](int epoch) {
      const auto seen = record.rungs.find(epoch), then = start.rungs.find(epoch);
      return seen != record.rungs.end() && then != start.rungs.end() &&
             seen->second < much * then->second;
    });
  };
  return std::ranges::any_of(std::views::iota(1, state.asked()), [&](int trial) {
    return !pending.contains(trial) && far_worse(state.trial(trial));
  });
}

// What is trained while there is no model.
hyp::Genes design(const EvolutionState& state) {
  const int number = state.asked();
  const auto place = static_cast<std::size_t>(number) - state.first_sets.size();
  if (place < state.earlier.portfolio().size()) return state.earlier.portfolio()[place];
  if (!far_worse_known(state)) return design_genes(state.genes, state.settings.seed, number);
  Rng rng = breeding_rng(state.settings.seed, number);
  return varied_start(state.genes, rng);
}

// Something is known that the next trial can be bred from.
bool has_model(const EvolutionState& state) {
  constexpr int least_known = 3;
  const History& history = state.known.history;
  if (state.earlier.count() > 0) return history.size() >= least_known;
  return state.asked() >= design_size && history.completed() >= least_known &&
         history.tells_sets_apart();
}

// How many trials one model may propose, `most` at the most.
int proposed_together(EvolutionState& state, int most) {
  if (state.settings.lag || !has_model(state) || state.visited.exhausted()) return 1;
  int together = std::min(most, planned(state) - state.asked());
  if (state.settings.max_epochs)
    together = std::min(together, epochs_left(state) / state.settings.epochs);
  for (int i = 1; i < together; ++i)
    if (set_to_train_again(state, state.asked() + i)) return i;
  return together;
}

// One for each generator of random numbers.
std::vector<hyp::Genes> proposed(EvolutionState& state, const Visited& taken, std::span<Rng> rngs) {
  std::vector<hyp::Genes> open;
  for (const int trial : state.known.pending) open.push_back(state.trial(trial).genes);
  return screened_children(state.genes, state.known.history, state.basis, open, taken, rngs);
}

}  // namespace

double progress(const EvolutionState& state, int number) {
  const int generation = number / state.settings.population;
  return std::min(1.0, static_cast<double>(generation) / state.settings.generations);
}

std::vector<hyp::Genes> next_sets(EvolutionState& state, int most) {
  if (auto first = first_set(state)) return {*std::move(first)};
  if (auto again = set_to_train_again(state, state.asked())) return {*std::move(again)};
  const Taken taken(state);
  const int count = state.screened() ? proposed_together(state, most) : 1;
  std::vector<Rng> rngs;
  for (int i = 0; i < count; ++i)
    rngs.push_back(breeding_rng(state.settings.seed, state.asked() + i));
  std::vector<hyp::Genes> children;
  if (!state.screened())
    children.push_back(classic_set(state, rngs[0]));
  else if (!has_model(state))
    children.push_back(design(state));
  else
    children = proposed(state, taken.sets(), rngs);
  for (std::size_t i = 0; i < children.size(); ++i) {
    // Which sets the others may have depends on their seeds now.
    if (i > 0 && state.visited.exhausted()) {
      children.resize(i);
      break;
    }
    children[i] = unseen(state, taken.sets(), std::move(children[i]),
                         state.asked() + static_cast<int>(i), rngs[i]);
    state.visited.insert(children[i]);  // they are all handed out
  }
  return children;
}

hyp::Genes proposed_set(EvolutionState& state, Rng& rng) {
  if (auto first = first_set(state)) return *std::move(first);
  const Taken taken(state);
  return unseen(state, taken.sets(), proposed(state, taken.sets(), {&rng, 1}).front(),
                state.asked(), rng);
}

hyp::Genes design_set(const EvolutionState& state, Rng& rng) {
  if (auto first = first_set(state)) return *std::move(first);
  return unseen(state, Taken(state).sets(), design(state), state.asked(), rng);
}

}  // namespace evolve::ga
