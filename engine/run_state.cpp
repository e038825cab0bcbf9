#include "engine/run_state.hpp"

#include <algorithm>
#include <limits>

#include "engine/search_bounds.hpp"

namespace evolve::engine {
namespace {

std::vector<ga::EarlierRun> genes_of(const hyp::Space& space,
                                     const std::vector<results::EarlierRun>& earlier) {
  std::vector<ga::EarlierRun> runs;
  for (const auto& run : earlier) {
    auto& trials = runs.emplace_back();
    for (const auto& [hyp, fitness] : run.trials)
      trials.push_back({hyp::genes_of(space, hyp), fitness});
  }
  return runs;
}

/// A mean of mAPs is 1 at most, which the model does not know. (A trainer that counts in percent
/// has more.)
void keep_below_1(ga::Standing& standing) {
  const auto bound = [](ga::Candidate& candidate) {
    for (double* value :
         {&candidate.expectation.mean, &candidate.expectation.low, &candidate.expectation.high})
      *value = std::min(*value, 1.0);
  };
  bound(standing.best);
  if (standing.start) bound(*standing.start);
}

/// "" where no driver tells, or there is no such slot.
std::string identity_of(const results::DevicesChanged& devices, const std::string& slot) {
  const auto at = std::ranges::find(devices.slots, slot) - devices.slots.begin();
  return at < std::ssize(devices.identities) ? devices.identities[static_cast<std::size_t>(at)]
                                             : "";
}

}  // namespace

RunState::RunState(const results::RunSettings& settings, std::string journal, int trusted)
    : journal_(std::move(journal)),
      trusted_(trusted),
      epochs_(settings.epochs),
      fitness_(settings.fitness),
      evolution_(settings.space, search_settings(settings), settings.initial,
                 genes_of(settings.space, settings.earlier)),
      repeats_(settings.repeats),
      inputs_(settings.inputs) {
  on(results::DevicesChanged{settings.slots, settings.identities});
}

const hyp::Trial* RunState::next_trial() {
  if (!ready_.empty()) return &ready_.front();
  if (!next_) next_ = evolution_.ask();
  if (!next_) next_ = next_repeat();
  return next_ ? &*next_ : nullptr;
}

bool RunState::may_have_next_trial() const {
  return !ready_.empty() || next_ || evolution_.can_ask() || (evolution_.done() && repeats_.more());
}

int RunState::repeats_ended() const {
  const int under_way = evolution_.done() ? static_cast<int>(std::ssize(open_)) : 0;
  return repeats_.begun_in_all() - under_way;
}

std::vector<const Attempt*> RunState::open() const {
  std::vector<const Attempt*> attempts;
  for (const auto& [number, open] : open_) attempts.push_back(&open.attempt);
  return attempts;
}

bool RunState::held(int trial) const {
  const auto* open = find_open(trial);
  return open && open->held;
}

std::vector<hyp::Outcome> RunState::cleared() const {
  std::vector<hyp::Outcome> failures;
  for (const auto& [number, open] : open_) {
    if (!open.held || !surroundings_.trained_since(open.failed)) continue;
    failures.push_back(open.failure);
    failures.back().seconds = 0;  // they were counted when it failed, as its epochs were
    auto& failure = std::get<hyp::Failed>(failures.back().result);
    failure.epoch = 0;
    failure.final = true;
    failure.of_surroundings = false;
  }
  return failures;
}

int RunState::device_losses(int trial) const {
  const auto* open = find_open(trial);
  return open ? open->device_losses : 0;
}

bool RunState::in_doubt(int trial) const {
  const auto* open = find_open(trial);
  if (!open || open->failed == 0 || was_outlived(*open)) return false;
  const auto& failure = std::get<hyp::Failed>(open->failure.result);
  return failure.of_surroundings && !failure.failed_before_ready &&
         failure.kind != hyp::FailureKind::data;
}

int RunState::failed_at(int trial) const {
  const auto* open = find_open(trial);
  return open ? open->failed_at() : 0;
}

bool RunState::was_outlived(const Open& open) const {
  return open.failed_at_pause() ? surroundings_.paused_since(open.failed)
                                : surroundings_.trained_since(open.failed);
}

bool RunState::failed_at_pause(int trial) const {
  const auto* open = find_open(trial);
  return open && open->failed_at_pause();
}

bool RunState::pauses_fail() const {
  constexpr int enough = 3;
  const auto about_to = [&](const auto& open) {
    const auto& attempt = open.second.attempt;
    return attempt.number == 1 && told_to_pause(attempt.trial);
  };
  return failed_pauses_ >= enough && !surroundings_.paused_since(0) &&
         evolution_.settings().lag.value_or(1) == 1 && std::ranges::none_of(open_, about_to);
}

bool RunState::told_to_pause(const hyp::Trial& trial) const {
  return trial.pause_epoch > 0 && evolution_.rungs(trial.number).contains(trial.pause_epoch);
}

const hyp::Failed* RunState::outlived_failure(int trial) const {
  const auto* open = find_open(trial);
  if (!open || open->failed == 0 || !was_outlived(*open)) return nullptr;
  return &std::get<hyp::Failed>(open->failure.result);
}

bool RunState::finished() const {
  return evolution_.done() && open_.empty() && (completed_.empty() || !repeats_.more());
}

std::optional<results::Bred> RunState::breed(int most) {
  if (next_ || evolution_.pausing()) return {};
  bred_ = evolution_.ask(most);
  if (bred_.empty()) return {};
  results::Bred bred;
  for (const auto& trial : bred_) bred.trials.push_back({trial.number, trial.hyp});
  return bred;
}

void RunState::on(const results::DevicesChanged& changed) {
  trial_limits_ = trial_limits_on(changed);
  devices_ = changed;
  for (const auto& slot : changed.slots)
    if (auto identity = identity_of(changed, slot); !identity.empty())
      identities_[slot] = std::move(identity);
}

std::map<std::string, std::string> RunState::other_devices_on(
    const results::DevicesChanged& now) const {
  std::map<std::string, std::string> others;
  for (const auto& [slot, before] : identities_)
    if (const auto after = identity_of(now, slot); !after.empty() && after != before)
      others.emplace(slot, before);
  return others;
}

std::map<std::string, int> RunState::trial_limits_on(const results::DevicesChanged& now) const {
  auto limits = trial_limits_;
  for (const auto& [slot, _] : other_devices_on(now)) limits.erase(slot);
  return limits;
}

std::optional<hyp::Trial> RunState::next_repeat() const {
  if (completed_.empty() || !repeats_.more()) return {};
  return evolution_.next_repeat();
}

std::chrono::milliseconds RunState::time_before(const hyp::Trial& trial) const {
  if (trial.start_epoch == 0) return {};
  const std::chrono::duration<double> seconds(seconds_before_.at(trial.number));
  return std::chrono::round<std::chrono::milliseconds>(seconds);
}

std::optional<std::int64_t> RunState::most_epochs() const {
  const auto& search = evolution_.settings().max_epochs;
  if (!search) return {};
  return *search + std::int64_t{repeats_.in_all()} * epochs_;
}

ga::Settings RunState::present_bounds() const {
  auto bounds = evolution_.settings();
  if (bounds.trials) *bounds.trials += repeats_.in_all();
  if (const auto most = most_epochs())
    bounds.max_epochs =
        static_cast<int>(std::min<std::int64_t>(*most, std::numeric_limits<int>::max()));
  return bounds;
}

std::int64_t RunState::epochs_to_spare(const Attempt& attempt) const {
  const auto most = most_epochs();
  if (attempt.trial.repeat == 0 || !most) return evolution_.epochs_left();
  const std::int64_t to_come = repeats_.due() - repeats_.begun() + std::ssize(open_);
  return *most - epochs_trained_ - to_come * epochs_;
}

double RunState::training_seconds() const {
  return epochs_trained_ > 0 ? seconds_trained_ / static_cast<double>(epochs_trained_) * epochs_
                             : 0;
}

std::size_t RunState::row_of(int trial) const {
  const auto found = std::ranges::find(completed_, trial, &CompletedTrial::trial);
  return static_cast<std::size_t>(found - completed_.begin());
}

std::optional<Recommendation> RunState::recommendation() const {
  if (completed_.empty()) return {};
  auto standing = evolution_.standing();
  if (standing && fitness_ == hyp::Fitness::standard && best()->fitness <= 1)
    keep_below_1(*standing);
  // Without a model the first of greatest fitness: what only equals the start does not beat it.
  const bool is_start = completed_[best_].fitness == start_fitness_;
  const int trial = standing ? standing->best.trial : is_start ? 0 : completed_[best_].trial;
  return Recommendation{.row = row_of(trial), .standing = std::move(standing)};
}

const RunState::Open* RunState::find_open(int trial) const {
  const auto found = open_.find(trial);
  return found == open_.end() ? nullptr : &found->second;
}

}  // namespace evolve::engine
