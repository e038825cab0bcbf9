// A Gaussian process over the sets that were trained: what a set that was not would give, and how
// sure that is. Rasmussen and Williams 2006 (R&W), chapters 2 and 5.
//
// Matérn-5/2 kernel with one length scale per gene (R&W eq. 4.17 and 5.1), unit signal variance, a
// constant mean that is integrated at its best value, and three more variances: what one set is
// better than its neighbourhood lets expect, however often it is trained (roughness); what a
// training seed does to the sets that are trained with it (a random effect, as blocks of an
// experiment have it: half of its variance is the same for every set, half differs from region to
// region as the signal does, so that a search with few seeds cannot take what suits just these for
// better); and noise, which is new in every training. All four have log-normal priors. Length
// scales are expected to grow with the root of the number of genes (Hvarfner et al. 2024, "Vanilla
// Bayesian optimization performs great in high dimensions"), and noise may be anything from none to
// more than there is signal: where a few trainings of many genes are explained by short lengths and
// no noise, the search stays with the luckiest.
#pragma once

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <limits>
#include <vector>

#include "ga/curves.hpp"

namespace evolve::ga {

/// What the model is conditioned on.
struct Observations {
  /// [features, n]
  Eigen::MatrixXd features;
  /// Gene of each feature: features of one gene share its length scale.
  std::vector<int> gene_of;
  /// [n], of mean 0 and standard deviation 1.
  Eigen::VectorXd values;
  /// [n], factors of the noise variance, at least 1.
  Eigen::VectorXd noise;
  /// [n], number of the training seed, and a number that trainings of one set share.
  std::vector<int> seed, set;
  /// What lay ahead of those that were looked at before their end; empty where all have ended.
  Curves curves = {};
};

/// log length scale of each gene, then the logarithms of three variances, in units of the signal
/// variance: noise, effects of the seeds, roughness. [genes + 3]
using KernelParameters = Eigen::VectorXd;

/// The three variances.
struct Variances {
  double noise = 0, seed = 0, roughness = 0;
};
Variances variances_of(const KernelParameters& parameters);

/// Where the prior is densest: the start of a first fit.
KernelParameters prior_mode(Eigen::Index genes);

/// -log p(values | parameters) - log p(parameters), up to a constant (R&W eq. 5.8 and the priors).
/// Writes its gradient; infinite, with a gradient of 0, where the covariance is not positive
/// definite.
double negative_log_posterior(const Observations& observations, const KernelParameters& parameters,
                              Eigen::VectorXd& gradient);

/// The parameters of greatest posterior that L-BFGS finds from `start` in that many evaluations of
/// the posterior. Never worse than `start`.
KernelParameters fit(const Observations& observations, const KernelParameters& start,
                     int evaluations);

class EarlierRuns;

class Surrogate {
 public:
  /// `pending`: [features, p] sets whose outcomes are to come. They are believed to give just the
  /// mean that is expected of them (the "kriging believer" of Ginsbourger et al. 2010), which
  /// leaves every mean as it is and shrinks the variance around them.
  ///
  /// `spread_points`: means rest on all observations, standard deviations on so many of the first
  /// ones and on what is pending. They are never smaller than those that all would give, and cost
  /// the square of their number each, where a mean costs the number.
  ///
  /// `earlier`: what is added to the constant mean (ga/earlier.hpp), with weights of which the
  /// observations decide; refers to it. Null or empty: nothing.
  Surrogate(const Observations& observations, const Eigen::MatrixXd& pending,
            const KernelParameters& parameters,
            Eigen::Index spread_points = std::numeric_limits<Eigen::Index>::max(),
            const EarlierRuns* earlier = nullptr);

  struct Prediction {
    Eigen::VectorXd mean, sd;
  };
  /// Of the noise-free values at [features, m], with a seed whose effect is 0 (R&W eq. 2.25 and
  /// 2.26).
  Prediction predict(const Eigen::MatrixXd& features) const;
  Eigen::VectorXd mean(const Eigen::MatrixXd& features) const;
  /// Between the noise-free values at [features, m] and that at a point, given what the standard
  /// deviations rest on: [m].
  Eigen::VectorXd covariance(const Eigen::MatrixXd& features, const Eigen::VectorXd& point) const;
  /// Of one training of a set that was never trained, with a seed of its own, around its noise-free
  /// value.
  double training_variance() const { return training_variance_; }

  /// A prediction at one point, and how it changes with each feature: [features].
  struct Slope {
    double mean = 0, sd = 0;
    Eigen::VectorXd mean_slope, sd_slope;
  };
  Slope slope(const Eigen::VectorXd& features) const;
  /// The slope of the mean alone, without the price of a standard deviation: [features].
  Eigen::VectorXd mean_slope(const Eigen::VectorXd& features) const;

  /// Of trained sets, with their roughness: [m].
  struct Joint {
    Eigen::VectorXd mean;
    /// Given all observations, with what is not known of the constant (R&W eq. 2.42): [m, m].
    Eigen::MatrixXd covariance;
  };
  /// `sets`: [m], their numbers among the observations.
  Joint of_sets(const Eigen::MatrixXd& features, const std::vector<int>& sets) const;

  /// log p(values | parameters), the constant integrated out (R&W eq. 2.45), up to a summand that
  /// depends on n only.
  double log_likelihood() const { return log_likelihood_; }

  /// The mean at the observations themselves, with their roughness: [n].
  const Eigen::VectorXd& believed() const { return believed_; }

  /// The observations less what the others alone, with these parameters, predict of them: [n] (R&W
  /// eq. 5.12; Dubrule 1983 where the constant is estimated too).
  Eigen::VectorXd leave_one_out_errors() const;

 private:
  Eigen::VectorXd inverse_lengths_;  // by feature
  double roughness_, training_variance_;
  std::vector<int> sets_;   // of the observations
  Eigen::MatrixXd scaled_;  // [features, n]
  Eigen::LLT<Eigen::MatrixXd> factor_;
  double constant_ = 0, log_likelihood_ = 0;
  Eigen::VectorXd weights_;  // [n]
  Eigen::VectorXd believed_;
  Eigen::MatrixXd scaled_near_;  // what the standard deviations rest on
  Eigen::LLT<Eigen::MatrixXd> factor_near_;
  const EarlierRuns* earlier_;                    // null: none
  double earlier_variance_ = 0;                   // of a weight, before any observation
  Eigen::MatrixXd earlier_known_, earlier_near_;  // [runs, …], what they expect of those
  Eigen::VectorXd earlier_weights_;               // [runs], in the light of the observations
};

}  // namespace evolve::ga
