#include "ga/recommendation.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

#include "ga/model/expected_improvement.hpp"
#include "ga/model/ranking.hpp"
#include "ga/model/surrogate.hpp"

namespace evolve::ga {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// Gauss and Hermite's rule: places in standard deviations of a normal distribution, and weights.
constexpr std::array<double, 7> places = {
    -3.750439717725742, -2.366759410734541, -1.154405394739968, 0,
    1.154405394739968,  2.366759410734541,  3.750439717725742};
constexpr std::array<double, 7> weights = {0.000548268855972, 0.030757123967586, 0.240123178605013,
                                           0.457142857142857, 0.240123178605013, 0.030757123967586,
                                           0.000548268855972};

/// Mean and standard deviation of a fitness whose warped value is normal. Of a loss the median
/// stands for the mean, which a few trainings that might diverge would decide.
struct Moments {
  double mean = 0, sd = 0;
};
Moments unwarped(const OutputWarping& warping, double mean, double sd) {
  if (warping.of_losses()) {
    const double above = warping.unwarped(mean + sd), below = warping.unwarped(mean - sd);
    return {.mean = warping.unwarped(mean), .sd = (above - below) / 2};
  }
  std::array<double, places.size()> fitness{};
  Moments moments;
  for (std::size_t i = 0; i < places.size(); ++i) {
    fitness[i] = warping.unwarped(mean + sd * places[i]);
    moments.mean += weights[i] * fitness[i];
  }
  for (std::size_t i = 0; i < places.size(); ++i)  // squares might overflow
    moments.sd = std::hypot(moments.sd, std::sqrt(weights[i]) * (fitness[i] - moments.mean));
  return moments;
}

// The start, if it completed, and the sets that the model thinks best, with their numbers. Of a set
// that learnt nothing the model knows that it is bad, not how bad: it compares with none. Nor does
// one whose trainings fail as often as not: what it gives when one does not is no reason to train
// it again.
struct Compared {
  std::vector<int> sets;
  Points points;
};
Compared compared_sets(std::span<const hyp::Gene> space, const hyp::Genes& start,
                       const History& history, const KernelParameters& parameters) {
  constexpr std::size_t most = 20;
  const auto known = history.select(history.size(), model_points, parameters);
  const VectorXd believed = Surrogate(known.observations, parameters).posterior_mean();
  Compared compared{.sets = {}, .points = Points(std::ssize(space), 0)};
  const auto add = [&](int set, const VectorXd& point) {
    const bool there = std::ranges::count(compared.sets, set) > 0;
    if (there || !history.first_completed(set) || history.learnt_nothing(set) ||
        history.fails_as_often(set))
      return;
    compared.sets.push_back(set);
    compared.points.conservativeResize(point.size(), compared.points.cols() + 1);
    compared.points.rightCols(1) = point;
  };
  if (const auto set = history.number_of(start)) add(*set, point_of(space, start));
  for (const Index i : ranking(believed, believed.size())) {
    if (compared.sets.size() == most) break;
    add(known.observations.set[static_cast<std::size_t>(i)], known.points.col(i));
  }
  return compared;
}

// Somebody has chosen the start, so its neighbours, which are mostly worse, say little of it: how
// much it differs from them its own trainings tell. `usual`: the variance of that of other sets.
void set_apart(Observations& observations, int start, double usual) {
  constexpr double least = 0.15;  // of the signal's variance
  for (Index i = 0; i < observations.roughness.size(); ++i)
    if (observations.set[static_cast<std::size_t>(i)] == start)
      observations.roughness[i] = std::max(observations.roughness[i], least / usual);
}

// What all plausible parameters say together.
Posterior posterior_of(std::span<const hyp::Gene> space, History& history, std::optional<int> start,
                       const History::Selection& known, const Compared& compared) {
  const MatrixXd features = features_of(space, compared.points);
  const Index m = features.cols();
  Posterior all{.mean = VectorXd::Zero(m), .covariance = MatrixXd::Zero(m, m)};
  for (const auto& plausible : history.plausible()) {
    const double weight = plausible.weight;
    const Variances variances = variances_of(plausible.parameters);
    auto observations = history.weighed(known, plausible);
    if (start) set_apart(observations, *start, variances.roughness);
    const auto [mean, covariance] =
        Surrogate(observations, plausible.parameters).of_sets(features, compared.sets);
    all.mean += weight * mean;
    all.covariance += weight * (covariance + mean * mean.transpose());
    all.training_variance += weight * (variances.noise + variances.seed);
  }
  all.covariance -= all.mean * all.mean.transpose();
  // The values' own scale is estimated from them: the variance of Student's t for it.
  const auto n = static_cast<double>(known.points.cols());
  constexpr double widest = 4;  // of three values it would be infinite
  const double wider = n > 3 ? (n - 1) / (n - 3) : widest;
  all.covariance *= wider;
  all.training_variance *= wider;
  for (const int set : compared.sets) all.trials.push_back(history.first_completed(set)->trial);
  return all;
}

// Its place. The start, where it completed, has the first one.
Index recommended(const Posterior& posterior, bool start_completed) {
  for (const Index i : ranking(posterior.mean, posterior.mean.size())) {
    if (!start_completed || i == 0 || posterior.better(i, 0) >= least_probability_better) return i;
  }
  return 0;
}

// How sure it is that none is better than the best, and which training would tell most: of the best
// or of its most likely rival, whichever is known less. Those that are being trained are not.
void doubt(Posterior posterior, Index best, std::span<const int> pending, Standing& result) {
  const auto is_pending = [&](Index i) {
    return std::ranges::count(pending, posterior.trials[static_cast<std::size_t>(i)]) > 0;
  };
  for (Index i = 0; i < posterior.mean.size(); ++i) {
    if (is_pending(i)) posterior.observe(i);
  }
  std::optional<Index> rival;
  double least = -1;
  for (Index i = 0; i < posterior.mean.size(); ++i) {
    if (i == best) continue;
    const double better = posterior.better(i, best);
    if (better > result.doubt) {
      result.doubt = better;
      result.rival = posterior.trials[static_cast<std::size_t>(i)];
    }
    if (better <= least || is_pending(i)) continue;
    least = better;
    rival = i;
  }
  std::optional<Index> less_known = rival;
  if (!is_pending(best) && (!rival || posterior.sd(best) >= posterior.sd(*rival)))
    less_known = best;
  if (less_known) result.undecided = posterior.trials[static_cast<std::size_t>(*less_known)];
}

// Of a set of which the model knows only that it is bad: what it gave.
Expectation observed_of(const std::vector<double>& fitnesses) {
  const auto [low, high] = std::ranges::minmax(fitnesses);
  const double sum = std::accumulate(fitnesses.begin(), fitnesses.end(), 0.0);
  return {.mean = sum / static_cast<double>(fitnesses.size()), .low = low, .high = high};
}

// Without luck, what a set gave is what it is expected to give.
Standing standing_without_luck(const History& history, const hyp::Genes& start) {
  const auto candidate = [](const Observation& one) {
    return Candidate{.trial = one.trial, .expectation = {one.fitness, one.fitness, one.fitness}};
  };
  const Observation& best = *history.best_completed();
  const Observation* of_start = history.first_completed(start);
  if (!of_start) return {.start = std::nullopt, .best = candidate(best)};
  const bool is_better = best.fitness > of_start->fitness;
  return {.start = candidate(*of_start),
          .best = candidate(is_better ? best : *of_start),
          .better = is_better ? 1.0 : 0.0};
}

}  // namespace

