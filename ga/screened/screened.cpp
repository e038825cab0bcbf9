#include "ga/screened/screened.hpp"

#include <algorithm>
#include <boost/random/normal_distribution.hpp>
#include <boost/random/uniform_01.hpp>
#include <boost/random/uniform_int_distribution.hpp>
#include <cmath>
#include <optional>
#include <utility>

#include "ga/classic/operators.hpp"
#include "ga/model/ranking.hpp"
#include "ga/random/sobol.hpp"
#include "ga/screened/acquisition.hpp"
#include "ga/screened/prior.hpp"
#include "ga/screened/unit_operators.hpp"

namespace evolve::ga {
namespace {

using Eigen::Index;
using Eigen::VectorXd;
using Space = std::span<const hyp::Gene>;

// Up to this many outcomes each child is the one of greatest expected improvement. Children bred
// otherwise make up for what the model gets wrong again and again, and that takes many outcomes.
constexpr Index few = 25;
// Before so many the start's choice has not been searched: another one's best costs what it gives.
constexpr Index enough_for_choices = 50;

Points best_of(const Points& points, const VectorXd& values, Index most) {
  return points(Eigen::seqN(0, points.rows()), ranking(values, most));
}

// Of those that the surrogate knows.
Points best_of(const Points& known, const Surrogate& surrogate, Index most) {
  return best_of(known, surrogate.posterior_mean(), most);
}

// Points near the best: 5 % of the points by their mean, each a little perturbed.
Points around(Space space, const Points& ranked, Index count, Rng& rng) {
  const double rate = std::min(1.0, 20.0 / static_cast<double>(space.size()));
  Points points(ranked.rows(), count);
  boost::random::uniform_int_distribution<Index> any(0, ranked.cols() - 1);
  boost::random::normal_distribution<double> normal(0, 1e-3);
  boost::random::uniform_01<double> chance;
  for (Index p = 0; p < count; ++p) {
    points.col(p) = ranked.col(any(rng));
    const double r = p < count / 2 ? rate : 1;
    for (Index i = 0; i < points.rows(); ++i) {
      if (chance(rng) < r) points(i, p) = stepped(points(i, p), normal(rng));
    }
  }
  return points;
}

void snap(Space space, Points& points) {
  for (Index i = 0; i < points.rows(); ++i) {
    const hyp::Gene& gene = space[static_cast<std::size_t>(i)];
    if (gene.kind == hyp::Gene::Kind::real) continue;
    for (double& unit : points.row(i)) unit = snapped(gene, unit);
  }
}

struct Candidates {
  Points points;
  VectorXd values;

