#include "ga/model/expected_improvement.hpp"

#include <cmath>
#include <numbers>

namespace evolve::ga {
namespace {

double log_density(double z) {
  return -0.5 * z * z - 0.5 * std::log(2 * std::numbers::pi);
}

// Below this Mills' ratio takes over.
constexpr double tail = -5;

// The T of Mills' ratio R = Phi(-x) / phi(x) = 1 / (x + T), T = 1 / (x + 2 / (x + 3 / …)).
double mills_fraction(double x) {
  double t = 0;
  for (int k = 25; k >= 1; --k) t = k / (x + t);
  return t;
}

}  // namespace

double normal_cdf(double z) {
  return 0.5 * std::erfc(-z / std::numbers::sqrt2);
}

double log_h(double z) {
  if (z > tail) return std::log(std::exp(log_density(z)) + z * normal_cdf(z));
  // With x = -z: phi - x Phi(-x) = phi (1 - x R) = phi T / (x + T), with nothing cancelling.
  const double x = -z, t = mills_fraction(x);
  return log_density(z) + std::log(t / (x + t));
}

double log_h_slope(double z) {
  if (z > tail) return normal_cdf(z) / (std::exp(log_density(z)) + z * normal_cdf(z));
  return 1 / mills_fraction(-z);  // phi R / (phi T / (x + T))
}

Utility log_expected_improvement(double mean, double sd, double best) {
  const double z = (mean - best) / sd, slope = log_h_slope(z);
  return {.value = log_h(z) + std::log(sd), .by_mean = slope / sd, .by_sd = (1 - slope * z) / sd};
}

}  // namespace evolve::ga
