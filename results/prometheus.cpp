#include "results/prometheus.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "core/number.hpp"
#include "results/run_file.hpp"

namespace evolve::results {
namespace {

using State = Timeline::State;
using Labels = std::initializer_list<std::pair<std::string_view, std::string_view>>;

/// A label's value as the format has it between its quotes.
std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '\\' || c == '"') result += '\\';
    if (c == '\n') {
      result += "\\n";
    } else {
      result += c;
    }
  }
  return result;
}

class Exposition {
 public:
  explicit Exposition(std::string_view run) : run_(escaped(run)) {}

  /// The samples that follow are of this metric. `type`: "gauge" or "counter".
  void begin(std::string_view name, std::string_view type, std::string_view help) {
    name_ = name;
    text_ += fmt::format("# HELP {0} {2}\n# TYPE {0} {1}\n", name, type, help);
  }
  void sample(double value, Labels labels = {}) {
    text_ += fmt::format("{}{{run=\"{}\"", name_, run_);
    for (const auto& [name, text] : labels) text_ += fmt::format(",{}=\"{}\"", name, escaped(text));
    text_ += fmt::format("}} {}\n", core::shortest(value));
  }
  void add(std::string_view name, std::string_view type, std::string_view help, double value) {
    begin(name, type, help);
    sample(value);
  }

  const std::string& text() const { return text_; }

 private:
  std::string run_, name_, text_;
};

void add_trials(const RunReport& run, Exposition& to) {
  constexpr std::array states = {State::running,   State::waiting, State::paused,
                                 State::completed, State::stopped, State::failed};
  std::map<State, int> trials;
  for (const auto& [_, trial] : run.timeline.trials) ++trials[trial.state];
  to.begin("evolve_trials", "gauge", "Trials by state.");
  for (const auto state : states) to.sample(trials[state], {{"state", name_of(state)}});
  to.add("evolve_trials_planned", "gauge", "Trials in all; with a limit of epochs, those so far.",
         run.planned);

  std::map<std::string, int> failures;
  for (const auto& [_, outcome] : run.timeline.failures)
    ++failures[hyp::name_of(std::get<hyp::Failed>(outcome.result).kind)];
  to.begin("evolve_failures_total", "counter", "Attempts that failed, by kind.");
  for (const auto& [kind, count] : failures) to.sample(count, {{"kind", kind}});
}

void add_fitness(const RunReport& run, Exposition& to) {
  std::optional<double> best;
  for (const auto& [_, trial] : run.timeline.trials)
    if (trial.state == State::completed && !trial.curve.empty())
      best = std::max(best.value_or(trial.curve.back().second), trial.curve.back().second);
  if (best) to.add("evolve_best_fitness", "gauge", "The greatest fitness of a trial.", *best);
  if (!run.recommended || !run.recommended->expected) return;
  to.add("evolve_expected_fitness", "gauge",
         "What is expected of the recommended set when it is trained again.",
         run.recommended->expected->mean);
}

/// Of those that the run has now.
void add_devices(const RunReport& run, Exposition& to) {
  const auto& timeline = run.timeline;
  const auto slots = timeline.slots.value_or(run.settings.slots);
  const std::set<std::string_view> devices(slots.begin(), slots.end());
  if (!devices.empty())
    to.begin("evolve_device_usable", "gauge", "0: a device is in quarantine and gets no trials.");
  for (const auto device : devices)
    to.sample(!timeline.quarantined.contains(std::string(device)), {{"device", device}});

  std::map<std::string, int> trainings;
  for (const auto& training : timeline.trainings)
    trainings[training.device] += training.state == State::running;
  if (!devices.empty())
    to.begin("evolve_device_trainings", "gauge", "Trainings that run on a device.");
  for (const auto device : devices) to.sample(trainings[std::string(device)], {{"device", device}});

  std::map<std::string_view, const DeviceStats*> latest;
  for (const auto& [_, stats] : timeline.samples)
    if (devices.contains(stats.device)) latest[stats.device] = &stats;
  const auto add = [&](std::string_view name, std::string_view help, auto member, double unit) {
    bool begun = false;
    for (const auto& [device, stats] : latest) {
      const auto& value = stats->*member;
      if (!value) continue;
      if (!std::exchange(begun, true)) to.begin(name, "gauge", help);
      to.sample(static_cast<double>(*value) / unit, {{"device", device}});
    }
  };
  add("evolve_device_memory_total_bytes", "Memory of a device.", &DeviceStats::memory_total_bytes,
      1);
  add("evolve_device_memory_free_bytes", "Memory of a device that is free.",
      &DeviceStats::memory_free_bytes, 1);
  add("evolve_device_load_ratio", "How busy a device is, 0 to 1.", &DeviceStats::load_percent, 100);
  add("evolve_device_temperature_celsius", "Temperature of a device.",
      &DeviceStats::temperature_celsius, 1);
  add("evolve_device_power_watts", "Power that a device draws.", &DeviceStats::power_watts, 1);
}

}  // namespace

std::string prometheus_text(const RunReport& run, std::string_view label) {
  Exposition to(label);
  add_trials(run, to);
  to.add("evolve_epochs_trained_total", "counter", "Epochs of training, of all attempts.",
         static_cast<double>(run.epochs_trained));
  add_fitness(run, to);
  add_devices(run, to);
  const std::chrono::duration<double> latest = run.timeline.latest.time_since_epoch();
  to.add("evolve_last_event_timestamp_seconds", "gauge",
         "When the journal's latest event happened.", latest.count());
  to.add("evolve_going_on", "gauge", "1: evolve is at work on the run.", run.going_on);
  to.add("evolve_finished", "gauge", "1: nothing is left to be trained.", run.finished);
  return to.text();
}

void write_prometheus(const std::filesystem::path& file, const RunReport& run,
                      std::string_view label) {
  write_atomically(file, prometheus_text(run, label));
}

}  // namespace evolve::results
