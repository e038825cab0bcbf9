#include "cli/explanation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "cli/screen.hpp"
#include "ga/history.hpp"
#include "ga/importance.hpp"
#include "ga/sobol.hpp"
#include "ga/surrogate.hpp"
#include "ga/unit_cube.hpp"
#include "core/error.hpp"
#include "results/gene_axis.hpp"

namespace evolve::cli {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using Genes = std::vector<hyp::Gene>;

/// What a journal says of the trials that ended.
struct Ended {
  ga::History all;
  /// Of the completed ones, in the order of completion.
  std::vector<hyp::Genes> genes;
  std::vector<double> fitness;
};

Ended ended(const hyp::Space& space, const Genes& evolved,
            const std::vector<results::Event>& events, const std::string& run) {
  Ended ended{.all = ga::History(evolved)};
  std::map<int, hyp::Genes> started;
  for (const auto& event : events) {
    if (const auto* start = std::get_if<results::Started>(&event)) {
      started[start->trial] = hyp::genes_of(space, start->hyp);
    }
    const auto* outcome = std::get_if<hyp::Outcome>(&event);
    if (!outcome || outcome->repeat) continue;
    if (!hyp::ends_trial(*outcome)) continue;
    const auto observation = ga::observation_of(*outcome);
    const auto found = started.find(outcome->trial);
    if (found == started.end()) {
      throw bad_input({run}, fmt::format("trial {} ended but never started", outcome->trial),
                      "restore its journal from a copy");
    }
    const auto& genes = found->second;
    ended.all.add(genes, observation);
    if (observation.ending != ga::Observation::Ending::completed) continue;
    ended.genes.push_back(genes);
    ended.fitness.push_back(observation.fitness);
  }
  return ended;
}

void check(const std::vector<double>& fitness, const std::string& run) {
  if (std::ssize(fitness) < least_explained) {
    throw bad_input(
        {run},
        fmt::format("{} of this run completed, too few to explain anything",
                    counted(std::ssize(fitness), "trial")),
        fmt::format("explain it when {} have: evolve --resume {}", least_explained, run));
  }
  const auto [low, high] = std::minmax_element(fitness.begin(), fitness.end());
  if (*low < *high) return;
  throw bad_input(
      {run}, fmt::format("all trials have the fitness {:.4g}, no gene made a difference", *low),
      "evolve more trials, more genes or wider ranges");
}

class Explainer {
 public:
  Explainer(Genes space, Ended ended)
      : space_(std::move(space)),
        ended_(std::move(ended)),
        selection_(ended_.all.select(ended_.all.size(), most_points, ended_.all.parameters())),
        surrogate_(selection_.observations, MatrixXd(selection_.observations.features.rows(), 0),
                   ended_.all.parameters()),
        best_(static_cast<std::size_t>(
            std::max_element(ended_.fitness.begin(), ended_.fitness.end()) -
            ended_.fitness.begin())) {}

  results::Explanation explanation() const;

 private:
  /// More would take minutes.
  static constexpr Index most_points = 1000;
  static constexpr Index samples = 2048;

  VectorXd mean_at(MatrixXd points) const;
  /// The share of the mean's variance in all variance: the model's own is on average `1 - known` of
  /// it (law of total variance).
  double known(double variance) const;
  std::vector<results::GeneExplanation::Expectation> along(std::size_t gene) const;
  double loss(const std::vector<results::GeneExplanation::Expectation>& along) const;
  double r2() const;
  Index dimensions() const { return std::ssize(space_); }

