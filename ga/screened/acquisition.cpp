#include "ga/screened/acquisition.hpp"

#include <utility>

#include "ga/model/minimise.hpp"

namespace evolve::ga {
namespace {

using Eigen::Index;
using Eigen::VectorXd;
using Space = std::span<const hyp::Gene>;

}  // namespace

Acquisition::Acquisition(Space space, const Surrogate& surrogate, Judge judge)
    : space_(space),
      gene_of_(genes_of_features(space)),
      surrogate_(&surrogate),
      judge_(std::move(judge)) {}

Acquisition Acquisition::improvement(Space space, const Surrogate& surrogate) {
  const double best = surrogate.posterior_mean().maxCoeff();
  const auto judge = [best](double mean, double sd) {
    return log_expected_improvement(mean, sd, best);
  };
  return {space, surrogate, judge};
}

Acquisition Acquisition::expectation(Space space, const Surrogate& surrogate) {
  return {space, surrogate, nullptr};
}

Acquisition Acquisition::upper_bound(Space space, const Surrogate& surrogate, double deviations) {
  const auto judge = [deviations](double mean, double sd) -> Utility {
    return {.value = mean + deviations * sd, .by_mean = 1, .by_sd = deviations};
  };
  return {space, surrogate, judge};
}

VectorXd Acquisition::operator()(const Points& points) const {
  const Eigen::MatrixXd features = features_of(space_, points);
  if (!judge_) return surrogate_->mean(features);
  return of(surrogate_->predict(features));
}

VectorXd Acquisition::of(const Surrogate::Prediction& prediction) const {
  if (!judge_) return prediction.mean;
  VectorXd values(prediction.mean.size());
  for (Index i = 0; i < values.size(); ++i) {
    values[i] = judge_(prediction.mean[i], prediction.sd[i]).value;
  }
  return values;
}

double Acquisition::at(const VectorXd& point, VectorXd& slope) const {
  const Surrogate::Slope s = surrogate_->slope(features_of(space_, point));
  const Utility utility = judge_ ? judge_(s.mean, s.sd) : Utility{.value = s.mean, .by_mean = 1};
  const VectorXd by_feature = utility.by_mean * s.mean_slope + utility.by_sd * s.sd_slope;
  slope = VectorXd::Zero(point.size());
  for (Index f = 0; f < by_feature.size(); ++f) {
    const int gene = gene_of_[static_cast<std::size_t>(f)];
    if (!is_categorical(space_[static_cast<std::size_t>(gene)])) slope[gene] = by_feature[f];
  }
  return utility.value;
}

VectorXd Acquisition::maximised(const VectorXd& start, int evaluations) const {
  Bounds bounds{VectorXd::Zero(start.size()), VectorXd::Ones(start.size())};
  for (Index i = 0; i < start.size(); ++i) {
    if (is_categorical(space_[static_cast<std::size_t>(i)]))
      bounds.low[i] = bounds.high[i] = start[i];
  }
  const auto negative = [this](const VectorXd& point, VectorXd& slope) {
    const double value = at(point, slope);
    slope = -slope;
    return -value;
  };
  return minimised(negative, start, bounds, evaluations);
}

}  // namespace evolve::ga
