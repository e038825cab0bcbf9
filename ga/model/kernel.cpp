#include "ga/model/kernel.hpp"

#include <cmath>
#include <utility>

namespace evolve::ga {

using Eigen::ArrayXXd;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

Observations Observations::of(const std::vector<Index>& places) const {
  std::vector<int> seeds, sets;
  for (const Index i : places) {
    seeds.push_back(seed[static_cast<std::size_t>(i)]);
    sets.push_back(set[static_cast<std::size_t>(i)]);
  }
  return {.features = features(Eigen::seqN(0, features.rows()), places),
          .gene_of = gene_of,
          .values = values(places),
          .noise = noise(places),
          .seed = std::move(seeds),
          .set = std::move(sets),
          .roughness = roughness.size() > 0 ? VectorXd(roughness(places)) : VectorXd(),
          .curves = curves.of(places)};
}

Variances variances_of(const KernelParameters& parameters) {
  const Eigen::Vector3d variances = parameters.tail<3>().array().exp();
  return {.noise = variances[0], .seed = variances[1], .roughness = variances[2]};
}

VectorXd inverse_lengths(const std::vector<int>& gene_of, const KernelParameters& parameters) {
  VectorXd inverse(static_cast<Index>(gene_of.size()));
  for (Index i = 0; i < inverse.size(); ++i) {
    inverse[i] = std::exp(-parameters[gene_of[static_cast<std::size_t>(i)]]);
  }
  return inverse;
}

ArrayXXd distances(const MatrixXd& a, const MatrixXd& b) {
  MatrixXd squares = -2 * a.transpose() * b;
  squares.colwise() += a.colwise().squaredNorm().transpose();
  squares.rowwise() += b.colwise().squaredNorm();
  return (5 * squares.array().max(0)).sqrt();
}

MatrixXd signal_of(const Observations& observations, const KernelParameters& parameters) {
  const MatrixXd points =
      inverse_lengths(observations.gene_of, parameters).asDiagonal() * observations.features;
  return matern(distances(points, points)).matrix();
}

VectorXd noise_factors(const Observations& o) {
  return o.noise.cwiseProduct(o.curves.loadings(o.noise.size()).cwiseAbs2());
}

Covariance covariance_of(const MatrixXd& signal, const std::vector<int>& seeds,
                         const std::vector<int>& sets, const Curves& curves,
                         const Variances& variances) {
  Covariance c{.all = signal, .same_seed = equal(seeds, seeds), .same_set = equal(sets, sets)};
  if (curves.any()) {
    const VectorXd loadings = curves.loadings(signal.rows());
    const MatrixXd share = loadings * loadings.transpose();
    c.same_seed = c.same_seed.cwiseProduct(share);
    c.same_set = c.same_set.cwiseProduct(share);
    c.same_noise = curves.same_noise().cwiseProduct(share);
    c.factor = curves.factor();
    c.all = signal.cwiseProduct(c.factor) + curves.walk() + variances.noise * c.same_noise;
  }
  c.of_seeds = 0.5 * c.same_seed.array() * (1 + signal.array());
  c.all += variances.seed * c.of_seeds + variances.roughness * c.same_set;
  return c;
}

void add_odd(Covariance& covariance, const VectorXd& roughnesses, double usual) {
  const Index n = roughnesses.size();
  const VectorXd more = roughnesses.array() - usual;
  if (!more.isZero(0))
    covariance.all.topLeftCorner(n, n) +=
        more.asDiagonal() * covariance.same_set.topLeftCorner(n, n);
}

}  // namespace evolve::ga
