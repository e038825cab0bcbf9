// Which genes matter: how much of a function's variation each of its inputs explains.
#pragma once

#include <Eigen/Core>
#include <functional>

namespace evolve::ga {

/// Sobol' indices of a function, by input: [dimensions], each in [0, 1].
struct Importance {
  /// What the input explains by itself (first-order index); at most `total`.
  Eigen::VectorXd alone;
  /// What the input explains by itself and in every interaction with others (total index).
  Eigen::VectorXd total;
  /// The function's variance; where it is 0, so are all indices.
  double variance = 0;
};

/// Values [points] of a function at [dimensions, points].
using Function = std::function<Eigen::VectorXd(const Eigen::MatrixXd&)>;

/// The indices of `function` over the unit cube, its inputs uniform and independent, from
/// `samples` * (dimensions + 2) values at the points of a Sobol sequence, always the same ones.
/// First-order indices as in Saltelli et al. 2010 ("Variance based sensitivity analysis of model
/// output", table 2 b), total ones after Jansen 1999 (table 2 f). An input that the function
/// ignores has exactly 0.
Importance importance(const Function& function, Eigen::Index dimensions, Eigen::Index samples);

}  // namespace evolve::ga
