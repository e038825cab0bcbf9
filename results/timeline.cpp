#include "results/timeline.hpp"

#include <algorithm>
#include <array>
#include <chrono>

namespace evolve::results {
namespace {

using State = Timeline::State;

State state_of(const hyp::Outcome& outcome) {
  if (const auto* failed = std::get_if<hyp::Failed>(&outcome.result))
    return failed->final ? State::failed : State::waiting;
  if (std::holds_alternative<hyp::Stopped>(outcome.result)) return State::stopped;
  if (std::holds_alternative<hyp::Paused>(outcome.result)) return State::paused;
  return State::completed;
}

/// What it had after an epoch; of two figures of one epoch the later one counts.
void reached(Timeline::Trial& trial, int epoch, const hyp::Metrics& metrics, double fitness) {
  trial.epoch = epoch;
  trial.metrics = metrics;
  while (!trial.curve.empty() && trial.curve.back().first >= epoch) trial.curve.pop_back();
  trial.curve.emplace_back(epoch, fitness);
}

/// Where a final failure says that an earlier one was the trial's own (engine::RunState::cleared):
/// that one among the failures. Null: it is the end of an attempt.
hyp::Failed* cleared_by(const hyp::Outcome& outcome,
                        std::vector<std::pair<core::Time, hyp::Outcome>>& failures) {
  const auto* verdict = std::get_if<hyp::Failed>(&outcome.result);
  if (!verdict || !verdict->final || !verdict->unconfirmed) return nullptr;
  const auto failure = std::find_if(failures.rbegin(), failures.rend(), [&](const auto& one) {
    return one.second.trial == outcome.trial && one.second.repeat == outcome.repeat;
  });
  return failure == failures.rend() ? nullptr : &std::get<hyp::Failed>(failure->second.result);
}

/// When what has taken so many seconds at `end` began.
core::Time begin_of(core::Time end, double seconds) {
  return end - std::chrono::round<core::Time::duration>(std::chrono::duration<double>(seconds));
}

/// When a training that took so many seconds (0: nobody knows) began, if it seems to have begun at
/// `begin`. The seconds leave out the start of its worker, and for how long the machine slept: what
/// is longer than any usual start is taken for sleep.
core::Time begin_of(core::Time begin, core::Time end, double seconds) {
  constexpr double longest_start = 600;
  const std::chrono::duration<double> all = end - begin;
  return seconds <= 0 || all.count() <= seconds + longest_start ? begin : begin_of(end, seconds);
}

void set_failed(Timeline::Trial& trial, int epoch) {
  trial.state = State::failed;
  trial.epoch = std::max(trial.epoch, epoch);
}

}  // namespace

void Timeline::add(const Event& event, core::Time time) {
  if (time == core::Time{}) return std::visit([&](const auto& e) { on(e, time); }, event);
  if (time < latest) set_back_ += latest - time;
  latest = time;
  end = time + set_back_;
  if (begin == core::Time{}) begin = end;
  std::visit([&](const auto& e) { on(e, end); }, event);
}

void Timeline::go_on(core::Time now) {
  if (latest != core::Time{}) end = std::max(end, now + set_back_);
}

void Timeline::stop() {
  for (const auto& [trial, running] : running_) {
    auto& training = trainings[running.place];
    training.state = State::interrupted;
    training.end = end;
    if (training.repeat == 0) trials.at(trial).state = State::waiting;
  }
  running_.clear();
}

void Timeline::start(Training training) {
  quarantined.erase(training.device);  // a process that goes on begins without quarantines
  const auto before = last_sign_before(training.begin);
  if (running_.contains(training.trial)) interrupt(training.trial, before);
  running_[training.trial] = {trainings.size(), before};
  trained_ = std::max(trained_, training.begin);
  trainings.push_back(std::move(training));
}

core::Time Timeline::last_sign_before(core::Time time) const {
  constexpr std::chrono::seconds beginning{10};
  const auto sample = std::find_if(samples.rbegin(), samples.rend(),
                                   [&](const auto& one) { return one.first < time - beginning; });
  return sample == samples.rend() ? trained_ : std::max(trained_, sample->first);
}

// Only another process starts again what has not ended; what its predecessor had under way died
// with it. It takes up what is open by number: what has a lower one and began later is its own.
void Timeline::interrupt(int again, core::Time died) {
  const auto first = running_.at(again).place;
  const auto is_its_own = [&](const auto& one) {
    return one.first < again && one.second.place > first;
  };
  for (const auto& one : running_)
    if (is_its_own(one)) died = std::min(died, one.second.before);
  std::erase_if(running_, [&](const auto& one) {
    if (is_its_own(one)) return false;
    auto& training = trainings[one.second.place];
    training.state = State::interrupted;
    training.end = died;
    if (training.repeat == 0) trials.at(one.first).state = State::waiting;
    return true;
  });
}

void Timeline::on(const Started& started, core::Time time) {
  start({.trial = started.trial,
         .device = started.device,
         .start_epoch = started.start_epoch,
         .end_epoch = started.start_epoch,
         .begin = time});
  auto& trial = trials[started.trial];
  trial.generation = started.generation;
  trial.state = State::running;
  trial.device = started.device;
  // What it learnt after that is learnt again.
  std::erase_if(trial.curve, [&](const auto& at) { return at.first > started.start_epoch; });
  if (trial.epoch <= started.start_epoch) return;
  trial.epoch = started.start_epoch;
  trial.metrics.reset();
}

void Timeline::on(const Repeating& repeating, core::Time time) {
  start({.trial = repeating.trial,
         .repeat = repeating.repeat,
         .device = repeating.device,
         .begin = time});
}

void Timeline::on(const hyp::Rung& rung, core::Time time) {
  trained_ = std::max(trained_, time);
  if (const auto found = running_.find(rung.trial); found != running_.end()) {
    auto& training = trainings[found->second.place];
    training.end_epoch = std::max(training.end_epoch, rung.epoch);
  }
  reached(trials[rung.trial], rung.epoch, rung.metrics, rung.fitness);
}

void Timeline::on(const hyp::Outcome& outcome, core::Time time) {
  trained_ = std::max(trained_, time);
  if (auto* failure = cleared_by(outcome, failures)) {
    failure->final = true;
    failure->of_surroundings = false;
    if (outcome.repeat == 0) set_failed(trials[outcome.trial], hyp::reached_epoch(outcome, epochs));
    return;
  }
  const auto state = state_of(outcome);
  if (const auto found = running_.find(outcome.trial); found != running_.end()) {
    auto& training = trainings[found->second.place];
    training.state = state == State::waiting ? State::failed : state;
    training.begin = begin_of(training.begin, time, outcome.seconds);
    training.end = time;
    training.seconds = outcome.seconds;
    training.end_epoch = std::max(training.start_epoch, hyp::reached_epoch(outcome, epochs));
    ended.push_back(found->second.place);
    running_.erase(found);
  }
  if (state == State::failed || state == State::waiting) failures.emplace_back(time, outcome);
  if (outcome.repeat > 0) return;
  auto& trial = trials[outcome.trial];
  trial.state = state;
  trial.seconds += outcome.seconds;
  const int epoch = hyp::reached_epoch(outcome, epochs);
  if (state == State::failed) set_failed(trial, epoch);
  const auto follow = [&](const auto& result) {
    if constexpr (requires { result.metrics; })
      reached(trial, epoch, result.metrics, result.fitness);
  };
  std::visit(follow, outcome.result);
}

void Timeline::on(const Probed& probed, core::Time time) {
  if (time != core::Time{}) probes.emplace_back(begin_of(time, probed.seconds), time);
}

Timeline timeline_of(const JournalContents& contents) {
  Timeline timeline;
  timeline.epochs = contents.run.epochs;
  for (std::size_t i = 0; i < contents.events.size(); ++i)
    timeline.add(contents.events[i], contents.times[i]);
  return timeline;
}

const std::string& name_of(Timeline::State state) {
  static const std::array<std::string, 7> names = {"running", "waiting", "paused",     "completed",
                                                   "stopped", "failed",  "interrupted"};
  return names[static_cast<std::size_t>(state)];
}

}  // namespace evolve::results
