#include "ga/model/observation.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
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

// What trainings gain from a rung to their end, by what was left of them at the rung.
std::map<double, double> median_gains(std::span<const Observation> observation) {
  std::map<int, double> ends;
  for (const Observation& e : observation) {
    if (e.ending == Ending::completed && e.repeat == 0) ends[e.trial] = e.fitness;
  }
  std::map<double, std::vector<double>> gains;
  for (const Observation& e : observation) {
    const auto end = ends.find(e.trial);
    if (e.ending == Ending::at_rung && end != ends.end())
      gains[e.left].push_back(end->second - e.fitness);
  }
  std::map<double, double> medians;
  for (const auto& [left, all] : gains) medians[left] = percentile(all, 0.5);
  return medians;
}

// What trainings are expected to have at their ends, of those that completed or were looked at.
class Ends {
 public:
  explicit Ends(std::span<const Observation> observation) : gains_(median_gains(observation)) {
    for (const Observation& e : observation) {
      if (e.ending == Ending::completed || e.ending == Ending::at_rung)
        greatest_ = std::max(greatest_, e.fitness);
    }
    for (const Observation& e : observation)
      if (e.ending == Ending::completed || e.ending == Ending::at_rung) known_.push_back(of(e));
  }

  double of(const Observation& e) const {
    const auto gain = gains_.find(e.left);
    const double end = e.fitness + (gain == gains_.end() ? 0 : gain->second);
    if (greatest_ < 0) return end < 0 ? end : greatest_;  // a loss that reached 0 would be none
    return e.fitness < 0 ? end : std::max(0.0, end);
  }
  const std::vector<double>& known() const { return known_; }

 private:
  std::map<double, double> gains_;
  double greatest_ = -std::numeric_limits<double>::infinity();
  std::vector<double> known_;
};

double least_told(const std::vector<double>& ends, bool negative) {
  constexpr double furthest = 10;
  const double median = ends.empty() ? 0 : percentile(ends, 0.5);
  const double above = ends.empty() ? 0 : std::ranges::max(ends) - median;
  return negative && above > 0 ? median - furthest * above
                               : -std::numeric_limits<double>::infinity();
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

bool can_be_negative(std::span<const Observation> observation) {
  return std::ranges::any_of(observation, [](const Observation& e) { return e.fitness < 0; });
}

bool learnt_nothing(const Observation& observation, bool can_be_negative) {
  return !can_be_negative && observation.fitness == 0;
}

double least_told(std::span<const Observation> observation) {
  return least_told(Ends(observation).known(), can_be_negative(observation));
}

Targets targets_of(std::span<const Observation> observation) {
  constexpr double stopped_noise = 10;
  const Ends ends(observation);
  const bool negative = can_be_negative(observation);
  std::vector<double> known = ends.known(), good;
  for (const Observation& e : observation) {
    if (e.ending != Ending::completed && e.ending != Ending::at_rung) continue;
    if (!learnt_nothing(e, negative)) good.push_back(ends.of(e));
  }
  const double least = least_told(known, negative);
  for (auto* values : {&known, &good})
    for (double& value : *values) value = std::max(value, least);
  const bool some_learnt = good.size() > 3;
  if (!some_learnt) good = known;
  double bad = good.empty() ? 0 : percentile(good, 0.1);
  if (!good.empty() && bad == std::ranges::max(good))  // all the same: a failure is worse
    bad = std::min(std::ranges::min(known), bad - 0.1 * std::abs(bad));
  const double behind = known.empty() ? 0 : percentile(known, 0.25);

  const auto n = static_cast<Eigen::Index>(observation.size());
  Targets targets{Eigen::VectorXd(n), Eigen::VectorXd::Ones(n)};
  for (Eigen::Index i = 0; i < n; ++i) {
    const Observation& e = observation[static_cast<std::size_t>(i)];
    const bool learnt = !learnt_nothing(e, negative) || !some_learnt;
    if (e.ending == Ending::at_rung) {
      targets.values[i] = learnt ? ends.of(e) : std::max(ends.of(e), bad);
    } else if (e.ending == Ending::failed || !learnt) {
      targets.values[i] = bad;
    } else if (e.ending == Ending::completed) {
      targets.values[i] = e.fitness;
    } else {
      targets.values[i] = std::min(e.fitness, behind);
      targets.noise[i] = stopped_noise;
    }
  }
  targets.values = targets.values.cwiseMax(least);
  return targets;
}

OutputWarping::OutputWarping(const Eigen::VectorXd& values)
    : least_(values.minCoeff()), greatest_(values.maxCoeff()) {
  if (least_ >= 0 && greatest_ > 0) offset_ = 0.1 * greatest_;
  if (greatest_ < 0) {
    sign_ = -1;
    offset_ = -greatest_;
  }
  Eigen::VectorXd y = logarithms(values);
  median_ = percentile({y.begin(), y.end()}, 0.5);
  const double above = y.maxCoeff() - median_;
  // Where most are the best the least says how far apart they are.
  unit_ = std::max(above, 1e-6 * (y.maxCoeff() - y.minCoeff()));
  if (above == 0) unit_ = median_ - y.minCoeff();
  if (unit_ == 0) unit_ = 1;
  y = (*this)(values);
  mean_ = y.mean();
  y.array() -= mean_;
  const double spread = y.norm() / std::sqrt(std::max(1.0, static_cast<double>(y.size()) - 1));
  if (spread > 1e-12) spread_ = spread;
}

Eigen::VectorXd OutputWarping::logarithms(const Eigen::VectorXd& values) const {
  if (!offset_) return values;
  return sign_ * ((sign_ * values.array()).max(0) + *offset_).log();
}

Eigen::VectorXd OutputWarping::operator()(const Eigen::VectorXd& values) const {
  Eigen::VectorXd y = (logarithms(values).array() - median_) / unit_;
  for (double& v : y) {
    if (v < -1) v = -1 - std::log(-v);
  }
  y.array() -= mean_;
  return y / spread_;
}

double OutputWarping::unwarped(double warped) const {
  double v = warped * spread_ + mean_;
  if (v < -1) v = -std::exp(-1 - v);
  v = median_ + unit_ * v;
  const double value = offset_ ? sign_ * std::max(0.0, std::exp(sign_ * v) - *offset_) : v;
  const double apart = greatest_ - least_;
  const double most = greatest_ + apart;
  // What was never above 0, as -box_loss, is not expected there.
  return std::clamp(value, least_ - apart, greatest_ > 0 ? most : std::min(most, 0.0)) + 0.0;
}

}  // namespace evolve::ga
