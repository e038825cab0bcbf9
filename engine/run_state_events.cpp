// What the events of a journal make of a run's state.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/error.hpp"
#include "engine/run_state.hpp"

namespace evolve::engine {

void RunState::apply(const results::Event& event) {
  ++events_;
  std::visit([this](const auto& e) { on(e); }, event);
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

void RunState::repeat_ended(const hyp::Outcome& outcome, const hyp::Trial& repeat) {
  repeats_.add(outcome, repeat.seed, completed_[row_of(outcome.trial)]);
}

void RunState::completed(int trial, const hyp::Completed& result) {
  completed_.push_back({.trial = trial, .metrics = result.metrics, .fitness = result.fitness});
  if (evolution_.best() && evolution_.best()->trial == trial) best_ = completed_.size() - 1;
  if (trial == 0) start_fitness_ = result.fitness;
}

void RunState::failed(const hyp::Outcome& outcome, const hyp::Failed& failure, Open& open) {
  if (failure.final) {
    if (!first_failure_ && outcome.repeat == 0) first_failure_ = failure;
    if (told_to_pause(open.attempt.trial) && failure.epoch == open.attempt.trial.pause_epoch &&
        hyp::is_unexplained(failure.kind))
      ++failed_pauses_;
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
