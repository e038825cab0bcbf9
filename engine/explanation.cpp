#include "engine/explanation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/error.hpp"
#include "core/number.hpp"
#include "core/shell_word.hpp"
#include "engine/extension.hpp"
#include "ga/importance.hpp"
#include "ga/model/history.hpp"
#include "ga/model/observation.hpp"
#include "ga/model/surrogate.hpp"
#include "ga/model/unit_cube.hpp"
#include "ga/random/sobol.hpp"

namespace evolve::engine {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// Of the model; more would take minutes.
constexpr Index most_points = 1000;

/// What ended.
struct Ended {
  /// Trials that were not stopped, and repeats of them.
  ga::History all;
  /// Of the completed ones, in the order of completion.
  std::vector<hyp::Genes> genes;
  std::vector<double> fitness;
  /// Of each gene: whether any two of these trials had different values.
  std::vector<bool> varied;
};

/// What a fitness counts as at least. Of the worst tenth of the trials this says that they are bad,
/// not how bad: one collapse would make the gene that was unlike others then explain everything.
double least_fitness(const RunState& state) {
  std::vector<double> all;
  for (const auto& trial : state.completed()) all.push_back(trial.fitness);
  if (all.empty()) return 0;
  std::ranges::sort(all);
  const double least = all[std::min(all.size() - 1, (all.size() + 9) / 10)];
  return least < all.back() ? least : all.front();  // the others may be all alike
}

/// Those that say what their sets are worth: not the stopped ones, whose fitness may be that of a
/// third of a training; enough of the bad ones are trained to their end. Of very many some, evenly.
std::vector<int> telling(const RunState& state) {
  std::vector<int> all;
  for (const int trial : state.ended())
    if (state.evolution().observation(trial)->ending != ga::Observation::Ending::stopped)
      all.push_back(trial);
  const std::size_t count = std::min<std::size_t>(most_points, all.size());
  for (std::size_t i = 0; i < count; ++i) all[i] = all[i * all.size() / count];
  all.resize(count);
  return all;
}

Ended ended(const RunState& state, const std::vector<hyp::Gene>& evolved) {
  const double least = least_fitness(state);
  const auto told = [&](ga::Observation observation) {
    if (observation.ending == ga::Observation::Ending::completed)
      observation.fitness = std::max(observation.fitness, least);
    return observation;
  };
  Ended ended{.all = ga::History(evolved), .varied = std::vector<bool>(evolved.size())};
  for (const int trial : state.ended()) {
    const auto& observation = *state.evolution().observation(trial);
    if (observation.ending != ga::Observation::Ending::completed) continue;
    ended.genes.push_back(state.evolution().genes(trial));
    ended.fitness.push_back(observation.fitness);
  }
  const auto known = telling(state);
  for (const int trial : known) {
    const auto& genes = state.evolution().genes(trial);
    const auto& first = state.evolution().genes(known.front());
    for (std::size_t i = 0; i < genes.size(); ++i)
      if (genes[i] != first[i]) ended.varied[i] = true;
    ended.all.add(genes, told(*state.evolution().observation(trial)));
  }
  for (const auto& [trial, observation] : state.evolution().ended_repeats())
    ended.all.add(state.evolution().genes(trial), told(observation));
  return ended;
}

/// The command that lets so many more trials complete, if all goes well.
std::string more_trials(const RunState& state, std::int64_t more, const std::string& run) {
  const auto& search = state.evolution();
  const auto trainings = more + state.repeats().wanted();
  auto command = "evolve --resume " + core::shell_folder(run);
  const auto to_come = search.planned() - search.ended();
  if (!state.finished() && to_come >= more) return command;
  if (to_come < more)
    command += fmt::format(" --trials {}",
                           search.planned() + state.repeats().begun_in_all() + trainings - to_come);
  if (search.settings().max_epochs)
    command += fmt::format(" --max-epochs {}", epochs_with(state, trainings));
  return command;
}

void check(const std::vector<double>& fitness, const RunState& state, const std::string& run) {
  const auto missing = least_explained - std::ssize(fitness);
  if (missing > 0) {
    throw bad_input({run},
                    core::counted(std::ssize(fitness), "trial") +
                        " of this run completed, too few to explain anything",
                    fmt::format("explain it when {} have: {}", least_explained,
                                more_trials(state, missing, run)));
  }
  const auto [low, high] = std::minmax_element(fitness.begin(), fitness.end());
  if (*low < *high) return;
  throw bad_input(
      {run}, fmt::format("all trials have the fitness {:.4g}, no gene made a difference", *low),
      "evolve more trials, more genes or wider ranges");
}

class Explainer {
 public:
  Explainer(std::vector<hyp::Gene> space, Ended ended)
      : space_(std::move(space)),
        ended_(std::move(ended)),
        selection_(ended_.all.select(ended_.all.size(), most_points, ended_.all.parameters())),
        surrogate_(selection_.observations, ended_.all.parameters()),
        best_(static_cast<std::size_t>(
            std::max_element(ended_.fitness.begin(), ended_.fitness.end()) -
            ended_.fitness.begin())) {}

  results::Explanation explanation() const;

 private:
  static constexpr Index samples = 2048;
  static constexpr int steps = 100;

