#include "ga/model/history.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <unordered_set>
#include <utility>

#include "ga/model/fit.hpp"
#include "ga/model/outliers.hpp"
#include "ga/model/ranking.hpp"
#include "ga/model/surrogate.hpp"
#include "ga/random/rng.hpp"

namespace evolve::ga {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double least_weight = 0.01;  // relative to the greatest
constexpr Index fitted_points = 150;   // at most

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

// Places evenly spread over `n`, `most` at most.
std::vector<Index> spread(Index n, Index most) {
  const Index count = std::min(n, most);
  std::vector<Index> places;
  for (Index i = 0; i < count; ++i) places.push_back(i * n / count);
  return places;
}
Observations thinned(const Observations& all, Index most) {
  return all.of(spread(all.values.size(), most));
}

}  // namespace

History::History(std::vector<hyp::Gene> space)
    : space_(std::move(space)),
      gene_of_(genes_of_features(space_)),
      parameters_(prior_mode(static_cast<Index>(space_.size()))) {}

void History::add(const hyp::Genes& genes, const Observation& observation) {
  const auto set = sets_.try_emplace(genes, static_cast<int>(first_.size())).first->second;
  const bool has_fitness = observation.ending == Observation::Ending::completed ||
                           observation.ending == Observation::Ending::at_rung;
  if (has_fitness && !known_
                          .emplace(set, seed_number(observation.trial, observation.repeat),
                                   observation.left, observation.fitness)
                          .second)
    return;
  points_.push_back(point_of(space_, genes));
  features_.push_back(features_of(space_, points_.back()));
  tells_sets_apart_ = tells_sets_apart_ || (!observation_.empty() &&
                                            (observation_.back().ending != observation.ending ||
                                             observation_.back().fitness != observation.fitness));
  observation_.push_back(observation);
  noise_.push_back(1);
  const auto entry = static_cast<int>(first_.size());
  first_.push_back(set);
  training_.push_back(
      trainings_.try_emplace({observation.trial, observation.repeat}, entry).first->second);
  if (observation.ending == Observation::Ending::completed) {
    ++completed_;
    if (++completed_of_[set] == 2) second_completed_ = size();
  }
  if (observation.ending == Observation::Ending::at_rung)
    first_at_rung_ = std::min(first_at_rung_, Index{entry});
}

History::Selection History::select(Index length, Index most,
                                   const KernelParameters& parameters) const {
  const Targets targets = targets_of({observation_.data(), static_cast<std::size_t>(length)});
  const auto order = best_and_nearest(targets, most, parameters);
  return selection_of(order, targets, OutputWarping(targets.values(order)));
}

History::Selection History::around(std::span<const int> sets, Index most,
                                   const KernelParameters& parameters) const {
  VectorXd distances = VectorXd::Constant(size(), std::numeric_limits<double>::infinity());
  for (const int set : sets)
    distances = distances.cwiseMin(squared_distances_from(set, size(), parameters));
  const Targets targets = targets_of(observation_);
  const auto weighed = telling(best_and_nearest(targets, model_points, parameters), size());
  auto nearest = telling(ranking(-distances, size()), size());
  if (std::ssize(nearest) > most) nearest.resize(static_cast<std::size_t>(most));
  return selection_of(nearest, targets, OutputWarping(targets.values(weighed)));
}

std::vector<Index> History::telling(std::vector<Index> entries, Index length) const {
  constexpr std::ptrdiff_t enough = 3;
  using Ending = Observation::Ending;
  const auto of = [&](Index entry) -> const Observation& {
    return observation_[static_cast<std::size_t>(entry)];
  };
  const bool negative =
      can_be_negative(std::span(observation_).first(static_cast<std::size_t>(length)));
  const auto tells = [&](Index entry) {
    return of(entry).ending != Ending::failed && !ga::learnt_nothing(of(entry), negative);
  };
  const auto completed = std::ranges::count_if(
      entries, [&](Index entry) { return tells(entry) && of(entry).ending == Ending::completed; });
  if (completed >= enough) std::erase_if(entries, std::not_fn(tells));
  return entries;
}

std::vector<Index> History::best_and_nearest(const Targets& targets, Index most,
                                             const KernelParameters& parameters) const {
  const std::vector<Index> best = ranking(targets.values, most);
  const std::vector<Index> nearest =
      ranking(-squared_distances_from(best.front(), targets.values.size(), parameters), most);
  return one_and_two(best, nearest);
}

