#include "ga/model/earlier.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "ga/model/fit.hpp"
#include "ga/model/history.hpp"
#include "ga/model/ranking.hpp"

namespace evolve::ga {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr Index most_points = 150;  // of one run's model

VectorXd alike_in(const MatrixXd& features) {
  VectorXd alike = features.col(0);
  for (Index i = 0; i < alike.size(); ++i) {
    if ((features.row(i).array() != alike[i]).any())
      alike[i] = std::numeric_limits<double>::quiet_NaN();
  }
  return alike;
}

/// Sets as a run sees them: alike where its own were.
MatrixXd seen(const MatrixXd& features, const VectorXd& alike) {
  MatrixXd seen = features;
  for (Index i = 0; i < alike.size(); ++i)
    if (!std::isnan(alike[i])) seen.row(i).setConstant(alike[i]);
  return seen;
}

}  // namespace

EarlierRuns::Model EarlierRuns::model_of(const std::vector<hyp::Gene>& genes,
                                         const EarlierRun& run) {
  constexpr int evaluations = 100;
  History history(genes);
  std::vector<hyp::Genes> sets;
  for (int i = 0; const auto& [set, fitness] : run) {
    using Ending = Observation::Ending;
    history.add(set, {.ending = fitness ? Ending::completed : Ending::failed,
                      .fitness = fitness.value_or(0),
                      .trial = i++});
    sets.push_back(set);
  }
  const auto mode = prior_mode(static_cast<Index>(genes.size()));
  const auto known = history.select(history.size(), most_points, mode).observations;
  return {{known, fit(known, mode, evaluations)},
          alike_in(features_of(genes, points_of(genes, sets)))};
}

EarlierRuns::EarlierRuns(std::span<const hyp::Gene> space, std::span<const EarlierRun> runs) {
  constexpr std::size_t most_sets = 64;  // as many slots may ask before anything has ended
  std::set<hyp::Genes> trained;
  for (const EarlierRun& run : runs) {
    if (std::ranges::none_of(run, [](const auto& trial) { return trial.fitness.has_value(); }))
      continue;
    models_.push_back(model_of({space.begin(), space.end()}, run));
    for (const auto& [set, fitness] : run)
      if (fitness) trained.insert(set);
  }
  if (models_.empty()) return;
  const hyp::Genes start = start_genes(space);
  trained.erase(start);
  std::vector<hyp::Genes> sets(trained.begin(), trained.end());
  const MatrixXd expectations = expected(features_of(space, points_of(space, sets)));
  VectorXd reached = expected(features_of(space, point_of(space, start)));
  while (portfolio_.size() < std::min(most_sets, sets.size())) {
    constexpr double tie = 1e-3;  // where no run gains any more: by what all say
    const VectorXd gains =
        (expectations.colwise() - reached).cwiseMax(0).colwise().sum().transpose() +
        tie * expectations.colwise().sum().transpose();
    VectorXd open = gains;
    for (Index i = 0; i < open.size(); ++i) {
      if (std::ranges::find(portfolio_, sets[static_cast<std::size_t>(i)]) != portfolio_.end())
        open[i] = -std::numeric_limits<double>::infinity();
    }
    const Index next = ranking(open, 1).front();
    portfolio_.push_back(sets[static_cast<std::size_t>(next)]);
    reached = reached.cwiseMax(expectations.col(next));
  }
}

MatrixXd EarlierRuns::expected(const MatrixXd& features) const {
  MatrixXd all(count(), features.cols());
  for (Index i = 0; i < count(); ++i) {
    const auto& [surrogate, alike] = models_[static_cast<std::size_t>(i)];
    all.row(i) = surrogate.mean(seen(features, alike)).transpose();
  }
  return all;
}

MatrixXd EarlierRuns::slopes(const VectorXd& features) const {
  MatrixXd all(features.size(), count());
  for (Index i = 0; i < count(); ++i) {
    const auto& [surrogate, alike] = models_[static_cast<std::size_t>(i)];
    all.col(i) = alike.array().isNaN().select(surrogate.mean_slope(seen(features, alike)), 0.0);
  }
  return all;
}

}  // namespace evolve::ga
