// The operators of the classic search: YOLOv5's, with steps that fit each gene.
//
// `space` is always the list of the evolved genes; a `hyp::Genes` has one raw value for each of
// them, in that order. All draws come from `rng` and nothing else, so equal arguments give equal
// children.
#pragma once

#include <cstddef>
#include <span>

#include "ga/random/rng.hpp"
#include "hyp/space.hpp"

namespace evolve::ga {

/// How far a mutation moves a number at most, as a share of its gene's range. YOLOv5's step is the
/// same 0.1, but added to raw values whatever their range.
inline constexpr double mutation_reach = 0.1;

/// Tournament selection: draws `size` of the candidates without replacement (all of them when there
/// are fewer) and returns the position of the fittest; among equals the one drawn first, so chance
/// decides. `fitness` is not empty, holds no NaN, and `size` is at least 1.
std::size_t tournament(std::span<const double> fitness, int size, Rng& rng);

/// Single-point crossover: the genes of `a` before a cut, those of `b` from it on. The cut is
/// uniform in 1 … n-1, so that both parents give something; a single gene comes from `a`.
hyp::Genes single_point(const hyp::Genes& a, const hyp::Genes& b, Rng& rng);

/// Another choice of a categorical gene, each equally likely; `value` where it has no other.
double another_choice(const hyp::Gene& gene, double value, Rng& rng);

/// Another value for one gene. A real gene moves uniformly up to `mutation_reach` of its range, on
/// its scale, and stops at its bounds. An integer gene does the same in whole numbers and moves by
/// at least one step, unless a bound is in the way. A categorical gene takes one of its other
/// choices, each equally likely. A gene with only one value keeps it.
double mutated(const hyp::Gene& gene, double value, Rng& rng);

/// Mutates each gene with probability `rate`, in [0, 1].
hyp::Genes mutate(std::span<const hyp::Gene> space, hyp::Genes genes, double rate, Rng& rng);

/// A set that is uniform in the unit cube, so on a log axis where a gene declares one.
hyp::Genes random_genes(std::span<const hyp::Gene> space, Rng& rng);

}  // namespace evolve::ga
