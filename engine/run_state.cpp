#include "engine/run_state.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "core/error.hpp"
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

void RunState::apply(const results::Event& event) {
  ++events_;
  std::visit([this](const auto& e) { on(e); }, event);
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

const hyp::Failed* RunState::outlived_failure(int trial) const {
  const auto* open = find_open(trial);
  if (!open || open->failed == 0 || !was_outlived(*open)) return nullptr;
  return &std::get<hyp::Failed>(open->failure.result);
}

bool RunState::finished() const {
  return evolution_.done() && open_.empty() && (completed_.empty() || !repeats_.more());
}

void RunState::on(const results::Started& started) {
  const auto* next = !ready_.empty() ? &ready_.front() : next_ ? &*next_ : nullptr;
  const bool is_next = next && next->number == started.trial;
  const bool goes_on = paused_.contains(started.trial);
  if (!is_next && !goes_on && started.trial < evolution_.asked()) {
    auto& open = open_trial(started.trial);
    open.start_again(events_);
    open.attempt.anew = started.start_epoch < open.attempt.trial.start_epoch;
    evolution_.begin_again(started.trial, open.attempt.anew);
    return;
  }
  begin(started);
}

// Earlier versions let a search with a lag that went on after repeats know those that had ended.
bool RunState::trusts(int trials) const {
  return trials <= trusted_ || (evolution_.settings().lag && repeats_.begun_in_all() > 0);
}

std::optional<hyp::Trial> RunState::ask(const results::Started& started) {
  if (!trusts(asked_ + 1)) return evolution_.ask();
  if (started.start_epoch > 0) return evolution_.ask_again(started.trial, started.pause_epoch);
  return evolution_.ask_again(started.hyp, started.pause_epoch);
}

void RunState::begin(const results::Started& started) {
  auto trial = take_next(started);
  if (trial.number != started.trial)
    throw contradiction(started.trial, "cannot have started where it did");
  if (trial.hyp != started.hyp || trial.start_epoch != started.start_epoch ||
      trial.pause_epoch != started.pause_epoch)
    throw bred_differently(started.trial);
  generation_ = std::max(generation_, trial.generation);
  if (paused_.erase(started.trial) > 0) gone_on_.insert(started.trial);
  open_[started.trial] = {.attempt = {.trial = std::move(trial)}, .started = events_};
}

hyp::Trial RunState::take_next(const results::Started& started) {
  if (!ready_.empty()) {
    auto trial = std::move(ready_.front());
    ready_.pop_front();
    return trial;
  }
  auto trial = next_ ? std::exchange(next_, std::nullopt) : ask(started);
  ++asked_;
  if (!trial) throw contradiction(started.trial, "cannot have started where it did");
  return *std::move(trial);
}

std::optional<results::Bred> RunState::breed(int most) {
  if (next_ || evolution_.pausing()) return {};
  bred_ = evolution_.ask(most);
  if (bred_.empty()) return {};
  results::Bred bred;
  for (const auto& trial : bred_) bred.trials.push_back({trial.number, trial.hyp});
  return bred;
}

void RunState::on(const results::Bred& bred) {
  auto trials = std::exchange(bred_, {});
  const auto count = static_cast<int>(std::ssize(bred.trials));
  if (trials.empty() && !trusts(asked_ + count)) trials = evolution_.ask(count);
  asked_ += count;
  for (std::size_t i = 0; i < bred.trials.size(); ++i) {
    const auto& [number, hyp] = bred.trials[i];
    if (i == trials.size())
      if (auto trial = evolution_.ask_again(hyp)) trials.push_back(*std::move(trial));
    if (i == trials.size() || trials[i].number != number)
      throw contradiction(number, "cannot have been bred where it was");
    if (trials[i].hyp != hyp) throw bred_differently(number);
    ready_.push_back(std::move(trials[i]));
  }
}

void RunState::on(const hyp::Rung& rung) {
  open_trial(rung.trial);
  early_stopping_.tell(rung);
  evolution_.tell(rung);
  nothing_known_ = false;
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

void RunState::on(const results::Repeating& repeating) {
  if (const auto again = open_.find(repeating.trial); again != open_.end()) {
    again->second.start_again(events_);
    return;
  }
  if (!std::ranges::count(completed_, repeating.trial, &CompletedTrial::trial))
    throw contradiction(repeating.trial, "is trained again, but has not completed");
  next_.reset();
  repeats_.begin();
  open_[repeating.trial] = {
      .attempt = {.trial = evolution_.begin_repeat(repeating.trial, repeating.repeat)},
      .started = events_};
}

std::optional<hyp::Trial> RunState::next_repeat() const {
  if (completed_.empty() || !repeats_.more()) return {};
  return evolution_.next_repeat();
}

void RunState::on(const hyp::Outcome& outcome) {
  auto& ended = open_trial(outcome.trial);
  surroundings_.apply(outcome, ended.started);
  if (const auto* failure = std::get_if<hyp::Failed>(&outcome.result))
    failed(outcome, *failure, ended);
  count_epochs(outcome, ended.attempt.start_epoch());
  evolution_.tell(outcome);
  if (const auto* paused = std::get_if<hyp::Paused>(&outcome.result)) {
    nothing_known_ = false;
    paused_[outcome.trial] = *paused;
    seconds_before_[outcome.trial] += outcome.seconds - outcome.prepared;
    open_.erase(outcome.trial);
    return;
  }
  if (!hyp::ends_trial(outcome)) return;
  nothing_known_ = false;
  if (outcome.repeat > 0) {
    repeat_ended(outcome, ended.attempt.trial);
  } else {
    early_stopping_.tell(outcome);
    ended_.push_back(outcome.trial);
    if (const auto* result = std::get_if<hyp::Completed>(&outcome.result))
      completed(outcome.trial, *result);
  }
  open_.erase(outcome.trial);
}

void RunState::on(const results::Probed&) {
  surroundings_.in_order(events_);
}

void RunState::count_epochs(const hyp::Outcome& outcome, int start_epoch) {
  const int epochs = std::max(0, hyp::reached_epoch(outcome, epochs_) - start_epoch);
  epochs_trained_ += epochs;
  if (epochs > 0) seconds_trained_ += outcome.seconds - outcome.prepared;
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

void RunState::repeat_ended(const hyp::Outcome& outcome, const hyp::Trial& repeat) {
  repeats_.add(outcome, repeat.seed,
               *std::ranges::find(completed_, outcome.trial, &CompletedTrial::trial));
}

std::optional<Recommendation> RunState::recommendation() const {
  if (completed_.empty()) return {};
  auto standing = evolution_.standing();
  if (standing && fitness_ == hyp::Fitness::standard && best()->fitness <= 1)
    keep_below_1(*standing);
  // Without a model the first of greatest fitness: what only equals the start does not beat it.
  const bool is_start = completed_[best_].fitness == start_fitness_;
  const int trial = standing ? standing->best.trial : is_start ? 0 : completed_[best_].trial;
  const auto row = std::ranges::find(completed_, trial, &CompletedTrial::trial);
  return Recommendation{.row = static_cast<std::size_t>(row - completed_.begin()),
                        .standing = std::move(standing)};
}

void RunState::completed(int trial, const hyp::Completed& result) {
  completed_.push_back({.trial = trial, .metrics = result.metrics, .fitness = result.fitness});
  if (evolution_.best() && evolution_.best()->trial == trial) best_ = completed_.size() - 1;
  if (trial == 0) start_fitness_ = result.fitness;
}

void RunState::failed(const hyp::Outcome& outcome, const hyp::Failed& failure, Open& open) {
  if (failure.final) {
    if (!first_failure_ && outcome.repeat == 0) first_failure_ = failure;
    return;
  }
  if (failure.excused) return;
  open.attempt.failed_on.push_back(outcome.device);
  open.failed = events_;
  open.failure = outcome;
  if (failure.kind == hyp::FailureKind::device_lost) ++open.device_losses;
  if (!failure.of_surroundings) open.attempt.number = outcome.attempt + 1;
  open.held = failure.of_surroundings && failure.unconfirmed;
}

void RunState::on(const results::Extended& extended) {
  bounds_before_ = extended.for_repeats ? std::optional(bounds()) : std::nullopt;
  if (extended.repeats)
    repeats_.want(*extended.repeats, extended.wished_repeats.value_or(*extended.repeats));
  if (next_ && next_->repeat > 0) next_.reset();
  evolution_.extend(extended.generations, extended.trials, extended.max_epochs);
  if (!evolution_.done()) repeats_.start_anew();
}

const RunState::Open* RunState::find_open(int trial) const {
  const auto found = open_.find(trial);
  return found == open_.end() ? nullptr : &found->second;
}

RunState::Open& RunState::open_trial(int trial) {
  const auto it = open_.find(trial);
  if (it == open_.end()) throw contradiction(trial, "is not under way where its event stands");
  return it->second;
}

Error RunState::bred_differently(int trial) const {
  return contradiction(
      trial,
      "is bred differently now: the journal is from another version of evolve, or of its libraries",
      "go on with that version, or start a new run that learns from this one (--from)");
}

Error RunState::contradiction(int trial, const std::string& what,
                              const std::string& way_out) const {
  return bad_input({journal_, static_cast<int>(events_) + 1},  // the first line is the run
                   fmt::format("trial {} {}", trial, what), way_out);
}

}  // namespace evolve::engine
