// A Gaussian process over the sets that were trained: what a set that was not would give, and how
// sure that is. Rasmussen and Williams 2006 (R&W), chapters 2 and 5. Its kernel is that of
// ga/model/kernel.hpp; the constant mean is integrated out, but predictions take it at its best
// value.
#pragma once

#include <Eigen/Core>
#include <limits>
#include <vector>

#include "ga/model/conditioned.hpp"
#include "ga/model/kernel.hpp"

namespace evolve::ga {

class Basis;

class Surrogate {
 public:
  /// `pending`: [features, p] sets whose outcomes are to come. They are believed to give just the
  /// mean that is expected of them (the "kriging believer" of Ginsbourger et al. 2010), which
  /// leaves every mean as it is and shrinks the variance around them.
  ///
  /// `spread_points`: means rest on all observations, standard deviations on that many of the first
  /// ones and on what is pending. They are never smaller than those that all would give, and cost
  /// the square of their number each, where a mean costs the number.
  ///
  /// `basis`: what is added to the constant mean, with weights that the observations decide;
  /// refers to it. Null: nothing.
  Surrogate(const Observations& observations, const Eigen::MatrixXd& pending,
            const KernelParameters& parameters,
            Eigen::Index spread_points = std::numeric_limits<Eigen::Index>::max(),
            const Basis* basis = nullptr);
  /// Nothing is pending.
  Surrogate(const Observations& observations, const KernelParameters& parameters)
      : Surrogate(observations, Eigen::MatrixXd(observations.features.rows(), 0), parameters) {}

  struct Prediction {
    Eigen::VectorXd mean, sd;
  };
  /// The prediction of the noise-free values at [features, m], with a seed whose effect is 0 (R&W
  /// eq. 2.25 and 2.26).
  Prediction predict(const Eigen::MatrixXd& features) const;
  Eigen::VectorXd mean(const Eigen::MatrixXd& features) const;
  /// The covariance between the noise-free values at [features, m] and that at a point, given what
  /// the standard deviations rest on: [m].
  Eigen::VectorXd covariance(const Eigen::MatrixXd& features, const Eigen::VectorXd& point) const;
  /// The variance of one training of a set that was never trained, with a seed of its own, around
  /// its noise-free value.
  double new_set_variance() const { return new_set_variance_; }

  /// A prediction at one point, and how it changes with each feature: [features].
  struct Slope {
    double mean = 0, sd = 0;
    Eigen::VectorXd mean_slope, sd_slope;
  };
  Slope slope(const Eigen::VectorXd& features) const;
  /// The slope of the mean alone, without the price of a standard deviation: [features].
  Eigen::VectorXd mean_slope(const Eigen::VectorXd& features) const;

  /// What is expected of trained sets together, with their roughness: [m].
  struct Joint {
    Eigen::VectorXd mean;
    /// Given all observations, including the uncertainty of the constant (R&W eq. 2.42): [m, m].
    Eigen::MatrixXd covariance;
  };
  /// `sets`: [m], their numbers among the observations, all different; -1: none of them.
  Joint of_sets(const Eigen::MatrixXd& features, const std::vector<int>& sets) const;

  /// log p(values | parameters), the constant integrated out (R&W eq. 2.45), up to a summand that
  /// depends on n only.
  double log_likelihood() const { return known_.log_likelihood; }

  /// The mean at the observations themselves, with their roughness: [n].
  const Eigen::VectorXd& posterior_mean() const { return posterior_mean_; }

  /// What all of it rests on.
  const Conditioned& posterior() const { return known_; }

  /// The observations less what the others alone, with these parameters, predict of them: [n] (R&W
  /// eq. 5.12; Dubrule 1983 where the constant is estimated too).
  Eigen::VectorXd leave_one_out_errors() const;

 private:
  // What standard deviations rest on: the first `spread_points` observations and what is pending.
  void condition_spread(const Observations& observations, const Eigen::MatrixXd& pending,
                        const KernelParameters& parameters, Eigen::Index spread_points);
  // `basis`: what it has there: [functions, m]; empty without one.
  Eigen::VectorXd mean(const Eigen::MatrixXd& features, const Eigen::MatrixXd& basis) const;
  Eigen::MatrixXd basis_values(const Eigen::MatrixXd& features) const;

  Eigen::VectorXd inverse_lengths_;  // by feature
  double usual_roughness_ = 0, new_set_variance_ = 0;
  std::vector<int> sets_;        // of the observations
  Eigen::VectorXd roughnesses_;  // [n], the variance of what is rough about each one's set
  Eigen::MatrixXd scaled_;       // [features, n]
  Conditioned known_;
  Eigen::VectorXd loadings_;  // [n] (Curves)
  // [n], the weights times the loadings: what ends are predicted with
  Eigen::VectorXd end_weights_;
  Eigen::VectorXd posterior_mean_;
  Eigen::MatrixXd scaled_near_;  // what the standard deviations rest on
  Eigen::VectorXd loadings_near_;
  Eigen::LLT<Eigen::MatrixXd> factor_near_;
  const Basis* basis_;                        // null: none
  Eigen::MatrixXd basis_known_, basis_near_;  // [functions, …], times the loadings
  Eigen::VectorXd basis_weights_;             // [functions], in the light of the observations
};

}  // namespace evolve::ga
