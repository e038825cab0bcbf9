#include "engine/run.hpp"

#include <algorithm>
#include <cstddef>

#include "core/error.hpp"
#include "core/path.hpp"
#include "engine/extension.hpp"
#include "engine/failures.hpp"
#include "ga/random/rng.hpp"
#include "hyp/trial_folder.hpp"

namespace evolve::engine {
namespace {

/// How long to wait for news before the observer is shown how things stand, and how often it is
/// shown that at most: a thousand workers have news all the time.
constexpr std::chrono::milliseconds longest_wait{500}, shown_for{100};

/// The most trials handed over at a time. A worker that must be started first takes milliseconds,
/// and meanwhile nobody records the trials that end.
constexpr std::size_t most_starts = 32;
/// Nor do those that are chosen wait for longer than that for others: a choice may take a second.
constexpr std::chrono::milliseconds longest_choice{100};

/// How long the first failure of the surroundings delays further starts; each one in a row doubles
/// it.
constexpr std::chrono::milliseconds first_back_off{200};

}  // namespace

Run::Run(const Settings& settings, results::RunDirectory directory, results::Journal journal,
         RunState state, const core::StopSource& stop, Observer& observer)
    : settings_(settings),
      slots_(settings.slots),
      root_(core::without_dots(std::filesystem::absolute(directory.root))),
      journal_(std::move(journal)),
      state_(std::move(state)),
      files_(directory, settings.run.fitness, settings.leftovers, state_),
      report_(std::move(directory), journal_.contents()),
      observer_(observer),
      fitness_(settings.run.fitness),
      stop_(stop),
      workers_(settings.workers, stop),
      fleet_(settings.slots, settings.accelerators,
             state_.trial_limits_on(slots_now(settings.slots)),
             [this](const std::string& device) { return workers_.count(device); }),
      earlier_failures_(state_.surroundings().failures()),
      earlier_without_success_(state_.surroundings().failed_without_success()),
      time_limit_{.seconds = settings.time_limit} {
  if (settings_.choose_devices)
    device_file_.emplace(results::RunDirectory{root_}.devices(), slots_);
  remember_devices();
  for (const auto* attempt : state_.open()) {
    left_over_.insert(attempt->trial.number);
    fleet_.excuse(attempt->trial.number, attempt->failed_on);
  }
}

RunEnd Run::run() try {
  auto end = RunEnd::finished;
  time_limit_.ended_before = trainings_ended(state_);
  while (!state_.finished()) {
    record(fleet_.watch());
    follow_devices();
    if (can_pause() == false || state_.pauses_fail()) cannot_pause();
    follow_time_limit();
    look_for_change();
    const auto block = blocked();
    const bool started = !block && (start_trials() || breed_ahead());
    if (block && workers_.busy() == 0) {
      end = *block;
      break;
    }
    if (const auto now = Clock::now(); now >= shown_ + shown_for) {
      journal_.check_named();
      files_.catch_up(state_);
      observer_.on_progress(state_, workers_.progress());
      if (stop_.requests() == 0) report_.update(state_, now);  // it may take seconds
      shown_ = Clock::now();
    }
    const auto events = workers_.wait(started ? std::chrono::milliseconds(0) : longest_wait);
    if (!events) {  // the journal is the state
      end = RunEnd::stopped;
      break;
    }
    if (probe_ && !events->empty()) {
      probed(events->front());  // nothing else is under way
    } else {
      take(*events);
    }
  }
  if (end == RunEnd::finished && state_.ended_for_repeats()) end = RunEnd::time_limit;
  workers_.end();  // they are not to train on while the pictures are drawn
  close();
  return end;
} catch (const Error&) {
  workers_.end();
  try {
    journal_.check_named();  // else another run may have the folder
    report_.close(state_);   // it does not go on
  } catch (const Error&) {
  }
  throw;
}

void Run::follow_time_limit() {
  const auto taken = seconds_taken();
  const auto slots = std::ssize(slots_);
  if (time_limit_.is_time_for_repeats(taken, state_, slots))
    if (const auto end = end_for_repeats(state_)) record({*end});
  if (const auto end = time_limit_.expected_end(taken, state_, slots)) record({*end});
}

void Run::look_for_change() {
  const auto now = Clock::now();
  if (!settings_.failures.find_change || now < looked_ + std::chrono::seconds(1)) return;
  looked_ = now;
  const auto change = settings_.failures.find_change().value_or("");
  if (std::exchange(change_, change) != change) observer_.on_change(change);
}

void Run::close() {
  record(fleet_.watch());
  journal_.check_named();
  files_.rewrite(state_);
  try {
    files_.draw(state_);
  } catch (const Error& error) {
    observer_.on_plot_failed(error.what());
  }
  try {
    report_.close(state_);
  } catch (const Error& error) {
    observer_.on_report_failed(error.what());
  }
}

void Run::record(const std::vector<results::Event>& events) {
  if (events.empty()) return;
  for (const auto& event : events) apply(event);
  publish(events);
}

void Run::apply(const results::Event& event) {
  const auto now = core::now();
  journal_.append(event, now);
  state_.apply(event);
  if (state_.surroundings().failures() == 0) earlier_failures_ = 0;
  report_.add(event, now);
}

void Run::publish(const std::vector<results::Event>& events) {
  journal_.commit();
  for (const auto& event : events) {
    files_.update(event, state_);
    observer_.on_event(event, state_);
  }
}

std::optional<RunEnd> Run::blocked() const {
  if (time_limit_.is_over(seconds_taken())) return RunEnd::time_limit;
  if (!change_.empty()) return RunEnd::inputs_changed;
  if (!fleet_.no_usable_device().empty()) return RunEnd::no_usable_device;
  const int most = most_surroundings_failures + static_cast<int>(std::ssize(slots_)) - 1;
  if (state_.surroundings().failures() - earlier_failures_ >= most) return RunEnd::surroundings;
  const int unsuccessful = state_.surroundings().failed_without_success();
  if (unsuccessful - earlier_without_success_ >= most_without_success) return RunEnd::no_success;
  return {};
}

bool Run::start_trials() {
  // While a probe is under way, nothing else is: a device that comes meanwhile waits for it.
  if (probe_ || Clock::now() < not_before_) return false;
  choose_starts();
  return hand_over();
}

void Run::choose_starts() {
  start_waiting(waiting());
  const auto until = Clock::now() + longest_choice;
  while (starts_.size() < most_starts && state_.may_have_next_trial()) {
    if (!starts_.empty() && Clock::now() > until) return;
    // What the next one is may depend on it: the first worker that is ready says so.
    if (!can_pause() && (workers_.busy() > 0 || !starts_.empty())) return warm_up();
    auto lease = fleet_.lease({});
    if (!lease) return;
    if (state_.ready() == 0) breed_ahead();
    const auto* trial = state_.next_trial();
    if (!trial) break;  // the lease returns itself
    start({.trial = *trial}, std::move(*lease));
  }
  if (workers_.busy() == 0 && waiting().empty() && starts_.empty()) probe_surroundings();
}

// Nobody waits for a worker then that takes long to be ready, or never is.
void Run::warm_up() {
  if (std::exchange(warmed_up_, true)) return;
  std::vector<core::Lease> leases;
  while (auto lease = fleet_.lease({})) {
    workers_.warm_up(**lease);
    leases.push_back(std::move(*lease));
  }
}

// No trial is left that could tell. One that has completed, or is paused, does, trained once more
// as far as those that stand back have come, or else these themselves: those too that failed at
// their pause, where such a training would leave nothing behind.
void Run::probe_surroundings() {
  if (state_.open().empty()) return;
  const bool none = (state_.completed().empty() && state_.paused().empty()) ||
                    std::ranges::all_of(state_.open(), [&](const Attempt* attempt) {
                      return state_.failed_at_pause(attempt->trial.number);
                    });
  if (none || std::exchange(probe_failed_, false)) return start_waiting(state_.open());
  auto lease = fleet_.lease({});
  if (!lease) return;
  fleet_.started((*lease)->name);
  probe_ = state_.completed().empty() ? state_.paused().begin()->first
                                      : state_.completed().front().trial;
  int furthest = 0;
  for (const auto* attempt : state_.open())
    furthest = std::max(furthest, state_.failed_at(attempt->trial.number));
  const auto folder = root_ / hyp::trial_folder(*probe_) / hyp::probe_folder;
  workers_.start({.order = {.trial = *probe_,
                            .hyp = state_.evolution().hyp(*probe_),
                            .epochs = std::min(furthest + 1, settings_.run.epochs),
                            .seed = ga::training_seed(settings_.run.seed,
                                                      ga::seed_number(*probe_, /*repeat=*/0)),
                            .dir = folder.string(),
                            .options = settings_.trainer_options}},
                 std::move(*lease));
  fleet_.handed_over();
}

bool Run::hand_over() {
  if (starts_.empty()) return false;
  auto starts = std::exchange(starts_, {});
  std::vector<results::Event> events;
  for (const auto& start : starts) events.push_back(start.event);
  publish(events);
  for (auto& start : starts) workers_.start(std::move(start.assignment), std::move(start.lease));
  fleet_.handed_over();
  return true;
}

// A pool so large that breeding is a good part of its time: few of the outcomes that a child could
// have known are missed.
bool Run::breed_ahead() {
  constexpr int slots_per_child = 25;
  const auto most = static_cast<int>(std::ssize(slots_)) / slots_per_child;
  if (!state_.evolution().screened() || most == 0 || state_.ready() >= most) return false;
  const auto bred = state_.breed(most);
  if (bred) record({*bred});
  return bred.has_value();
}

std::vector<const Attempt*> Run::waiting() {
  auto attempts = state_.open();
  std::erase_if(attempts, [this](const Attempt* attempt) {
    const int trial = attempt->trial.number;
    return under_way_.contains(trial) || (stands_back(*attempt) && !left_over_.contains(trial));
  });
  return attempts;
}

// One that the surroundings have failed wherever it could go would, if it were the trial's fault,
// fail there for ever, and nothing else would be trained.
bool Run::stands_back(const Attempt& attempt) {
  const int trial = attempt.trial.number;
  return state_.held(trial) || (state_.in_doubt(trial) && !fleet_.has_another(attempt.failed_on));
}

void Run::start_waiting(const std::vector<const Attempt*>& attempts) {
  for (const auto* attempt : attempts) {
    if (starts_.size() >= most_starts) return;
    // One waits for a device that may not be the one that the next waits for.
    if (auto lease = fleet_.lease(attempt->failed_on)) start(*attempt, std::move(*lease));
  }
}

void Run::start(const Attempt& attempt, core::Lease lease) {
  const auto& trial = attempt.trial;
  const int start_epoch = begins_anew(attempt) ? 0 : trial.start_epoch;
  starts_.push_back(
      {.event = start_of(attempt, lease->name, start_epoch),
       .assignment =
           {.order = {.trial = trial.number,
                      .hyp = trial.hyp,
                      .epochs = settings_.run.epochs,
                      .seed = trial.seed,
                      .dir = (root_ / hyp::trial_folder(trial.number, trial.repeat)).string(),
                      .rungs = rungs_for(trial),
                      .start_epoch = start_epoch,
                      .options = settings_.trainer_options},
            .before = start_epoch > 0 ? state_.time_before(trial) : std::chrono::milliseconds(0)},
       .lease = std::move(lease)});
  under_way_.insert(trial.number);
  left_over_.erase(trial.number);
  fleet_.started(starts_.back().lease->name);
  apply(starts_.back().event);
}

// What failed to go on where it was paused may fail of what it left there.
bool Run::begins_anew(const Attempt& attempt) const {
  const int begin = attempt.trial.start_epoch;
  return begin > 0 && attempt.number > 1 && attempt.number > settings_.failures.retries &&
         state_.epochs_to_spare(attempt) >= begin;
}

results::Event Run::start_of(const Attempt& attempt, const std::string& device,
                             int start_epoch) const {
  const auto& trial = attempt.trial;
  if (trial.repeat > 0)
    return results::Repeating{.trial = trial.number,
                              .repeat = trial.repeat,
                              .seed = trial.seed,
                              .device = device,
                              .attempt = attempt.number};
  return results::Started{.trial = trial.number,
                          .generation = trial.generation,
                          .hyp = trial.hyp,
                          .device = device,
                          .attempt = attempt.number,
                          .start_epoch = start_epoch,
                          .pause_epoch = trial.pause_epoch};
}

std::vector<int> Run::rungs_for(const hyp::Trial& trial) const {
  if (!settings_.run.early_stop || trial.repeat > 0) return {};
  if (state_.evolution().pausing()) return trial.rungs;
  return state_.early_stopping().rungs_for(trial.number, settings_.run.epochs,
                                           state_.evolution().settings().lag);
}

void Run::ended(const hyp::Outcome& outcome, const std::vector<std::string>& failed_on) {
  under_way_.erase(outcome.trial);
  fleet_.ended(outcome, failed_on);
  back_off_after(outcome);
}

void Run::back_off_after(const hyp::Outcome& outcome) {
  const auto* failed = std::get_if<hyp::Failed>(&outcome.result);
  if (!failed || !failed->of_surroundings || failed->excused) return;
  const int row = std::clamp(state_.surroundings().failures() - 1, 0, 5);
  const auto until = Clock::now() + first_back_off * (1 << row);
  // A worker that is never ready, or a device that is lost, is one device's matter.
  const bool never_ready = failed->failed_before_ready && !failed->not_started;
  if (never_ready || failed->kind == hyp::FailureKind::device_lost) {
    fleet_.rest(outcome.device, until);
  } else {
    not_before_ = until;
  }
}

double Run::seconds_taken() const {
  return std::chrono::duration<double>(Clock::now() - began_).count();
}

std::unique_ptr<Run> begin_run(const Settings& settings, const results::RunDirectory& directory,
                               const core::StopSource& stop, Observer& observer) {
  if (settings.workers.command.empty())
    throw bad_argument("there is no trainer", "name its program");
  if (settings.slots.empty()) throw bad_argument("there is no slot", "give the run one at least");
  RunState state(settings.run);
  auto journal = results::Journal::create(directory.journal(), settings.run);
  return std::make_unique<Run>(settings, directory, std::move(journal), std::move(state), stop,
                               observer);
}

std::unique_ptr<Run> resume_run(const Settings& settings, const results::RunDirectory& directory,
                                results::Journal journal, RunState state,
                                const std::optional<results::Extended>& bounds,
                                const core::StopSource& stop, Observer& observer) {
  auto run = std::make_unique<Run>(settings, directory, std::move(journal), std::move(state), stop,
                                   observer);
  if (bounds) run->record({*bounds});
  // By the limit that it had then.
  if (run->state().evolution().expected() && !run->state().evolution().done())
    run->record({results::Expected{}});
  if (settings.run.inputs != run->state().inputs())
    run->record({results::InputsMended{settings.run.inputs}});
  run->record_devices();
  return run;
}

}  // namespace evolve::engine
