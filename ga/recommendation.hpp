// Which of the trained sets to use, and what to expect of it.
//
// The best of many noisy outcomes is the luckiest of them. The model knows how much of a fitness is
// luck: what it expects of a set that was trained is pulled towards what it expects of the sets
// around, the more so the noisier trainings are.
#pragma once

#include <Eigen/Core>
#include <optional>
#include <span>
#include <vector>

#include "ga/model/history.hpp"
#include "hyp/space.hpp"

namespace evolve::ga {

/// The mean fitness of trainings of one set over all seeds (Standing::median: the median): what is
/// expected of it, and the interval that holds it with a probability of 90 %.
struct Expectation {
  double mean = 0, low = 0, high = 0;
};

/// A set that has been trained to the end at least once.
struct Candidate {
  /// The first trial of the set that completed.
  int trial = 0;
  Expectation expectation;
};

/// How likely a set has to be better than the start to be recommended in its place: a search that
/// found nothing leaves its user no worse off. The probabilities hold what they say
/// (docs/search_measured.md).
inline constexpr double least_probability_better = 0.7;

/// While another set is better than the best with a greater probability than this, trainings of the
/// two decide something.
inline constexpr double doubtful = 0.01;
/// From this probability on that another set is better than the best, a run spends trials on that,
/// and says that it is undecided.
inline constexpr double worth_deciding = 0.2;

/// What is known of the sets that may be the best.
struct Standing {
  /// Nothing where the start has not completed, or fails, or ends at 0, as often as not. Of a start
  /// of which the model knows only that it is bad (History::learnt_nothing) it has the mean, the
  /// least and the greatest of what it gave.
  std::optional<Candidate> start;
  /// The set of greatest expectation among those that are better than the start with that
  /// probability; the start while no set is.
  Candidate best;
  /// The probability that the best has a greater mean fitness than the start has; 0 when it is the
  /// start.
  double better = 0;
  /// What is expected is the median of trainings, not their mean: of losses, where all are below 0.
  bool median = false;
  /// The standard deviation of the fitness of one training of the best around its mean.
  double training_sd = 0;
  /// The probability that the set which is most likely to be better than the best is better, and
  /// its first trial that completed.
  double doubt = 0;
  int rival = 0;
  /// Of the best and its most likely rival, without those being trained already, the one of which
  /// less is known: its next training says most about which one is better. Nothing where all are.
  std::optional<int> undecided;
};

/// What the model says of the mean fitness of the sets that may be best, warped.
struct Posterior {
  /// The first one of each set that completed.
  std::vector<int> trials = {};
  Eigen::VectorXd mean = {};
  Eigen::MatrixXd covariance = {};
  /// The variance of one training around a set's mean.
  double training_variance = 0;

  double sd(Eigen::Index i) const;
  /// The probability that i is better than j.
  double better(Eigen::Index i, Eigen::Index j) const;
  /// Leaves what is left to know after one more training of i, whose outcome is the expected one.
  void observe(Eigen::Index i);
};

/// What outcomes say of the sets that were trained to the end at least once, whichever are being
/// trained.
struct Judgement {
  /// All but the doubt.
  Standing standing;
  /// Of no sets where trainings are free of luck.
  Posterior posterior = {};
  /// The place of the best one there.
  Eigen::Index best = 0;
};

/// Nothing until `history` has three trainings to the end, or where the model is made of none of
/// them. Where trainings are known to be free of luck (History::deterministic) the best is what
/// gave most, what it gave is expected with no interval around, and nothing is undecided. Takes a
/// tenth of a second, and up to .7 s where the parameters are weighed anew (History::plausible).
std::optional<Judgement> judgement(std::span<const hyp::Gene> space, History& history,
                                   const hyp::Genes& start);

/// With the doubt that is left while the sets of the trials `pending` are being trained once more:
/// those trainings are taken to give what is expected of them.
Standing standing(const Judgement& judged, std::span<const int> pending);

/// judgement() and, of that, standing().
std::optional<Standing> standing(std::span<const hyp::Gene> space, History& history,
                                 const hyp::Genes& start, std::span<const int> pending = {});

}  // namespace evolve::ga
