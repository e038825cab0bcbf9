// One validation: weights on a split of a data set.

#include <fmt/format.h>

#include <filesystem>

#include "cli/commands.hpp"
#include "cli/inputs.hpp"
#include "cli/job.hpp"
#include "cli/screen.hpp"
#include "cli/signals.hpp"
#include "cli/training_screen.hpp"
#include "core/device_kind.hpp"
#include "core/error.hpp"
#include "devices/devices.hpp"
#include "results/durable.hpp"

namespace evolve::cli {
namespace {

namespace fs = std::filesystem;

/// On the screen, and in the file that was asked for.
void report(const workers::ValidationReport& validation, const ValArguments& arguments,
            const fs::path& folder, Screen& screen) {
  for (const auto& line : class_table(validation)) screen.line(line);
  screen.line(
      fmt::format("Speed: {:.1f} ms inference, {:.1f} ms NMS per image at {} px, {} at a "
                  "time",
                  validation.inference_ms, validation.nms_ms, arguments.options.imgsz,
                  arguments.options.batch_size));
  if (!arguments.json.empty())
    results::write_output(arguments.json, to_json(validation).dump(2) + "\n");
  screen.line("results in " + display_path(folder));
}

}  // namespace

int val_command(const ValArguments& arguments) {
  Screen screen(stdout);
  const auto& options = arguments.options;
  const auto device = devices::choose_one(arguments.devices, devices::this_machine(),
                                          {.drives = built_in_drives()});
  const auto& slot = device.slots.front();
  if (core::members_of(slot.name).size() > 1)
    throw bad_argument("--device " + slot.name + ": a validation has one device",
                       "name one of them");
  check_model({.cfg = options.cfg, .weights = options.weights});
  check_output(arguments.json);
  const auto data = inspect(options, {data::split_of(arguments.task)});
  const auto worker = built_in_worker();
  const auto folder = create(arguments.destination).root;

  screen.line(fmt::format("{} on {} at {} px, on {}", display_path(options.weights),
                          display_path(options.data), options.imgsz, slot.name));
  for (const auto& note : device.notes) screen.line(note);
  for (const auto& note : data.notes) screen.line(note);
  screen.show("validating …");
  const workers::ValidationJob job{.split = arguments.task,
                                   .dir = fs::absolute(folder).lexically_normal().string(),
                                   .rect = arguments.rect,
                                   .options = trainer::to_json(options)};
  std::optional<workers::ValidationReport> validation;
  const auto receive = [&](const workers::JobReport& message) {
    if (const auto* found = std::get_if<workers::ValidationReport>(&message)) validation = *found;
  };
  // The trainer's last words are part of a failure; nobody waits for the rest of its log.
  const StopOnSignals stop;
  const auto end =
      workers::run_job(job_settings(worker, ""), slot, job,
                       {.report = receive, .log = [](std::string_view) {}}, stop.source());
  screen.clear();
  if (end.failure)
    throw job_failed(*end.failure, "try again with another --device or --batch-size");
  if (end.stopped) {
    screen.line("Interrupted");
    return 128 + stop.source().reason();
  }
  if (validation) report(*validation, arguments, folder, screen);
  return 0;
}

}  // namespace evolve::cli
