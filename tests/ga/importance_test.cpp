#include "ga/importance.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace evolve::ga {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr Eigen::Index samples = 4096;

TEST(Importance, OfALinearFunctionIsTheSquareOfItsSlopes) {
  const auto linear = [](const MatrixXd& x) -> VectorXd {
    return 5 + 3 * x.row(0).array() - 4 * x.row(2).array();
  };
  const auto result = importance(linear, 3, samples);
  EXPECT_NEAR(result.variance, 25.0 / 12, 1e-3);
  EXPECT_NEAR(result.alone[0], 0.36, 1e-3);
  EXPECT_NEAR(result.total[0], 0.36, 1e-3);
  EXPECT_NEAR(result.alone[2], 0.64, 1e-3);
  EXPECT_NEAR(result.total[2], 0.64, 1e-3);
}

// Ishigami and Homma 1990, with a = 7 and b = 0.1: one input that acts alone, one that acts alone
// and together with the third, which does nothing by itself.
TEST(Importance, OfTheIshigamiFunctionIsTheClosedForm) {
  constexpr double pi = std::numbers::pi, a = 7, b = 0.1;
  const auto ishigami = [&](const MatrixXd& unit) -> VectorXd {
    const auto x = (2 * pi * unit.array() - pi).eval();
    return x.row(0).sin() + a * x.row(1).sin().square() +
           b * x.row(2).square().square() * x.row(0).sin();
  };
  const double pi4 = std::pow(pi, 4);
  const double first = 0.5 * std::pow(1 + b * pi4 / 5, 2), second = a * a / 8,
               together = b * b * pi4 * pi4 * (1.0 / 18 - 1.0 / 50),
               variance = first + second + together;
  const auto result = importance(ishigami, 3, samples);
  EXPECT_NEAR(result.variance, variance, 0.01 * variance);
  EXPECT_NEAR(result.alone[0], first / variance, 0.01);
  EXPECT_NEAR(result.alone[1], second / variance, 0.01);
  EXPECT_NEAR(result.alone[2], 0, 0.01);
  EXPECT_NEAR(result.total[0], (first + together) / variance, 0.01);
  EXPECT_NEAR(result.total[1], second / variance, 0.01);
  EXPECT_NEAR(result.total[2], together / variance, 0.01);
}

TEST(Importance, OfAnInputThatTheFunctionIgnoresIsZero) {
  const auto wave = [](const MatrixXd& x) -> VectorXd {
    return (9 * x.row(1).array()).sin() * x.row(3).array();
  };
  const auto result = importance(wave, 5, samples);
  for (const Eigen::Index ignored : {0, 2, 4}) {
    EXPECT_EQ(result.alone[ignored], 0);
    EXPECT_EQ(result.total[ignored], 0);
  }
  EXPECT_GT(result.total[1], 0.5);
}

TEST(Importance, IsWithinItsBoundsForAnyFunction) {
  for (int seed = 0; seed < 20; ++seed) {
    const auto rough = [&](const MatrixXd& x) -> VectorXd {
      return ((x.colwise().sum().array() * (50 + seed)).sin() +
              (x.row(0).array() * x.row(3).array() > 0.01 * seed).cast<double>());
    };
    const auto result = importance(rough, 4, 64);
    for (Eigen::Index i = 0; i < 4; ++i) {
      EXPECT_GE(result.alone[i], 0);
      EXPECT_LE(result.alone[i], result.total[i]);
      EXPECT_LE(result.total[i], 1);
    }
  }
}

TEST(Importance, OfAConstantIsZero) {
  const auto constant = [](const MatrixXd& x) -> VectorXd {
    return VectorXd::Constant(x.cols(), 7.5);
  };
  const auto result = importance(constant, 2, samples);
  EXPECT_EQ(result.variance, 0);
  EXPECT_EQ(result.alone, VectorXd::Zero(2));
  EXPECT_EQ(result.total, VectorXd::Zero(2));
}

}  // namespace
}  // namespace evolve::ga
