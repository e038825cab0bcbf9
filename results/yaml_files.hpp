// The YAML files of a run, which YOLOv5 reads and writes too.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "hyp/hyp_file.hpp"
#include "hyp/hyperparameters.hpp"
#include "hyp/metrics.hpp"

namespace evolve::results {

/// The trial that is recommended so far.
struct Recommended {
  hyp::Hyperparameters hyp;
  hyp::Metrics metrics;
  /// Its row of evolve.csv, from 0.
  int row = 0;
};

/// hyp_evolved.yaml: the comment header of YOLOv5's print_mutation, then `name: value`, every
/// number a YAML 1.1 float. `rows`: how many evolve.csv has. Atomic. Throws `Error` (`Fault::run`)
/// when the disk is full.
void write_hyp_evolved(const std::filesystem::path& file, const Recommended& recommended, int rows);

/// evolve_population.yaml: `gen{generation}number{i}:` and the `i`th set as a block. Atomic; throws
/// as above.
void write_population(const std::filesystem::path& file, int generation,
                      const std::vector<hyp::Hyperparameters>& population);

/// The sets of the last generation in an evolve_population.yaml, YOLOv5's or ours, by their number.
/// Throws `Error` with file and line for anything else.
std::vector<hyp::HypFile> read_population(const std::filesystem::path& file);

/// The hyp files (*.yaml, *.yml) of a folder, by name. Throws `Error` when there are none, or for
/// one that is not a hyp file.
std::vector<hyp::HypFile> read_hyp_folder(const std::filesystem::path& folder);

/// hyp.yaml: `name: value`, every number a YAML 1.1 float. Atomic; throws as above.
void write_hyp(const std::filesystem::path& file, const hyp::Hyperparameters& hyp);

/// opt.yaml: `name: value` per member of a JSON object; a list or an object stays on its line.
/// Atomic; throws as above.
void write_options(const std::filesystem::path& file, const nlohmann::ordered_json& options);

/// Reads the object of write_options() back. Throws `Error` with file and line for a value that is
/// an object, and for broken YAML.
nlohmann::ordered_json read_options(const std::filesystem::path& file);

}  // namespace evolve::results
