// What workers say becomes events: how trials end, and what those are told that wait at a rung.

#include <algorithm>
#include <cmath>

#include "core/error.hpp"
#include "engine/failures.hpp"
#include "engine/run.hpp"

namespace evolve::engine {

void Run::take(const std::vector<workers::WorkerEvent>& news) {
  std::vector<results::Event> events;
  std::vector<Attempt> attempts;
  for (const auto& one : news) {
    const int trial = std::visit([](const auto& e) { return e.trial; }, one);
    attempts.push_back(state_.attempt_at(trial));  // before the state forgets it
    events.push_back(std::visit([this](const auto& e) { return event_of(e); }, one));
    apply(events.back());
  }
  if (events.empty()) return;
  publish(events);
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (const auto* at = std::get_if<workers::AtRung>(&news[i]);
        at && workers_.waits_at_rung(at->trial)) {
      const auto& rung = std::get<hyp::Rung>(events[i]);
      if (!at->can_pause && attempts[i].trial.pause_epoch == rung.epoch) cannot_pause();
      workers_.decide(rung.trial, decision(rung));
    }
    if (const auto* outcome = std::get_if<hyp::Outcome>(&events[i])) {
      if (const auto* trained = std::get_if<workers::Trained>(&news[i]);
          trained && ran_past_its_pause(attempts[i].trial, *trained))
        cannot_pause();
      ended(*outcome, attempts[i].failed_on);
    }
  }
  record_cleared();
}

// A training that ends by itself before its rung says nothing of what its trainer can.
bool Run::ran_past_its_pause(const hyp::Trial& trial, const workers::Trained& trained) const {
  const bool ended_before =
      trained.reported > trial.start_epoch && trained.reported < trial.pause_epoch;
  return trained.obeyed == hyp::Decision::go_on && trial.pause_epoch > 0 && !ended_before &&
         state_.evolution().last_epoch(trial.number) < settings_.run.epochs;
}

void Run::record_cleared() {
  for (const auto& cleared : state_.cleared())
    if (!left_over_.contains(cleared.trial)) record({cleared});
}

void Run::probed(const workers::WorkerEvent& end) {
  hyp::Outcome outcome{.trial = *probe_,
                       .device = std::visit([](const auto& e) { return e.device; }, end)};
  if (const auto* failure = std::get_if<workers::NotTrained>(&end)) {
    outcome.result = as_said(*failure);
    probe_failed_ = !failure->excused;
  } else {
    record({results::Probed{.trial = outcome.trial,
                            .device = outcome.device,
                            .seconds = std::get<workers::Trained>(end).seconds}});
  }
  ended(outcome, {});  // it tells of the device, too
  probe_.reset();
  record_cleared();
}

std::optional<bool> Run::can_pause() const {
  if (!state_.evolution().pausing()) return false;
  return settings_.can_pause ? settings_.can_pause : workers_.can_pause();
}

// Its trainer says so, has run on where it was to be paused, or fails there.
void Run::cannot_pause() {
  if (!state_.evolution().pausing()) return;
  const double trained = trainings_ended(state_) - time_limit_.ended_before;
  record({results::CannotPause{}});
  time_limit_.ended_before = trainings_ended(state_) - trained;  // they are counted otherwise now
}

results::Event Run::event_of(const workers::AtRung& rung) const {
  return hyp::Rung{.trial = rung.trial,
                   .epoch = rung.epoch,
                   .metrics = rung.metrics,
                   .fitness = fitness_(rung.metrics),
                   .device = rung.device};
}

template <class Ended>
hyp::Outcome Run::outcome(const Ended& ended) const {
  const Attempt& attempt = state_.attempt_at(ended.trial);
  return {.trial = ended.trial,
          .device = ended.device,
          .attempt = attempt.number,
          .seconds = ended.seconds,
          .prepared = ended.prepared,
          .repeat = attempt.trial.repeat,
          .identity = ended.identity};
}

results::Event Run::event_of(const workers::Trained& trained) const {
  auto result = outcome(trained);
  const double fitness = fitness_(trained.metrics);
  if (!std::isfinite(fitness)) {
    result.result = judge(
        NoFitness{.formula = settings_.run.fitness, .fitness = fitness, .epoch = trained.epoch},
        state_.attempt_at(result.trial), state_);
    return result;
  }
  switch (trained.obeyed) {
    case hyp::Decision::stop:
      result.result = hyp::Stopped{trained.epoch, trained.metrics, fitness};
      break;
    case hyp::Decision::pause:
      result.result = hyp::Paused{trained.epoch, trained.metrics, fitness};
      break;
    case hyp::Decision::go_on:
      result.result = hyp::Completed{trained.metrics, fitness};
      break;
  }
  return result;
}

results::Event Run::event_of(const workers::NotTrained& failure) const {
  if (failure.no_program && !workers_.ever_started()) {
    const bool launched = std::ranges::any_of(slots_, [&](const core::Slot& slot) {
      return slot.name == failure.device && !slot.launcher.empty();
    });
    const auto named_by = launched ? "--launcher" : settings_.workers.named_by;
    if (named_by.empty()) throw bad_argument(failure.message, "install evolve again");
    throw bad_argument(named_by + ": " + failure.message,
                       "name a program that exists and may be started");
  }
  auto result = outcome(failure);
  result.result = judge(failure, state_.attempt_at(failure.trial), state_, settings_.failures);
  return result;
}

hyp::Decision Run::decision(const hyp::Rung& rung) const {
  const auto& evolution = state_.evolution();
  const bool pauses = state_.attempt_at(rung.trial).trial.pause_epoch == rung.epoch;
  if (evolution.pausing()) {
    if (!pauses) return hyp::Decision::go_on;
    if (std::isfinite(rung.fitness)) return hyp::Decision::pause;
    const bool goes_on = evolution.last_epoch(rung.trial) == settings_.run.epochs;
    return goes_on ? hyp::Decision::go_on : hyp::Decision::stop;
  }
  // Where nothing can be paused after all, trials that were to be have promised fewer epochs.
  const bool over_budget = evolution.settings().max_epochs && evolution.epochs_left() < 0;
  const bool stops = state_.early_stopping().stops(rung, evolution.settings().lag);
  return over_budget || stops ? hyp::Decision::stop : hyp::Decision::go_on;
}

}  // namespace evolve::engine
