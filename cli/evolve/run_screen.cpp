#include "cli/evolve/run_screen.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "cli/evolve/plan.hpp"
#include "cli/screen/text.hpp"
#include "core/number.hpp"
#include "core/utf8.hpp"
#include "devices/discovery.hpp"
#include "engine/search_bounds.hpp"

namespace evolve::cli {
namespace {

using core::gib;

/// "trial 17   cpu:0     4.2 s": with all that follows 80 columns.
std::string head(const hyp::Outcome& outcome) {
  return fmt::format("trial {:<4} {:<7} {:>5.1f} s", outcome.trial, outcome.device,
                     outcome.seconds);
}

std::string fate(const hyp::Failed& failure) {
  if (failure.final) return "failed";
  return failure.of_surroundings ? "could not be trained, will be tried again"
                                 : "failed, will be tried again";
}

bool counts_epochs(const RunStatus& status) {
  return status.most_epochs || status.pausing;
}

/// The epochs that are still to be trained, most likely. Where trials are paused most of them are
/// never trained to the end: those to come take as many as those before them did.
double epochs_to_come(const RunStatus& status) {
  double under_way = 0, rest = 0, longest = 0;
  for (const auto& [progress, device] : status.busy) {
    under_way += progress.epoch - progress.start_epoch;
    rest += progress.epochs - progress.epoch;
    longest = std::max<double>(longest, progress.epochs);
  }
  const int trainings = status.planned + status.repeats_planned;
  const auto over = status.begun - std::ssize(status.busy);
  const auto epochs = static_cast<double>(status.epochs);
  const double each = over > 0 ? (epochs - under_way) / static_cast<double>(over) : longest;
  const double all = status.begun > 0 ? std::max(each * trainings - epochs, rest) : HUGE_VAL;
  return status.most_epochs ? std::min(all, static_cast<double>(*status.most_epochs) - epochs)
                            : all;
}

/// The trainings under way, each as the share that is done.
double trainings_under_way(const RunStatus& status) {
  double sum = 0;
  for (const auto& [progress, device] : status.busy)
    if (progress.epochs > 0) sum += static_cast<double>(progress.epoch) / progress.epochs;
  return sum;
}

/// How fast this process works, in trials or epochs, and what that leaves.
struct Pace {
  double per_hour = 0;
  double seconds_left = 0;
};

/// Nothing before the first of them has ended.
std::optional<Pace> pace_of(const RunStatus& status) {
  const bool by_epochs = counts_epochs(status);
  const auto here = by_epochs ? status.epochs_here : status.ended_here;
  if (here <= 0 || status.seconds_here <= 0) return {};
  const double begun = by_epochs ? 0 : trainings_under_way(status);
  const double per_second = (static_cast<double>(here) + begun) / status.seconds_here;
  const int not_ended =
      status.planned - status.ended + status.repeats_planned - status.repeats_ended;
  const double to_come = by_epochs ? epochs_to_come(status) : std::max(0.0, not_ended - begun);
  double left = to_come / per_second;
  if (status.seconds_allowed) left = std::min(left, std::max(0.0, *status.seconds_allowed));
  return Pace{per_second * 3600, left};
}

/// "2 min 10 s left"
std::string left_text(const RunStatus& status, const Pace& pace) {
  // What is under way may take hours yet.
  if (status.seconds_allowed && *status.seconds_allowed <= 0) return "no further trial begins";
  return duration_text(pace.seconds_left) + " left";
}

/// Of each slot at work how far its trial is.
std::string brief_slots(const RunStatus& status, bool with_sensors) {
  std::string text;
  for (const auto& [progress, device] : status.busy)
    text += fmt::format(" · {} {}", with_sensors ? device : progress.device,
                        progress.preparing.empty()
                            ? fmt::format("{}/{}", progress.epoch, progress.epochs)
                            : progress.preparing);
  return text;
}

/// All but the slots.
std::string overall_text(const RunStatus& status, bool with_trial) {
  auto text = status.most_epochs
                  ? fmt::format("{}/{} epochs · {}", status.epochs, *status.most_epochs,
                                core::counted(status.ended, "trial"))
                  : fmt::format("{}/{} trials", status.ended, status.planned);
  if (status.most_epochs || status.paused > 0) text += fmt::format(", {} paused", status.paused);
  if (status.repeats_planned > 0)
    text += fmt::format(", {}/{} repeats", status.repeats_ended, status.repeats_planned);
  if (!status.most_epochs && status.generations > 0)
    text += fmt::format(" · generation {}/{}", status.generation + 1, status.generations);
  if (status.highest_fitness) {
    text += " · highest " + fitness_text(*status.highest_fitness);
    if (with_trial) text += fmt::format(" (trial {})", status.highest_trial);
  }
  if (const auto pace = pace_of(status)) {
    text += fmt::format(" · {} · {:.0f} {}/h", left_text(status, *pace), pace->per_hour,
                        counts_epochs(status) ? "epochs" : "trials");
  }
  return text;
}

}  // namespace

std::string status_text(const RunStatus& status) {
  auto text = overall_text(status, /*with_trial=*/true);
  for (const auto& [progress, device] : status.busy)
    text += fmt::format(" · {} trial {} {}", device, progress.trial,
                        progress.preparing.empty()
                            ? fmt::format("epoch {}/{}", progress.epoch, progress.epochs)
                            : progress.preparing);
  return text;
}

std::string brief_status_text(const RunStatus& status, bool with_sensors) {
  auto text = status.most_epochs ? fmt::format("{}/{} epochs", status.epochs, *status.most_epochs)
              : status.ended < status.planned || status.repeats_planned == 0
                  ? fmt::format("{}/{} trials", status.ended, status.planned)
                  : fmt::format("{}/{} repeats", status.repeats_ended, status.repeats_planned);
  if (status.highest_fitness) text += " · highest " + fitness_text(*status.highest_fitness);
  if (const auto pace = pace_of(status)) text += " · " + left_text(status, *pace);
  return text + brief_slots(status, with_sensors);
}

std::vector<LiveText> status_texts(const RunStatus& status) {
  const auto whole = [](std::string text) { return LiveText{.text = text, .least = text}; };
  const auto overall = overall_text(status, /*with_trial=*/false);
  const auto slots = brief_slots(status, /*with_sensors=*/false);
  const auto first_slot = slots.substr(0, slots.find(" · ", 1));
  return {whole(status_text(status)),
          whole(overall + brief_slots(status, /*with_sensors=*/true)),
          {.text = overall + slots, .least = overall + first_slot},
          whole(brief_status_text(status, /*with_sensors=*/true)),
          {.text = brief_status_text(status, /*with_sensors=*/false), .least = ""}};
}

void RunScreen::on_event(const results::Event& event, const engine::RunState& state) {
  std::visit([&](const auto& e) { on(e, state); }, event);
}

void RunScreen::on(const hyp::Outcome& outcome, const engine::RunState& state) {
  if (hyp::ends_trial(outcome)) ++ended_here_;
  if (const auto* result = std::get_if<hyp::Completed>(&outcome.result)) {
    completed(outcome, *result, state);
  } else if (const auto* stop = std::get_if<hyp::Stopped>(&outcome.result)) {
    left_off(outcome, *stop, "stopped");
  } else if (const auto* pause = std::get_if<hyp::Paused>(&outcome.result)) {
    left_off(outcome, *pause, "paused");
  } else {
    failed(outcome, std::get<hyp::Failed>(outcome.result));
  }
}

void RunScreen::completed(const hyp::Outcome& outcome, const hyp::Completed& result,
                          const engine::RunState& state) {
  last_failure_.clear();  // the next one is news
  if (outcome.repeat > 0) {
    const double first = state.completed()[state.row_of(outcome.trial)].fitness;
    screen_.line(fmt::format("{}  fitness {} again, {} at first", head(outcome),
                             fitness_text(result.fitness), fitness_text(first)));
    return;
  }
  const bool highest = state.best()->trial == outcome.trial;
  const auto text = fmt::format("{}  fitness {}  mAP50 {:.3f}  mAP50-95 {:.3f}{}", head(outcome),
                                fitness_text(result.fitness), result.metrics.map50,
                                result.metrics.map50_95, highest ? "  highest" : "");
  highest ? screen_.line(text) : screen_.detail(text);
}

void RunScreen::left_off(const hyp::Outcome& outcome, const auto& at, const char* how) {
  screen_.detail(fmt::format("{}  fitness {}  {} after {} of {}", head(outcome),
                             fitness_text(at.fitness), how, at.epoch,
                             core::counted(epochs_, "epoch")));
}

void RunScreen::failed(const hyp::Outcome& outcome, const hyp::Failed& failure) {
  const auto text = fmt::format("trial {:<4} {:<7} {}{} ({}): {}; see {}", outcome.trial,
                                outcome.device, outcome.repeat > 0 ? "trained again: " : "",
                                fate(failure), hyp::name_of(failure.kind), failure.message,
                                (directory_.root / failure.log).string());
  // Where all of them fail for one reason, how each trial ends is enough.
  const bool again = !failure.final && failure.message == last_failure_;
  last_failure_ = failure.message;
  again ? screen_.detail(text) : screen_.line(text);
}

void RunScreen::on(const results::Extended& extended, const engine::RunState&) {
  if (extended.for_repeats && !std::exchange(ends_for_repeats_, true))
    screen_.line("the time limit is near: the search ends, its repeats begin");
}

void RunScreen::on(const results::CannotPause&, const engine::RunState& state) {
  const auto waiting = std::ssize(state.paused());
  screen_.line("the trainer does not pause: sets are trained whole from now on" +
               (waiting > 0 ? ", and the " + core::counted(waiting, "trial") + " paused so far wait"
                            : std::string()));
}

void RunScreen::on(const results::Probed& probed, const engine::RunState&) {
  screen_.line(
      fmt::format("trial {:<4} {:<7} {:>5.1f} s  trained once more: what trials need is in order",
                  probed.trial, probed.device, probed.seconds));
}

void RunScreen::on(const results::DeviceStats& stats, const engine::RunState& state) {
  if (const auto advice =
          idle_devices_.on(stats, state, under_way_, display_path(directory_.devices())))
    screen_.line(*advice);
}

void RunScreen::on(const results::DeviceLimited& limited, const engine::RunState&) {
  screen_.line(fmt::format("{} has no memory for {} trials at a time: it gets {} from now on",
                           limited.device, limited.trials + 1, limited.trials));
}

void RunScreen::on(const results::DeviceFull& full, const engine::RunState&) {
  screen_.line(fmt::format("{} is full ({} of {} GiB free): it waits for room", full.device,
                           gib(full.memory_free_bytes), gib(full.memory_total_bytes)));
}

void RunScreen::on(const results::DeviceBlamed& blamed, const engine::RunState&) {
  if (blamed.quarantined) screen_.line(blamed.device + " gets no further trial: " + blamed.reason);
}

void RunScreen::on(const results::DeviceBroughtBack& back, const engine::RunState&) {
  screen_.line(back.device + " gets trials again");
}

void RunScreen::on(const results::DevicesChanged& changed, const engine::RunState&) {
  screen_.line(fmt::format("{} from now on: {}", core::counted(std::ssize(changed.slots), "slot"),
                           listed(changed.slots)));
}

void RunScreen::on_devices_refused(const std::string& reason) {
  screen_.line(display_path(directory_.devices()) +
               ": nothing changes: " + core::excerpt(reason, 300));
}

void RunScreen::on_devices_renumbered() {
  screen_.line(std::string(devices::renumbered));
}

void RunScreen::on_change(const std::string& what) {
  screen_.line(what.empty() ? "trials are started again: their files are what they were"
                            : what + "; no further trial is started");
}

void RunScreen::on_plot_failed(const std::string& reason) {
  screen_.line("no plot: " + reason);
}

void RunScreen::on_report_failed(const std::string& reason) {
  screen_.line("not reported: " + reason);
}

void RunScreen::on_progress(const engine::RunState& state,
                            const std::vector<workers::Progress>& progress) {
  under_way_ = progress;
  const auto& evolution = state.evolution();
  RunStatus status{.planned = evolution.planned(),
                   .ended = evolution.ended(),
                   .repeats_planned = state.repeats().in_all(),
                   .repeats_ended = state.repeats_ended(),
                   .begun = evolution.asked() + state.repeats().begun_in_all(),
                   .pausing = evolution.pausing(),
                   .paused = static_cast<int>(std::ssize(state.paused())),
                   .ended_here = ended_here_,
                   .seconds_here = seconds()};
  const auto& search = evolution.settings();
  if (engine::ends_by_generations(search, state.repeats().in_all())) {
    status.generation = std::max(0, evolution.asked() - 1) / search.population;
    status.generations = search.generations;
  }
  if (const auto* best = state.best()) {
    status.highest_fitness = best->fitness;
    status.highest_trial = best->trial;
  }
  status.most_epochs = state.most_epochs();
  status.epochs = state.epochs_trained();
  for (const auto& one : progress) status.epochs += one.epoch - one.start_epoch;
  if (!epochs_before_) epochs_before_ = status.epochs;
  status.epochs_here = status.epochs - *epochs_before_;
  if (time_limit_) status.seconds_allowed = *time_limit_ - seconds();
  for (const auto& one : progress) status.busy.push_back({one, device_text(one.device, state)});
  screen_.show(status_texts(status));
}

double RunScreen::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count();
}

std::string device_text(const std::string& device, const engine::RunState& state) {
  const auto found = state.device_stats().find(device);
  if (found == state.device_stats().end()) return device;
  const auto& last = found->second;
  std::vector<std::string> parts;
  if (last.load_percent) parts.push_back(fmt::format("{:.0f} %", *last.load_percent));
  if (last.temperature_celsius)
    parts.push_back(fmt::format("{:.0f} °C", *last.temperature_celsius));
  if (last.power_watts) parts.push_back(fmt::format("{:.0f} W", *last.power_watts));
  if (last.memory_total_bytes && last.memory_free_bytes)
    parts.push_back(gib(*last.memory_total_bytes - *last.memory_free_bytes) + " GiB");
  if (parts.empty()) return device;
  return fmt::format("{} ({})", device, fmt::join(parts, ", "));
}

}  // namespace evolve::cli
