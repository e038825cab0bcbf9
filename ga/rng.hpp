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

/// The seed a trial is trained with: in [0, 2^31), which every JSON reader, NumPy and YOLOv5's
/// `--seed` take as it is. Unrelated to what `breeding_rng` draws.
std::uint64_t training_seed(std::uint64_t run_seed, int trial);

/// The seed a trial is trained with once more: of the same range, and never its first one.
std::uint64_t repeat_seed(std::uint64_t run_seed, int trial);

}  // namespace evolve::ga
