#include "engine/repeats.hpp"

#include <algorithm>

#include "ga/rng.hpp"

namespace evolve::engine {

void Repeats::want(int wanted, const std::vector<Finished>& completed) {
  wanted_ = wanted;
  best_.clear();
  for (const auto& trial : completed) offer(trial);
}

void Repeats::offer(const Finished& finished) {
  const auto place = std::upper_bound(
      best_.begin(), best_.end(), finished.fitness,
      [](double fitness, const Finished& other) { return fitness > other.fitness; });
  if (place - best_.begin() >= wanted_) return;
  best_.insert(place, finished);
  if (std::ssize(best_) > wanted_) best_.pop_back();
}

std::vector<Attempt> Repeats::missing() const {
  std::vector<Attempt> attempts;
  for (const auto& trial : best_) {
    Attempt attempt{.trial = {.number = trial.trial,
                              .hyp = trial.hyp,
                              .seed = ga::repeat_seed(run_seed_, trial.trial),
                              .repeat = true}};
    if (const auto last = last_.find(trial.trial); last != last_.end()) {
      const auto* failed = std::get_if<hyp::Failed>(&last->second.result);
      if (hyp::ends_trial(last->second)) continue;
      attempt.number = last->second.attempt + (failed->of_surroundings ? 0 : 1);
      attempt.failed_on = {last->second.device};
    }
    attempts.push_back(std::move(attempt));
  }
  return attempts;
}

void Repeats::add(const hyp::Outcome& outcome, const std::vector<Finished>& among) {
  last_[outcome.trial] = outcome;
  const auto* completed = std::get_if<hyp::Completed>(&outcome.result);
  if (!completed) return;
  const auto first = std::ranges::find(among, outcome.trial, &Finished::trial);
  completed_.push_back({.trial = outcome.trial,
                        .seed = ga::repeat_seed(run_seed_, outcome.trial),
                        .first = first->fitness,
                        .again = completed->fitness,
                        .metrics = completed->metrics});
}

}  // namespace evolve::engine
