// What a training's reports become: rows of results.csv, lines on the screen and in the log.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/screen/screen.hpp"
#include "core/file_descriptor.hpp"
#include "results/run_directory.hpp"
#include "results/run_file.hpp"
#include "results/training_csv.hpp"
#include "trainer/data/check.hpp"
#include "workers/protocol/jobs.hpp"
#include "workers/supervise/supervised_process.hpp"

namespace evolve::cli {

class TrainingRecord {
 public:
  /// `log` is the open log file, `epochs` how many there will be, `validation` what the validation
  /// images hold.
  TrainingRecord(results::RunDirectory directory, const core::FileDescriptor& log, int epochs,
                 data::DatasetStats validation, Screen& screen);

  /// Throws `Error` when a file cannot be written.
  void receive(const workers::JobReport& report);
  /// What the trainer wrote to standard error: into the log, and until the first batch on the
  /// screen too.
  void log(std::string_view bytes);

  /// The training has failed so: into the log. Whoever runs it says it on the screen.
  void failed(const workers::Ending& failure);

  /// To be called when nothing more will come: brings results.csv up to date and draws results.png.
  void close();

  /// Epochs done, those before a resume included.
  int epochs() const { return static_cast<int>(rows_.size()); }
  /// Epochs that this process has seen end, and their time.
  int epochs_here() const { return epochs_here_; }
  double seconds_here() const { return seconds_here_; }
  /// How the training ended, once it has.
  const std::optional<workers::TrainingReport>& end() const { return end_; }

 private:
  void on(const workers::Alive& alive);
  void on(const workers::BatchReport& batch);
  void on(const workers::EpochReport& epoch);
  void on(const workers::TrainingReport& run) { end_ = run; }
  template <class Other>
  void on(const Other&) {}
  /// Says once per epoch what its line will show.
  void begin_epoch(int epoch);
  void write(const results::EpochRow& row);
  void write_log(std::string_view bytes);

  results::RunDirectory directory_;
  const core::FileDescriptor& log_;
  int total_epochs_;
  data::DatasetStats validation_;
  Screen& screen_;
  std::vector<results::EpochRow> rows_;
  /// The rows in results.csv are those of `rows_`, and not what an earlier process left.
  bool written_ = false;
  int epochs_here_ = 0;
  double seconds_here_ = 0;
  /// The epoch whose header is on the screen.
  int shown_epoch_ = 0;
  std::chrono::steady_clock::time_point epoch_began_;
  std::string unfinished_line_;
  std::optional<workers::TrainingReport> end_;
};

}  // namespace evolve::cli