  void add(const Points& more, const VectorXd& of_more) {
    const Index old = points.cols();
    points.conservativeResize(more.rows(), old + more.cols());
    points.rightCols(more.cols()) = more;
    values.conservativeResize(old + more.cols());
    values.tail(more.cols()) = of_more;
  }
};

// A gene and the place of its choice, which all children of a search have.
struct Held {
  Index gene = 0;
  double unit = 0;
};

std::vector<Index> genes_with_choices(Space space) {
  std::vector<Index> genes;
  for (Index i = 0; i < std::ssize(space); ++i) {
    const hyp::Gene& gene = space[static_cast<std::size_t>(i)];
    if (is_categorical(gene) && hyp::has_range(gene)) genes.push_back(i);
  }
  return genes;
}

// Another choice than `best` has, of one of these genes.
Held another_choice_of(Space space, const std::vector<Index>& genes, const VectorXd& best,
                       Rng& rng) {
  boost::random::uniform_int_distribution<std::size_t> any(0, genes.size() - 1);
  const Index i = genes[any(rng)];
  const hyp::Gene& gene = space[static_cast<std::size_t>(i)];
  return {.gene = i,
          .unit = hyp::to_unit(gene, another_choice(gene, hyp::from_unit(gene, best[i]), rng))};
}

// The inner genetic algorithm, from points of the prior and as many around the best of those that
// the surrogate knows. In the end the fittest few climb ("memetic algorithm": Moscato 1989).
Candidates search(Space space, const Acquisition& acquisition, const Surrogate& surrogate,
                  const Points& known, double trust, const std::optional<Held>& held, Rng& rng) {
  constexpr Index elite = 20, survivors = 30, children = 60, climbers = 4;
  constexpr int looks = 30;  // of each climber
  constexpr int generations = 5;
  const Index raw = known.cols() <= 250 ? 512 : 192;  // the more it knows, the dearer each look
  const Index a_twentieth = std::max(Index{1}, (known.cols() + 10) / 20);
  Candidates found{Points(known.rows(), 0), VectorXd(0)};
  const auto look_at = [&](Points points) {
    snap(space, points);
    if (held) points.row(held->gene).setConstant(held->unit);
    found.add(points, acquisition(points));
  };
  look_at(prior_points(space, raw, trust, rng));
  look_at(around(space, best_of(known, surrogate, a_twentieth), raw, rng));
  look_at(best_of(known, surrogate, elite));

  const auto n = static_cast<double>(space.size());
  const double broad = std::min(1.0, std::max(0.2, 6 / n)), narrow = 2 / n;
  boost::random::uniform_01<double> chance;
  double step = 0.2;
  for (int generation = 0; generation < generations; ++generation, step /= 2) {
    const Points parents = best_of(found.points, found.values, survivors);
    Points bred(known.rows(), children);
    for (Index c = 0; c < children; ++c) {
      const Index a = pick_parent(parents.cols(), rng), b = pick_parent(parents.cols(), rng);
      const double rate = chance(rng) < 0.5 ? broad : narrow;
      bred.col(c) =
          perturbed(space, crossed(space, parents.col(a), parents.col(b), rng), rate, step, rng);
    }
    look_at(std::move(bred));
  }
  Points tops = best_of(found.points, found.values, climbers);
  for (Index c = 0; c < tops.cols(); ++c) tops.col(c) = acquisition.maximised(tops.col(c), looks);
  look_at(std::move(tops));
  return found;
}

// Whether someone chose the start who knew, in the light of all that has ended: the model says how
// much of the space is better.
double trust(Space space, const Surrogate& surrogate, Rng& rng) {
  constexpr Index samples = 64;
  const double start = surrogate.mean(features_of(space, point_of(space, start_genes(space))))[0];
  const Points even = sobol_points(static_cast<Index>(space.size()), samples, rng);
  const auto there = surrogate.predict(features_of(space, even));
  const Eigen::ArrayXd above = (there.mean.array() - start) / there.sd.array();
  return trust_in_start(above.unaryExpr(&normal_cdf).mean());
}

Acquisition draw_acquisition(Space space, const Surrogate& surrogate, Index known, Rng& rng) {
  constexpr Index late = 100;
  constexpr double expected_share = 0.5, bound_share = 0.2;
  boost::random::uniform_01<double> chance;
  if (known >= late && chance(rng) < expected_share) {
    return Acquisition::expectation(space, surrogate);
  }
  if (known > few && chance(rng) < bound_share) {
    const double deviations = 0.3 * std::pow(2.5 / 0.3, chance(rng));
    return Acquisition::upper_bound(space, surrogate, deviations);
  }
  return Acquisition::improvement(space, surrogate);
}

// The fittest candidates of a search, for several children.
class Shortlist {
 public:
  Shortlist(Space space, const Surrogate& surrogate, const Candidates& found, bool all)
      : space_(space), surrogate_(surrogate) {
    constexpr Index most = 256;
    const Index count = all ? found.values.size() : std::min(most, found.values.size());
    const auto order = ranking(found.values, count);
    points_ = found.points(Eigen::seqN(0, found.points.rows()), order);
    values_ = found.values(order);
  }

  // What they promised the search.
  const VectorXd& values() const { return values_; }

  // The best by these values that is neither visited nor among `children`; the best where all are.
  hyp::Genes take(const VectorXd& values, const Visited& visited,
                  std::span<const hyp::Genes> children) {
    const auto order = ranking(values, values.size());
    for (const Index i : order) {
      hyp::Genes child = genes_at(space_, points_.col(i));
      if (visited.contains(child) || std::ranges::count(children, child) > 0) continue;
      taken_.push_back(i);
      return child;
    }
    return genes_at(space_, points_.col(order.front()));
  }

