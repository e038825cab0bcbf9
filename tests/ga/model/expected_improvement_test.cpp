#include "ga/model/expected_improvement.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace evolve::ga {
namespace {

// From 80 digits of Phi (its series, its continued fraction).
TEST(LogH, HasTheValuesOfLongArithmetic) {
  EXPECT_NEAR(log_h(0), -0.918938533204672742, 1e-15);  // log(1 / sqrt(2 pi))
  EXPECT_NEAR(log_h(3), 1.098739665327707773, 1e-15);
  EXPECT_NEAR(log_h(-1), -2.485121025712641337, 1e-14);
  EXPECT_NEAR(log_h(-5), -16.744301162660990143, 1e-12);
  EXPECT_NEAR(log_h(-10), -55.553122036122355927, 1e-13);
  EXPECT_NEAR(log_h(-100), -5010.129578800249792325, 1e-11);
}

TEST(LogH, IsThePlainFormulaWhereThatHolds) {
  for (double z = -4; z < 6; z += 0.37) {
    const double phi = std::exp(-z * z / 2) / std::sqrt(2 * std::acos(-1.0));
    EXPECT_NEAR(log_h(z), std::log(phi + z * std::erfc(-z / std::sqrt(2.0)) / 2), 1e-12) << z;
  }
}

TEST(LogH, RisesSteadilyOutToTheFarTail) {
  double last = log_h(-1e150);
  EXPECT_TRUE(std::isfinite(last));
  for (double z = -1e150; z < -1e-3; z *= 0.9) {
    const double value = log_h(z);
    EXPECT_GE(value, last) << z;
    last = value;
  }
  EXPECT_NEAR(log_h(-5 - 1e-9), log_h(-5 + 1e-9), 1e-7);
}

TEST(LogH, HasTheSlopeOfItsDifferences) {
  for (const double z : {-40.0, -7.0, -5.1, -4.9, -1.0, 0.0, 2.0}) {
    const double step = 1e-4, difference = (log_h(z + step) - log_h(z - step)) / (2 * step);
    EXPECT_NEAR(log_h_slope(z), difference, 1e-6 * std::max(1.0, difference)) << z;
  }
  EXPECT_NEAR(log_h_slope(-1e8), 1e8, 1);  // the tail is that of exp(-z^2 / 2)
  EXPECT_NEAR(log_h_slope(10), 0.1, 1e-12);
}

TEST(LogExpectedImprovement, HasTheSlopesOfItsDifferences) {
  const double step = 1e-6;
  const Utility here = log_expected_improvement(0.3, 0.4, 1);
  const auto at = [](double mean, double sd) {
    return log_expected_improvement(mean, sd, 1).value;
  };
  EXPECT_NEAR(here.by_mean, (at(0.3 + step, 0.4) - at(0.3 - step, 0.4)) / (2 * step), 1e-7);
  EXPECT_NEAR(here.by_sd, (at(0.3, 0.4 + step) - at(0.3, 0.4 - step)) / (2 * step), 1e-7);
}

TEST(LogExpectedImprovement, IsThatOfACertainGainWhereNothingIsInDoubt) {
  EXPECT_NEAR(log_expected_improvement(0.7, 1e-9, 0.5).value, std::log(0.2), 1e-12);
}

TEST(LogExpectedImprovement, ScalesWithItsUnits) {
  const double one = log_expected_improvement(0.2, 0.5, 1).value;
  EXPECT_NEAR(log_expected_improvement(2, 5, 10).value, one + std::log(10), 1e-12);
}

}  // namespace
}  // namespace evolve::ga
