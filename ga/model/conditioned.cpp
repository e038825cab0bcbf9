#include "ga/model/conditioned.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <stdexcept>
#include <utility>

namespace evolve::ga {

using Eigen::ArrayXd;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

Factor factorised(MatrixXd covariance, double noise, const VectorXd& noises) {
  const VectorXd noise_free = covariance.diagonal();
  for (; std::isfinite(noise); noise *= 10) {
    covariance.diagonal() = noise_free + noise * noises;
    Factor factor{Eigen::LLT<MatrixXd>(covariance), noise};
    if (factor.llt.info() == Eigen::Success) return factor;
  }
  throw std::domain_error("a covariance has values that are no numbers");
}

Conditioned conditioned(MatrixXd covariance, double noise, const VectorXd& noises,
                        const VectorXd& values) {
  auto factor = factorised(std::move(covariance), noise, noises);
  Conditioned c{
      .factor = std::move(factor.llt), .noise = factor.noise, .noises = noises, .weights = {}};
  const VectorXd sums = c.factor.solve(VectorXd::Ones(values.size()));
  c.constant = sums.dot(values) / sums.sum();
  const VectorXd centred = values.array() - c.constant;
  c.weights = c.factor.solve(centred);
  c.log_likelihood = -0.5 * centred.dot(c.weights) - 0.5 * std::log(sums.sum()) -
                     c.factor.matrixLLT().diagonal().array().log().sum();
  return c;
}

MatrixXd inverse_factor(const Eigen::LLT<MatrixXd>& factor) {
  constexpr Index width = 32;  // a multiple of the panels that Eigen solves by
  const Index n = factor.rows();
  MatrixXd inverse = MatrixXd::Zero(n, n);
  for (Index i = 0; i < n; i += width) {  // above the diagonal there is nothing to solve for
    const Index rest = n - i, count = std::min(width, rest);
    auto columns = inverse.block(i, i, rest, count);
    columns.setIdentity();
    factor.matrixLLT()
        .bottomRightCorner(rest, rest)
        .triangularView<Eigen::Lower>()
        .solveInPlace(columns);
  }
  return inverse;
}

VectorXd noise_squares(const Conditioned& c, const MatrixXd& inverse) {
  const ArrayXd variances = c.noise * c.noises.array(), precision = inverse.colwise().squaredNorm();
  const ArrayXd left = variances - variances.square() * precision;
  return ((variances * c.weights.array()).square() + left.max(0)) / c.noise;
}

VectorXd shared_squares(const Conditioned& c, const MatrixXd& inverse, const std::vector<int>& sets,
                        const VectorXd& variances, const VectorXd& loadings) {
  std::map<int, Index> places;
  std::vector<Index> place_of;
  for (const int set : sets)
    place_of.push_back(places.try_emplace(set, std::ssize(places)).first->second);
  MatrixXd together = MatrixXd::Zero(inverse.rows(), std::ssize(places));
  VectorXd weights = VectorXd::Zero(together.cols());
  for (Index i = 0; i < std::ssize(sets); ++i) {
    const Index place = place_of[static_cast<std::size_t>(i)];
    together.col(place) += loadings[i] * inverse.col(i);
    weights[place] += loadings[i] * c.weights[i];
  }
  const ArrayXd precision = together.colwise().squaredNorm()(place_of);
  const ArrayXd left = variances.array() - variances.array().square() * precision;
  const ArrayXd means = variances.cwiseProduct(VectorXd(weights(place_of)));
  return means.square() + left.max(0);
}

}  // namespace evolve::ga
