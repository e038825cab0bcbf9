#include "ga/model/minimise.hpp"

#include <nlopt.h>

#include <algorithm>
#include <limits>
#include <memory>

namespace evolve::ga {
namespace {

using Eigen::VectorXd;

struct Search {
  const Objective& objective;
  VectorXd best;
  double least = std::numeric_limits<double>::infinity();
};

double evaluate(unsigned n, const double* x, double* gradient, void* data) {
  auto& search = *static_cast<Search*>(data);
  const VectorXd point = Eigen::Map<const VectorXd>(x, n);
  VectorXd slope;
  const double value = search.objective(point, slope);
  if (value < search.least) {
    search.least = value;
    search.best = point;
  }
  if (gradient) Eigen::Map<VectorXd>(gradient, n) = slope;
  return std::min(value, 1e10);  // a line search cannot go by infinity
}

}  // namespace

VectorXd minimised(const Objective& objective, const VectorXd& start, const Bounds& bounds,
                   int evaluations, double tolerance) {
  const std::unique_ptr<nlopt_opt_s, decltype(&nlopt_destroy)> optimizer(
      nlopt_create(NLOPT_LD_LBFGS, static_cast<unsigned>(start.size())), nlopt_destroy);
  VectorXd x = start.cwiseMax(bounds.low).cwiseMin(bounds.high);
  Search search{.objective = objective, .best = x};
  nlopt_set_min_objective(optimizer.get(), evaluate, &search);
  nlopt_set_lower_bounds(optimizer.get(), bounds.low.data());
  nlopt_set_upper_bounds(optimizer.get(), bounds.high.data());
  nlopt_set_maxeval(optimizer.get(), evaluations);
  nlopt_set_ftol_abs(optimizer.get(), tolerance);
  double least = 0;
  // Why it stopped does not matter (a line search that finds nothing better is an error to NLopt):
  // the search remembers the best that it has seen.
  nlopt_optimize(optimizer.get(), x.data(), &least);
  return search.best;
}

}  // namespace evolve::ga