  Genes space_;
  Ended ended_;
  ga::History::Selection selection_;
  ga::Surrogate surrogate_;
  /// Position of the best completed trial.
  std::size_t best_;
};

/// The model's mean at the nearest sets to these points.
VectorXd Explainer::mean_at(MatrixXd points) const {
  for (Index i = 0; i < points.cols(); ++i) {
    points.col(i) = ga::point_of(space_, ga::genes_at(space_, points.col(i)));
  }
  return surrogate_.mean(ga::features_of(space_, points));
}

double Explainer::known(double variance) const {
  ga::Rng rng(0);
  const MatrixXd points = ga::sobol_points(dimensions(), samples, rng);
  const VectorXd sd = surrogate_.predict(ga::features_of(space_, points)).sd;
  return variance / (variance + sd.squaredNorm() / static_cast<double>(samples));
}

std::vector<results::GeneExplanation::Expectation> Explainer::along(std::size_t gene) const {
  constexpr int steps = 100;
  std::vector<double> values;
  for (int i = 0; i <= steps; ++i) {
    const double value = hyp::from_unit(space_[gene], static_cast<double>(i) / steps);
    if (values.empty() || value > values.back()) values.push_back(value);
  }
  MatrixXd points(dimensions(), std::ssize(values));
  hyp::Genes genes = ended_.genes[best_];
  for (Index i = 0; i < points.cols(); ++i) {
    genes[gene] = values[static_cast<std::size_t>(i)];
    points.col(i) = ga::point_of(space_, genes);
  }
  const auto at = surrogate_.predict(ga::features_of(space_, points));
  std::vector<results::GeneExplanation::Expectation> along;
  for (Index i = 0; i < points.cols(); ++i) {
    const auto fitness = [&](double sds) {
      return selection_.warping.undone(at.mean[i] + sds * at.sd[i]);
    };
    along.push_back({values[static_cast<std::size_t>(i)], fitness(-1), fitness(0), fitness(1)});
  }
  return along;
}

double Explainer::loss(const std::vector<results::GeneExplanation::Expectation>& along) const {
  // Far below the median the model knows the order only: nothing is worse than what was seen.
  const double worst = *std::min_element(ended_.fitness.begin(), ended_.fitness.end());
  double sum = 0;
  for (const auto& at : along) sum += std::max(at.mean, worst);
  const double best =
      surrogate_.mean(ga::features_of(space_, ga::point_of(space_, ended_.genes[best_])))[0];
  return selection_.warping.undone(best) - sum / static_cast<double>(along.size());
}

double Explainer::r2() const {
  const VectorXd& values = selection_.observations.values;
  return 1 - surrogate_.leave_one_out_errors().squaredNorm() /
                 (values.array() - values.mean()).matrix().squaredNorm();
}

results::Explanation Explainer::explanation() const {
  const auto shares = ga::importance([&](const MatrixXd& points) { return mean_at(points); },
                                     dimensions(), samples);
  results::Explanation explanation{.genes = {},
                                   .fitness = ended_.fitness,
                                   .best = best_,
                                   .known = known(shares.variance),
                                   .r2 = r2()};
  for (std::size_t i = 0; i < space_.size(); ++i) {
    const auto at = static_cast<Index>(i);
    results::GeneExplanation gene{
        .gene = space_[i], .alone = shares.alone[at], .total = shares.total[at]};
    for (const auto& genes : ended_.genes) gene.values.push_back(genes[i]);
    gene.expected = along(i);
    gene.loss = loss(gene.expected);
    explanation.genes.push_back(std::move(gene));
  }
  std::stable_sort(explanation.genes.begin(), explanation.genes.end(),
                   [](const auto& a, const auto& b) { return a.total > b.total; });
  return explanation;
}

std::string percent(double share) {
  return fmt::format("{:.0f} %", 100 * share);
}

std::string bar(double alone, double total, double full) {
  constexpr double width = 9;
  const auto blocks = [&](double share) { return std::lround(share / full * width); };
  std::string text;
  for (long i = 0; i < blocks(total); ++i) text += i < blocks(alone) ? "█" : "░";
  return text;
}

/// What the prediction of left out trials says of all the rest.
std::string verdict(double r2) {
  if (r2 >= 0.5) return "";
  if (r2 >= 0.2) return ": trust the large shares only";
  return ": these figures mean little, more trials would help";
}

}  // namespace

results::Explanation explain(const hyp::Space& space, const std::vector<results::Event>& events,
                             const std::string& run) {
  Genes evolved;
  for (const auto i : space.evolved()) evolved.push_back(space.genes[i]);
  auto trials = ended(space, evolved, events, run);
  check(trials.fitness, run);
  return Explainer(std::move(evolved), std::move(trials)).explanation();
}

std::vector<std::string> description(const results::Explanation& explanation) {
  std::size_t width = 4;
  for (const auto& gene : explanation.genes) width = std::max(width, gene.gene.name.size());
  std::vector<std::string> lines;
  lines.push_back(fmt::format("{} completed, best fitness {:.4g}",
                              counted(std::ssize(explanation.fitness), "trial"),
                              explanation.fitness[explanation.best]));
  lines.push_back(fmt::format("{:{}}  share of the variation     loss by", "", width));
  lines.push_back(fmt::format("{:{}}  alone  total{:13}chance  start → best", "gene", width, ""));
  const double full = explanation.genes.front().total;
  for (const auto& gene : explanation.genes) {
    const auto name = [&](double value) { return results::value_name(value, &gene.gene); };
    lines.push_back(fmt::format("{:{}}  {:>5}  {:>5}  {:9}  {:>6.3f}  {} → {}", gene.gene.name,
                                width, percent(gene.alone), percent(gene.total),
                                bar(gene.alone, gene.total, full), gene.loss, name(gene.gene.start),
                                name(gene.values[explanation.best])));
  }
  lines.push_back("alone: what the gene explains by itself; total: with its part in interactions");
  lines.push_back("loss by chance: fitness that any value instead of the best costs on average");
  lines.push_back(fmt::format("the trials pin down {} of that variation, {}",
                              percent(explanation.known),
                              explanation.known < 0.1 ? "the rest is extrapolated: go by the loss"
                                                      : "the rest is the model's guess"));
  lines.push_back(fmt::format("predicting each trial from the others, the model has R² {:.2f}{}",
                              explanation.r2, verdict(explanation.r2)));
  return lines;
}

}  // namespace evolve::cli