double Posterior::sd(Index i) const {
  return std::sqrt(covariance(i, i));
}

double Posterior::better(Index i, Index j) const {
  const double variance = covariance(i, i) + covariance(j, j) - 2 * covariance(i, j);
  return normal_cdf((mean[i] - mean[j]) / std::sqrt(std::max(variance, 1e-12)));
}

void Posterior::observe(Index i) {
  const VectorXd shared = covariance.col(i);
  covariance -= shared * shared.transpose() / (shared[i] + training_variance);
}

std::optional<Judgement> judgement(std::span<const hyp::Gene> space, History& history,
                                   const hyp::Genes& start) {
  constexpr int least_completed = 3;
  constexpr double sds_of_90_percent = 1.6448536269514722;
  if (history.completed() < least_completed) return std::nullopt;
  if (history.deterministic() || history.all_alike())
    return Judgement{.standing = standing_without_luck(history, start)};
  const KernelParameters& parameters = history.parameters();
  const Compared compared = compared_sets(space, start, history, parameters);
  // What is best may all have been looked at before its end.
  if (compared.sets.empty()) return std::nullopt;
  const auto known = history.around(compared.sets, compared_points, parameters);
  const auto number_of_start = history.number_of(start);
  Posterior posterior = posterior_of(space, history, number_of_start, known, compared);
  const bool start_completed = compared.sets.front() == number_of_start;

  const auto candidate = [&](Index i) {
    const double m = posterior.mean[i], sd = posterior.sd(i);
    const auto fitness = [&](double mean, double variance) {
      return unwarped(known.warping, mean, std::sqrt(variance)).mean;
    };
    return Candidate{
        .trial = posterior.trials[static_cast<std::size_t>(i)],
        .expectation = {.mean = fitness(m, posterior.training_variance + sd * sd),
                        .low = fitness(m - sds_of_90_percent * sd, posterior.training_variance),
                        .high = fitness(m + sds_of_90_percent * sd, posterior.training_variance)}};
  };
  const Index best = recommended(posterior, start_completed);
  Standing result;
  result.best = candidate(best);
  result.median = known.warping.of_losses();
  result.training_sd =
      unwarped(known.warping, posterior.mean[best], std::sqrt(posterior.training_variance)).sd;
  if (start_completed) {
    result.start = candidate(0);
    if (best != 0) result.better = posterior.better(best, 0);
  } else if (const Observation* of_start = history.first_completed(start);
             of_start && history.learnt_nothing(*history.number_of(start))) {
    result.start =
        Candidate{.trial = of_start->trial,
                  .expectation = observed_of(history.fitnesses_of(*history.number_of(start)))};
    result.better = 1;
  }
  return Judgement{.standing = result, .posterior = std::move(posterior), .best = best};
}

Standing standing(const Judgement& judged, std::span<const int> pending) {
  Standing result = judged.standing;
  if (!judged.posterior.trials.empty()) doubt(judged.posterior, judged.best, pending, result);
  return result;
}

std::optional<Standing> standing(std::span<const hyp::Gene> space, History& history,
                                 const hyp::Genes& start, std::span<const int> pending) {
  const auto judged = judgement(space, history, start);
  return judged ? std::optional(standing(*judged, pending)) : std::nullopt;
}

}  // namespace evolve::ga
