#include "cli/plan.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "workers/exec/exec_worker.hpp"
#include "cli/inputs.hpp"
#include "cli/launcher.hpp"
#include "workers/exec/placeholders.hpp"
#include "cli/screen.hpp"
#include "cli/training_options.hpp"
#include "devices/devices.hpp"
#include "hyp/hyp.hpp"
#include "results/journal.hpp"
#include "results/yaml_files.hpp"
#include "core/spawn.hpp"
#include "workers/protocol/text.hpp"

namespace evolve::cli {
namespace {

/// The space's genes mean something to the built-in trainer: YOLOv5's 29 and `optimizer`.
void check_known(const hyp::Space& space, const Options& options) {
  for (const auto& gene : space.genes) {
    if (trainer::is_known(gene.name)) continue;
    throw bad_input({options.hyp.empty() || options.space.size() ? options.space : options.hyp},
                    "'" + gene.name + "' means nothing to the built-in trainer",
                    "remove it, or name an external trainer that knows it (--trainer-command or "
                    "--trainer-exec)");
  }
}

hyp::Space space_of(const Options& options) {
  auto space = options.space.empty() ? hyp::default_space() : hyp::read_space_file(options.space);
  if (!options.hyp.empty()) space = hyp::started_at(space, hyp::read_hyp_file(options.hyp));
  if (!options.has_external_trainer()) {
    check_known(space, options);
    space = hyp::with_defaults(space);
  }
  if (!options.evolve_genes.empty()) hyp::select_evolved(space, options.evolve_genes);
  return space;
}

std::vector<hyp::Hyperparameters> initial_of(const Options& options) {
  std::vector<hyp::Hyperparameters> initial;
  if (!options.resume_evolve.empty()) initial = results::read_population(options.resume_evolve);
  if (!options.evolve_population.empty()) {
    const auto more = results::read_hyp_folder(options.evolve_population);
    initial.insert(initial.end(), more.begin(), more.end());
  }
  return initial;
}

/// The program of --trainer-exec is there.
void check_program(const std::string& program) try {
  if (program.find('{') == program.npos) core::program_file(program);
} catch (const std::system_error& error) {
  throw bad_argument(
      "--trainer-exec: '" + program + "' cannot be started (" + error.code().message() + ")",
      "name a program that exists");
}

/// Each slot's device has a number to stand for {index}.
void check_numbers(const std::vector<core::Slot>& slots) {
  const auto is_number = [](const auto& variable) { return variable.first == "EVOLVE_INDEX"; };
  for (const auto& slot : slots)
    if (std::ranges::none_of(slot.environment, is_number))
      throw bad_argument("--trainer-exec with {index}: " + slot.name + " has no number",
                         "write {device}, or name GPUs with --devices");
}

void resolve_devices(Plan& plan) {
  const auto& o = plan.options;
  if (!o.trainer_exec.empty() && o.launcher == "local")
    check_program(workers::exec_words(o.trainer_exec).front());
  devices::TrainerTraits trainer{.external = o.has_external_trainer(),
                                 .by_number = workers::mentions(o.trainer_exec, "{index}"),
                                 .device_env = o.device_env};
  if (!trainer.external) trainer.drives = built_in_drives();
  auto choice = launched_slots(o.launcher, o.devices, trainer);
  plan.slots = std::move(choice.slots);
  if (trainer.by_number) check_numbers(plan.slots);
  plan.accelerators = std::move(choice.accelerators);
  plan.device_notes = std::move(choice.notes);
  plan.search = {.search = o.search,
                 .seed = o.seed,
                 .population = o.population,
                 .generations = o.generations,
                 .trials = o.trials,
                 .lag = o.lag};
}

std::vector<std::string> worker_command(const Options& options) {
  if (!options.trainer_command.empty())
    return workers::split_command(options.trainer_command, "--trainer-command");
  if (options.trainer_exec.empty()) return {built_in_worker()};
  return workers::exec_worker_command_for(workers::exec_words(options.trainer_exec));
}

}  // namespace

std::optional<int> search_trials(const ga::Settings& bounds, int repeats) {
  if (repeats == 0) return bounds.trials;
  const auto all = std::min(std::int64_t{bounds.generations} * bounds.population,
                            std::int64_t{bounds.trials.value_or(std::numeric_limits<int>::max())});
  if (repeats < all) return static_cast<int>(all - repeats);
  throw bad_argument(fmt::format("--repeats {}: with {} none is left to be the best", repeats,
                                 counted(all, "trial")),
                     "repeat fewer, or let --trials be more");
}

Plan make_plan(const Options& options) {
  Plan plan{.options = options};
  plan.space = space_of(options);
  plan.initial = initial_of(options);
  resolve_devices(plan);
  plan.search.trials = search_trials(plan.search, options.repeats);
  if (!options.has_external_trainer()) {
    check_model(options.train);
    plan.notes = inspect(options.train.data, {data::Split::train, data::Split::val},
                         options.train.single_cls)
                     .notes;
  }
  return plan;
}

Plan resumed_plan(const Options& now, const nlohmann::ordered_json& run,
                  const std::string& journal) {
  return results::from_first_line(journal, [&] {
    Plan plan{.options = resumed(now, run.at("options"))};
    plan.space = hyp::space_from_json(run.at("space"));
    for (const auto& set : run.at("initial")) {
      plan.initial.push_back(hyp::hyperparameters_from_json(set));
    }
    resolve_devices(plan);
    // Replay begins with the bounds that the run began with; its journal knows when they changed.
    const auto& original = run.at("options");
    plan.search.generations = original.at("generations").get<int>();
    plan.search.trials = original.at("trials").is_null()
                             ? std::nullopt
                             : std::optional(original.at("trials").get<int>());
    plan.search.trials = search_trials(plan.search, original.value("repeats", 0));
    return plan;
  });
}

nlohmann::ordered_json run_line(const Plan& plan) {
  auto names = nlohmann::ordered_json::array();
  for (const auto& slot : plan.slots) names.push_back(slot.name);
  auto initial = nlohmann::ordered_json::array();
  for (const auto& set : plan.initial) initial.push_back(hyp::to_json(set));
  nlohmann::ordered_json lag;
  if (plan.search.lag) {
    lag = *plan.search.lag;
  } else if (plan.slots.size() == 1) {
    lag = 1;  // one slot knows every earlier outcome
  }
  return {{"seed", plan.search.seed},
          {"search", plan.search.search},
          {"lag", lag},
          {"slots", names},
          {"options", to_json(plan.options)},
          {"space", hyp::to_json(plan.space)},
          {"start", hyp::to_json(hyp::start_of(plan.space))},
          {"initial", initial}};
}

workers::WorkerSettings worker_settings(const Plan& plan, const std::string& directory) {
  const auto& o = plan.options;
  workers::WorkerSettings settings{.epochs = o.train.epochs, .directory = directory};
  settings.command = worker_command(o);
  settings.options = trainer::to_json(o.train);
  settings.trial_timeout = duration(o.trial_timeout, "--trial-timeout");
  if (const auto limit = duration(o.hang_timeout, "--hang-timeout")) {
    settings.hang_timeout = *limit;
  }
  auto fitness = std::make_shared<hyp::Fitness>(o.fitness);
  settings.fitness = [fitness](const hyp::Metrics& metrics) { return (*fitness)(metrics); };
  return settings;
}

std::vector<std::string> description(const Plan& plan) {
  const auto& o = plan.options;
  std::vector<std::string> slots, genes;
  for (const auto& slot : plan.slots) slots.push_back(slot.name);
  for (const auto i : plan.space.evolved()) genes.push_back(plan.space.genes[i].name);

  const int planned = std::min(plan.search.generations * plan.search.population,
                               plan.search.trials.value_or(std::numeric_limits<int>::max()));
  const auto again = o.repeats == 0 ? "" : fmt::format(", then the best {} once more", o.repeats);
  std::vector<std::string> lines;
  lines.push_back(fmt::format("{} ({} of {}){} on {}: {}", counted(planned, "trial"),
                              counted(o.generations, "generation"), o.population, again,
                              counted(std::ssize(slots), "slot"), fmt::join(slots, ", ")));
  lines.insert(lines.end(), plan.device_notes.begin(), plan.device_notes.end());
  lines.push_back(o.has_external_trainer() ? "each runs " + o.trainer_command + o.trainer_exec
                                           : "each trains " + description(o.train));
  lines.push_back(fmt::format("{} of {} evolve: {}", genes.size(),
                              counted(std::ssize(plan.space.genes), "hyperparameter"),
                              fmt::join(genes, " ")));
  lines.push_back("fitness " + o.fitness);
  lines.insert(lines.end(), plan.notes.begin(), plan.notes.end());
  return lines;
}

}  // namespace evolve::cli
