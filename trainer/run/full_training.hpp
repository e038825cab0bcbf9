// A full training, as YOLOv5's train.py runs it: every epoch validated, the best and the last
// weights kept, and a training that was cut off goes on as if it had not been.
#pragma once

#include "trainer/checkpoint/checkpoint.hpp"
#include "trainer/run/prepared_data.hpp"
#include "trainer/run/trainer.hpp"
#include "trainer/run/training_loop.hpp"
#include "workers/protocol/jobs.hpp"

namespace evolve::trainer {

/// Whether the last epoch that was as good as any before lies `patience` epochs back; never at 0.
/// YOLOv5's EarlyStopping.
bool out_of_patience(const std::vector<double>& fitness, int patience);

/// The file that a training goes on from.
std::string last_weights(const workers::TrainingJob& job);

/// Trains as `job` says; `options` are its options, settled, and `weights` those that they name
/// (pretrained_weights()), or last_weights() where the job is resumed. Each epoch leaves
/// job.dir/weights/last.pt, with all that a resume needs, and best.pt when no epoch before has a
/// greater fitness; both hold the moving average in half precision. Reports each epoch when its
/// last.pt is on the disk. Ends after options.epochs, or after options.patience epochs that were
/// not as good as the best; the last.pt of an ended training holds the weights alone. At the end
/// best.pt is validated, and images of the first validation batch with its labels and predictions
/// are left in job.dir.
///
/// A training that is resumed gives the same numbers, bit for bit, as one that was not cut off.
/// Throws `Error` when there is nothing to resume, a last.pt of other hyperparameters or options,
/// or no best.pt of an earlier epoch; and `TrainingFailed`.
workers::TrainingReport full_training(const workers::TrainingJob& job, const TrainOptions& options,
                                      const std::optional<Checkpoint>& weights, PreparedData& data,
                                      const ComputeContext& context, const OnReport& on_report);

}  // namespace evolve::trainer