History::Selection History::selection_of(const std::vector<Index>& order, const Targets& targets,
                                         const OutputWarping& warping) const {
  Points points(static_cast<Index>(space_.size()), static_cast<Index>(order.size()));
  std::vector<int> seeds, sets;
  Curves curves{.parameters = curve_parameters_};
  if (any_at_rung(size())) curves.left = VectorXd::Zero(points.cols());
  for (Index i = 0; i < points.cols(); ++i) {
    const auto entry = static_cast<std::size_t>(order[static_cast<std::size_t>(i)]);
    points.col(i) = points_[entry];
    sets.push_back(first_[entry]);
    seeds.push_back(seed_number(observation_[entry].trial, observation_[entry].repeat));
    if (!any_at_rung(size())) continue;
    curves.left[i] = observation_[entry].left;
    curves.training.push_back(training_[entry]);
  }
  const VectorXd values = targets.values(order);
  VectorXd noise = targets.noise(order);
  for (Index i = 0; i < noise.size(); ++i)
    noise[i] *= noise_[static_cast<std::size_t>(order[static_cast<std::size_t>(i)])];
  return {.points = points,
          .observations = {.features = features_of(space_, points),
                           .gene_of = gene_of_,
                           .values = warping(values),
                           .noise = std::move(noise),
                           .seed = std::move(seeds),
                           .set = std::move(sets),
                           .curves = std::move(curves)},
          .warping = warping,
          .entries = order};
}

Observations History::unweighed(const Selection& known) const {
  Observations observations = known.observations;
  for (Index i = 0; i < observations.noise.size(); ++i)
    observations.noise[i] /=
        noise_[static_cast<std::size_t>(known.entries[static_cast<std::size_t>(i)])];
  return observations;
}

Observations History::weighed(const Selection& known, const Plausible& under) const {
  Observations observations = known.observations;
  observations.roughness = VectorXd::Ones(observations.noise.size());
  for (Index i = 0; i < observations.noise.size(); ++i) {
    const auto place = static_cast<std::size_t>(i);
    const Index entry = known.entries[place];
    if (const auto judged = judged_.find(entry); judged != judged_.end())
      observations.noise[i] *=
          under.noise[judged->second] / noise_[static_cast<std::size_t>(entry)];
    // All trainings of a set have its factor, those too that came later.
    if (const auto set = judged_sets_.find(observations.set[place]); set != judged_sets_.end())
      observations.roughness[i] = under.roughness[set->second];
  }
  return observations;
}

KernelParameters History::robust_parameters(const Observations& known) const {
  constexpr int rounds = 2;
  KernelParameters parameters = parameters_;
  if (fitted_ > fitted_points) return parameters;
  Observations weighed = known;
  for (int i = 0; i < rounds; ++i) {
    if (i > 0) weighed.noise = outliers(known, parameters).noise;
    parameters = fitted(weighed, parameters, fitted_);
  }
  return parameters;
}

