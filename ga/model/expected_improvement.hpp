// What a child is worth training: its expected improvement under the surrogate.
#pragma once

namespace evolve::ga {

/// Phi(z), the distribution function of the standard normal.
double normal_cdf(double z);

/// log(phi(z) + z Phi(z)), phi and Phi being the standard normal density and distribution: finite
/// and precise however far z is in the tail (|z| < 1e150), where the plain formula is 0.
/// Ament et al. 2023, "Unexpected improvements to expected improvement", section 4.1; the tail by
/// the continued fraction of Mills' ratio (Abramowitz and Stegun 26.2.14), which needs no erfcx.
double log_h(double z);

/// The slope of log_h, Phi(z) / (phi(z) + z Phi(z)), as precise as log_h.
double log_h_slope(double z);

/// What a child is worth that is expected to give a value of this mean and standard deviation, and
/// how that changes with either.
struct Utility {
  double value = 0;
  double by_mean = 0;
  double by_sd = 0;
};

/// log of the expected improvement over `best` of a value that is normal with this mean and
/// standard deviation (Jones et al. 1998, eq. 15): log_h((mean - best) / sd) + log(sd). `sd` > 0.
Utility log_expected_improvement(double mean, double sd, double best);

}  // namespace evolve::ga
