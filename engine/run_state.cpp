#include "engine/run_state.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "core/error.hpp"
#include "engine/settings.hpp"

namespace evolve::engine {

RunState::RunState(const results::RunSettings& settings, std::string journal, int trusted)
    : journal_(std::move(journal)),
      trusted_(trusted),
      evolution_(settings.space, search_settings(settings), settings.initial),
      repeats_(settings.repeats, settings.seed) {}

void RunState::apply(const results::Event& event) {
  ++events_;
  std::visit([this](const auto& e) { on(e); }, event);
}

const hyp::Trial* RunState::next_trial() {
  if (!next_) next_ = evolution_.ask();
  return next_ ? &*next_ : nullptr;
}

bool RunState::may_have_next_trial() const {
  return next_ || evolution_.can_ask();
}

std::vector<const Attempt*> RunState::open() const {
  std::vector<const Attempt*> attempts;
  for (const auto& [number, open] : open_) attempts.push_back(&open.attempt);
  for (const auto& repeat : missing_repeats_) attempts.push_back(&repeat);
  return attempts;
}

bool RunState::held(int trial) const {
  const auto found = open_.find(trial);
  return found != open_.end() && found->second.held;
}

std::vector<hyp::Outcome> RunState::cleared() const {
  std::vector<hyp::Outcome> failures;
  for (const auto& [number, open] : open_) {
    if (!open.held || open.failed >= trained_start_) continue;
    failures.push_back(open.failure);
    auto& failure = std::get<hyp::Failed>(failures.back().result);
    failure.final = true;
    failure.of_surroundings = false;
  }
  return failures;
}

const Attempt& RunState::attempt_at(int trial, bool repeat) const {
  if (!repeat) return open_.at(trial).attempt;
  for (const auto& attempt : missing_repeats_)
    if (attempt.trial.number == trial) return attempt;
  throw std::out_of_range("no repeat of that trial is missing");
}

int RunState::device_losses(int trial) const {
  const auto found = open_.find(trial);
  return found == open_.end() ? 0 : found->second.device_losses;
}

bool RunState::finished() const {
  return evolution_.done() && missing_repeats_.empty();
}

void RunState::on(const results::Started& started) {
  const bool is_next = next_ && next_->number == started.trial;
  if (!is_next && started.trial < evolution_.asked()) {
    auto& again = open_trial(started.trial);
    again.held = false;
    again.started = events_;
    return;
  }
  begin(started);
}

void RunState::begin(const results::Started& started) {
  auto trial = next_                      ? std::exchange(next_, std::nullopt)
               : started.trial < trusted_ ? evolution_.ask_again(started.hyp)
                                          : evolution_.ask();
  if (!trial || trial->number != started.trial) {
    throw contradiction(started.trial, "cannot have started where it did");
  }
  if (trial->hyp != started.hyp) {
    throw contradiction(started.trial,
                        "is bred differently now: the journal is from another version of evolve");
  }
  generation_ = std::max(generation_, trial->generation);
  open_[started.trial] = {.attempt = {.trial = std::move(*trial)}, .started = events_};
}

void RunState::on(const hyp::Rung& rung) {
  open_trial(rung.trial);
  early_stopping_.tell(rung);
}

void RunState::on(const hyp::Outcome& outcome) {
  count_surroundings(outcome);
  if (outcome.repeat) {
    repeat_ended(outcome);
  } else {
    trial_ended(outcome);
  }
  find_missing_repeats();
}

void RunState::trial_ended(const hyp::Outcome& outcome) {
  auto& ended = open_trial(outcome.trial);
  const auto* failure = std::get_if<hyp::Failed>(&outcome.result);
  if (failure) {
    failed(outcome, *failure, ended);
  } else {
    trained_start_ = std::max(trained_start_, ended.started);
  }
  if (!hyp::ends_trial(outcome)) return;
  evolution_.tell(outcome);
  early_stopping_.tell(outcome);
  ended_.push_back(outcome.trial);
  if (const auto* result = std::get_if<hyp::Completed>(&outcome.result))
    completed(*result, ended.attempt.trial);
  open_.erase(outcome.trial);
}

void RunState::count_surroundings(const hyp::Outcome& outcome) {
  const auto* failure = std::get_if<hyp::Failed>(&outcome.result);
  if (!failure) {
    surroundings_failures_ = 0;
  } else if (failure->of_surroundings) {
    ++surroundings_failures_;
    surroundings_failure_ = *failure;
  }
}

void RunState::repeat_ended(const hyp::Outcome& outcome) {
  if (std::ranges::find(completed_, outcome.trial, &Finished::trial) == completed_.end()) {
    throw contradiction(outcome.trial, "is trained again, but has not completed");
  }
  repeats_.add(outcome, completed_);
}

void RunState::find_missing_repeats() {
  missing_repeats_ = evolution_.done() ? repeats_.missing() : std::vector<Attempt>();
}

void RunState::completed(const hyp::Completed& result, const hyp::Trial& trial) {
  completed_.push_back({.trial = trial.number,
                        .hyp = trial.hyp,
                        .metrics = result.metrics,
                        .fitness = result.fitness});
  if (evolution_.best() && evolution_.best()->trial == trial.number) best_ = completed_.size() - 1;
  if (trial.number == 0) start_fitness_ = result.fitness;
  repeats_.offer(completed_.back());
}

void RunState::failed(const hyp::Outcome& outcome, const hyp::Failed& failure, Open& open) {
  if (failure.final) {
    if (!first_failure_) first_failure_ = failure;
    return;
  }
  open.attempt.failed_on.push_back(outcome.device);
  open.failed = events_;
  open.failure = outcome;
  if (failure.kind == hyp::FailureKind::device_lost) ++open.device_losses;
  if (!failure.of_surroundings) open.attempt.number = outcome.attempt + 1;
  open.held = failure.of_surroundings && failure.unconfirmed;
}

void RunState::on(const results::Extended& extended) {
  if (extended.repeats) repeats_.want(*extended.repeats, completed_);
  evolution_.extend(extended.generations, extended.trials);
  find_missing_repeats();
}

RunState::Open& RunState::open_trial(int trial) {
  const auto it = open_.find(trial);
  if (it == open_.end()) throw contradiction(trial, "is not under way where its event stands");
  return it->second;
}

Error RunState::contradiction(int trial, const std::string& what) const {
  return bad_input({journal_}, fmt::format("trial {} {}", trial, what), "start a new run");
}

RunState fold(const results::RunSettings& settings, const std::vector<results::Event>& events,
              const std::string& path, int latest) {
  int trials = 0;
  for (const auto& event : events)
    if (const auto* started = std::get_if<results::Started>(&event))
      trials = std::max(trials, started->trial + 1);
  RunState state(settings, path, trials - latest);
  for (const auto& event : events) state.apply(event);
  return state;
}

}  // namespace evolve::engine