VectorXd History::squared_distances_from(Index centre, Index length,
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

// The search knows of odd trainings only (ga/model/outliers.hpp), from one length to the next. Not
// of looks before the end: what a curve does there is no noise.
void History::weigh_outliers(Index length) {
  constexpr int iterations = 3;
  if (any_at_rung(length)) return;
  for (int i = 0; i < iterations; ++i) {
    const auto known = select(length, model_points, parameters_);
    const Conditioned model = Surrogate(known.observations, parameters_).posterior();
    const VectorXd squares = noise_squares(model, inverse_factor(model.factor));
    for (Index k = 0; k < squares.size(); ++k) {
      double& factor = noise_[static_cast<std::size_t>(known.entries[static_cast<std::size_t>(k)])];
      factor = odd_factor(squares[k] * factor / known.observations.noise[k]);
    }
  }
}

const KernelParameters& History::parameters() {
  constexpr Index most_for_curves = 100;
  for (; next_fit_ <= size(); next_fit_ = std::max(next_fit_ + 1, next_fit_ * 11 / 10)) {
    fitted_ = next_fit_;
    // Late in a run the best and the nearest are so much alike that they differ by noise alone:
    // then a sample of more of them is taken.
    const Index looked_at = next_fit_ > model_points ? model_points : fitted_points;
    Observations known =
        thinned(select(next_fit_, looked_at, parameters_).observations, fitted_points);
    const Observations some = thinned(known, most_for_curves);
    if (some.curves.any()) curve_parameters_ = fitted_curves(some, parameters_);
    known.curves.parameters = curve_parameters_;
    parameters_ = fitted(known, parameters_, next_fit_);
    weigh_outliers(next_fit_);
  }
  return parameters_;
}

const std::vector<History::Plausible>& History::plausible() {
  const KernelParameters& best = parameters();
  // Among looks a set can be odd from its second end on, which says at once that it is.
  const Index length =
      any_at_rung(second_completed_) ? std::max(fitted_, second_completed_) : fitted_;
  if (weighed_ == length) return plausible_;
  weighed_ = length;
  const Targets targets = targets_of({observation_.data(), static_cast<std::size_t>(length)});
  const auto entries = telling(best_and_nearest(targets, model_points, best), length);
  const Selection all = selection_of(entries, targets, OutputWarping(targets.values(entries)));
  const auto places = spread(all.points.cols(), compared_points);
  const Observations known = unweighed(all).of(places);
  judged_.clear();
  judged_sets_.clear();
  for (Index i = 0; i < std::ssize(places); ++i) {
    judged_[all.entries[static_cast<std::size_t>(places[static_cast<std::size_t>(i)])]] = i;
    judged_sets_[known.set[static_cast<std::size_t>(i)]] = i;
  }
  std::vector<double> logarithms;
  plausible_.clear();
  const auto genes = static_cast<Index>(space_.size());
  VectorXd lengths;
  MatrixXd signal;  // the same for all with these lengths
  for (const auto& [parameters, log_prior] : variations(robust_parameters(known), fitted_)) {
    if (lengths.size() == 0 || lengths != parameters.head(genes)) {
      lengths = parameters.head(genes);
      signal = signal_of(known, parameters);
    }
    Outliers odd = outliers(known, parameters, signal);
    logarithms.push_back(log_prior + odd.log_likelihood);
    plausible_.push_back({.parameters = parameters,
                          .noise = odd.noise.cwiseQuotient(known.noise),
                          .roughness = std::move(odd.roughness)});
  }
  const double greatest = std::ranges::max(logarithms);
  double sum = 0;
  for (std::size_t i = 0; i < plausible_.size(); ++i) {
    plausible_[i].weight = std::exp(logarithms[i] - greatest);
    if (plausible_[i].weight < least_weight) plausible_[i].weight = 0;
    sum += plausible_[i].weight;
  }
  std::erase_if(plausible_, [](const Plausible& one) { return one.weight == 0; });
  for (Plausible& one : plausible_) one.weight /= sum;
  return plausible_;
}

std::optional<int> History::number_of(const hyp::Genes& genes) const {
  const auto found = sets_.find(genes);
  if (found == sets_.end()) return std::nullopt;
  return found->second;
}

const Observation* History::first_completed(int set) const {
  const Observation* first = nullptr;
  for (std::size_t i = static_cast<std::size_t>(set); i < first_.size(); ++i) {
    const Observation& one = observation_[i];
    if (first_[i] != set || one.ending != Observation::Ending::completed) continue;
    if (!first || one.trial < first->trial) first = &one;
  }
  return first;
}

const Observation* History::first_completed(const hyp::Genes& genes) const {
  const auto set = number_of(genes);
  return set ? first_completed(*set) : nullptr;
}

const Observation* History::best_completed() const {
  const Observation* best = nullptr;
  for (const Observation& one : observation_) {
    if (one.ending != Observation::Ending::completed) continue;
    if (!best || one.fitness > best->fitness) best = &one;
  }
  return best;
}

bool History::learnt_nothing(int set) const {
  const auto gave = fitnesses_of(set);
  if (gave.empty()) return false;
  constexpr int enough = 5;  // of fewer two that lie close by chance make the others far
  if (can_be_negative(observation_))
    return completed_ >= enough && std::ranges::max(gave) < least_told(observation_);
  const bool others_learnt = std::ranges::any_of(observation_, [](const Observation& one) {
    return one.ending == Observation::Ending::completed && one.fitness > 0;
  });
  return others_learnt && std::ranges::max(gave) == 0;
}

std::vector<double> History::fitnesses_of(int set) const {
  std::vector<double> fitnesses;
  for (std::size_t i = 0; i < first_.size(); ++i)
    if (first_[i] == set && observation_[i].ending == Observation::Ending::completed)
      fitnesses.push_back(observation_[i].fitness);
  return fitnesses;
}

bool History::fails_as_often(int set) const {
  int failed = 0, completed = 0;
  const bool negative = can_be_negative(observation_);
  for (std::size_t i = 0; i < first_.size(); ++i) {
    const Observation& one = observation_[i];
    if (first_[i] != set) continue;
    const bool has_ended = one.ending == Observation::Ending::completed;
    const bool collapsed = has_ended && ga::learnt_nothing(one, negative);
    failed += one.ending == Observation::Ending::failed || collapsed;
    completed += has_ended && !collapsed;
  }
  return failed > 0 && failed >= completed;
}

bool History::all_alike() const {
  const Observation* best = best_completed();
  return std::ranges::all_of(observation_, [&](const Observation& one) {
    return one.ending != Observation::Ending::completed || one.fitness == best->fitness;
  });
}

bool History::deterministic() const {
  constexpr std::int64_t enough = 2, in = 100;  // one pair of sets in so many may be alike
  std::int64_t trained_again = 0, pairs = 0, alike = 0;
  std::map<int, const Observation*> first;          // of each set
  std::map<double, std::int64_t> fitnesses, again;  // sets that have it, trainings again
  for (std::size_t i = 0; i < first_.size(); ++i) {
    const Observation& now = observation_[i];
    if (now.ending != Observation::Ending::completed || now.fitness == 0) continue;
    const auto [entry, is_new] = first.try_emplace(first_[i], &now);
    const Observation& before = *entry->second;
    if (is_new) {
      pairs += std::ssize(first) - 1;
      alike += fitnesses[now.fitness]++;
    } else if (now.fitness != before.fitness) {
      return false;
    }
    if (seed_number(now.trial, now.repeat) == seed_number(before.trial, before.repeat)) continue;
    ++trained_again;
    ++again[now.fitness];
  }
  // What two sets have, and none has less, may be the level of chance, with whatever seed.
  if (!fitnesses.empty() && fitnesses.begin()->second > 1)
    trained_again -= again[fitnesses.begin()->first];
  return trained_again >= enough && (alike == 0 || in * alike < pairs);
}

}  // namespace evolve::ga
