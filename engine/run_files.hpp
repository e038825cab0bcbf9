// Keeps the files for people up to date: evolve.csv, hyp_evolved.yaml, evolve_population.yaml,
// repeats.csv, the plot. All of them can be rebuilt from the run's state. And removes what trials
// have left and nobody needs.
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>

#include "engine/kept_trainings.hpp"
#include "engine/kept_weights.hpp"
#include "engine/run_state.hpp"
#include "engine/settings.hpp"
#include "results/evolve_csv.hpp"
#include "results/run_directory.hpp"

namespace evolve::engine {

/// Draws a run as its evolve.png: its trials by this fitness, the recommended set marked, those
/// that are paused as rings. One trial at least has completed. Throws `Error` as `plot_evolution`
/// does.
void plot_run(const RunState& state, const std::string& fitness,
              const std::filesystem::path& image);

class RunFiles {
 public:
  /// Rewrites the files of `directory` from the state. `fitness` is the expression that the plot
  /// shows.
  RunFiles(results::RunDirectory directory, std::string fitness, const Leftovers& leftovers,
           const RunState& state);

  /// Brings them up to date after an event. Throws `Error` when the disk is full.
  void update(const results::Event& event, const RunState& state);
  /// Brings hyp_evolved.yaml and the population up to date, if they are not and that was not just
  /// done. To be called now and then.
  void catch_up(const RunState& state);
  /// Writes evolve.csv, hyp_evolved.yaml and the population anew, also when nothing more will
  /// come.
  void rewrite(const RunState& state);
  /// Draws evolve.png.
  void draw(const RunState& state) const;

 private:
  using Clock = std::chrono::steady_clock;

  /// A group of events arrives after all of them are in the state: so the first adds every row.
  void add_rows(const RunState& state);
  /// Writes hyp_evolved.yaml once a trial has completed.
  void write_recommended(const RunState& state);
  void write_population(const RunState& state) const;

  results::RunDirectory directory_;
  std::string fitness_;
  results::Table table_;
  KeptWeights kept_weights_;
  std::optional<KeptTrainings> kept_trainings_;
  std::optional<std::size_t> recommended_;  // the row that hyp_evolved.yaml has
  bool stale_ = false;                      // trials have ended since these were written
  Clock::time_point due_{};
};

}  // namespace evolve::engine
