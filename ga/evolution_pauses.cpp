// Where trainings are paused: which ones may go on, and what is trained next.

#include <algorithm>
#include <limits>
#include <optional>
#include <ranges>
#include <utility>

#include "ga/epochs/thaw.hpp"
#include "ga/evolution_state.hpp"
#include "ga/screened/screened.hpp"

namespace evolve::ga {
namespace {

// Trials of which only the start is trained to its end before there is a model of curves.
constexpr int curve_design = 9;

// A look tells sets from each other once they have learnt something: before the start has this
// share of what it ends with, it tells who came out of the warm-up first, and luck.
constexpr double least_learnt = 0.5;

}  // namespace

bool Evolution::State::pausing() const {
  return settings.pauses && !whole && screened() && !pauses_of(settings.epochs).empty();
}

std::vector<int> Evolution::State::pause_epochs() const {
  if (!pausing()) return {};
  auto looks = pauses_of(settings.epochs);
  if (records.empty() || !records.front().observation || pending.contains(0)) return {looks.back()};
  const Record& start = records.front();
  const double end = start.observation->fitness;
  // Of a fitness below 0 nobody can say which share is reached.
  if (start.observation->ending != Observation::Ending::completed || end <= 0) return looks;
  std::erase_if(looks, [&](int epoch) {
    const auto look = start.rungs.find(epoch);
    return look != start.rungs.end() && look->second < least_learnt * end;
  });
  return looks;
}

bool Evolution::State::paused_fits(int epochs_left) const {
  return pausing() && std::ranges::any_of(paused, [&](const auto& one) {
           return settings.epochs - one.second <= epochs_left;
         });
}

// The one with the least at the first rung, among those that are still there: it has the least to
// hope for whatever the model may learn.
void Evolution::State::give_up_one() {
  const int first = std::ranges::min(std::views::values(paused));
  const auto worst = std::ranges::min_element(paused, {}, [&](const auto& one) {
    const auto& rungs = records[static_cast<std::size_t>(one.first)].rungs;
    return one.second == first ? rungs.at(first) : std::numeric_limits<double>::infinity();
  });
  given_up.insert(paused.extract(worst));
}

// The start is trained to its end: it tells what a look at a rung is worth, and is what every claim
// compares with.
hyp::Trial Evolution::State::thaw_without_model() {
  const auto number = static_cast<int>(records.size());
  if (new_trial_fits()) {
    const auto looks = pause_epochs();
    const int pause_epoch = number == 0 || looks.empty() ? 0 : looks.front();
    if (static_cast<std::size_t>(number) < given.size())
      return hand_out(given[static_cast<std::size_t>(number)], pause_epoch);
    Rng rng = breeding_rng(settings.seed, static_cast<int>(steps.size()));
    return hand_out(unseen(design(number), progress(number), rng), pause_epoch);
  }
  const auto furthest = std::ranges::max_element(
      paused, {}, [](const auto& one) { return std::pair(one.second, -one.first); });
  return go_on(furthest->first, 0);
}

// After as many epochs as trials 13 and 26 would have taken in a search that pauses nothing.
bool Evolution::State::start_is_due_again() const {
  constexpr int trainings = 13;
  const auto times = static_cast<int>(start_again.size());
  const auto number = static_cast<int>(records.size());
  if (times == 2) return false;
  const bool at_once = times == 1 && start_agrees_with(start_again.front());
  return (at_once || epochs >= (times + 1) * trainings * settings.epochs) &&
         number % rotating_seeds == times + 1 && new_trial_fits();
}

hyp::Trial Evolution::State::thaw() {
  const auto number = static_cast<int>(records.size());
  const auto looks = pause_epochs();
  if (history.completed() == 0 || number < (looks.empty() ? design_size : curve_design))
    return thaw_without_model();
  if (start_is_due_again()) {
    start_again.push_back(number);
    return hand_out(given.front());
  }
  Rng rng = breeding_rng(settings.seed, static_cast<int>(steps.size()));
  std::optional<hyp::Genes> child;
  if (new_trial_fits()) {
    child = static_cast<std::size_t>(number) < given.size()
                ? given[static_cast<std::size_t>(number)]
                : unseen(breed_screened(number, {&rng, 1}).front(), progress(number), rng);
  }
  std::vector<Thawable> waiting;
  for (const auto& [trial, epoch] : paused)
    waiting.push_back({trial, records[static_cast<std::size_t>(trial)].genes, epoch});
  const auto next =
      next_training(genes, history, child, waiting, looks, settings.epochs, epochs_left());
  return next.trial ? go_on(*next.trial, next.pause_epoch)
                    : hand_out(*std::move(child), next.pause_epoch);
}

}  // namespace evolve::ga
