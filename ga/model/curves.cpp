#include "ga/model/curves.hpp"

#include <algorithm>
#include <iterator>

namespace evolve::ga {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// The walk's covariance: the shorter way back.
MatrixXd shorter(const VectorXd& left) {
  return MatrixXd::NullaryExpr(left.size(), left.size(),
                               [&](Index i, Index j) { return std::min(left[i], left[j]); });
}

}  // namespace

MatrixXd equal(const std::vector<int>& a, const std::vector<int>& b) {
  return MatrixXd::NullaryExpr(std::ssize(a), std::ssize(b), [&](Index i, Index j) {
    return a[static_cast<std::size_t>(i)] == b[static_cast<std::size_t>(j)] ? 1.0 : 0.0;
  });
}

Curves Curves::first(Index n, Index ended) const {
  if (left.size() == 0) return {};
  Curves some{.left = VectorXd::Zero(n + ended), .parameters = parameters};
  some.left.head(n) = left.head(n);
  some.training.assign(training.begin(), training.begin() + n);
  for (int i = 1; i <= ended; ++i) some.training.push_back(-i);  // each unlike any other
  return some;
}

Curves Curves::of(const std::vector<Index>& places) const {
  if (left.size() == 0) return {};
  Curves some{.left = left(places), .parameters = parameters};
  for (const Index i : places) some.training.push_back(training[static_cast<std::size_t>(i)]);
  return some;
}

VectorXd Curves::loadings(Index n) const {
  if (left.size() == 0) return VectorXd::Ones(n);
  return left.unaryExpr([&](double share) { return parameters.loading(share); });
}

MatrixXd Curves::factor() const {
  const VectorXd of_end = loadings(left.size());
  return of_end * of_end.transpose() + parameters.shared * shorter(left);
}

MatrixXd Curves::walk() const {
  return shorter(left).cwiseProduct(
      (CurveParameters::common + parameters.own * equal(training, training).array()).matrix());
}

MatrixXd Curves::same_noise() const {
  MatrixXd same = equal(training, training);
  same.diagonal().setZero();
  return same;
}

}  // namespace evolve::ga
