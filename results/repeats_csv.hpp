// repeats.csv: how the best trials did when they were trained again.
#pragma once

#include <filesystem>
#include <vector>

#include "results/repeat.hpp"

namespace evolve::results {

/// Replaces the file by these rows after a header, atomically: trial, seed, fitness/first,
/// fitness/again and the seven metrics, laid out as evolve.csv is. Throws `Error` (`Fault::run`)
/// when the disk is full.
void write_repeats(const std::filesystem::path& file, const std::vector<Repeat>& repeats);

}  // namespace evolve::results
