#include "ga/rng.hpp"

namespace evolve::ga {
namespace {

enum class Stream : std::uint64_t { breeding = 1, training = 2, repeating = 3 };

// SplitMix64 (Steele, Lea and Flood 2014): one step of it absorbs one word.
std::uint64_t absorb(std::uint64_t state, std::uint64_t word) {
  std::uint64_t z = state + word + 0x9e3779b97f4a7c15U;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31);
}

std::uint64_t hash(std::uint64_t run_seed, Stream stream, int trial) {
  const std::uint64_t run = absorb(0, run_seed);
  const std::uint64_t in_stream = absorb(run, static_cast<std::uint64_t>(stream));
  return absorb(in_stream, static_cast<std::uint64_t>(trial));
}

}  // namespace

Rng breeding_rng(std::uint64_t run_seed, int trial) {
  return Rng(hash(run_seed, Stream::breeding, trial));
}

std::uint64_t training_seed(std::uint64_t run_seed, int trial) {
  return hash(run_seed, Stream::training, trial) >> 33;
}

std::uint64_t repeat_seed(std::uint64_t run_seed, int trial) {
  const std::uint64_t seed = hash(run_seed, Stream::repeating, trial) >> 33;
  return seed == training_seed(run_seed, trial) ? seed ^ 1 : seed;
}

}  // namespace evolve::ga
