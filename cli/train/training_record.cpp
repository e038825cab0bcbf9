#include "cli/train/training_record.hpp"

#include <fmt/format.h>

#include "cli/train/training_screen.hpp"
#include "core/error.hpp"
#include "core/split.hpp"
#include "core/utf8.hpp"
#include "results/plots/training_plot.hpp"

namespace evolve::cli {
namespace {

using Clock = std::chrono::steady_clock;

results::EpochRow row_of(const workers::EpochReport& report) {
  const auto& losses = report.training.losses;
  return {.epoch = report.training.epoch - 1,
          .losses = {losses.box, losses.obj, losses.cls},
          .metrics = report.metrics,
          .learning_rates = report.learning_rates};
}

}  // namespace

TrainingRecord::TrainingRecord(results::RunDirectory directory, const core::FileDescriptor& log,
                               int epochs, data::DatasetStats validation, Screen& screen)
    : directory_(std::move(directory)),
      log_(log),
      total_epochs_(epochs),
      validation_(std::move(validation)),
      screen_(screen) {}

void TrainingRecord::receive(const workers::JobReport& report) {
  std::visit([this](const auto& message) { on(message); }, report);
}

void TrainingRecord::begin_epoch(int epoch) {
  if (shown_epoch_ == epoch) return;
  if (shown_epoch_ == 0) epoch_began_ = Clock::now();
  shown_epoch_ = epoch;
  screen_.line("");
  screen_.line(epoch_header());
}

void TrainingRecord::on(const workers::Alive& alive) {
  if (shown_epoch_ > 0) return;
  if (const auto text = preparing_text(alive); text.empty())
    screen_.clear();
  else
    screen_.show(text);
}

void TrainingRecord::on(const workers::BatchReport& batch) {
  begin_epoch(batch.epoch);
  const std::chrono::duration<double> elapsed = Clock::now() - epoch_began_;
  const double left = elapsed.count() * (batch.batches - batch.batch) / std::max(batch.batch, 1);
  screen_.show(epoch_text(batch, total_epochs_) + progress_text(batch.batch, batch.batches, left));
}

void TrainingRecord::on(const workers::EpochReport& epoch) {
  const auto row = row_of(epoch);
  rows_.push_back(row);
  if (epoch.past) return;
  begin_epoch(epoch.training.epoch);
  epoch_began_ = Clock::now();
  ++epochs_here_;
  seconds_here_ += epoch.seconds;
  write(row);
  const auto& batch = epoch.training;
  screen_.line(epoch_text(batch, total_epochs_) +
               progress_text(batch.batch, batch.batches, epoch.seconds));
  screen_.line(class_header());
  screen_.line(class_text(epoch.metrics, validation_.images, validation_.labels));
}

void TrainingRecord::write(const results::EpochRow& row) {
  if (written_) {
    results::append_epoch(directory_.results_csv(), row);
  } else {
    results::write_epochs(directory_.results_csv(), rows_);
  }
  written_ = true;
}

void TrainingRecord::write_log(std::string_view bytes) {
  if (const int error = core::write_all(log_.number(), bytes))
    throw results::write_failed(directory_.log(), error);
}

void TrainingRecord::failed(const workers::Ending& failure) {
  const auto line = fmt::format("failed ({}): {}\n", hyp::name_of(failure.kind), failure.message);
  // Where it cannot be written, the failure is said all the same: it may be why.
  core::write_all(log_.number(), line);
}

void TrainingRecord::log(std::string_view bytes) {
  write_log(bytes);
  if (shown_epoch_ > 0) return;
  unfinished_line_ += bytes;
  while (const auto line = core::take_line(unfinished_line_)) screen_.line(core::excerpt(*line));
}

void TrainingRecord::close() {
  screen_.clear();
  if (rows_.empty()) return;
  if (!written_) results::write_epochs(directory_.results_csv(), rows_);
  try {
    results::plot_training(rows_, directory_.results_plot());
  } catch (const Error& error) {  // costs a plot, not a training
    screen_.line(std::string("no plot: ") + error.what());
  }
}

}  // namespace evolve::cli
