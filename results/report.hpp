// report.html: runs as one page that a browser opens from the disk, without a server.
//
// The page has the runs' figures as JSON and draws them itself (results/report/*.js, with uPlot).
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "results/explanation.hpp"
#include "results/repeat.hpp"
#include "results/run_settings.hpp"
#include "results/timeline.hpp"

namespace evolve::results {

/// A run as its report shows it.
struct RunReport {
  /// The mean fitness of trainings of one set, and the interval that holds it with 90 %.
  struct Expectation {
    double mean = 0, low = 0, high = 0;
  };
  struct Recommended {
    int trial = 0;
    /// What trainings of its set gave, in whichever trials and repeats; how many of them collapsed,
    /// and how many failed besides: what is expected is for those that do neither.
    std::vector<double> trainings = {};
    int collapsed = 0, failed = 0;
    /// The trial is of the run's first set.
    bool is_start = false;
    /// Where there is a model: what is expected of the set when it is trained again, and by how
    /// much another seed alone moves a fitness (one standard deviation).
    std::optional<Expectation> expected = {};
    /// It is the median of trainings, not their mean.
    bool median = false;
    double noise = 0;
    /// Some set was trained with two seeds: else `noise` is only an assumption.
    bool luck_seen = false;
    /// What is expected of the start, and the probability that it is the worse one.
    std::optional<Expectation> start = {};
    double better = 0;
    /// The other trial whose set is most likely to be better, and that probability, where more
    /// trainings would be worth deciding it.
    std::optional<std::pair<int, double>> rival = {};
    /// How great that probability must be for another set than the start to be recommended.
    double enough = 0;
  };

  /// What a person calls it: its folder.
  std::string name;
  RunSettings settings;
  /// Nothing is left to be trained.
  bool finished = false;
  /// evolve is at work on it.
  bool going_on = false;
  /// Trials in all; with a limit of epochs, those so far.
  int planned = 0;
  std::int64_t epochs_trained = 0;
  Timeline timeline = {};
  /// Raw values of the evolved genes of each of the timeline's trials, in the same order.
  std::vector<hyp::Genes> genes = {};
  std::optional<Recommended> recommended = {};
  std::vector<Repeat> repeats = {};
  std::optional<Explanation> explanation = {};
};

/// What the page has of a run. Of each device at most `most_samples` are kept,
/// evenly chosen.
nlohmann::ordered_json to_json(const RunReport& report);
inline constexpr std::size_t most_samples = 1000;

/// The page of these runs, complete in itself. `written` is shown as the time of its figures.
std::string report_page(std::span<const RunReport> runs, core::Time written);

/// Replaces `file` by that page, atomically. Throws `Error` when it cannot be written.
void write_report(const std::filesystem::path& file, std::span<const RunReport> runs);

}  // namespace evolve::results
