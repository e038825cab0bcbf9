#include "ga/epochs/freeze_thaw.hpp"

#include <algorithm>
#include <cmath>

#include "ga/model/expected_improvement.hpp"
#include "ga/model/surrogate.hpp"
#include "ga/model/unit_cube.hpp"

namespace evolve::ga {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

constexpr double least_sd = 1e-9;

double expected_improvement(double mean, double sd, double best) {
  if (sd < least_sd) return std::max(0.0, mean - best);
  return std::exp(log_expected_improvement(mean, sd, best).value);
}

// What going to the rung gives where an epoch costs that price: the outer expectation of price(),
// as a sum over the rung's outcomes.
double gain(const Prospect& p, double best, double price) {
  constexpr double step = 0.5, furthest = 4;
  const double rest = std::sqrt(std::max(0.0, p.sd * p.sd - p.sd_by_rung * p.sd_by_rung));
  double sum = 0, weights = 0;
  for (double z = -furthest; z <= furthest; z += step) {
    const double weight = std::exp(-0.5 * z * z);
    const double end = expected_improvement(p.mean + z * p.sd_by_rung, rest, best);
    sum += weight * std::max(0.0, end - price * p.to_end);
    weights += weight;
  }
  return sum / weights;
}

// The model's view of sets whose trainings are paused, of the new one, and of the completed ones.
struct View {
  VectorXd mean, sd;  // of the paused ones, then of the new one
  double best = 0;    // of the completed ones
  Variances variances;
  CurveParameters curves;
};

View view_of(std::span<const hyp::Gene> space, History& history,
             const std::optional<hyp::Genes>& child, std::span<const Thawable> paused) {
  constexpr int new_set = -1;  // unlike any that was trained
  const KernelParameters& parameters = history.parameters();
  const auto known = history.select(history.size(), model_points, parameters);
  const Surrogate surrogate(known.observations, parameters);
  std::vector<hyp::Genes> genes;
  std::vector<int> sets;
  for (const Thawable& one : paused) {
    genes.push_back(one.genes);
    sets.push_back(history.number_of(one.genes).value_or(new_set));
  }
  if (child) {
    genes.push_back(*child);
    sets.push_back(new_set);
  }
  const auto joint = surrogate.of_sets(features_of(space, points_of(space, genes)), sets);
  View view{.mean = joint.mean,
            .sd = joint.covariance.diagonal().array().max(0).sqrt(),
            .best = known.observations.values.minCoeff(),
            .variances = variances_of(parameters),
            .curves = history.curve_parameters()};
  for (Index i = 0; i < surrogate.posterior_mean().size(); ++i) {
    if (history.first_completed(known.observations.set[static_cast<std::size_t>(i)]))
      view.best = std::max(view.best, surrogate.posterior_mean()[i]);
  }
  return view;
}

// By how much a look is expected to move what is known of the end, of a training that has not
// begun: their covariance by the look's standard deviation. The look is loading (end + noise) +
// walk.
double sd_by_rung_of_new(double sd, double left, const View& view) {
  const double variance = sd * sd;
  const double loading = view.curves.loading(left);
  const double walk = left * (view.curves.shared * variance + view.curves.own);
  const double of_its_end = loading * loading * (variance + view.variances.noise);
  return variance * std::abs(loading) / std::sqrt(of_its_end + walk);
}

// Of one that was paused: of a walk back that share is behind.
double sd_by_rung_of_paused(double sd, double left, double left_before) {
  return sd * std::sqrt(1 - left / left_before);
}

}  // namespace

std::vector<int> pauses_of(int epochs) {
  std::vector<int> pauses;
  for (const int part : {9, 3}) {
    const int epoch = (epochs + part / 2) / part;
    if (epoch >= 1 && epoch < epochs && (pauses.empty() || pauses.back() < epoch))
      pauses.push_back(epoch);
  }
  if (epochs < 3) pauses.clear();
  return pauses;
}

double price(const Prospect& p, double best) {
  const double improvement = expected_improvement(p.mean, p.sd, best);
  double low = improvement / (p.to_rung + p.to_end), high = improvement / p.to_rung;
  constexpr int halvings = 25;
  for (int i = 0; i < halvings && p.to_end > 0; ++i) {
    const double middle = 0.5 * (low + high);
    (gain(p, best, middle) > middle * p.to_rung ? low : high) = middle;
  }
  return low;
}

NextTraining next_training(std::span<const hyp::Gene> space, History& history,
                           const std::optional<hyp::Genes>& child, std::span<const Thawable> paused,
                           std::span<const int> pauses, int epochs, int left) {
  const View view = view_of(space, history, child, paused);
  NextTraining next;
  double dearest = -1;
  const auto offer = [&](double worth, std::optional<int> trial, int pause_epoch) {
    if (!(worth > dearest)) return;
    dearest = worth;
    next = {.trial = trial, .pause_epoch = pause_epoch};
  };
  const auto consider = [&](std::optional<int> trial, Index place, int begin) {
    if (epochs - begin > left) return;
    const double mean = view.mean[place], sd = view.sd[place];
    const auto to = [&](int rung, double sd_by_rung) {
      return price({.mean = mean,
                    .sd = sd,
                    .sd_by_rung = sd_by_rung,
                    .to_rung = rung - begin,
                    .to_end = epochs - rung},
                   view.best);
    };
    for (const int end : pauses) {
      if (end <= begin) continue;
      const double ahead = left_at(end, epochs);
      const double by_rung = trial ? sd_by_rung_of_paused(sd, ahead, left_at(begin, epochs))
                                   : sd_by_rung_of_new(sd, ahead, view);
      offer(to(end, by_rung), trial, end);
    }
    offer(to(epochs, sd), trial, 0);
  };
  for (std::size_t i = 0; i < paused.size(); ++i)
    consider(paused[i].trial, static_cast<Index>(i), paused[i].epoch);
  if (child) consider(std::nullopt, view.mean.size() - 1, 0);
  return next;
}

}  // namespace evolve::ga
