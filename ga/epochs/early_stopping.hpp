// Early stopping at rungs: a trial that falls behind is not trained to its end.
//
// Some trials, the controls, are never stopped. What the good ones among them had at a rung says
// what a good trial must have there; who has less stops.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <vector>

#include "hyp/outcome.hpp"
#include "hyp/rung.hpp"

namespace evolve::ga {

/// The epochs after which a trial of `epochs` epochs is looked at: a third and two thirds of them,
/// rounded down. 10 gives 3 and 6; 2 gives 1; 1 gives none.
std::vector<int> rungs_of(int epochs);

/// The first 40 trials and every fifth one. Chosen by number alone: whom we let finish must not
/// depend on how it does.
bool is_control(int trial);

/// The fitness of a control at a rung, and in the end.
struct LearningCurve {
  double at_rung = 0;
  double final = 0;
};

/// The share of good trials that may be lost at one rung.
inline constexpr double loss_per_rung = 0.05;

/// The share of bad trials that a rung must catch to be worth that price.
inline constexpr double least_use = 0.15;

/// The fitness below which a trial stops at a rung; nothing when the controls cannot tell yet.
///
/// Good are those whose final fitness is above the median (the lower one, of an even number). With
/// n good controls the threshold is the k-th smallest of their fitnesses at the rung,
/// k = floor(`loss_per_rung` (n + 1)). No threshold for k = 0, nor where fewer than `least_use` of
/// the bad controls lie below it: such a rung tells nothing. If the good trials, controls or not,
/// are exchangeable, a further good one is among the k smallest of n + 1 with probability
/// k / (n + 1) at most: it is stopped here with probability `loss_per_rung` at most (split
/// conformal prediction: Vovk, Gammerman and Shafer 2005, proposition 4.1; Angelopoulos and Bates
/// 2021, theorem 1), and somewhere with the sum over the rungs at most, 10 % for two. A population
/// that improves is not quite exchangeable; that is why `EarlyStopping` asks the latest controls
/// only.
std::optional<double> stopping_threshold(std::span<const LearningCurve> controls);

/// What a run knows of the learning curves of its controls. It decides as it breeds: from
/// everything told, or with lag N from the controls up to k - N.
class EarlyStopping {
 public:
  /// A trial passed a rung. A later report of the same rung (a further attempt) replaces it.
  void tell(const hyp::Rung& rung);
  /// How a trial ended.
  void tell(const hyp::Outcome& outcome);

  /// The rungs at which to look at a trial: all of a control's, and of another trial those that
  /// have a threshold now. (A look costs a validation.)
  std::vector<int> rungs_for(int trial, int epochs, std::optional<int> lag) const;

  /// Whether the trial had better stop. Never for a control, nor for a fitness that is not finite.
  bool stops(const hyp::Rung& rung, std::optional<int> lag) const;

  /// Trials that were stopped, and the sum of the epochs that they trained.
  int stopped() const { return stopped_; }
  int stopped_epochs() const { return stopped_epochs_; }

 private:
  /// From the latest 80 controls that the trial may know, completed and with a finite fitness at
  /// that rung.
  std::optional<double> threshold(int trial, int epoch, std::optional<int> lag) const;

  struct Control {
    std::map<int, double> rungs;  // fitness after an epoch
    std::optional<double> final;
  };
  std::map<int, Control> controls_;  // by trial
  int stopped_ = 0;
  int stopped_epochs_ = 0;
};

}  // namespace evolve::ga
