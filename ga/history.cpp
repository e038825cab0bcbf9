#include "ga/history.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_set>
#include <utility>

#include "ga/ranking.hpp"

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

// One of `a`, two of `b` and so on, each once, as many as either has.
std::vector<Index> one_and_two(const std::vector<Index>& a, const std::vector<Index>& b) {
  std::vector<Index> order;
  std::unordered_set<Index> taken;
  auto next_a = a.begin(), next_b = b.begin();
  while (order.size() < a.size()) {
    const bool from_a = order.size() % 3 == 0;
    const Index next = from_a ? *next_a++ : *next_b++;
    if (taken.insert(next).second) order.push_back(next);
  }
  return order;
}

// Evenly spread over all of them, `most` at most.
Observations thinned(const Observations& all, Index most) {
  const Index n = all.values.size(), count = std::min(n, most);
  std::vector<Index> kept;
  for (Index i = 0; i < count; ++i) kept.push_back(i * n / count);
  return {all.features(Eigen::seqN(0, all.features.rows()), kept), all.gene_of, all.values(kept),
          all.noise(kept)};
}

}  // namespace

History::History(std::vector<hyp::Gene> space)
    : space_(std::move(space)),
      gene_of_(genes_of_features(space_)),
      parameters_(prior_mode(static_cast<Index>(space_.size()))) {}

void History::add(const hyp::Genes& genes, const Observation& observation) {
  points_.push_back(point_of(space_, genes));
  features_.push_back(features_of(space_, points_.back()));
  observation_.push_back(observation);
  completed_ += observation.ending == Observation::Ending::completed;
}

History::Selection History::select(Index length, Index most,
                                   const KernelParameters& parameters) const {
  const Targets targets = targets_of({observation_.data(), static_cast<std::size_t>(length)});
  const std::vector<Index> best = ranking(targets.values, most);
  const std::vector<Index> nearest =
      ranking(-distances_from(best.front(), length, parameters), most);
  const std::vector<Index> order = one_and_two(best, nearest);
  Points points(static_cast<Index>(space_.size()), static_cast<Index>(order.size()));
  for (Index i = 0; i < points.cols(); ++i) {
    points.col(i) = points_[static_cast<std::size_t>(order[static_cast<std::size_t>(i)])];
  }
  const VectorXd values = targets.values(order);
  const OutputWarping warping(values);
  return {.points = points,
          .observations = {.features = features_of(space_, points),
                           .gene_of = gene_of_,
                           .values = warping(values),
                           .noise = targets.noise(order)},
          .warping = warping};
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
  constexpr Index most = 150, few = 40;
  const KernelParameters mode = prior_mode(static_cast<Index>(space_.size()));
  for (; next_fit_ <= size(); next_fit_ = std::max(next_fit_ + 1, next_fit_ * 11 / 10)) {
    // Late in a run the best and the nearest are so much alike that they differ by noise alone:
    // then a sample of more.
    const Index looked_at = next_fit_ > model_points ? model_points : most;
    const Observations known =
        thinned(select(next_fit_, looked_at, parameters_).observations, most);
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
