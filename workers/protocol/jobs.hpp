// What `evolve train` and `evolve val` ask of the built-in trainer, and what it answers: further
// messages of the worker protocol, one JSON object per line.
//
// After `Ready` the engine sends one job. A training answers with any number of `BatchReport`, an
// `EpochReport` after each epoch (after a resume first those of the epochs that were done before),
// and a `TrainingReport`; a validation with a `ValidationReport`. `Failure`, without a trial,
// ends either. Either may send `Alive` in between.
#pragma once

#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "hyp/hyperparameters.hpp"
#include "hyp/metrics.hpp"
#include "workers/protocol/messages.hpp"

namespace evolve::workers {

/// {"type":"train_run",…}: a full training that keeps its weights in `dir`/weights.
struct TrainingJob {
  static constexpr auto type = "train_run";
  hyp::Hyperparameters hyp;
  std::uint64_t seed = 0;
  std::string dir;
  /// Go on from `dir`/weights/last.pt.
  bool resume = false;
  /// See trainer::TrainOptions.
  nlohmann::ordered_json options = nlohmann::ordered_json::object();
  bool operator==(const TrainingJob&) const = default;
};

/// {"type":"validate",…}: `options.weights` on one split of `options.data`.
struct ValidationJob {
  static constexpr auto type = "validate";
  /// "train", "val" or "test".
  std::string split = "val";
  /// Where images of the first batch's labels and predictions go; empty: nowhere.
  std::string dir;
  /// Rectangular batches.
  bool rect = true;
  /// See trainer::TrainOptions.
  nlohmann::ordered_json options = nlohmann::ordered_json::object();
  bool operator==(const ValidationJob&) const = default;
};

using Job = std::variant<TrainingJob, ValidationJob>;

/// What a training says of the images since its epoch began.
struct Losses {
  /// Per image: means over the epoch's batches so far, each of which counts alike, after the gains
  /// (the hyp's, scaled to levels, classes and image size).
  double box = 0, obj = 0, cls = 0;
  bool operator==(const Losses&) const = default;
};

/// {"type":"batch",…}: a sign of life, a few times per second at most.
struct BatchReport {
  static constexpr auto type = "batch";
  /// From 1, like those of the worker protocol.
  int epoch = 0;
  /// Batches done, of how many.
  int batch = 0, batches = 0;
  Losses losses;
  /// Objects and image size (pixels) of the last batch.
  int labels = 0, imgsz = 0;
  /// Bytes of the device's memory that this process holds; 0 on a CPU.
  std::int64_t memory_bytes = 0;
  bool operator==(const BatchReport&) const = default;
};

/// {"type":"epoch_report",…}
struct EpochReport {
  static constexpr auto type = "epoch_report";
  /// The last batch of the epoch, and the epoch's mean losses.
  BatchReport training;
  /// Of the moving average, on the validation images.
  hyp::Metrics metrics;
  /// In force at the epoch's end: biases, weights that decay, batch norm weights.
  std::array<double, 3> learning_rates{};
  /// With the device synchronised.
  double seconds = 0;
  /// The best fitness so far.
  bool best = false;
  /// The epoch was done before a resume.
  bool past = false;
  bool operator==(const EpochReport&) const = default;
};

/// One class of a validation.
struct ClassReport {
  std::string name;
  int labels = 0;
  double precision = 0, recall = 0, map50 = 0, map50_95 = 0;
  bool operator==(const ClassReport&) const = default;
};

/// {"type":"validation",…}
struct ValidationReport {
  static constexpr auto type = "validation";
  /// Losses are 0 where they were not asked for.
  hyp::Metrics metrics;
  int images = 0, labels = 0;
  /// Classes that have labels, in the data set's order.
  std::vector<ClassReport> classes;
  /// Milliseconds per image: inference, then NMS and matching.
  double inference_ms = 0, nms_ms = 0;
  bool operator==(const ValidationReport&) const = default;
};

/// {"type":"run",…}: how a training ended.
struct TrainingReport {
  static constexpr auto type = "run";
  /// Epochs done, and the best of them (from 1).
  int epochs = 0, best_epoch = 0;
  /// --patience ended it.
  bool stopped_early = false;
  /// Of weights/best.pt.
  ValidationReport validation;
  bool operator==(const TrainingReport&) const = default;
};

using JobReport =
    std::variant<Ready, Failure, Alive, BatchReport, EpochReport, TrainingReport, ValidationReport>;

/// The message as a line, with its newline. Text that is not UTF-8 is repaired.
std::string line_of(const Job& job);
std::string line_of(const JobReport& report);

/// The message in a line (with or without its newline); nothing for a blank line or another type.
/// Throws std::invalid_argument as those of the worker protocol do.
std::optional<Job> parse_job(std::string_view line);
std::optional<JobReport> parse_report(std::string_view line);

}  // namespace evolve::workers
