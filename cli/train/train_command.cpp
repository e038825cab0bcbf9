// One training: prepare it, or find where it stopped; run it; say what came out.

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>

#include "cli/commands.hpp"
#include "cli/options/trainer_options.hpp"
#include "cli/screen/text.hpp"
#include "cli/signals.hpp"
#include "cli/train/train_options.hpp"
#include "cli/train/training_record.hpp"
#include "cli/train/training_screen.hpp"
#include "cli/trainers/built_in_worker.hpp"
#include "cli/trainers/inputs.hpp"
#include "core/number.hpp"
#include "core/path.hpp"
#include "devices/devices.hpp"
#include "hyp/hyp.hpp"
#include "results/results.hpp"
#include "trainer/checkpoint/weights_file.hpp"
#include "workers/supervise/run_job.hpp"

namespace evolve::cli {
namespace {

namespace fs = std::filesystem;

/// A training whose inputs have been looked over.
struct Prepared {
  TrainCommandOptions options;
  hyp::Hyperparameters hyp;
  devices::Choice device;
  /// Of the training and of the validation images.
  Inspection data;
  std::string worker;
};

const core::Slot& slot_of(const Prepared& training) {
  return training.device.slots.front();
}

/// The folder of a training, which belongs to this process as long as the log is open.
struct OwnFolder {
  results::RunDirectory directory;
  core::FileDescriptor log;
};

OwnFolder own(results::RunDirectory directory) {
  auto log = results::open_locked(directory.log(), O_CREAT);
  return {std::move(directory), std::move(log)};
}

/// YOLOv5's hyp.scratch-low, replaced by what the file has. Without `anchors` the model keeps its
/// own.
hyp::Hyperparameters hyp_of(const std::string& file) {
  hyp::Hyperparameters hyp;
  for (const auto& [name, value] : hyp::start_of(hyp::default_space()))
    if (name != "anchors") hyp.set(name, value);
  if (file.empty()) return hyp;
  const auto given = read_yolov5_hyp(file);
  hyp::check_values(hyp::default_space(), given);
  for (const auto& [name, value] : given.hyp) {
    if (const auto fault = hyperparameter_fault(name, {value}))
      throw bad_input(given.where(name), fault->what, fault->remedy);
    hyp.set(name, value);
  }
  return hyp;
}

/// `had`: the slot that it was trained on before, if that is known.
Prepared prepare(const TrainCommandOptions& options, const std::string& hyp_file, Screen& screen,
                 const std::vector<std::string>& had = {}) {
  auto device =
      devices::choose_one(options.devices, devices::this_machine(), {.drives = built_in_drives()});
  devices::check_no_fallback(options.devices, had, device);
  const auto& slot = device.slots.front();
  check_group(slot, options.train.batch_size);
  auto hyp = hyp_of(hyp_file);
  auto data = inspect(options.train, training_splits, options.resume.has_value(), &screen);
  check_images(slot, data.splits[0].images, options.train.data);
  return {.options = options,
          .hyp = std::move(hyp),
          .device = std::move(device),
          .data = std::move(data),
          .worker = built_in_worker()};
}

bool is_same_file(const std::string& one, const fs::path& other) {
  std::error_code absent;
  return fs::equivalent(one, other, absent);
}

/// Removes what a resume would take for this training's. The weights it starts from are moved
/// where nothing overwrites them: the first epoch may be cut off, and begin again.
void forget_earlier(const results::RunDirectory& run, std::string& start_weights) {
  for (const auto& weights : {run.best_weights(), run.last_weights()}) {
    if (!is_same_file(start_weights, weights)) continue;
    fs::rename(weights, run.start_weights());
    start_weights = run.start_weights();
    make_absolute(start_weights);  // a resume may stand in another folder
  }
  for (const auto& file :
       {run.results_csv(), run.results_plot(), run.best_weights(), run.last_weights()})
    fs::remove(file);
}

/// Throws `Error` where the folder has a file of somebody else's that a training would write to. A
/// training that was killed before it wrote anything leaves an empty log.
void check_no_others(const results::RunDirectory& run) {
  if (results::has_own_options(run)) return;
  std::error_code absent;
  const bool has_log = fs::exists(run.log()) && fs::file_size(run.log(), absent) > 0;
  for (const auto& file : {run.options(), run.results_csv(), run.results_plot(), run.hyp(),
                           run.best_weights(), run.last_weights(), run.log()})
    if (file == run.log() ? has_log : fs::exists(file))
      throw bad_input({file.string()},
                      "this file is not of a training by evolve, and would be overwritten",
                      "choose another folder");
}

/// An empty folder, or with --exist-ok that of an earlier training, which is then forgotten, but
/// for the weights that `options` start from.
OwnFolder new_folder(TrainCommandOptions& options) {
  const auto& destination = options.destination;
  const auto run = create(destination);
  if (results::holds_run(run))
    throw bad_input({run.root.string()}, "this folder holds an evolution", "choose another folder");
  check_no_others(run);
  auto folder = own(run);
  if (results::has_own_options(run)) {
    if (!destination.exist_ok) {
      throw bad_input({run.root.string()}, "this folder holds a run already",
                      "go on with it (--resume), or choose another folder");
    }
    forget_earlier(run, options.train.weights);
    if (::ftruncate(folder.log.number(), 0) != 0) throw results::write_failed(run.log(), errno);
  }
  return folder;
}

void say_what(const Prepared& training, Screen& screen) {
  auto train = training.options.train;
  train.optimizer = trainer::optimizer_name(train, training.hyp);
  screen.line(description(train) + ", on " + slot_of(training).name);
  for (const auto& note : training.device.notes) screen.line(note);
  for (const auto& note : training.data.notes) screen.line(note);
}

void say_result(const workers::TrainingReport& end, const results::RunDirectory& run,
                Screen& screen) {
  const int best = end.best_epoch - 1;
  if (end.stopped_early) {
    screen.line(fmt::format(
        "Stopped early: no improvement in the last {}; the best results are those of epoch {}. (A "
        "training with a larger --patience waits longer, with 0 for ever.)",
        core::counted(end.epochs - end.best_epoch, "epoch"), best));
  }
  screen.line(fmt::format("weights/best.pt, of epoch {}:", best));
  for (const auto& line : class_table(end.validation)) screen.line(line);
  screen.line("results in " + display_path(run.root));
  if (fs::exists(run.best_weights()))
    screen.line("  the best weights  " + display_path(run.best_weights()));
  screen.line("  every epoch       " + display_path(run.results_csv()));
  if (fs::exists(run.results_plot()))
    screen.line("  the plot          " + display_path(run.results_plot()));
}

/// The last words of a training that ended by itself or by a signal, and its exit code.
int conclude(const TrainingRecord& record, const workers::JobEnd& end, const Prepared& training,
             const results::RunDirectory& run, int signal, Screen& screen) {
  if (signal != 0) screen.hurry();
  if (end.stopped) {
    const auto after = record.epochs() > 0
                           ? fmt::format(" after {} of {}", record.epochs(),
                                         core::counted(training.options.train.epochs, "epoch"))
                           : "";
    screen.line("Interrupted" + after + ". Go on with: evolve train --resume " +
                shell_folder(run.root));
    return 128 + signal;
  }
  screen.line("");
  const int here = record.epochs_here();
  screen.line(here == 0
                  ? display_path(run.root) + " is finished, after " +
                        core::counted(record.epochs(), "epoch")
                  : core::counted(here, "epoch") + " in " + duration_text(record.seconds_here()));
  if (record.end()) say_result(*record.end(), run, screen);
  return 0;
}

std::string remedy_of(const workers::Ending& failure, const results::RunDirectory& run) {
  const auto look = "see " + display_path(run.log());
  return failure.kind == hyp::FailureKind::hang ? "allow more with --hang-timeout, or " + look
                                                : look;
}

/// Trains to the end, a failure or a signal; returns the exit code.
int run(const Prepared& training, const OwnFolder& folder, bool resume, Screen& screen) {
  const auto& options = training.options;
  const auto& directory = folder.directory;
  TrainingRecord record(directory, folder.log, options.train.epochs, training.data.splits[1],
                        screen);
  const workers::TrainingJob job{.hyp = training.hyp,
                                 .seed = options.seed,
                                 .dir = core::without_dots(fs::absolute(directory.root)).string(),
                                 .resume = resume,
                                 .options = trainer::to_json(options.train)};
  const StopOnSignals stop;
  const auto end = workers::run_job(
      {.command = {training.worker}, .hang_timeout = options.hang_limit}, slot_of(training), job,
      {.report = [&](const workers::JobReport& report) { record.receive(report); },
       .log = [&](std::string_view bytes) { record.log(bytes); }},
      stop.source());
  record.close();
  if (end.failure) {
    record.failed(*end.failure);
    throw job_failed(*end.failure, remedy_of(*end.failure, directory));
  }
  return conclude(record, end, training, directory, stop.source().reason(), screen);
}

/// Beside its options: where it was trained, whatever "auto" means later.
constexpr const char* slot_key = "slot";

TrainCommandOptions options_of(const TrainCommandOptions& now, const nlohmann::ordered_json& kept,
                               const fs::path& file) try {
  return resumed(now, kept);
} catch (const nlohmann::json::exception& error) {
  throw bad_input({file.string()}, std::string("not the options of a training: ") + error.what(),
                  "restore it, or start a new training");
}

void keep_options(const Prepared& training, const results::RunDirectory& directory) {
  auto kept = to_json(training.options);
  kept[slot_key] = slot_of(training).name;
  results::write_options(directory.options(), kept);
}

/// Throws `Error` where the hyperparameters have another optimizer than was asked for.
void check_one_optimizer(const TrainCommandOptions& options, const hyp::Hyperparameters& hyp) {
  const auto& asked = options.train.optimizer;
  const auto used = trainer::optimizer_name(options.train, hyp);
  if (!options.given.contains("optimizer") || used == asked) return;
  throw bad_argument(
      fmt::format("--optimizer {}: the hyperparameters have {}, which would be used", asked, used),
      "leave out one of the two");
}

int run_new(const TrainCommandOptions& options, Screen& screen) {
  const auto model = check_model(options.train);
  auto training = prepare(options, options.hyp, screen);
  check_one_optimizer(options, training.hyp);
  const auto folder = new_folder(training.options);
  say_what(training, screen);
  if (model.note) screen.line(*model.note);
  keep_options(training, folder.directory);
  results::write_hyp(folder.directory.hyp(), training.hyp);
  screen.line("results in " + display_path(folder.directory.root));
  return run(training, folder, /*resume=*/false, screen);
}

/// Throws `Error` where epochs of the training have ended, but what it would go on from is gone: to
/// begin afresh would write over what they have left.
void check_weights_of(const results::RunDirectory& directory) {
  if (!fs::exists(directory.best_weights()) && !fs::exists(directory.results_csv())) return;
  throw bad_input({directory.last_weights().string()},
                  "it is gone, and epochs of this training had ended",
                  "bring it back, or begin another training" +
                      (fs::exists(directory.best_weights())
                           ? ", with --weights " + shell_path(directory.best_weights())
                           : ""));
}

/// Whether the training that left these weights has ended by itself.
bool has_ended(const fs::path& last) try {
  const auto about = trainer::read_summary(last.string()).about;
  const auto training = about.find("training");
  return training != about.end() && training->contains("ended");
} catch (const Error&) {
  return false;  // the worker will say what is wrong with them
}

/// Throws `Error` where a file that the training needs to go on has gone: its start is in its own
/// weights, once it has any.
void check_present(trainer::TrainOptions train, bool began) {
  if (began) train.weights = train.cfg = "";
  if (const auto missing = missing_input(train)) throw bad_argument(missing->what, restore_or_link);
}

int run_resumed(const TrainCommandOptions& now, Screen& screen) {
  const auto folder = own(now.resume->empty() ? results::newest_training(now.destination.project)
                                              : results::open_training(*now.resume));
  const auto& directory = folder.directory;
  const auto kept = results::read_options(directory.options());
  const auto options = options_of(now, kept, directory.options());
  const bool began = fs::exists(directory.last_weights());
  check_present(options.train, began);
  if (!began) {
    check_weights_of(directory);
    check_model(options.train);
  }
  const bool ended = began && has_ended(directory.last_weights());
  if (ended && now.given.contains("patience") &&
      kept.value("patience", nlohmann::ordered_json()) != options.train.patience)
    throw bad_argument(fmt::format("--patience {}: {} has ended", options.train.patience,
                                   display_path(directory.root)),
                       "begin another training from the weights that it has left");
  // Nothing where an earlier version began it.
  std::vector<std::string> had;
  if (const auto slot = kept.find(slot_key); slot != kept.end() && slot->is_string())
    had.push_back(slot->get<std::string>());
  const auto training = prepare(options, directory.hyp().string(), screen, had);
  keep_options(training, directory);
  say_what(training, screen);
  if (!ended)
    screen.line(display_path(directory.root) + (began
                                                    ? ": going on from weights/last.pt"
                                                    : ": no epoch had ended, so it starts afresh"));
  return run(training, folder, began, screen);
}

int train(const TrainCommandOptions& options) {
  Screen screen(stdout);
  return options.resume ? run_resumed(options, screen) : run_new(options, screen);
}

}  // namespace

Command train_command(CLI::App& app) {
  const auto options = std::make_shared<TrainCommandOptions>();
  auto* command = app.add_subcommand("train", "Train once, with one hyp file");
  declare(*command, *options);
  return {command, [=] {
            complete(*command, *options);
            return train(*options);
          }};
}

}  // namespace evolve::cli