  // Of all of them, with what was taken believed to give its mean: a Cholesky factor that grows by
  // a row each time (R&W eq. A.12).
  const Surrogate::Prediction& prediction() {
    if (features_.size() == 0) {
      features_ = features_of(space_, points_);
      prediction_ = surrogate_.predict(features_);
    }
    for (; believed_ < taken_.size(); ++believed_) {
      const Index taken = taken_[believed_];
      VectorXd row = surrogate_.covariance(features_, features_.col(taken));
      for (const VectorXd& before : rows_) row -= before[taken] * before;
      row /= std::sqrt(std::pow(prediction_.sd[taken], 2) + surrogate_.new_set_variance());
      prediction_.sd = (prediction_.sd.cwiseAbs2() - row.cwiseAbs2()).cwiseMax(1e-12).cwiseSqrt();
      rows_.push_back(std::move(row));
    }
    return prediction_;
  }

 private:
  Space space_;
  const Surrogate& surrogate_;
  Points points_;
  VectorXd values_;
  std::vector<Index> taken_;
  std::size_t believed_ = 0;
  Eigen::MatrixXd features_;
  Surrogate::Prediction prediction_;
  std::vector<VectorXd> rows_;
};

hyp::Genes unscreened(Space space, const Points& elite, Rng& rng) {
  const Index a = pick_parent(elite.cols(), rng), b = pick_parent(elite.cols(), rng);
  if (boost::random::uniform_01<double>()(rng) < 0.5) {
    return genes_at(space, redrawn(space, elite.col(a), rng));
  }
  const double rate = 2 / static_cast<double>(space.size());
  return genes_at(
      space, perturbed(space, crossed(space, elite.col(a), elite.col(b), rng), rate, 0.1, rng));
}

}  // namespace

hyp::Genes design_genes(Space space, std::uint64_t run_seed, int number) {
  constexpr int most_spread = 200;  // each costs as much as all before it
  const bool one = number >= most_spread;
  Rng rng = breeding_rng(run_seed, one ? number : 0);
  const Index place = one ? 0 : number;
  return genes_at(space, prior_points(space, place + 1, first_trust, rng).col(place));
}

std::vector<hyp::Genes> screened_children(Space space, History& history, const Basis& basis,
                                          std::span<const hyp::Genes> pending,
                                          const Visited& visited, std::span<Rng> rngs) {
  constexpr Index spread_points = 200;
  constexpr std::size_t most_pending = 100;
  constexpr double unscreened_share = 0.3, other_choice_share = 0.14;
  const KernelParameters& parameters = history.parameters();
  const auto known = history.select(history.size(), model_points, parameters);
  const Points& points = known.points;
  pending = pending.last(std::min(pending.size(), most_pending));
  const Surrogate surrogate(known.observations, features_of(space, points_of(space, pending)),
                            parameters, spread_points, &basis);
  const Index n = points.cols();
  const auto with_choices = genes_with_choices(space);
  std::vector<hyp::Genes> children;
  std::optional<Shortlist> shortlist;
  for (Rng& rng : rngs) {
    if (n > few && boost::random::uniform_01<double>()(rng) < unscreened_share) {
      const Index elite = std::clamp(n / 4, Index{3}, Index{20});
      children.push_back(unscreened(space, best_of(points, surrogate, elite), rng));
      continue;
    }
    // No step leads from one choice to another, and where the best of the one is, the other may be
    // at its worst: the others are searched for their own.
    if (!with_choices.empty() && n >= enough_for_choices &&
        boost::random::uniform_01<double>()(rng) < other_choice_share) {
      const Held held =
          another_choice_of(space, with_choices, best_of(points, surrogate, 1).col(0), rng);
      const double trusted = trust(space, surrogate, rng);
      const Candidates found = search(space, Acquisition::improvement(space, surrogate), surrogate,
                                      points, trusted, held, rng);
      Shortlist of_choice(space, surrogate, found, /*all=*/true);
      children.push_back(of_choice.take(of_choice.values(), visited, children));
      continue;
    }
    if (!shortlist) {
      const double trusted = trust(space, surrogate, rng);
      const Acquisition acquisition = draw_acquisition(space, surrogate, history.size(), rng);
      const Candidates found =
          search(space, acquisition, surrogate, points, trusted, std::nullopt, rng);
      shortlist.emplace(space, surrogate, found, /*all=*/rngs.size() == 1);
      children.push_back(shortlist->take(shortlist->values(), visited, children));
    } else {
      const Acquisition acquisition = draw_acquisition(space, surrogate, history.size(), rng);
      children.push_back(
          shortlist->take(acquisition.of(shortlist->prediction()), visited, children));
    }
  }
  return children;
}

}  // namespace evolve::ga
