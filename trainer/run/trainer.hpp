// How a detector is trained: YOLOv5 v6 models on libtorch. This header is torch-free.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "hyp/hyperparameters.hpp"
#include "hyp/metrics.hpp"
#include "hyp/rung.hpp"
#include "trainer/data/beat.hpp"
#include "trainer/options.hpp"
#include "workers/protocol/jobs.hpp"

namespace evolve::trainer {

class Ranks;

/// Where the seconds of training went. They are the host's: on a GPU they say how long it took to
/// give the device that work.
struct TrainingSeconds {
  double images = 0, forward = 0, loss = 0, backward = 0, optimizer = 0, average = 0;
};

/// Where the seconds of a trial went.
struct Timing {
  double total = 0;
  /// From the beginning to the end of the first iteration; 0 where there was none.
  double first_step = 0;
  double training = 0;
  TrainingSeconds phases;
  /// All of validation, and its forward passes, NMS and AP.
  double validation = 0, inference = 0, nms = 0, ap = 0;
  /// Images, an image counting once per epoch.
  int trained = 0, validated = 0;
};

struct TrainResult {
  /// Of the last epoch that was trained.
  hyp::Metrics metrics;
  /// The decision at a rung that ended it; `go_on`: it was trained to its last epoch.
  hyp::Decision obeyed = hyp::Decision::go_on;
  Timing timing;
};

/// Called after each epoch (from 1). Metrics are those of the last validation, zeros before the
/// first; the rungs and the last epoch are validated.
using OnEpoch = std::function<void(int epoch, const hyp::Metrics& metrics)>;

/// Where a training asks whether to go on.
struct Rungs {
  /// After these epochs (from 1).
  std::vector<int> epochs;
  /// Called after `OnEpoch`. A pause writes `kept`.
  std::function<hyp::Decision(int epoch)> decide;
  /// The file that a paused training is kept in: weights, optimizer, moving average and counts in
  /// full precision. What is random follows from the seed and the epoch.
  std::string kept = {};
  /// The training goes on from `kept`, where it was paused after so many epochs, as if it had not
  /// been paused. Where the file is gone, or is of another epoch, these are trained again.
  int start_epoch = 0;
};

using OnReport = std::function<void(const workers::JobReport&)>;

/// Trains on one device and keeps what the next trial can use again: decoded images, anchors.
class Trainer {
 public:
  /// `device` as torch names it: "cpu", "cuda:0", "xpu:0". `threads`: CPU threads to use. `beat` is
  /// called many times a second while images are decoded, anchors fitted, batches trained and
  /// validated, by whichever thread is at it (see Heartbeat); what it throws ends the training.
  /// While images are prepared `preparing` is called instead, where it is given.
  /// Images are decoded on `loading_cores`, where there are any given, and on `threads` threads
  /// otherwise. `ranks`: the processes that train together, this one among them. Throws `Error`
  /// when this libtorch does not have the device.
  Trainer(
      const std::string& device, int threads, std::function<void()> beat = [] {},
      std::vector<int> loading_cores = {}, std::shared_ptr<Ranks> ranks = nullptr,
      data::Beat preparing = nullptr);
  ~Trainer();

  /// One training run. The result depends on the arguments only, not on earlier runs; that of a
  /// training that goes on at every rung is the one without rungs. (On a CPU to the last bit; on a
  /// GPU as far as libtorch's deterministic operators reach, which say so where they do not.)
  /// Throws `TrainingFailed`, or `Error` for bad input. A rank other than 0 trains along and
  /// returns nothing of interest, here and in full_training().
  TrainResult train(const TrainOptions& options, const hyp::Hyperparameters& hyp,
                    std::uint64_t seed, const OnEpoch& on_epoch, const Rungs& rungs = {});

  /// A full training: `evolve train`. Reports as jobs.hpp says. Throws as train() does, and `Error`
  /// when there is nothing to resume.
  workers::TrainingReport full_training(const workers::TrainingJob& job, const OnReport& on_report);

  /// How good weights are: `evolve val`. Throws `Error` for bad input, for instance weights with
  /// another number of classes than the data set has (options.single_cls makes one of them all).
  workers::ValidationReport validate(const workers::ValidationJob& job);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace evolve::trainer
