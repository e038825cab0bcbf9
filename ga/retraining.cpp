#include "ga/retraining.hpp"

#include <algorithm>
#include <limits>

#include "ga/knowledge.hpp"
#include "ga/pauses.hpp"
#include "ga/random/rng.hpp"
#include "ga/recommendation.hpp"

namespace evolve::ga {
namespace {

// Every claim compares with the start: it is trained with each of the first seeds, early enough to
// tell how much of a fitness is luck, and late enough to cost a search of ten trainings nothing.
// Where the first two agree to the last digit the third follows with the next trial of its seed:
// two may agree by chance, a table of trainings has a few seeds only, and three tell that there is
// no luck.
constexpr int second_start = 13, third_start = 26;
static_assert(second_start % rotating_seeds == 1 && third_start % rotating_seeds == 2);

// By trial: these, or with many given sets as soon after them as there are the same seeds.
struct StartAgain {
  int second, third;
};
StartAgain start_again(const EvolutionState& state) {
  const auto given = static_cast<int>(state.first_sets.size());
  const int later =
      std::max(0, given - second_start + rotating_seeds - 1) / rotating_seeds * rotating_seeds;
  return {second_start + later, third_start + later};
}

// No more than are expected.
int most_trainings(const EvolutionState& state) {
  return at_most_whole(state.expected.value_or(std::numeric_limits<int>::max()), state.settings);
}

// Trial `number` belongs to those that decide between the best sets.
bool decides(const EvolutionState& state, int number) {
  return among_the_last(number, std::min(planned(state), most_trainings(state)));
}

bool is_start(const EvolutionState& state, int trial) {
  return state.trial(trial).genes == state.start();
}

// Breeding knows that a trial, another training of the start, gave what trial 0 gave. A failure, or
// a fitness of 0, says nothing of luck.
bool start_agrees_with(const EvolutionState& state, int trial) {
  if (trial >= state.asked()) return false;
  const auto& pending = state.known.pending;
  const auto& first = state.trial(0).observation;
  const auto& again = state.trial(trial).observation;
  if (!is_start(state, trial) || pending.contains(0) || pending.contains(trial) || !first || !again)
    return false;
  return first->ending == Observation::Ending::completed && first->ending == again->ending &&
         first->fitness != 0 && first->fitness == again->fitness;
}

// Trial `number` trains the start for the third time. Of those before that have its seed, one that
// is asked for together with it does so where the first two agree.
bool third_start_is_due(const EvolutionState& state, int number) {
  const auto [second, third] = start_again(state);
  if (number <= second || number > third || (number - second) % rotating_seeds != 1) return false;
  const bool agree = start_agrees_with(state, second);
  for (int early = second + 1; early < number; early += rotating_seeds)
    if (early < state.asked() ? is_start(state, early) : agree) return false;
  return number == third || agree;
}

// The best of many noisy trainings is the luckiest, so the last ones are of the two sets that may
// be best, whichever is known less.
std::optional<hyp::Genes> undecided_set(EvolutionState& state) {
  const auto repeating = as_known(state, state.known.history, state.known.pending);
  const auto known = standing_now(state, repeating);
  if (!known || known->doubt <= worth_deciding || !known->undecided) return std::nullopt;
  return state.trial(*known->undecided).genes;
}

// Another training with the seed of trial `number` would tell nothing.
std::optional<hyp::Genes> unless_it_had_the_seed(const EvolutionState& state, int number,
                                                 std::optional<hyp::Genes> set) {
  if (set && sets_with_seed_of(state, number).contains(*set)) return std::nullopt;
  return set;
}

// The start, or one of the best.
std::optional<hyp::Genes> due_again(EvolutionState& state, int number) {
  if (number == start_again(state).second || third_start_is_due(state, number))
    return state.start();
  return decides(state, number) ? undecided_set(state) : std::nullopt;
}

}  // namespace

int begun(const EvolutionState& state) {
  return pausing(state) ? state.known.epochs / state.settings.epochs : state.asked();
}

Visited sets_with_seed_of(const EvolutionState& state, int number) {
  Visited sets(state.genes);
  const int seed = seed_number(number, 0);
  for (int trial = seed; trial < state.asked(); trial += rotating_seeds)
    sets.insert(state.trial(trial).genes);
  return sets;
}

std::optional<hyp::Genes> set_to_train_again(EvolutionState& state, int number) {
  if (!state.screened() || pausing(state)) return std::nullopt;
  return unless_it_had_the_seed(state, number, due_again(state, number));
}

std::optional<hyp::Genes> set_to_decide_on(EvolutionState& state) {
  if (!state.known.paused.empty() || !among_the_last(begun(state), most_trainings(state)))
    return std::nullopt;
  return unless_it_had_the_seed(state, state.asked(), undecided_set(state));
}

// After as many epochs as trials 13 and 26 would have taken in a search that pauses nothing.
bool start_is_due_again(const EvolutionState& state) {
  constexpr int trainings = second_start;
  const auto times = static_cast<int>(state.start_again.size());
  if (times == 2) return false;
  const bool at_once = times == 1 && start_agrees_with(state, state.start_again.front());
  return (at_once || state.known.epochs >= (times + 1) * trainings * state.settings.epochs) &&
         state.asked() % rotating_seeds == times + 1 && new_trial_fits(state) &&
         !sets_with_seed_of(state, state.asked()).contains(state.start());
}

}  // namespace evolve::ga
