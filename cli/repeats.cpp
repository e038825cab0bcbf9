#include "cli/repeats.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ga/rng.hpp"

namespace evolve::cli {

Repeats::Repeats(int wanted, std::uint64_t run_seed, const std::vector<Finished>& finished,
                 const std::vector<hyp::Outcome>& outcomes)
    : wanted_(wanted), run_seed_(run_seed) {
  for (const auto& trial : finished) offer(trial);
  for (const auto& outcome : outcomes) add(outcome, finished);
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
                              .repeat = true},
                    .number = 1,
                    .failed_on = {}};
    if (const auto last = last_.find(trial.trial); last != last_.end()) {
      if (hyp::ends_trial(last->second)) continue;
      attempt.number = last->second.attempt + 1;
      attempt.failed_on = {last->second.device};
    }
    attempts.push_back(std::move(attempt));
  }
  return attempts;
}

void Repeats::tell(const hyp::Outcome& outcome) {
  add(outcome, best_);
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

std::string repeat_summary(const std::vector<results::Repeat>& repeats) {
  constexpr std::size_t most = 5;
  std::string text = "Trained again with other seeds: ";
  double change = 0;
  for (std::size_t i = 0; i < repeats.size(); ++i) {
    const auto& [trial, seed, first, again, metrics] = repeats[i];
    change += (again - first) / static_cast<double>(repeats.size());
    if (i == most) text += ", …";
    if (i >= most) continue;
    text += fmt::format("{}trial {} {:.4f} → {:.4f}", i ? ", " : "", trial, first, again);
  }
  return text +
         fmt::format("; on average {:.4f} {}", std::abs(change), change < 0 ? "less" : "more");
}

}  // namespace evolve::cli
