// The screened search: a genetic algorithm whose children are looked at by a Gaussian process
// before one of them is trained.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ga/model/basis.hpp"
#include "ga/model/history.hpp"
#include "ga/random/rng.hpp"
#include "ga/screened/visited.hpp"
#include "hyp/space.hpp"

namespace evolve::ga {

/// The trials that are spread over the space before any is bred, the start among them.
inline constexpr int design_size = 5;

/// What is trained before there are outcomes to breed from: point `number` of the prior as it is
/// when the start is trusted as far as `first_trust` says, from 200 on a point by itself.
hyp::Genes design_genes(std::span<const hyp::Gene> space, std::uint64_t run_seed, int number);

/// The children to train next, one for each generator of random numbers. The first: that which
/// promises most among those that a short genetic algorithm breeds and its fittest climb to
/// (ga/screened/acquisition.hpp). What it promises is the expected improvement; the search looks
/// near the start as far as that can be trusted (ga/screened/prior.hpp). `basis` is what the model
/// expects before any outcome.
///
/// Once more than 25 outcomes are known, 3 in 10 are unscreened children of the elite, half of them
/// with a gene or two drawn anew, and of the others one in five is judged by an upper confidence
/// bound (mean and 0.3 … 2.5 standard deviations); from 100 outcomes on, half by the expected
/// fitness alone, so that the best observed one is good rather than lucky.
///
/// From 50 outcomes on one in seven of the screened ones of a space with categorical genes has
/// another choice than the best set for one of them, and the rest of it is what promises most with
/// that choice, found by a search of its own.
///
/// The further ones are chosen by acquisition functions of their own among the fittest that were
/// bred for the first screened one, with standard deviations that know those chosen before: one
/// model and one search serve all of them.
///
/// `history` has three completed trials or more, or three of any kind where there are earlier runs,
/// or one completed trial or more where trainings are paused (ga/pauses.hpp); `pending` are the
/// sets that are being trained, of which the last 100 are looked at; a set that was visited is
/// avoided where another one is at hand.
std::vector<hyp::Genes> screened_children(std::span<const hyp::Gene> space, History& history,
                                          const Basis& basis, std::span<const hyp::Genes> pending,
                                          const Visited& visited, std::span<Rng> rngs);

}  // namespace evolve::ga
