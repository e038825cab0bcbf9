#include "ga/screened/unit_operators.hpp"

#include <algorithm>
#include <boost/random/normal_distribution.hpp>
#include <boost/random/uniform_01.hpp>
#include <boost/random/uniform_int_distribution.hpp>
#include <boost/random/uniform_real_distribution.hpp>
#include <cmath>

#include "ga/classic/operators.hpp"

namespace evolve::ga {
namespace {

using boost::random::normal_distribution;
using boost::random::uniform_01;
using boost::random::uniform_int_distribution;
using boost::random::uniform_real_distribution;
using Kind = hyp::Gene::Kind;

double with_another_choice(const hyp::Gene& gene, double unit, Rng& rng) {
  if (gene.choices.size() < 2) return unit;
  return hyp::to_unit(gene, another_choice(gene, hyp::from_unit(gene, unit), rng));
}

double mutated(const hyp::Gene& gene, double unit, double step) {
  if (gene.kind == Kind::real) return stepped(unit, step);
  const double there = snapped(gene, reflected(unit + step));
  if (there != snapped(gene, unit)) return there;
  const double value = hyp::from_unit(gene, unit), side = step < 0 ? -1 : 1;
  const double next = hyp::nearest(gene, value + side);
  return hyp::to_unit(gene, next != value ? next : hyp::nearest(gene, value - side));
}

}  // namespace

double reflected(double unit) {
  unit = std::abs(unit);
  return std::clamp(unit > 1 ? 2 - unit : unit, 0.0, 1.0);
}

double stepped(double unit, double step) {
  const double from = std::clamp(unit, 0.0, 1.0);
  return from > 0 && from < 1 ? std::clamp(from + step, 0.0, 1.0) : reflected(from + step);
}

double snapped(const hyp::Gene& gene, double unit) {
  return gene.kind == Kind::real ? unit : hyp::to_unit(gene, hyp::from_unit(gene, unit));
}

Eigen::Index pick_parent(Eigen::Index count, Rng& rng) {
  uniform_int_distribution<Eigen::Index> any(0, count - 1);
  const Eigen::Index first = any(rng), second = any(rng), third = any(rng);
  return std::min({first, second, third});
}

Eigen::VectorXd crossed(std::span<const hyp::Gene> space, const Eigen::VectorXd& a,
                        const Eigen::VectorXd& b, Rng& rng) {
  uniform_01<double> chance;
  const double way = chance(rng);
  if (way >= 0.8) return a;
  const bool on_line = way >= 0.4;
  const double share = on_line ? uniform_real_distribution<double>(-0.3, 1.3)(rng) : 0;
  Eigen::VectorXd child = a;
  for (Eigen::Index i = 0; i < child.size(); ++i) {
    const bool number = !is_categorical(space[static_cast<std::size_t>(i)]);
    if (on_line && number) {
      child[i] += share * (b[i] - a[i]);
    } else if (chance(rng) < 0.5) {
      child[i] = b[i];
    }
  }
  return child;
}

Eigen::VectorXd perturbed(std::span<const hyp::Gene> space, Eigen::VectorXd point, double rate,
                          double step, Rng& rng) {
  uniform_01<double> chance;
  normal_distribution<double> normal;
  const double size = step * std::exp(0.7 * normal(rng));
  const Eigen::Index n = point.size();
  const Eigen::Index surely = uniform_int_distribution<Eigen::Index>(0, n - 1)(rng);
  for (Eigen::Index i = 0; i < n; ++i) {
    const hyp::Gene& gene = space[static_cast<std::size_t>(i)];
    if (!(chance(rng) < rate) && i != surely) {
      point[i] = snapped(gene, std::clamp(point[i], 0.0, 1.0));
    } else if (is_categorical(gene)) {
      point[i] = with_another_choice(gene, point[i], rng);
    } else {
      point[i] = mutated(gene, point[i], size * normal(rng));
    }
  }
  return point;
}

Eigen::VectorXd redrawn(std::span<const hyp::Gene> space, Eigen::VectorXd point, Rng& rng) {
  uniform_01<double> chance;
  uniform_int_distribution<Eigen::Index> any(0, point.size() - 1);
  const int genes = chance(rng) < 0.5 ? 1 : 2;
  for (int i = 0; i < genes; ++i) {
    const Eigen::Index gene = any(rng);
    point[gene] = snapped(space[static_cast<std::size_t>(gene)], chance(rng));
  }
  return point;
}

}  // namespace evolve::ga
