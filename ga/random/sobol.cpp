#include "ga/random/sobol.hpp"

#include <boost/random/sobol.hpp>
#include <cstdint>
#include <vector>

namespace evolve::ga {

Eigen::MatrixXd sobol_points(Eigen::Index dimensions, Eigen::Index count, Rng& rng) {
  boost::random::sobol_engine<std::uint32_t, 32> sequence(static_cast<std::size_t>(dimensions));
  std::vector<std::uint32_t> masks;
  for (Eigen::Index i = 0; i < dimensions; ++i) {
    masks.push_back(static_cast<std::uint32_t>(rng() >> 32));
  }
  Eigen::MatrixXd points(dimensions, count);
  for (Eigen::Index p = 0; p < count; ++p) {
    for (Eigen::Index i = 0; i < dimensions; ++i) {
      const std::uint32_t bits = sequence() ^ masks[static_cast<std::size_t>(i)];
      points(i, p) = (bits + 0.5) / 4294967296.0;
    }
  }
  return points;
}

}  // namespace evolve::ga
