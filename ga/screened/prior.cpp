#include "ga/screened/prior.hpp"

#include <algorithm>
#include <boost/random/normal_distribution.hpp>
#include <boost/random/uniform_01.hpp>
#include <cmath>

#include "ga/random/sobol.hpp"
#include "ga/screened/unit_operators.hpp"

namespace evolve::ga {

using Eigen::Index;
using Eigen::VectorXd;

double trust_in_start(double share_better) {
  constexpr double worse = 9;
  const double chosen = worse * std::pow(1 - share_better, worse - 1);
  return chosen / (chosen + 1);
}

Points prior_points(std::span<const hyp::Gene> space, Index count, double trust, Rng& rng) {
  const VectorXd start = point_of(space, start_genes(space));
  Points points = sobol_points(static_cast<Index>(space.size()), count, rng);
  boost::random::uniform_01<double> chance;
  boost::random::normal_distribution<double> normal(0, prior_sd);
  for (Index p = 0; p < count; ++p) {
    for (Index i = 0; i < points.rows(); ++i) {
      if (chance(rng) >= 0.5 * trust) continue;
      const bool number = !is_categorical(space[static_cast<std::size_t>(i)]);
      points(i, p) = number ? reflected(start[i] + normal(rng)) : start[i];
    }
  }
  return points;
}

hyp::Genes varied_start(std::span<const hyp::Gene> space, Rng& rng) {
  boost::random::normal_distribution<double> normal(1, 0.2);
  hyp::Genes set;
  for (const hyp::Gene& gene : space) {
    const double factor = is_categorical(gene) ? 1 : std::clamp(normal(rng), 0.3, 3.0);
    set.push_back(hyp::nearest(gene, gene.start * factor));
  }
  return set;
}

}  // namespace evolve::ga
