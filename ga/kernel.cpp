#include "ga/kernel.hpp"

#include <cmath>

namespace evolve::ga {

using Eigen::ArrayXXd;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

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

MatrixXd seed_covariance(const MatrixXd& same_seed, const MatrixXd& signal) {
  return 0.5 * same_seed.array() * (1 + signal.array());
}

}  // namespace evolve::ga
