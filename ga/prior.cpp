#include "ga/prior.hpp"

#include <boost/random/normal_distribution.hpp>
#include <boost/random/uniform_01.hpp>
#include <cmath>
#include <numbers>

#include "ga/sobol.hpp"
#include "ga/unit_operators.hpp"

namespace evolve::ga {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

VectorXd start_of(std::span<const hyp::Gene> space) {
  hyp::Genes genes;
  for (const hyp::Gene& gene : space) genes.push_back(gene.start);
  return point_of(space, genes);
}

// Density of the half that is around the start, relative to the even one.
double near_density(const hyp::Gene& gene, double start, double unit) {
  if (gene.kind == hyp::Gene::Kind::categorical) {
    const bool there = hyp::from_unit(gene, unit) == gene.start;
    return there ? static_cast<double>(gene.choices.size()) : 0;
  }
  const double z = (unit - start) / belief_sd;
  return std::exp(-0.5 * z * z) / (belief_sd * std::sqrt(2 * std::numbers::pi));
}

}  // namespace

VectorXd log_belief(std::span<const hyp::Gene> space, const Points& points) {
  const VectorXd start = start_of(space);
  VectorXd sums = VectorXd::Zero(points.cols());
  for (Index p = 0; p < points.cols(); ++p) {
    for (Index i = 0; i < points.rows(); ++i) {
      const hyp::Gene& gene = space[static_cast<std::size_t>(i)];
      sums[p] += std::log(0.5 + 0.5 * near_density(gene, start[i], points(i, p)));
    }
  }
  return sums;
}

VectorXd log_belief_slope(std::span<const hyp::Gene> space, const VectorXd& point) {
  const VectorXd start = start_of(space);
  VectorXd slope = VectorXd::Zero(point.size());
  for (Index i = 0; i < point.size(); ++i) {
    const hyp::Gene& gene = space[static_cast<std::size_t>(i)];
    if (gene.kind == hyp::Gene::Kind::categorical) continue;
    const double density = near_density(gene, start[i], point[i]);
    slope[i] = density / (1 + density) * (start[i] - point[i]) / (belief_sd * belief_sd);
  }
  return slope;
}

double trust_in_start(double share_better) {
  constexpr double worse = 9;
  const double chosen = worse * std::pow(1 - share_better, worse - 1);
  return chosen / (chosen + 1);
}

Points believed_points(std::span<const hyp::Gene> space, Index count, double trust, Rng& rng) {
  const VectorXd start = start_of(space);
  Points points = sobol_points(static_cast<Index>(space.size()), count, rng);
  boost::random::uniform_01<double> chance;
  boost::random::normal_distribution<double> normal(0, belief_sd);
  for (Index p = 0; p < count; ++p) {
    for (Index i = 0; i < points.rows(); ++i) {
      if (chance(rng) >= 0.5 * trust) continue;
      const bool number = space[static_cast<std::size_t>(i)].kind != hyp::Gene::Kind::categorical;
      points(i, p) = number ? reflected(start[i] + normal(rng)) : start[i];
    }
  }
  return points;
}

}  // namespace evolve::ga
