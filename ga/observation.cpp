#include "ga/observation.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace evolve::ga {
namespace {

using Ending = Observation::Ending;

// The value below which that share of the values lies, between two of them by a line. Values are
// not empty.
double percentile(std::vector<double> values, double share) {
  const double place = share * static_cast<double>(values.size() - 1);
  const auto low = static_cast<std::ptrdiff_t>(place);
  std::nth_element(values.begin(), values.begin() + low, values.end());
  const double below = values[static_cast<std::size_t>(low)];
  if (place == static_cast<double>(low)) return below;
  const double above = *std::min_element(values.begin() + low + 1, values.end());
  return below + (place - static_cast<double>(low)) * (above - below);
}

}  // namespace

Observation observation_of(const hyp::Outcome& outcome) {
  const auto number = [&](Ending ending, double fitness) {
    const bool finite = std::isfinite(fitness);
    return Observation{.ending = finite ? ending : Ending::failed,
                       .fitness = finite ? fitness : 0,
                       .trial = outcome.trial,
                       .repeat = outcome.repeat};
  };
  if (const auto* completed = std::get_if<hyp::Completed>(&outcome.result)) {
    return number(Ending::completed, completed->fitness);
  }
  if (const auto* stopped = std::get_if<hyp::Stopped>(&outcome.result)) {
    return number(Ending::stopped, stopped->fitness);
  }
  return number(Ending::failed, 0);
}

Targets targets_of(std::span<const Observation> observation) {
  constexpr double stopped_noise = 10;
  std::vector<double> completed, good;
  for (const Observation& e : observation) {
    if (e.ending != Ending::completed) continue;
    completed.push_back(e.fitness);
    if (e.fitness > 0) good.push_back(e.fitness);
  }
  const bool some_learnt = good.size() > 3;
  if (!some_learnt) good = completed;
  const double bad = good.empty() ? 0 : percentile(good, 0.1);
  const double behind = completed.empty() ? 0 : percentile(completed, 0.25);

  const auto n = static_cast<Eigen::Index>(observation.size());
  Targets targets{Eigen::VectorXd(n), Eigen::VectorXd::Ones(n)};
  for (Eigen::Index i = 0; i < n; ++i) {
    const Observation& e = observation[static_cast<std::size_t>(i)];
    const bool learnt = e.fitness > 0 || !some_learnt;
    if (e.ending == Ending::failed || !learnt) {
      targets.values[i] = bad;
    } else if (e.ending == Ending::completed) {
      targets.values[i] = e.fitness;
    } else {
      targets.values[i] = std::min(e.fitness, behind);
      targets.noise[i] = stopped_noise;
    }
  }
  return targets;
}

OutputWarping::OutputWarping(const Eigen::VectorXd& values) {
  if (values.minCoeff() >= 0 && values.maxCoeff() > 0) offset_ = 0.1 * values.maxCoeff();
  Eigen::VectorXd y = logarithms(values);
  median_ = percentile({y.begin(), y.end()}, 0.5);
  unit_ = std::max(y.maxCoeff() - median_, 1e-6);
  y = (*this)(values);
  mean_ = y.mean();
  y.array() -= mean_;
  const double spread = y.norm() / std::sqrt(std::max(1.0, static_cast<double>(y.size()) - 1));
  if (spread > 1e-12) spread_ = spread;
}

Eigen::VectorXd OutputWarping::logarithms(const Eigen::VectorXd& values) const {
  if (!offset_) return values;
  return (values.array().max(0) + *offset_).log();
}

Eigen::VectorXd OutputWarping::operator()(const Eigen::VectorXd& values) const {
  Eigen::VectorXd y = (logarithms(values).array() - median_) / unit_;
  for (double& v : y) {
    if (v < -1) v = -1 - std::log(-v);
  }
  y.array() -= mean_;
  return y / spread_;
}

double OutputWarping::undone(double squashed) const {
  double v = squashed * spread_ + mean_;
  if (v < -1) v = -std::exp(-1 - v);
  v = median_ + unit_ * v;
  return offset_ ? std::exp(v) - *offset_ : v;
}

}  // namespace evolve::ga
