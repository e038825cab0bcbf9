#include "ga/classic/schedule.hpp"

#include <algorithm>

namespace evolve::ga {

int tournament_size(double t, int population) {
  return std::max(2, static_cast<int>(std::min(10, population) - 10 * t));
}

double crossover_rate(double t) {
  return std::clamp(1 - t, 0.5, 1.0);
}

double mutation_rate(double t) {
  return std::clamp(0.5 - t, 0.01, 0.5);
}

int elite_count(double t) {
  return 2 + static_cast<int>((max_elites - 2) * t);
}

}  // namespace evolve::ga
