// What a person sees of a run: its events as lines, and the live line.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/evolve/idle_devices.hpp"
#include "cli/screen/screen.hpp"
#include "devices/machine.hpp"
#include "engine/observer.hpp"
#include "results/run_directory.hpp"

namespace evolve::cli {

/// Where a run stands.
struct RunStatus {
  /// What a busy slot does.
  struct Busy {
    workers::Progress progress;
    /// Its device, and what the driver said of it last (device_text).
    std::string device;
  };

  int planned = 0;
  int ended = 0;
  int repeats_planned = 0;
  int repeats_ended = 0;
  int generation = 0;
  /// 0 where --trials says when the run ends.
  int generations = 0;
  /// Trials and repeats that have begun.
  int begun = 0;
  bool pausing = false;
  int paused = 0;
  std::optional<double> highest_fitness;
  int highest_trial = 0;
  /// Trials and repeats that this process has seen end, and the seconds it has been at work: the
  /// rate counts these and what the busy slots have done of theirs.
  int ended_here = 0;
  double seconds_here = 0;
  /// Epochs that were trained, those of this process, and with --max-epochs how many there may be.
  std::int64_t epochs = 0, epochs_here = 0;
  std::optional<std::int64_t> most_epochs;
  /// Seconds until --time-limit, if there is one.
  std::optional<double> seconds_allowed;
  std::vector<Busy> busy;
};

/// "17/48 trials, 3 paused · generation 1/4 · highest 0.3312 (trial 12) · 2 min 10 s left · 812
/// trials/h · cpu:0 trial 17 epoch 2/4"; with repeats "17/48 trials, 0/4 repeats · …"; with
/// --max-epochs, or where trials are paused, rates are in epochs: "312/520 epochs · 7 trials, 20
/// paused · highest … · 4120 epochs/h · …"
std::string status_text(const RunStatus& status);
/// The status for a narrow screen: "17/48 trials · highest 0.3312 · 2 min 10 s left · cpu:0 2/4",
/// with what drivers said of the devices or without.
std::string brief_status_text(const RunStatus& status, bool with_sensors);
/// What may be shown of it: where not all of the slots have room, everything else and some of them.
std::vector<LiveText> status_texts(const RunStatus& status);

class RunScreen : public engine::Observer {
 public:
  /// `epochs` are those of a trial, `time_limit` in seconds.
  RunScreen(Screen& screen, results::RunDirectory directory, int epochs,
            std::optional<double> time_limit)
      : screen_(screen),
        directory_(std::move(directory)),
        epochs_(epochs),
        time_limit_(time_limit) {}

  void on_event(const results::Event& event, const engine::RunState& state) override;
  void on_progress(const engine::RunState& state,
                   const std::vector<workers::Progress>& progress) override;
  void on_devices_refused(const std::string& reason) override;
  void on_devices_renumbered() override;
  void on_change(const std::string& what) override;
  void on_plot_failed(const std::string& reason) override;
  void on_report_failed(const std::string& reason) override;

 private:
  void on(const hyp::Outcome& outcome, const engine::RunState& state);
  void on(const results::Extended& extended, const engine::RunState&);
  void on(const results::CannotPause&, const engine::RunState&);
  void on(const results::Probed& probed, const engine::RunState&);
  void on(const results::DeviceStats& stats, const engine::RunState& state);
  void on(const results::DeviceLimited& limited, const engine::RunState&);
  void on(const results::DeviceFull& full, const engine::RunState&);
  void on(const results::DeviceBlamed& blamed, const engine::RunState&);
  void on(const results::DeviceBroughtBack& back, const engine::RunState&);
  void on(const results::DevicesChanged& changed, const engine::RunState&);
  template <class Other>
  void on(const Other&, const engine::RunState&) {}

  void completed(const hyp::Outcome& outcome, const hyp::Completed& result,
                 const engine::RunState& state);
  /// `at`: where it was stopped or paused, before its last epoch; `how`: which of these.
  void left_off(const hyp::Outcome& outcome, const auto& at, const char* how);
  void failed(const hyp::Outcome& outcome, const hyp::Failed& failure);
  double seconds() const;

  Screen& screen_;
  results::RunDirectory directory_;
  int epochs_;
  std::optional<double> time_limit_;
  std::string last_failure_;
  bool ends_for_repeats_ = false;
  int ended_here_ = 0;
  IdleDevices idle_devices_{static_cast<int>(std::ssize(devices::allowed_cores()))};
  std::vector<workers::Progress> under_way_;
  /// Trained when this process began.
  std::optional<std::int64_t> epochs_before_;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

/// "xpu:0 (97 %, 71 °C, 140 W, 3.2 GiB)": the device and what its driver said last.
std::string device_text(const std::string& device, const engine::RunState& state);

}  // namespace evolve::cli
