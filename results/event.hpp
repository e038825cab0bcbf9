// What happens in a run, as values and as lines of the journal: the one vocabulary of events. The
// keys are a contract with scripts that read it.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "hyp/hyperparameters.hpp"
#include "hyp/outcome.hpp"
#include "hyp/rung.hpp"

namespace evolve::results {

/// {"event":"started","trial":17,"generation":1,"hyp":{…},"device":"cpu:0","attempt":1}
struct Started {
  static constexpr auto name = "started";
  int trial = 0;
  int generation = 0;
  hyp::Hyperparameters hyp = {};
  /// Name of the slot: "cpu:0".
  std::string device = {};
  /// From 1.
  int attempt = 1;
  /// The trial goes on where it was paused; 0: from the beginning.
  int start_epoch = 0;
  /// The trial will be paused after this epoch; 0: not.
  int pause_epoch = 0;
  bool operator==(const Started&) const = default;
};

/// {"event":"bred","trials":[{"trial":17,"hyp":{…}},…]}: trials that were bred before there was a
/// device for them, in that order, from what the events before this one tell.
struct Bred {
  static constexpr auto name = "bred";
  struct Child {
    int trial = 0;
    hyp::Hyperparameters hyp = {};
    bool operator==(const Child&) const = default;
  };
  std::vector<Child> trials = {};
  bool operator==(const Bred&) const = default;
};

/// {"event":"repeating",…}: an attempt at a repeat of a completed trial began.
struct Repeating {
  static constexpr auto name = "repeating";
  int trial = 0;
  /// From 1: the number of this repeat among that trial's.
  int repeat = 1;
  std::uint64_t seed = 0;
  std::string device = {};
  /// From 1.
  int attempt = 1;
  bool operator==(const Repeating&) const = default;
};

/// {"event":"extended",…}: the run goes on with other bounds.
struct Extended {
  static constexpr auto name = "extended";
  int generations = 0;
  std::optional<int> trials = {};
  std::optional<int> repeats = {};
  /// How many the run would have, where there is room for fewer: once there is more it has them.
  std::optional<int> wished_repeats = {};
  std::optional<int> max_epochs = {};
  /// Its time limit is near: the search ends here, so that its repeats begin. A run that goes on
  /// after that has the bounds from before.
  bool for_repeats = false;
  bool operator==(const Extended&) const = default;
};

/// {"event":"expected","trainings":118}: the search is taken to end after so many trainings
/// (trials, or where these are paused as many whole ones as their epochs make), where its bounds
/// have more: then its run's time limit will be over. Null: no longer.
struct Expected {
  static constexpr auto name = "expected";
  std::optional<int> trainings = {};
  bool operator==(const Expected&) const = default;
};

/// {"event":"cannot_pause"}: the trainer cannot. From now on the run pauses nothing.
struct CannotPause {
  static constexpr auto name = "cannot_pause";
  bool operator==(const CannotPause&) const = default;
};

/// {"event":"probed",…}: where failures may be those of what surrounds the trials, one that had
/// completed, or else was paused, was trained once more, as far as those had come. In no count of
/// trials or epochs.
struct Probed {
  static constexpr auto name = "probed";
  int trial = 0;
  std::string device;
  double seconds = 0;
  bool operator==(const Probed&) const = default;
};

/// {"event":"device_stats",…}: what a device's driver said; what it did not say is null.
struct DeviceStats {
  static constexpr auto name = "device_stats";
  std::string device;
  std::string state = "ok";
  std::optional<std::int64_t> memory_total_bytes, memory_free_bytes;
  std::optional<double> load_percent, temperature_celsius, power_watts;
  bool operator==(const DeviceStats&) const = default;
};

/// {"event":"limited","device":"cuda:0","trials":1}: memory was seen to be too small for more
/// trials at a time.
struct DeviceLimited {
  static constexpr auto name = "limited";
  std::string device;
  int trials = 1;
  bool operator==(const DeviceLimited&) const = default;
};

/// {"event":"full","device":"cuda:0",…}: it waits until memory is free.
struct DeviceFull {
  static constexpr auto name = "full";
  std::string device;
  std::int64_t memory_total_bytes = 0, memory_free_bytes = 0;
  bool operator==(const DeviceFull&) const = default;
};

/// {"event":"blamed" or "quarantined","device":"xpu:0","reason":"…"}: a failure was the device's.
struct DeviceBlamed {
  std::string device;
  std::string reason;
  /// The device gets no further trial.
  bool quarantined = false;
  bool operator==(const DeviceBlamed&) const = default;
};

/// {"event":"brought_back","device":"xpu:0"}: the end of a quarantine.
struct DeviceBroughtBack {
  static constexpr auto name = "brought_back";
  std::string device;
  bool operator==(const DeviceBroughtBack&) const = default;
};

/// {"event":"devices","slots":["cuda:0","cuda:1"],"identities":["GPU-5f…","GPU-a1…"]}: the run has
/// these slots from now on.
struct DevicesChanged {
  static constexpr auto name = "devices";
  std::vector<std::string> slots = {};
  /// As RunSettings::identities.
  std::vector<std::string> identities = {};
  bool operator==(const DevicesChanged&) const = default;
};

/// {"event":"inputs","inputs":{…}}: what trials train on from now on, where that is not what was
/// recorded: it was mended before anything was trained, or an older version recorded less.
struct InputsMended {
  static constexpr auto name = "inputs";
  /// As RunSettings::inputs.
  nlohmann::ordered_json inputs = {};
  bool operator==(const InputsMended&) const = default;
};

/// An event of a later version. Nothing of the run's state depends on it.
struct UnknownEvent {
  nlohmann::ordered_json json;
  bool operator==(const UnknownEvent&) const = default;
};

/// Anything after the first line. A `hyp::Rung` is "rung"; a `hyp::Outcome` "completed", "stopped",
/// "paused" or "failed", of a repeat "repeated" or "repeat_failed".
using Event =
    std::variant<Started, Bred, Repeating, hyp::Rung, hyp::Outcome, Extended, Expected, CannotPause,
                 Probed, DeviceStats, DeviceLimited, DeviceFull, DeviceBlamed, DeviceBroughtBack,
                 DevicesChanged, InputsMended, UnknownEvent>;

/// A fitness that is not finite becomes null.
nlohmann::ordered_json to_json(const Event& event);
/// The inverse. Throws std::exception that says which key is missing or wrong.
Event event_from_json(const nlohmann::ordered_json& json);

}  // namespace evolve::results
