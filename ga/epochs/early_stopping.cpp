#include "ga/epochs/early_stopping.hpp"

#include <algorithm>
#include <cmath>

namespace evolve::ga {

std::vector<int> rungs_of(int epochs) {
  std::vector<int> rungs;
  for (const int third : {1, 2}) {
    const int epoch = epochs * third / 3;
    if (epoch >= 1 && epoch < epochs && (rungs.empty() || rungs.back() < epoch)) {
      rungs.push_back(epoch);
    }
  }
  return rungs;
}

bool is_control(int trial) {
  return trial < 40 || trial % 5 == 0;
}

std::optional<double> stopping_threshold(std::span<const LearningCurve> controls) {
  if (controls.empty()) return std::nullopt;
  std::vector<double> finals;
  for (const LearningCurve& curve : controls) finals.push_back(curve.final);
  const auto middle = finals.begin() + (std::ssize(finals) - 1) / 2;
  std::nth_element(finals.begin(), middle, finals.end());

  std::vector<double> good, bad;
  for (const LearningCurve& curve : controls) {
    (curve.final > *middle ? good : bad).push_back(curve.at_rung);
  }
  const auto k = static_cast<std::ptrdiff_t>(loss_per_rung * static_cast<double>(good.size() + 1));
  if (k == 0) return std::nullopt;
  std::nth_element(good.begin(), good.begin() + (k - 1), good.end());
  const double threshold = good[static_cast<std::size_t>(k - 1)];
  const auto caught =
      std::count_if(bad.begin(), bad.end(), [&](double at_rung) { return at_rung < threshold; });
  if (static_cast<double>(caught) < least_use * static_cast<double>(bad.size())) return {};
  return threshold;
}

void EarlyStopping::tell(const hyp::Rung& rung) {
  if (is_control(rung.trial)) controls_[rung.trial].rungs[rung.epoch] = rung.fitness;
}

void EarlyStopping::tell(const hyp::Outcome& outcome) {
  if (const auto* completed = std::get_if<hyp::Completed>(&outcome.result)) {
    const auto control = controls_.find(outcome.trial);
    if (control != controls_.end()) control->second.final = completed->fitness;
  }
  if (const auto* stopped = std::get_if<hyp::Stopped>(&outcome.result)) {
    ++stopped_;
    stopped_epochs_ += stopped->epoch;
  }
}

std::vector<int> EarlyStopping::rungs_for(int trial, int epochs, std::optional<int> lag) const {
  auto rungs = rungs_of(epochs);
  if (!is_control(trial)) {
    std::erase_if(rungs, [&](int epoch) { return !threshold(trial, epoch, lag); });
  }
  return rungs;
}

bool EarlyStopping::stops(const hyp::Rung& rung, std::optional<int> lag) const {
  if (is_control(rung.trial)) return false;
  const auto least = threshold(rung.trial, rung.epoch, lag);
  return least && std::isfinite(rung.fitness) && rung.fitness < *least;
}

std::optional<double> EarlyStopping::threshold(int trial, int epoch, std::optional<int> lag) const {
  constexpr std::size_t latest = 80;
  std::vector<LearningCurve> known;
  auto it = lag ? controls_.upper_bound(trial - *lag) : controls_.end();
  while (it != controls_.begin() && known.size() < latest) {
    const Control& control = (--it)->second;
    const auto at = control.rungs.find(epoch);
    if (!control.final || at == control.rungs.end() || !std::isfinite(at->second)) continue;
    known.push_back({.at_rung = at->second, .final = *control.final});
  }
  return stopping_threshold(known);
}

}  // namespace evolve::ga
