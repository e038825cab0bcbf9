#include "ga/random/rng.hpp"

#include "core/splitmix64.hpp"

namespace evolve::ga {
namespace {

enum class Stream : std::uint64_t { breeding = 1, training = 2 };

// One step absorbs one word.
std::uint64_t absorb(std::uint64_t state, std::uint64_t word) {
  return core::splitmix64(state + word);
}

std::uint64_t hash(std::uint64_t run_seed, Stream stream, int number) {
  const std::uint64_t run = absorb(0, run_seed);
  const std::uint64_t in_stream = absorb(run, static_cast<std::uint64_t>(stream));
  return absorb(in_stream, static_cast<std::uint64_t>(number));
}

}  // namespace

Rng breeding_rng(std::uint64_t run_seed, int trial) {
  return Rng(hash(run_seed, Stream::breeding, trial));
}

int seed_number(int trial, int repeat) {
  return repeat == 0 ? trial % rotating_seeds : rotating_seeds + repeat - 1;
}

std::uint64_t training_seed(std::uint64_t run_seed, int seed_number) {
  return hash(run_seed, Stream::training, seed_number) >> 33;
}

}  // namespace evolve::ga
