// Learning rates, momentum and gradient accumulation over a training.
#pragma once

#include <array>

#include "hyp/hyperparameters.hpp"
#include "trainer/options.hpp"

namespace evolve::trainer {

/// The number of images that YOLOv5 takes a step for.
constexpr int nominal_batch_size = 64;

/// Parameter groups in YOLOv5's order: biases, weights that decay, batch norm weights.
enum Group : std::size_t { bias_group, decay_group, norm_group };
constexpr std::size_t group_count = 3;

/// What is in force during one iteration.
struct StepSettings {
  /// Per group.
  std::array<double, group_count> learning_rate{};
  /// Of SGD; the betas of the Adams stay.
  double momentum = 0;
  /// Iterations between two steps.
  int accumulate = 1;
};

/// Cosine annealing with warm restarts: Loshchilov and Hutter, SGDR (2017), equation 5.
struct Restarts {
  /// T_0: epochs of the first cycle; 0 for no restarts.
  int epochs = 0;
  /// T_mult: each cycle is so many times as long as the one before.
  int factor = 1;
};

/// A training's schedule: a warm-up, then a straight line or half a cosine from lr0 to lr0 * lrf at
/// the last epoch's end, or such a half cosine in each cycle of the restarts.
struct Schedule {
  int epochs = 1;
  /// Batches per epoch.
  int batches = 1;
  int batch_size = 16;
  bool cosine = false;
  Restarts restarts = {};
  double lr0 = 0.01, lrf = 0.01, momentum = 0.937;
  int warmup_iterations = 100;
  double warmup_momentum = 0.8, warmup_bias_lr = 0.1;

  /// Iterations per step after the warm-up.
  int accumulation() const;
  /// lr / lr0 in `epoch` (from 0).
  double factor(int epoch) const;
  /// The learning rate before the warm-up takes its part of it. In epochs after the one in which
  /// the warm-up ends it is an epoch behind, as YOLOv5's is: its scheduler starts at epoch -1.
  double rate(int iteration) const;
  /// `iteration` counts from 0 over all epochs.
  StepSettings at(int iteration) const;
};

/// max(round(warmup_epochs * batches), 100)
int warmup_iterations(double warmup_epochs, int batches);

/// The batch size is the one that was asked for, also where there are fewer images, as in YOLOv5.
/// Throws `Error` when a hyperparameter is absent.
Schedule schedule_of(const hyp::Hyperparameters& hyp, const TrainOptions& options, int batches);

}  // namespace evolve::trainer
