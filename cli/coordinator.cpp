#include "cli/coordinator.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.hpp"

namespace evolve::cli {
namespace {

/// How long to wait for an outcome before the screen is refreshed.
constexpr std::chrono::milliseconds patience{500};

/// A failure that another attempt would only repeat.
bool would_repeat(hyp::FailureKind kind) {
  return kind == hyp::FailureKind::diverged || kind == hyp::FailureKind::data;
}

}  // namespace

Coordinator::Coordinator(const Plan& plan, results::RunDirectory directory,
                         results::Journal journal, ga::Evolution evolution, Replayed replayed,
                         Screen& screen)
    : retries_(plan.options.retries),
      epochs_(plan.options.train.epochs),
      early_stop_(plan.options.early_stop),
      time_limit_(duration_seconds(plan.options.time_limit, "--time-limit")),
      directory_(std::move(directory)),
      journal_(std::move(journal)),
      evolution_(std::move(evolution)),
      early_stopping_(std::move(replayed.early_stopping)),
      record_(directory_, evolution_.space(), plan.options.fitness, replayed.finished),
      repeats_(plan.options.repeats, plan.search.seed, replayed.finished, replayed.repeats),
      screen_(screen),
      workers_(settings(plan)),
      fleet_(plan.slots, plan.accelerators,
             [this](const std::string& device) { return workers_.crew(device); }),
      open_(replayed.open.begin(), replayed.open.end()),
      first_failure_(std::move(replayed.first_failure)) {
  for (const auto& finished : replayed.finished) {
    if (finished.trial == 0) start_fitness_ = finished.fitness;
  }
  if (!replayed.repeats.empty()) results::write_repeats(directory_.repeats(), repeats_.completed());
}

workers::WorkerSettings Coordinator::settings(const Plan& plan) {
  auto settings = worker_settings(plan, directory_.root.string());
  settings.stops = [this](const hyp::Rung& rung) { return stops(rung); };
  return settings;
}

int Coordinator::run() {
  while (!finished() && workers_.signal() == 0) {
    publish(fleet_.watch());
    if (evolution_.done() && !repeating_) open_repeats();
    if (!out_of_time() && !no_usable_device()) start_trials();
    if (workers_.busy() == 0 && (out_of_time() || no_usable_device())) break;
    screen_.show(standing_text(standing()));
    auto outcomes = workers_.wait_some(patience);
    if (!outcomes) break;  // interrupted: the journal is the state
    take(std::move(*outcomes));
  }
  publish(fleet_.watch());
  screen_.clear();
  update_population();
  record_.close();
  try {
    record_.draw();
  } catch (const Error& error) {  // costs a picture, not a run
    screen_.line(std::string("no picture: ") + error.what());
  }
  return workers_.signal() == 0 ? 0 : 128 + workers_.signal();
}

void Coordinator::publish(const DeviceNews& news) {
  for (const auto& event : news.events) journal_.append(event);
  if (!news.events.empty()) journal_.commit();
  for (const auto& line : news.lines) screen_.line(line);
}

void Coordinator::start_trials() {
  for (auto it = open_.begin(); it != open_.end();) {
    auto lease = fleet_.lease(it->failed_on);
    if (!lease) {
      ++it;  // it waits for a device, which may not be the one that the next waits for
      continue;
    }
    start(std::move(*it), std::move(*lease));
    it = open_.erase(it);
  }
  while (auto lease = fleet_.lease({})) {
    auto trial = evolution_.ask();
    if (!trial) return;  // nothing to hand out until more is told; the lease returns itself
    if (trial->generation > generation_) {
      generation_ = trial->generation;
      update_population();
    }
    start({.trial = std::move(*trial), .number = 1, .failed_on = {}}, std::move(*lease));
  }
}

void Coordinator::open_repeats() {
  repeating_ = true;
  for (auto& attempt : repeats_.missing()) open_.push_back(std::move(attempt));
}

void Coordinator::start(Attempt attempt, core::Lease lease) {
  journal_.append(attempt.trial.repeat
                      ? to_json(results::Repeating{.trial = attempt.trial.number,
                                                   .seed = attempt.trial.seed,
                                                   .device = lease->name,
                                                   .attempt = attempt.number})
                      : to_json(results::Started{.trial = attempt.trial.number,
                                                 .generation = attempt.trial.generation,
                                                 .hyp = attempt.trial.hyp,
                                                 .device = lease->name,
                                                 .attempt = attempt.number}));
  journal_.commit();
  fleet_.started(lease->name);
  workers_.start(attempt.trial, attempt.number, std::move(lease), rungs_for(attempt.trial));
  running_.push_back(std::move(attempt));
}

std::vector<int> Coordinator::rungs_for(const hyp::Trial& trial) const {
  if (!early_stop_ || trial.repeat) return {};
  return early_stopping_.rungs_for(trial.number, epochs_, evolution_.settings().lag);
}

bool Coordinator::stops(const hyp::Rung& rung) {
  journal_.append(rung);
  journal_.commit();
  early_stopping_.tell(rung);
  return early_stopping_.stops(rung, evolution_.settings().lag);
}

void Coordinator::take(std::vector<hyp::Outcome> outcomes) {
  for (auto& outcome : outcomes) {
    if (auto* failure = std::get_if<hyp::Failed>(&outcome.result)) {
      failure->final = would_repeat(failure->kind) || outcome.attempt > retries_;
    }
    journal_.append(outcome);
  }
  journal_.commit();  // durable before anyone acts on it
  for (const auto& outcome : outcomes) {
    const auto it = std::find_if(running_.begin(), running_.end(), [&](const Attempt& attempt) {
      return attempt.trial.number == outcome.trial;
    });
    auto attempt = std::move(*it);
    running_.erase(it);
    tell(outcome);
    fleet_.tell(outcome, attempt.failed_on);
    const auto* result = std::get_if<hyp::Completed>(&outcome.result);
    if (result && outcome.repeat) {
      repeated(outcome, *result);
    } else if (result) {
      completed(outcome, {.trial = outcome.trial,
                          .hyp = attempt.trial.hyp,
                          .metrics = result->metrics,
                          .fitness = result->fitness});
    } else if (const auto* stop = std::get_if<hyp::Stopped>(&outcome.result)) {
      stopped(outcome, *stop);
    } else if (const auto* failure = std::get_if<hyp::Failed>(&outcome.result)) {
      failed(outcome, *failure, std::move(attempt));
    }
  }
}

void Coordinator::tell(const hyp::Outcome& outcome) {
  if (outcome.repeat) return repeats_.tell(outcome);
  evolution_.tell(outcome);
  early_stopping_.tell(outcome);
}

void Coordinator::completed(const hyp::Outcome& outcome, const Finished& finished) {
  ++ended_here_;
  if (finished.trial == 0) start_fitness_ = finished.fitness;
  repeats_.offer(finished);
  const bool better = record_.add(finished);
  const auto text = fmt::format(
      "trial {:<4} {:<7} {:>6.1f} s   fitness {:.4f}   mAP50 {:.3f}   mAP50-95 {:.3f}{}",
      finished.trial, outcome.device, outcome.seconds, finished.fitness, finished.metrics.map50,
      finished.metrics.map50_95, better ? "   best so far" : "");
  better ? screen_.line(text) : screen_.detail(text);
}

void Coordinator::repeated(const hyp::Outcome& outcome, const hyp::Completed& result) {
  ++ended_here_;
  results::write_repeats(directory_.repeats(), repeats_.completed());
  screen_.line(fmt::format("trial {:<4} {:<7} {:>6.1f} s   fitness {:.4f} again, {:.4f} at first",
                           outcome.trial, outcome.device, outcome.seconds, result.fitness,
                           repeats_.completed().back().first));
}

void Coordinator::stopped(const hyp::Outcome& outcome, const hyp::Stopped& stop) {
  ++ended_here_;
  screen_.detail(fmt::format(
      "trial {:<4} {:<7} {:>6.1f} s   fitness {:.4f}   stopped after {} of {}", outcome.trial,
      outcome.device, outcome.seconds, stop.fitness, stop.epoch, counted(epochs_, "epoch")));
}

void Coordinator::failed(const hyp::Outcome& outcome, const hyp::Failed& failure, Attempt attempt) {
  screen_.line(fmt::format("trial {:<4} {:<7} {} ({}): {}; see {}", outcome.trial, outcome.device,
                           failure.final ? "failed" : "failed, will be tried again",
                           hyp::name_of(failure.kind), failure.message,
                           (directory_.root / failure.log).string()));
  if (failure.final) {
    ++ended_here_;
    if (!first_failure_ && !outcome.repeat) first_failure_ = failure;
    return;
  }
  attempt.number = outcome.attempt + 1;
  attempt.failed_on.push_back(outcome.device);
  open_.push_back(std::move(attempt));
}

void Coordinator::update_population() {
  std::vector<hyp::Hyperparameters> sets;
  for (const auto& individual : evolution_.population()) {
    sets.push_back(hyp::express(evolution_.space(), individual.genes));
  }
  if (!sets.empty()) record_.set_population(generation_, sets);
}

bool Coordinator::out_of_time() const {
  return time_limit_ && seconds() >= *time_limit_;
}

double Coordinator::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count();
}

Standing Coordinator::standing() const {
  const int again = static_cast<int>(repeats_.completed().size());
  Standing standing{
      .planned = evolution_.planned() + again + static_cast<int>(repeats_.missing().size()),
      .ended = evolution_.ended() + again,
      .generation = std::max(0, evolution_.asked() - 1) / evolution_.settings().population,
      .generations = evolution_.settings().generations,
      .ended_here = ended_here_,
      .seconds_here = seconds()};
  if (const auto& best = record_.best()) {
    standing.best_fitness = best->fitness;
    standing.best_trial = best->trial;
  }
  if (time_limit_) standing.seconds_allowed = *time_limit_ - seconds();
  for (const auto& progress : workers_.progress()) {
    standing.busy.push_back(fmt::format("{} trial {} epoch {}/{}", fleet_.standing(progress.device),
                                        progress.trial, progress.epoch, progress.epochs));
  }
  return standing;
}

}  // namespace evolve::cli