  MatrixXd sets_at(MatrixXd points) const;
  double value_at(std::size_t gene, int step) const;
  VectorXd mean_at(MatrixXd points) const;
  /// The share of the mean's variance in all variance: the model's own is on average `1 - known` of
  /// it (law of total variance).
  double known(double variance) const;
  std::vector<results::GeneExplanation::Expectation> along(std::size_t gene) const;
  double loss(std::size_t gene,
              const std::vector<results::GeneExplanation::Expectation>& along) const;
  double r2() const;
  Index dimensions() const { return std::ssize(space_); }

  std::vector<hyp::Gene> space_;
  Ended ended_;
  ga::History::Selection selection_;
  ga::Surrogate surrogate_;
  /// Position of the best completed trial.
  std::size_t best_;
};

/// The nearest sets to these points. Of a gene that never varied nothing is known: it keeps its
/// value.
MatrixXd Explainer::sets_at(MatrixXd points) const {
  for (Index i = 0; i < points.cols(); ++i) {
    auto genes = ga::genes_at(space_, points.col(i));
    for (std::size_t gene = 0; gene < genes.size(); ++gene)
      if (!ended_.varied[gene]) genes[gene] = ended_.genes[best_][gene];
    points.col(i) = ga::point_of(space_, genes);
  }
  return points;
}

VectorXd Explainer::mean_at(MatrixXd points) const {
  return surrogate_.mean(ga::features_of(space_, sets_at(std::move(points))));
}

double Explainer::known(double variance) const {
  ga::Rng rng(0);
  const MatrixXd points = sets_at(ga::sobol_points(dimensions(), samples, rng));
  const VectorXd sd = surrogate_.predict(ga::features_of(space_, points)).sd;
  return variance / (variance + sd.squaredNorm() / static_cast<double>(samples));
}

std::vector<results::GeneExplanation::Expectation> Explainer::along(std::size_t gene) const {
  std::vector<double> values;
  for (int i = 0; i <= steps; ++i) {
    const double value = value_at(gene, i);
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
      return selection_.warping.unwarped(at.mean[i] + sds * at.sd[i]);
    };
    along.push_back({values[static_cast<std::size_t>(i)], fitness(-1), fitness(0), fitness(1)});
  }
  return along;
}

// Along a gene's axis: a whole number at the low end of a log axis has many of the steps.
double Explainer::value_at(std::size_t gene, int step) const {
  return hyp::from_unit(space_[gene], static_cast<double>(step) / steps);
}

double Explainer::loss(std::size_t gene,
                       const std::vector<results::GeneExplanation::Expectation>& along) const {
  // Far below the median the model knows the order only: nothing is worse than what was seen.
  const double worst = *std::min_element(ended_.fitness.begin(), ended_.fitness.end());
  double sum = 0;
  auto at = along.begin();
  for (int i = 0; i <= steps; ++i) {
    if (value_at(gene, i) > at->value) ++at;
    sum += std::max(at->mean, worst);
  }
  const double best =
      surrogate_.mean(ga::features_of(space_, ga::point_of(space_, ended_.genes[best_])))[0];
  return selection_.warping.unwarped(best) - sum / (steps + 1);
}

double Explainer::r2() const {
  const VectorXd& values = selection_.observations.values;
  const double variation = (values.array() - values.mean()).matrix().squaredNorm();
  return variation > 0 ? 1 - surrogate_.leave_one_out_errors().squaredNorm() / variation : 0;
}

results::Explanation Explainer::explanation() const {
  const auto shares = ga::importance([&](const MatrixXd& points) { return mean_at(points); },
                                     dimensions(), samples);
  results::Explanation explanation{.genes = {},
                                   .unvaried = {},
                                   .fitness = ended_.fitness,
                                   .best = best_,
                                   .known = known(shares.variance),
                                   .r2 = r2()};
  for (std::size_t i = 0; i < space_.size(); ++i) {
    const auto at = static_cast<Index>(i);
    if (!ended_.varied[i]) {
      explanation.unvaried.push_back({space_[i], ended_.genes[best_][i]});
      continue;
    }
    results::GeneExplanation gene{
        .gene = space_[i], .alone = shares.alone[at], .total = shares.total[at]};
    for (const auto& genes : ended_.genes) gene.values.push_back(genes[i]);
    gene.expected = along(i);
    gene.loss = loss(i, gene.expected);
    explanation.genes.push_back(std::move(gene));
  }
  std::stable_sort(explanation.genes.begin(), explanation.genes.end(),
                   [](const auto& a, const auto& b) { return a.total > b.total; });
  return explanation;
}

}  // namespace

bool is_explained_soon(const RunState& state) {
  constexpr std::ptrdiff_t most = 3'000'000;
  const auto genes = std::ssize(hyp::evolved_genes(state.evolution().space()));
  const auto points = std::min<std::ptrdiff_t>(most_points, std::ssize(state.ended()));
  return points * genes * genes <= most;
}

results::Explanation explain(const RunState& state, const std::string& run) {
  auto evolved = hyp::evolved_genes(state.evolution().space());
  auto trials = ended(state, evolved);
  check(trials.fitness, state, run);
  return Explainer(std::move(evolved), std::move(trials)).explanation();
}

std::optional<results::Explanation> explanation_if_any(const RunState& state) {
  try {
    return explain(state, "");
  } catch (const Error&) {
    return {};
  }
}

}  // namespace evolve::engine
