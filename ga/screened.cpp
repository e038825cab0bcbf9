#include "ga/screened.hpp"

#include <algorithm>
#include <boost/random/normal_distribution.hpp>
#include <boost/random/uniform_01.hpp>
#include <boost/random/uniform_int_distribution.hpp>
#include <cmath>
#include <functional>
#include <utility>

#include "ga/acquisition.hpp"
#include "ga/prior.hpp"
#include "ga/ranking.hpp"
#include "ga/unit_operators.hpp"

namespace evolve::ga {
namespace {

using Eigen::Index;
using Eigen::VectorXd;
using Space = std::span<const hyp::Gene>;

Points best_of(const Points& points, const VectorXd& values, Index most) {
  return points(Eigen::seqN(0, points.rows()), ranking(values, most));
}

// What is near the best: 5 % of the points by their mean, each a little perturbed.
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
      if (chance(rng) < r) points(i, p) = reflected(points(i, p) + normal(rng));
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

// What the points of a search are judged by: [points], the greatest is the best.
using Acquisition = std::function<VectorXd(const Points&)>;

// The logarithm of the expected improvement times the prior to a power that fades as trials end
// ("πBO", Hvarfner et al. 2022, eq. 6).
Acquisition improvement(Space space, const Surrogate& surrogate, double belief_power) {
  return [=, &surrogate, best = surrogate.believed().maxCoeff()](const Points& points) {
    const auto prediction = surrogate.predict(features_of(space, points));
    VectorXd values = belief_power * log_belief(space, points);
    for (Index i = 0; i < values.size(); ++i) {
      values[i] += log_expected_improvement(prediction.mean[i], prediction.sd[i], best);
    }
    return values;
  };
}

Acquisition expectation(Space space, const Surrogate& surrogate) {
  return
      [=, &surrogate](const Points& points) { return surrogate.mean(features_of(space, points)); };
}

// The mean and some standard deviations, for another trade between the two than the improvement
// makes.
Acquisition upper_bound(Space space, const Surrogate& surrogate, double deviations) {
  return [=, &surrogate](const Points& points) -> VectorXd {
    const auto prediction = surrogate.predict(features_of(space, points));
    return prediction.mean + deviations * prediction.sd;
  };
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

// The inner genetic algorithm, from `raw` points of the prior and as many around the best.
Candidates search(Space space, const Acquisition& promise, const Points& elite, const Points& best,
                  Index raw, Rng& rng) {
  constexpr Index survivors = 30, children = 60;
  constexpr int generations = 5;
  Candidates found{Points(elite.rows(), 0), VectorXd(0)};
  const auto look_at = [&](Points points) {
    snap(space, points);
    found.add(points, promise(points));
  };
  look_at(believed_points(space, raw, rng));
  look_at(around(space, best, raw, rng));
  look_at(elite);

  const auto n = static_cast<double>(space.size());
  const double broad = std::min(1.0, std::max(0.2, 6 / n)), narrow = 2 / n;
  boost::random::uniform_01<double> chance;
  double step = 0.2;
  for (int generation = 0; generation < generations; ++generation, step /= 2) {
    const Points parents = best_of(found.points, found.values, survivors);
    Points bred(elite.rows(), children);
    for (Index c = 0; c < children; ++c) {
      const Index a = pick_parent(parents.cols(), rng), b = pick_parent(parents.cols(), rng);
      const double rate = chance(rng) < 0.5 ? broad : narrow;
      bred.col(c) =
          perturbed(space, crossed(space, parents.col(a), parents.col(b), rng), rate, step, rng);
    }
    look_at(std::move(bred));
  }
  return found;
}

Acquisition draw_promise(Space space, const Surrogate& surrogate, Index known, Rng& rng) {
  constexpr Index late = 100;
  constexpr double expected_share = 0.5, bound_share = 0.2, first_belief = 5;
  boost::random::uniform_01<double> chance;
  if (known >= late && chance(rng) < expected_share) return expectation(space, surrogate);
  if (chance(rng) < bound_share) {
    return upper_bound(space, surrogate, 0.3 * std::pow(2.5 / 0.3, chance(rng)));
  }
  return improvement(space, surrogate, first_belief / static_cast<double>(known));
}

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
  Rng rng = breeding_rng(run_seed, 0);
  return genes_at(space, believed_points(space, number + 1, rng).col(number));
}

hyp::Genes screened_child(Space space, History& history, std::span<const hyp::Genes> pending,
                          const Visited& visited, Rng& rng) {
  constexpr Index spread_points = 200;
  constexpr std::size_t most_pending = 100;
  constexpr double unscreened_share = 0.3;
  const KernelParameters& parameters = history.parameters();
  const auto [points, observations, _] = history.select(history.size(), model_points, parameters);
  pending = pending.last(std::min(pending.size(), most_pending));
  Points open(points.rows(), static_cast<Index>(pending.size()));
  for (Index i = 0; i < open.cols(); ++i) {
    open.col(i) = point_of(space, pending[static_cast<std::size_t>(i)]);
  }
  const Surrogate surrogate(observations, features_of(space, open), parameters, spread_points);

  const Index n = points.cols();
  const auto best = [&](Index count) { return best_of(points, surrogate.believed(), count); };
  if (n > 2 * design_size && boost::random::uniform_01<double>()(rng) < unscreened_share) {
    return unscreened(space, best(std::clamp(n / 4, Index{3}, Index{20})), rng);
  }
  const Acquisition promise = draw_promise(space, surrogate, history.size(), rng);
  const Index raw = n <= 250 ? 512 : 256;  // the more the model has, the dearer each look
  const Candidates found =
      search(space, promise, best(20), best(std::max(Index{1}, (n + 10) / 20)), raw, rng);
  hyp::Genes child;
  for (const Index i : ranking(found.values, found.values.size())) {
    child = genes_at(space, found.points.col(i));
    if (!visited.contains(child)) break;
  }
  return child;
}

}  // namespace evolve::ga
