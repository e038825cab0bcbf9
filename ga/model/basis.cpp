#include "ga/model/basis.hpp"

#include <algorithm>
#include <cmath>

#include "ga/model/unit_cube.hpp"

namespace evolve::ga {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// Before any outcome: how many standard deviations of fitness worse than the start an evenly drawn
// set is expected to be. (The outcomes decide, so it matters little: docs/search_tried.md.)
constexpr double start_weight = 0.5;
// And how far all earlier runs together are believed.
constexpr double earlier_weight = 0.7;

// Of the square of the distance between the start and an evenly drawn value of one gene.
double mean_square(const hyp::Gene& gene) {
  if (!hyp::has_range(gene)) return 0;
  if (is_categorical(gene)) return 1 - 1 / static_cast<double>(gene.choices.size());
  double variance = 1.0 / 12;
  if (gene.kind == hyp::Gene::Kind::integer && gene.scale == hyp::Gene::Scale::linear) {
    // The values are 0, 1 / steps, …, 1.
    const double steps = hyp::greatest_value(gene) - hyp::least_value(gene);
    variance *= (steps + 2) / steps;
  }
  return variance + std::pow(hyp::to_unit(gene, gene.start) - 0.5, 2);
}

}  // namespace

Basis::Basis(std::span<const hyp::Gene> space, const EarlierRuns& earlier)
    : earlier_(&earlier),
      parts_(std::sqrt(static_cast<double>(std::max(earlier.count(), Index{1})))) {
  for (const hyp::Gene& gene : space) even_ += mean_square(gene);
  if (even_ == 0) even_ = 1;  // a space of one set
  start_ = features_of(space, point_of(space, start_genes(space)));
}

MatrixXd Basis::values(const MatrixXd& features) const {
  if (knows_nothing()) return (features.colwise() - start_).colwise().squaredNorm() / -even_;
  return earlier_->expected(features) / parts_;
}

MatrixXd Basis::slopes(const VectorXd& features) const {
  if (knows_nothing()) return (features - start_) * (-2 / even_);
  return earlier_->slopes(features) / parts_;
}

VectorXd Basis::weight_means() const {
  return VectorXd::Constant(count(), knows_nothing() ? start_weight : earlier_weight / parts_);
}

}  // namespace evolve::ga
