// What the screened search knows.
#pragma once

#include <Eigen/Core>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "ga/model/kernel.hpp"
#include "ga/model/observation.hpp"
#include "ga/model/unit_cube.hpp"
#include "hyp/space.hpp"

namespace evolve::ga {

/// Outcomes that the model of a proposal has at most: 1000 would take it more than 50 ms.
constexpr Eigen::Index model_points = 500;
/// Outcomes that tell what to expect of the best sets: each is looked at with many parameters.
constexpr Eigen::Index compared_points = 200;

/// The outcomes that a run knows, in the order in which it came to know them, and the kernel's
/// parameters that were fitted to them.
///
/// The parameters are fitted when the history has reached certain lengths, each time to that many
/// first outcomes and from the fit before: they depend on the outcomes alone, never on when a
/// child was asked for.
class History {
 public:
  /// `space`: the evolved genes.
  explicit History(std::vector<hyp::Gene> space);

  /// A set that gave with a seed what it gave with that seed before was trained anew bit for bit,
  /// and tells nothing: it is no outcome.
  void add(const hyp::Genes& genes, const Observation& observation);

  Eigen::Index size() const { return static_cast<Eigen::Index>(observation_.size()); }
  /// Number of completed trainings.
  int completed() const { return completed_; }

  /// What a model of `most` points is made of.
  struct Selection {
    Points points;
    Observations observations;
    /// Between fitness and the observed values.
    OutputWarping warping;
    /// Which outcomes they are.
    std::vector<Eigen::Index> entries;
  };
  /// Of the first `length` outcomes (not 0) the `most` that tell most about where the best set is,
  /// in that order: the best one, the two nearest to it, in units of the length scales, the next
  /// best one, the next two nearest, and so on.
  Selection select(Eigen::Index length, Eigen::Index most,
                   const KernelParameters& parameters) const;
  /// The `most` outcomes that are nearest to any of these sets (their numbers), of those that
  /// `plausible()` looks at: a model of the best of many noisy outcomes alone expects too much of
  /// all of them. Warped as those that made parameters plausible are: variances are shares of the
  /// spread of these.
  Selection around(std::span<const int> sets, Eigen::Index most,
                   const KernelParameters& parameters) const;

  /// The parameters for the whole history; fits what has not been fitted yet.
  const KernelParameters& parameters();
  /// Other parameters that the outcomes make plausible: how much of a fitness is luck is seldom
  /// known well, and what is expected of a set depends on it. Weights add up to 1. Failures, and
  /// what has a fitness of 0 where none is below it, are not looked at where three others
  /// completed: dozens of one and the same value say that there is no luck, and how good the good
  /// sets are they do not know.
  struct Plausible {
    KernelParameters parameters;
    double weight = 0;
    /// What is odd under them, of the outcomes that were judged: factors of each one's noise, and
    /// of its set's roughness.
    Eigen::VectorXd noise, roughness;
  };
  const std::vector<Plausible>& plausible();
  /// The observations with what is odd under these parameters.
  Observations weighed(const Selection& known, const Plausible& under) const;

  /// What the curves are like, fitted with the parameters.
  const CurveParameters& curve_parameters() {
    parameters();
    return curve_parameters_;
  }

  /// The number of a set among the observations (`Observations::set`); nothing: never trained.
  std::optional<int> number_of(const hyp::Genes& genes) const;
  /// The first training of the set of that number that completed; null: none.
  const Observation* first_completed(int set) const;
  const Observation* first_completed(const hyp::Genes& genes) const;
  /// The completed training of greatest fitness, the first one among equals; null: none.
  const Observation* best_completed() const;
  /// Whether of the set with this number the model knows that it is bad, not how bad: all that it
  /// gave, trained to the end, is a fitness of 0, where others have more and none is below 0; or it
  /// is below what the model is told at least (least_told()), once five trainings have completed.
  bool learnt_nothing(int set) const;
  /// What the trainings of the set with this number gave that completed.
  std::vector<double> fitnesses_of(int set) const;
  /// Whether a training of the set with this number failed, or ended at 0 where none is below, and
  /// at least as many did as completed otherwise.
  bool fails_as_often(int set) const;
  /// Whether all that completed have the same fitness, so that nothing is known of what evolves.
  bool all_alike() const;
  /// Whether two outcomes differ, those at rungs and failures too. Else a model would hope for most
  /// in the farthest corner, where it knows least.
  bool tells_sets_apart() const { return tells_sets_apart_; }
  /// Whether trainings are known to be free of luck: at least two completed trainings were of a set
  /// that had been trained before, with another seed, and all of these agree with the first one of
  /// their set to the last digit, while fewer than one in a hundred pairs of different sets agree
  /// (else a fitness merely takes few values). A fitness of 0 says nothing, nor does the least one
  /// where several sets have it: the level of chance.
  bool deterministic() const;

 private:
  /// Of the first outcomes, whose targets these are.
  std::vector<Eigen::Index> best_and_nearest(const Targets& targets, Eigen::Index most,
                                             const KernelParameters& parameters) const;
  /// Of these entries, which are among the first `length`, those that say how good a set is, see
  /// plausible(). What came later must not matter: a resumed run asks when it knows more.
  std::vector<Eigen::Index> telling(std::vector<Eigen::Index> entries, Eigen::Index length) const;
  Selection selection_of(const std::vector<Eigen::Index>& order, const Targets& targets,
                         const OutputWarping& warping) const;
  void weigh_outliers(Eigen::Index length);
  /// Its observations as if none were odd.
  Observations unweighed(const Selection& known) const;
  /// The parameters for what may be said of sets: fitted with sets that may be odd, not trainings
  /// alone.
  KernelParameters robust_parameters(const Observations& known) const;
  /// Among the first `length` outcomes.
  bool any_at_rung(Eigen::Index length) const { return first_at_rung_ < length; }
  Eigen::VectorXd squared_distances_from(Eigen::Index centre, Eigen::Index length,
                                         const KernelParameters& parameters) const;

  std::vector<hyp::Gene> space_;
  std::vector<int> gene_of_;
  std::vector<Eigen::VectorXd> points_, features_;
  std::vector<Observation> observation_;
  std::vector<double> noise_;  // factor of each entry's noise
  std::map<hyp::Genes, int> sets_;
  std::map<std::pair<int, int>, int> trainings_;          // by trial and repeat: the first entry
  std::set<std::tuple<int, int, double, double>> known_;  // set, seed, what was left, fitness
  std::vector<int> training_;                             // of each entry
  Eigen::Index first_at_rung_ = std::numeric_limits<Eigen::Index>::max();
  CurveParameters curve_parameters_;
  std::vector<int> first_;  // the first entry of each entry's set: the set's number
  int completed_ = 0;
  std::map<int, int> completed_of_;  // by set
  Eigen::Index second_completed_ =
      0;  // the length at which a set last completed for the second time
  bool tells_sets_apart_ = false;
  KernelParameters parameters_;
  std::vector<Plausible> plausible_;
  std::map<Eigen::Index, Eigen::Index> judged_;  // by entry: its place among the judged
  std::map<int, Eigen::Index> judged_sets_;      // by set: the place of one of its trainings
  Eigen::Index fitted_ = 0;                      // the length to which the parameters were fitted
  Eigen::Index weighed_ = 0;                     // the length that made `plausible_` plausible
  Eigen::Index next_fit_ = 3;  // the length at which the parameters are fitted next
};

}  // namespace evolve::ga
