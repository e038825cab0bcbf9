// One training of one detector, epoch by epoch: what trials and full trainings have in common.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "hyp/hyperparameters.hpp"
#include "trainer/data/batch_stream.hpp"
#include "trainer/device/load.hpp"
#include "trainer/evaluation/evaluation.hpp"
#include "trainer/loss/loss.hpp"
#include "trainer/model/model.hpp"
#include "trainer/optim/optim.hpp"
#include "trainer/options.hpp"
#include "trainer/run/compute_context.hpp"
#include "trainer/run/loss_log.hpp"
#include "trainer/run/prepared_data.hpp"
#include "trainer/run/trainer.hpp"

namespace evolve::trainer {

/// Threads that make batches beside the training: options.workers, but one core is the training's.
int batch_workers(const TrainOptions& options, const ComputeContext& context);

/// NMS and threads of a validation as the options have them, and its images on the device.
ValidateOptions validate_options(const TrainOptions& options, const ComputeContext& context,
                                 const DeviceImages& images = {});

/// How far an epoch is.
struct EpochProgress {
  /// Batches done, of how many.
  int batch = 0, batches = 0;
  /// Means of the box, objectness and class losses over those batches, with their gains, as far as
  /// they have been read (LossLog): over all at the epoch's end. An iteration left out has none.
  std::array<double, 3> losses{};
  /// Objects of the last batch, and the longer side of its images in pixels.
  int labels = 0, imgsz = 0;
};
using OnBatch = std::function<void(const EpochProgress&)>;

/// Where the context has several ranks, each trains its share of every batch, and batch norm sees
/// that share alone. The moving average, with the running statistics, is that of rank 0.
class TrainingLoop {
 public:
  /// Trains `detector`, which comes with weights, anchors and frozen layers, on data.training().
  /// Every random decision follows from `seed`. `options` and `data` must outlive the loop.
  TrainingLoop(const TrainOptions& options, const hyp::Hyperparameters& hyp, std::uint64_t seed,
               PreparedData& data, std::unique_ptr<Detector> detector,
               const ComputeContext& context);
  TrainingLoop(const TrainingLoop&) = delete;
  TrainingLoop& operator=(const TrainingLoop&) = delete;

  /// `epoch` counts from 0. `ap` is AP50-95 of each class in the last validation, for
  /// options.image_weights. Throws `TrainingFailed` for a loss that is not finite in single
  /// precision. One that is not finite in 16 bits is no verdict: the iteration is left out, and the
  /// training goes on in single precision, and a note says so.
  EpochProgress train_epoch(int epoch, std::span<const double> ap, const OnBatch& on_batch);

  /// In a rank other than 0 (ranks.hpp), after the constructor and load_state(): trains what rank 0
  /// trains, until that ends.
  void follow();
  /// In rank 0: no further epoch follows.
  void end() const;

  /// The moving average on data.validation(), losses included. Throws `TrainingFailed` when a
  /// metric is not finite.
  Validation validate() const;

  /// A detector, not fused, with the moving average of the weights.
  std::unique_ptr<Detector> average() const;

  const Detector& detector() const { return *detector_; }
  /// Where the seconds of all epochs so far went.
  const TrainingSeconds& seconds() const { return seconds_; }
  /// In force at the end of `epoch`, per parameter group.
  std::array<double, group_count> learning_rates(int epoch) const;

  /// What the epochs to come depend on besides the arguments of the constructor.
  struct State {
    /// As FlatParameters::values(), packed.
    torch::Tensor values;
    TrainStep::State step;
  };
  State state() const { return {parameters_.packed(parameters_.values()), step_.state()}; }
  /// To be called before the first epoch.
  void load_state(const State& state);

 private:
  int batch_size() const;
  int batches() const;
  /// Of all ranks, and this one's part of it.
  data::EpochPlan full_plan_of(int epoch, std::span<const double> ap) const;
  data::EpochPlan plan_of(int epoch, std::span<const double> ap) const;
  torch::ScalarType precision();
  /// The batches of an epoch, made ahead of their use by threads of their own.
  struct EpochBatches {
    int epoch = 0, count = 0;
    data::BatchStream<Load> loads;
  };
  std::unique_ptr<EpochBatches> begun_epoch(int epoch, std::span<const double> ap) const;
  /// Batch `index` of an epoch, with its matches. Safe to call from several threads.
  HostBatch make_batch(const data::EpochPlan& plan, int epoch, int index) const;
  /// `count` batches, or as many as there are, from `first` on.
  Load make_load(const data::EpochPlan& plan, int epoch, int first, int count) const;
  /// Has the disk read what the batch after the next ones will need.
  void read_ahead(const data::EpochPlan& plan, int index) const;
  /// The size in which a batch is trained: options.multi_scale resizes it.
  MapSize scaled(MapSize size, int epoch, int index) const;
  /// One forward and backward pass with batch `i` of a load, and what follows it; `index` is its
  /// place in the epoch. Returns the losses [3], on the device.
  torch::Tensor train_batch(const Load& load, std::size_t i, int epoch, int index);
  /// Adds losses to the means; `first` is the iteration of the first.
  void take(const std::vector<std::array<double, 3>>& losses, int first, int& taken,
            EpochProgress& progress);

  const TrainOptions& options_;
  PreparedData& data_;
  const DeviceImages& images_;
  std::uint64_t seed_;
  ComputeContext context_;
  data::Augmentation augmentation_;
  std::unique_ptr<Detector> detector_;
  FlatParameters parameters_;
  Loss loss_;
  Schedule schedule_;
  TrainStep step_;
  TrainingSeconds seconds_;
  /// The epoch that will be trained next; nothing where that depends on the validation before it.
  std::unique_ptr<EpochBatches> begun_;
};

}  // namespace evolve::trainer
