// The worker protocol, version 1: one JSON object per line, both ways.
//
// The worker says `Ready` once. The engine sends `Train`; the worker answers with any number of
// `Epoch` and exactly one `Result` or `Failure`. After an epoch that `Train::rungs` lists, the
// worker waits for `Continue`, `Stop` or, if its `Ready` says that it can, `Pause`. `Shutdown`, or
// the end of its input, ends the worker.
// While it works the worker may send `Alive` at any time.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/device_identity.hpp"
#include "hyp/hyperparameters.hpp"
#include "hyp/metrics.hpp"
#include "hyp/outcome.hpp"

namespace evolve::workers {

constexpr int protocol_version = 1;

/// {"type":"ready","protocol":1,"device":"xpu:0","uuid":"868080a0-…","pci":"0000:03:00.0"}
struct Ready {
  static constexpr auto type = "ready";
  int protocol = protocol_version;
  /// The worker's own name of its device; never compared with the slot's.
  std::string device;
  /// The identity of the worker's device; empty when it does not tell.
  core::DeviceIdentity identity = {};
  /// Of a slot with several devices that each have a process: those of its ranks from 1 on.
  std::vector<core::DeviceIdentity> ranks = {};
  /// The worker can keep a training at a rung, and a later process can go on with it.
  bool can_pause = false;
  bool operator==(const Ready&) const = default;
};

/// {"type":"epoch","trial":17,"epoch":3,"metrics":{…}}
struct Epoch {
  static constexpr auto type = "epoch";
  int trial = 0;
  /// From 1.
  int epoch = 0;
  hyp::Metrics metrics;
  bool operator==(const Epoch&) const = default;
};

/// {"type":"result","trial":17,"metrics":{…},"stopped":true}: how the training's last epoch was.
struct Result {
  static constexpr auto type = "result";
  int trial = 0;
  hyp::Metrics metrics;
  /// Ended at a rung by `Stop`.
  bool stopped = false;
  /// Ended at a rung by `Pause`, and can go on.
  bool paused = false;
  bool operator==(const Result&) const = default;
};

/// {"type":"error","trial":17,"kind":"oom","message":"…"}
struct Failure {
  static constexpr auto type = "error";
  /// Absent before `Ready`, and in a job of `evolve train` or `evolve val`.
  std::optional<int> trial = {};
  hyp::FailureKind kind = hyp::FailureKind::other;
  std::string message;
  bool operator==(const Failure&) const = default;
};

/// {"type":"alive","trial":17}: the worker works. Sent by the thread that does the work, so that a
/// worker which hangs falls silent.
struct Alive {
  static constexpr auto type = "alive";
  /// Absent before `Ready`, and in a job of `evolve train` or `evolve val`.
  std::optional<int> trial;
  /// What it does before it trains, for people: "images 120/3000". It does not count for the limit
  /// of the trial's time.
  std::string preparing = {};
  bool operator==(const Alive&) const = default;
};

/// {"type":"output","trial":17}: the command of --trainer-exec has printed something, which is a
/// sign of life, but promises no further one.
struct Output {
  static constexpr auto type = "output";
  int trial = 0;
  bool operator==(const Output&) const = default;
};

using FromWorker = std::variant<Ready, Epoch, Result, Failure, Alive, Output>;

/// {"type":"train","trial":17,"hyp":{…},"epochs":10,"device":"xpu:1","seed":123,"dir":"…","rungs":[],"options":{…}}
struct Train {
  static constexpr auto type = "train";
  int trial = 0;
  hyp::Hyperparameters hyp;
  int epochs = 1;
  /// The slot's name.
  std::string device;
  std::uint64_t seed = 0;
  /// Exists; the worker may keep files there.
  std::string dir;
  /// Epochs after which the worker waits.
  std::vector<int> rungs = {};
  /// Goes on after so many epochs, which an earlier process left in `dir`; 0: from the beginning.
  int start_epoch = 0;
  /// How to train: see trainer::TrainOptions.
  nlohmann::ordered_json options = nlohmann::ordered_json::object();
  bool operator==(const Train&) const = default;
};

/// {"type":"continue","trial":17}
struct Continue {
  static constexpr auto type = "continue";
  int trial = 0;
  bool operator==(const Continue&) const = default;
};

/// {"type":"stop","trial":17}
struct Stop {
  static constexpr auto type = "stop";
  int trial = 0;
  bool operator==(const Stop&) const = default;
};

/// {"type":"pause","trial":17}
struct Pause {
  static constexpr auto type = "pause";
  int trial = 0;
  bool operator==(const Pause&) const = default;
};

/// {"type":"shutdown"}
struct Shutdown {
  static constexpr auto type = "shutdown";
  bool operator==(const Shutdown&) const = default;
};

using FromEngine = std::variant<Train, Continue, Stop, Pause, Shutdown>;

/// The message as a line, with its newline. Text that is not UTF-8 is repaired.
std::string line_of(const FromWorker& message);
std::string line_of(const FromEngine& message);

/// What a line that may be wrong in other respects is about.
struct Heading {
  std::string type = {};
  std::optional<int> trial = {};
};
/// Of a line from a worker, as far as it is there.
Heading heading_of(std::string_view line);

/// The message in a line (with or without its newline). Unknown keys are ignored; nothing for a
/// blank line or a type that version 1 does not know. Throws std::invalid_argument with the reason
/// when the line is not a JSON object, or a key that the message needs is missing, of another type,
/// or (a metric) not finite. A key that it does not need may be null.
std::optional<FromWorker> parse_from_worker(std::string_view line);
std::optional<FromEngine> parse_from_engine(std::string_view line);

}  // namespace evolve::workers
