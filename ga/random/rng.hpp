// Randomness: every trial has a generator of its own, so that what one trial draws can never move
// another.
#pragma once

#include <boost/random/mersenne_twister.hpp>
#include <cstdint>

namespace evolve::ga {

/// Drawn from with Boost's distributions only: those of `std::` differ between standard libraries.
using Rng = boost::random::mt19937_64;

/// The generator that breeds one trial of a run.
Rng breeding_rng(std::uint64_t run_seed, int trial);

/// Trials are trained with few seeds in turn, so that the model can tell what a seed does to all
/// sets from what a set does (ga/model/kernel.hpp): trial k with seed number k mod
/// `rotating_seeds`. Repeat r (from 1) of any trial has the r-th number after those: a seed that no
/// trial was bred for, and the same one for every set that is compared.
inline constexpr int rotating_seeds = 6;
int seed_number(int trial, int repeat);

/// The seed of that number: in [0, 2^31), which every JSON reader, NumPy and YOLOv5's `--seed` take
/// as it is. Unrelated to what `breeding_rng` draws.
std::uint64_t training_seed(std::uint64_t run_seed, int seed_number);

}  // namespace evolve::ga
