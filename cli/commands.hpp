// The commands, one source file each. Each returns the exit code; errors are thrown as `Error`.
#pragma once

#include "cli/options.hpp"

namespace evolve::cli {

/// `evolve`: the main job.
int evolve_command(const Options& options);
/// `evolve plot EVOLVE_CSV [-o FILE]`, or a results.csv
int plot_command(const std::string& csv, const std::string& image);
/// `evolve dataset shapes DIR`
int dataset_command(const std::string& name, const std::string& directory);

}  // namespace evolve::cli
