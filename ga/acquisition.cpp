#include "ga/acquisition.hpp"

#include <cmath>
#include <numbers>

namespace evolve::ga {

double log_h(double z) {
  const double log_phi = -0.5 * z * z - 0.5 * std::log(2 * std::numbers::pi);
  if (z > -5) {
    const double distribution = 0.5 * std::erfc(-z / std::numbers::sqrt2);
    return std::log(std::exp(log_phi) + z * distribution);
  }
  // With x = -z and Mills' ratio R = 1 / (x + T), T = 1 / (x + 2 / (x + 3 / …)):
  // phi - x Phi(-x) = phi (1 - x R) = phi T / (x + T), with nothing cancelling.
  const double x = -z;
  double t = 0;
  for (int k = 25; k >= 1; --k) t = k / (x + t);
  return log_phi + std::log(t / (x + t));
}

double log_expected_improvement(double mean, double sd, double best) {
  return log_h((mean - best) / sd) + std::log(sd);
}

}  // namespace evolve::ga
