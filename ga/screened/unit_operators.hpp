// The operators of the screened search: they work on points of the unit cube, so that a step means
// the same for every gene.
//
// All draws come from `rng` and nothing else, so equal arguments give equal children.
#pragma once

#include <Eigen/Core>
#include <span>

#include "ga/model/unit_cube.hpp"
#include "ga/random/rng.hpp"

namespace evolve::ga {

/// Folded back into [0, 1] at the bound that it passed; what is more than 1 beyond a bound stops at
/// a bound.
double reflected(double unit);

/// Where a step of a coordinate ends. It stops at the bound that it passes, since many genes are
/// best just there; one that stands at a bound already is reflected, since it has to move.
double stepped(double unit, double step);

/// A coordinate on the nearest value that its gene may take; unchanged for a real gene.
double snapped(const hyp::Gene& gene, double unit);

/// The position of a parent among `count` that are sorted, the best first: the best of 3 drawn with
/// replacement.
Eigen::Index pick_parent(Eigen::Index count, Rng& rng);

/// A point between two: with probability 0.4 each gene from either one; with 0.4 on the line
/// through both, from 0.3 before `a` to 0.3 beyond `b` (a categorical gene from either one); else
/// `a`. Numbers may leave the cube.
Eigen::VectorXd crossed(std::span<const hyp::Gene> space, const Eigen::VectorXd& a,
                        const Eigen::VectorXd& b, Rng& rng);

/// Moves each gene with probability `rate`, and one at least: a number by a normal step of standard
/// deviation `step` times a factor exp(0.7 N(0, 1)) that the whole point shares, an integer by one
/// value at least; a categorical gene to another of its choices. The result is inside the
/// cube and on values that the genes may take.
Eigen::VectorXd perturbed(std::span<const hyp::Gene> space, Eigen::VectorXd point, double rate,
                          double step, Rng& rng);

/// One gene drawn anew, evenly over its range; with probability 0.5 one more (perhaps the same). A
/// step from one hill to the next, which small steps do not take.
Eigen::VectorXd redrawn(std::span<const hyp::Gene> space, Eigen::VectorXd point, Rng& rng);

}  // namespace evolve::ga
