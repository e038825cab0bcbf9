// Keeps the files for people up to date: evolve.csv, hyp_evolved.yaml, evolve_population.yaml, the
// plot.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hyp/space.hpp"
#include "hyp/trial.hpp"
#include "results/evolve_csv.hpp"
#include "results/run_directory.hpp"
#include "results/yaml_files.hpp"

namespace evolve::cli {

/// A completed trial.
struct Finished {
  int trial = 0;
  hyp::Hyperparameters hyp;
  hyp::Metrics metrics;
  double fitness = 0;
};

class Record {
 public:
  /// Rewrites the files of `directory` from the trials that have completed so far, in that order.
  /// `fitness` is the expression that the plot shows.
  Record(results::RunDirectory directory, hyp::Space space, std::string fitness,
         const std::vector<Finished>& finished);

  /// Adds a row to evolve.csv, and rewrites hyp_evolved.yaml when it is the best. Returns whether
  /// it is.
  bool add(const Finished& finished);
  /// Rewrites evolve_population.yaml.
  void set_population(int generation, const std::vector<hyp::Hyperparameters>& population);
  /// Brings hyp_evolved.yaml's row count up to date.
  void close();
  /// RandomSource evolve.png.
  void draw() const;

  /// The first row of greatest fitness.
  const std::optional<Finished>& best() const { return best_; }
  int rows() const { return static_cast<int>(table_.rows.size()); }

 private:
  bool improve(const Finished& finished);
  void write_best() const;

  results::RunDirectory directory_;
  hyp::Space space_;
  std::string fitness_;
  results::Table table_;
  std::optional<Finished> best_;
  int best_row_ = 0;
};

}  // namespace evolve::cli
