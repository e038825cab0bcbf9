// One validation: weights on a split of a data set.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>

#include "cli/commands.hpp"
#include "cli/screen/screen.hpp"
#include "cli/screen/text.hpp"
#include "cli/signals.hpp"
#include "cli/train/training_screen.hpp"
#include "cli/train/val_options.hpp"
#include "cli/trainers/built_in_worker.hpp"
#include "cli/trainers/inputs.hpp"
#include "core/device_kind.hpp"
#include "core/error.hpp"
#include "core/path.hpp"
#include "devices/devices.hpp"
#include "results/run_file.hpp"
#include "workers/supervise/run_job.hpp"

namespace evolve::cli {
namespace {

namespace fs = std::filesystem;

/// On the screen, and in the file that was asked for.
void report(const workers::ValidationReport& validation, const ValCommandOptions& options,
            const fs::path& folder, Screen& screen) {
  for (const auto& line : class_table(validation)) screen.line(line);
  screen.line(fmt::format(
      "Speed: {:.1f} ms inference, {:.1f} ms NMS per image at {} px, {} at a "
      "time",
      validation.inference_ms, validation.nms_ms, options.train.imgsz, options.train.batch_size));
  if (!options.json.empty())
    results::write_output(options.json, to_json(validation).dump(2) + "\n");
  screen.line("results in " + display_path(folder));
}

/// What is evaluated, and what a person should know of it. `wanted`: the --imgsz that was given.
void say_what(const trainer::TrainOptions& train, int wanted, const ModelInspection& model,
              const devices::Choice& device, const Inspection& data, Screen& screen) {
  screen.line(fmt::format("{} on {} at {} px, on {}", display_path(train.weights),
                          display_path(train.data), train.imgsz, device.slots.front().name));
  if (train.imgsz != wanted)
    screen.line(
        fmt::format("--imgsz {} is rounded up: this model's image sizes are multiples of {}",
                    wanted, model.stride));
  if (model.has_table && !train.cfg.empty())
    screen.line(fmt::format("--cfg {} is not used: {} is evaluated with the model that it contains",
                            display_path(train.cfg), display_path(train.weights)));
  for (const auto& note : device.notes) screen.line(note);
  for (const auto& note : data.notes) screen.line(note);
}

int validate(ValCommandOptions options) {
  Screen screen(stdout);
  auto& train = options.train;
  const int wanted = train.imgsz;
  const auto device =
      devices::choose_one(options.devices, devices::this_machine(), {.drives = built_in_drives()});
  const auto& slot = device.slots.front();
  if (core::members_of(slot.name).size() > 1)
    throw bad_argument("--device " + slot.name + ": a validation has one device",
                       "name one of them");
  const auto model = check_model({.cfg = train.cfg, .weights = train.weights});
  // As in YOLOv5, whose validation rounds it up.
  train.imgsz = trainer::whole_strides(train.imgsz, model.stride, 1);
  check_output(options.json, "--json");
  const auto data = inspect(train, {data::split_of(options.task)}, /*began=*/false, &screen);
  const auto worker = built_in_worker();
  const auto folder = create(options.destination).root;

  say_what(train, wanted, model, device, data, screen);
  const std::string validating = "validating …";
  screen.show(validating);
  const workers::ValidationJob job{.split = options.task,
                                   .dir = core::without_dots(fs::absolute(folder)).string(),
                                   .rect = options.rect,
                                   .options = trainer::to_json(train)};
  std::optional<workers::ValidationReport> validation;
  const auto receive = [&](const workers::JobReport& message) {
    if (const auto* found = std::get_if<workers::ValidationReport>(&message)) validation = *found;
    if (const auto* alive = std::get_if<workers::Alive>(&message))
      screen.show(alive->preparing.empty() ? validating : preparing_text(*alive));
  };
  // The trainer's last words are part of a failure; nobody waits for the rest of its log.
  const StopOnSignals stop;
  const auto end =
      workers::run_job({.command = {worker}, .hang_timeout = {}}, slot, job,
                       {.report = receive, .log = [](std::string_view) {}}, stop.source());
  screen.clear();
  if (end.failure)
    throw job_failed(*end.failure, "try again with another --device or --batch-size");
  if (end.stopped) {
    screen.line("Interrupted");
    screen.hurry();
    return 128 + stop.source().reason();
  }
  if (!validation)
    throw run_failed(worker + " ended without a result", "look at what it printed, and try again");
  report(*validation, options, folder, screen);
  return 0;
}

}  // namespace

Command val_command(CLI::App& app) {
  const auto options = std::make_shared<ValCommandOptions>();
  auto* command = app.add_subcommand("val", "Evaluate weights on a data set");
  declare(*command, *options);
  return {command, [=] {
            complete(*command, *options);
            return printed(validate(*options));
          }};
}

}  // namespace evolve::cli
