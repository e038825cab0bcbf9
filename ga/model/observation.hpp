// What the surrogate of the screened search learns from.
#pragma once

#include <Eigen/Core>
#include <optional>
#include <span>

#include "hyp/outcome.hpp"

namespace evolve::ga {

/// How a trial ended, as far as the model is concerned.
struct Observation {
  /// `at_rung`: it had not ended yet.
  enum class Ending { completed, stopped, failed, at_rung };

  Ending ending = Ending::completed;
  /// Finite; 0 for a failure.
  double fitness = 0;
  /// Which training it was: together they say its seed (ga/random/rng.hpp).
  int trial = 0, repeat = 0;
  /// The share of its epochs that lay ahead, in (0, 1) at a rung, else 0.
  double left = 0;
};

/// A final outcome as observation. A fitness that is not finite counts as a failure.
Observation observation_of(const hyp::Outcome& outcome);

/// Where fitnesses can be below 0, one of 0 is a fitness like any other; elsewhere it is that of a
/// training that learnt nothing.
bool can_be_negative(std::span<const Observation> observation);
bool learnt_nothing(const Observation& observation, bool can_be_negative);

/// What a fitness counts as at least, in units of fitness: where fitnesses can be below 0, ten
/// times as far below the median as the best is above it, else minus infinity.
double least_told(std::span<const Observation> observation);

/// What the model is told, one entry for each observation.
struct Targets {
  /// In units of fitness.
  Eigen::VectorXd values;
  /// By how much the noise variance of a value is greater than that of a completed trial, at least
  /// 1.
  Eigen::VectorXd noise;
};

/// - Completed: its fitness. Where no fitness is below 0, one of 0 is a training that learnt
/// nothing, and counts as a failure once more than three outcomes, those at rungs too, have learnt
/// something. Where some are below 0 nothing says how bad "nothing" is: one below least_told()
/// counts as that.
/// - Failed: "bad, not how bad", the 10th percentile of the good ones. Taken literally, one cliff
/// would bend the model everywhere.
/// - Stopped: its fitness could still have grown, so it is a lower bound, but it was stopped for
/// being behind: its fitness, at most the 25th percentile of the others, with 10 times the
/// noise.
/// - At a rung: its fitness and what the trainings that ended have gained since that rung, in the
/// median. Values at rungs count among the good ones above, so that a search which finishes the
/// promising trainings only does not take a failure for a good one.
Targets targets_of(std::span<const Observation> observation);

/// The same order with an even spread. First logarithms, as what makes a fitness are factors rather
/// than summands. Where none is negative: of the values, with a tenth of the greatest added, so
/// that next to nothing and nothing are alike. Where all are, as losses: of the distances from 0,
/// with the least one added, so that one which is close to 0 by luck does not outweigh the others;
/// in the order of the values. Where some are: the values themselves. Then distances from their
/// median in units of the distance from the median to the best (where most are the best, to the
/// least); below -1 they grow by their logarithm only. Then mean 0 and standard deviation 1; all 0
/// when all are equal. How bad a bad set is matters little to where the best one is.
class OutputWarping {
 public:
  /// The one that these values, at least one, give.
  explicit OutputWarping(const Eigen::VectorXd& values);

  /// Where all of those had one sign, a value of the other counts as 0.
  Eigen::VectorXd operator()(const Eigen::VectorXd& values) const;
  /// The value that is warped to `warped`, at most as far beyond the least and the greatest as
  /// these are apart: a few values say little of how the logarithm goes on.
  double unwarped(double warped) const;
  /// Whether all of those were negative.
  bool of_losses() const { return sign_ < 0; }

 private:
  Eigen::VectorXd logarithms(const Eigen::VectorXd& values) const;

  std::optional<double> offset_;  // added before the logarithm; nothing: no logarithm
  double sign_ = 1;               // of the values that have logarithms
  double least_, greatest_;
  double median_, unit_;
  double mean_ = 0, spread_ = 1;
};

}  // namespace evolve::ga
