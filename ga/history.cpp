#include "ga/history.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace evolve::ga {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

// So many evaluations of the posterior take about 20 ms.
int affordable_evaluations(Index observations, Index features) {
  const auto n = static_cast<double>(observations), f = static_cast<double>(features);
  const double operations = n * n * (2.5 * n + 2 * f + 40);
  return static_cast<int>(std::clamp(4e7 / operations, 5.0, 200.0));
}

}  // namespace

History::History(std::vector<hyp::Gene> space)
    : space_(std::move(space)),
      gene_of_(genes_of_features(space_)),
      parameters_(prior_mode(static_cast<Index>(space_.size()))) {}

void History::add(const hyp::Genes& genes, const Evidence& evidence) {
  points_.push_back(point_of(space_, genes));
  features_.push_back(features_of(space_, points_.back()));
  evidence_.push_back(evidence);
  completed_ += evidence.ending == Evidence::Ending::completed;
}

History::Selection History::select(Index length, Index most,
                                   const KernelParameters& parameters) const {
  const Targets targets = targets_of({evidence_.data(), static_cast<std::size_t>(length)});
  std::vector<Index> order(static_cast<std::size_t>(length));
  std::iota(order.begin(), order.end(), Index{0});
  if (length > most) {
    const auto better = [&](Index a, Index b) {
      const double x = targets.values[a], y = targets.values[b];
      return x != y ? x > y : a < b;
    };
    const auto third = order.begin() + most / 3, end = order.begin() + most;
    std::nth_element(order.begin(), third, order.end(), better);
    const Index best = *std::min_element(order.begin(), third, better);
    const VectorXd away = distances_from(best, length, parameters);
    std::nth_element(third, end, order.end(), [&](Index a, Index b) {
      return away[a] != away[b] ? away[a] < away[b] : a < b;
    });
    order.erase(end, order.end());
    std::sort(order.begin(), order.end());
  }
  Points points(static_cast<Index>(space_.size()), static_cast<Index>(order.size()));
  for (Index i = 0; i < points.cols(); ++i) {
    points.col(i) = points_[static_cast<std::size_t>(order[static_cast<std::size_t>(i)])];
  }
  const VectorXd values = targets.values(order);
  const Squashing squashing(values);
  return {.points = points,
          .observations = {.features = features_of(space_, points),
                           .gene_of = gene_of_,
                           .values = squashing(values),
                           .noise = targets.noise(order)},
          .squashing = squashing};
}

VectorXd History::distances_from(Index centre, Index length,
                                 const KernelParameters& parameters) const {
  VectorXd inverse_squares(static_cast<Index>(gene_of_.size()));
  for (Index i = 0; i < inverse_squares.size(); ++i) {
    inverse_squares[i] = std::exp(-2 * parameters[gene_of_[static_cast<std::size_t>(i)]]);
  }
  const VectorXd& there = features_[static_cast<std::size_t>(centre)];
  VectorXd squares(length);
  for (Index i = 0; i < length; ++i) {
    squares[i] = (features_[static_cast<std::size_t>(i)] - there)
                     .array()
                     .square()
                     .matrix()
                     .dot(inverse_squares);
  }
  return squares;
}

const KernelParameters& History::parameters() {
  constexpr Index most = 120, few = 40;
  const KernelParameters mode = prior_mode(static_cast<Index>(space_.size()));
  for (; next_fit_ <= size(); next_fit_ = std::max(next_fit_ + 1, next_fit_ * 11 / 10)) {
    const Observations known = select(next_fit_, most, parameters_).observations;
    const int evaluations = affordable_evaluations(known.values.size(), known.features.rows());
    const KernelParameters warm = fit(known, parameters_, evaluations);
    if (next_fit_ > few) {
      parameters_ = warm;
      continue;
    }
    const KernelParameters cold = fit(known, mode, evaluations);
    VectorXd unused;
    const bool warmer =
        negative_log_posterior(known, warm, unused) <= negative_log_posterior(known, cold, unused);
    parameters_ = warmer ? warm : cold;
  }
  return parameters_;
}

}  // namespace evolve::ga
