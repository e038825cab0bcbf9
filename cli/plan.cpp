#include "cli/plan.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <set>
#include <system_error>

#include "cli/inputs.hpp"
#include "cli/screen.hpp"
#include "cli/search_space.hpp"
#include "cli/training_options.hpp"
#include "core/device_kind.hpp"
#include "core/shell_word.hpp"
#include "core/spawn.hpp"
#include "devices/devices.hpp"
#include "engine/launcher.hpp"
#include "workers/exec/exec_worker.hpp"
#include "workers/exec/placeholders.hpp"

namespace evolve::cli {
namespace {

/// The program of --trainer-exec, --trainer-command or --launcher is there.
void check_program(const std::string& option, const std::string& program) try {
  if (program.find('{') == program.npos) core::program_file(program);
} catch (const std::system_error& error) {
  throw bad_argument(
      option + ": '" + program + "' cannot be started (" + error.code().message() + ")",
      "name a program that exists");
}

/// So is what the slots' workers are started by, before a folder is made for their run.
void check_launchers(const std::vector<core::Slot>& slots) {
  std::set<std::string> programs;
  for (const auto& slot : slots)
    if (!slot.launcher.empty()) programs.insert(slot.launcher.front());
  for (const auto& program : programs) check_program("--launcher", program);
}

/// Each slot's device has a number to stand for {index}.
void check_numbers(const std::vector<core::Slot>& slots) {
  const auto is_number = [](const auto& variable) { return variable.first == "EVOLVE_INDEX"; };
  for (const auto& slot : slots)
    if (std::ranges::none_of(slot.environment, is_number))
      throw bad_argument("--trainer-exec with {index}: " + slot.name + " has no number",
                         "write {device}, or name GPUs with --devices");
}

/// What a slot with several devices trains with knows how to.
void check_groups(const std::vector<core::Slot>& slots, const Options& options) {
  for (const auto& slot : slots) {
    const auto devices = core::members_of(slot.name).size();
    if (devices > 1 && python_trainer(options.trainer))
      throw bad_argument(fmt::format("--trainer {}: it trains on one device, {} has {}",
                                     options.trainer, slot.name, devices),
                         "name each device by itself, or use the built-in trainer");
    if (!options.has_external_trainer()) check_group(slot, options.train.batch_size);
  }
}

void resolve_devices(Plan& plan) {
  const auto& o = plan.options;
  if (o.launcher == "local") {
    if (!o.trainer_exec.empty())
      check_program("--trainer-exec", workers::exec_words(o.trainer_exec).front());
    if (!o.trainer_command.empty())
      check_program("--trainer-command",
                    core::shell_words(o.trainer_command, "--trainer-command").front());
  }
  if (const auto* trainer = python_trainer(o.trainer); trainer && o.launcher == "local")
    check_installed(*trainer, o.python);
  devices::TrainerTraits trainer{.external = o.has_external_trainer(),
                                 .by_number = workers::mentions(o.trainer_exec, "{index}"),
                                 .device_env = o.device_env};
  if (!trainer.external) trainer.drives = built_in_drives();
  plan.settings.choose_devices = [trainer, o](const std::string& spec,
                                              const std::vector<core::Slot>& had) {
    auto choice = engine::launched_slots(o.launcher, spec, trainer, had);
    check_groups(choice.slots, o);
    if (trainer.by_number) check_numbers(choice.slots);
    return choice;
  };
  auto choice = plan.settings.choose_devices(o.devices, {});
  check_launchers(choice.slots);
  plan.settings.slots = std::move(choice.slots);
  plan.settings.accelerators = std::move(choice.accelerators);
  plan.device_notes = std::move(choice.notes);
}

std::vector<std::string> worker_command(const Options& options) {
  if (const auto* trainer = python_trainer(options.trainer))
    return worker_command(*trainer, options.python);
  if (!options.trainer_command.empty())
    return core::shell_words(options.trainer_command, "--trainer-command");
  if (options.trainer_exec.empty()) return {built_in_worker()};
  return workers::exec_worker_command_for(workers::exec_words(options.trainer_exec));
}

/// Everything but the run's own settings.
Plan planned(const Options& options) {
  Plan plan{.options = options};
  resolve_devices(plan);
  auto& settings = plan.settings;
  settings.workers = {.command = worker_command(options),
                      .trial_timeout = duration(options.trial_timeout, "--trial-timeout"),
                      .hang_timeout = duration(options.hang_timeout, "--hang-timeout")};
  settings.trainer_options = trainer::to_json(options.train);
  if (options.trainer_command.empty()) settings.can_pause = !options.has_external_trainer();
  settings.retries = options.retries;
  if (python_trainer(options.trainer) && options.keep_weights >= 0)
    settings.keep_weights = options.keep_weights;
  settings.time_limit = duration_seconds(options.time_limit, "--time-limit");
  settings.find_fault = fault_finder(options);
  settings.sees_data = options.trainer == "built-in" && !options.has_external_trainer();
  return plan;
}

std::vector<std::string> names_of(const std::vector<core::Slot>& slots) {
  std::vector<std::string> names;
  for (const auto& slot : slots) names.push_back(slot.name);
  return names;
}

/// `auto` finds what there is now. Where the run had GPUs and their driver fails, that is no reason
/// to go on with the CPU.
void check_no_fallback(const Plan& plan, const std::vector<std::string>& slots) {
  if (plan.options.devices != "auto" || slots.empty() || core::is_cpu(slots.front())) return;
  if (!std::ranges::all_of(names_of(plan.settings.slots), core::is_cpu)) return;
  throw bad_argument(fmt::format("--devices auto: the run had {}, and now there is no GPU ({})",
                                 fmt::join(slots, ", "), fmt::join(plan.device_notes, "; ")),
                     "mend the driver, or go on with --devices cpu");
}

/// Where `--trials` asks for more than the generations have, there are more of these.
int generations_of(const Options& options) {
  if (!options.trials || options.population < 1) return options.generations;
  return std::max(options.generations, ga::generations_of(*options.trials, options.population));
}

}  // namespace

Plan make_plan(const Options& options) {
  const auto space = space_of(options);
  const auto initial = initial_of(options, space);
  const auto earlier = earlier_of(options, space);
  auto plan = planned(options);
  plan.settings.run = {.seed = options.seed,
                       .search = options.search,
                       .lag = options.lag,
                       .population = options.population,
                       .generations = generations_of(options),
                       .trials = options.trials,
                       .max_epochs = options.max_epochs,
                       .repeats = options.repeats,
                       .epochs = options.train.epochs,
                       .early_stop = options.early_stop,
                       .fitness = options.fitness,
                       .slots = names_of(plan.settings.slots),
                       .space = space,
                       .initial = initial,
                       .earlier = earlier,
                       .options = to_json(options)};
  engine::search_settings(plan.settings.run);
  check_inputs(plan);
  for (auto& note : notes_on(initial, space)) plan.notes.push_back(std::move(note));
  return plan;
}

Plan resumed_plan(const Options& now, const results::RunSettings& run,
                  const std::string& journal) try {
  auto plan = planned(resumed(now, run.options));
  check_no_fallback(plan, run.slots);
  plan.settings.run = run;
  return plan;
} catch (const nlohmann::json::exception& wrong) {
  throw bad_input({journal, 1}, wrong.what(),
                  "restore the journal from a copy, or start a new run");
}

void check_inputs(Plan& plan) {
  const auto& train = plan.options.train;
  if (!plan.options.has_external_trainer()) {
    const auto weights = check_model(train);
    auto found = inspect(train, training_splits);
    auto& began_with = plan.settings.run.inputs;
    const auto now = trained_on(found, weights);
    check_same(began_with, now, train);
    began_with = now;
    plan.notes = std::move(found.notes);
  } else if (const auto missing = missing_input(train)) {
    throw Error(Error::Fault::input, *missing + "; restore it, or name another");
  }
}

}  // namespace evolve::cli
