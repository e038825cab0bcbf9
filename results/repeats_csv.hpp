// repeats.csv: how the best trials did when they were trained again.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "hyp/trial.hpp"

namespace evolve::results {

/// A completed trial and its repeat.
struct Repeat {
  int trial = 0;
  /// The training seed of the repeat.
  std::uint64_t seed = 0;
  /// Fitness of the trial, and of its repeat.
  double first = 0;
  double again = 0;
  /// Of the repeat.
  hyp::Metrics metrics = {};

  bool operator==(const Repeat&) const = default;
};

/// Replaces the file by these rows after a header, atomically: trial, seed, fitness/first,
/// fitness/again and the seven metrics, laid out as evolve.csv is. Throws `Error` (`Fault::run`)
/// when the disk is full.
void write_repeats(const std::filesystem::path& file, const std::vector<Repeat>& repeats);

}  // namespace evolve::results
