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
#include "cli/training_options.hpp"
#include "core/device_kind.hpp"
#include "core/number.hpp"
#include "core/shell_word.hpp"
#include "core/spawn.hpp"
#include "core/text_file.hpp"
#include "core/yaml.hpp"
#include "devices/devices.hpp"
#include "engine/launcher.hpp"
#include "hyp/hyp.hpp"
#include "results/earlier_run.hpp"
#include "results/yaml_files.hpp"
#include "trainer/data/image_file.hpp"
#include "workers/exec/exec_worker.hpp"
#include "workers/exec/placeholders.hpp"

namespace evolve::cli {
namespace {

/// Whether the trainer has YOLOv5's hyperparameters, all of them and no others.
bool trains_with_yolov5_hyp(const Options& options) {
  const auto* trainer = python_trainer(options.trainer);
  return trainer ? trainer->is_yolov5 : !options.has_external_trainer();
}

/// Where a gene's name is written: in --hyp, else in --space.
Where written(const std::string& gene, const hyp::HypFile& start, const std::string& space) {
  if (start.hyp.find(gene)) return start.where(gene);
  const auto root = core::parse_yaml(core::read_text_file(space), space);
  return {space, core::yaml_value(root, gene)->line};
}

/// Values that a gene may have: the choices, or the least and the start.
std::vector<hyp::Value> values_of(const hyp::Gene& gene) {
  if (!is_categorical(gene)) return {gene.low, gene.start};
  std::vector<hyp::Value> values;
  for (std::size_t i = 0; i < gene.choices.size(); ++i) values.push_back(hyp::choice(gene, i));
  return values;
}

/// The space's genes mean something to the trainer: YOLOv5's 29 and `optimizer`, with values that
/// it can take.
void check_known(const hyp::Space& space, const hyp::HypFile& start, const Options& options) {
  for (const auto& gene : space.genes) {
    const auto where = [&] { return written(gene.name, start, options.space); };
    if (!trainer::is_known(gene.name))
      throw bad_input(
          where(), fmt::format("'{}' means nothing to the {} trainer", gene.name, options.trainer),
          "remove it, or name an external trainer that knows it (--trainer-command or "
          "--trainer-exec)");
    if (options.has_external_trainer()) continue;
    for (const auto& value : values_of(gene))
      if (const auto fault = trainer::fault_of(gene.name, value))
        throw bad_input(
            where(), fmt::format("{}: {} cannot be trained with", gene.name, hyp::text_of(value)),
            *fault);
  }
}

/// No optimizer that a trial may have leaves lr0 and momentum to Ultralytics.
void check_optimizers(const hyp::Space& space, const hyp::HypFile& start, const Options& options) {
  const auto* gene = space.find("optimizer");
  if (gene && std::ranges::any_of(gene->choices, leaves_it_to_ultralytics))
    throw bad_input(written(gene->name, start, options.space),
                    "optimizer auto: Ultralytics would choose lr0 and momentum itself",
                    "name others, such as AdamW");
}

/// A space started where a trainer starts. Not taken: a start outside the user's bounds, and what
/// the user's own start names.
hyp::Space started_at_defaults(const hyp::Space& space, const hyp::HypFile& defaults,
                               const hyp::Hyperparameters& named) {
  hyp::HypFile taken{.path = defaults.path};
  for (std::size_t i = 0; const auto& [name, value] : defaults.hyp) {
    const auto line = defaults.lines[i++];
    const auto* gene = space.find(name);
    const auto* number = std::get_if<double>(&value);
    const bool outside = gene && number && (*number < gene->low || *number > gene->high);
    if (outside || named.find(name)) continue;
    taken.hyp.set(name, value);
    taken.lines.push_back(line);
  }
  return hyp::started_at(space, taken);
}

/// The space before --hyp, of which these are the names: the user's, or the trainer's own.
hyp::Space table_of(const Options& options, const hyp::Hyperparameters& named) {
  const auto* trainer = python_trainer(options.trainer);
  if (!trainer || trainer->is_yolov5)
    return options.space.empty() ? hyp::default_space() : hyp::read_space_file(options.space);
  const auto path =
      options.space.empty() ? file_of(*trainer, options.train, "space") : options.space;
  return started_at_defaults(hyp::read_space_file(path),
                             hyp::read_hyp_file(file_of(*trainer, options.train, "hyp")), named);
}

hyp::Space space_of(const Options& options) {
  const auto start = options.hyp.empty() ? hyp::HypFile{} : hyp::read_hyp_file(options.hyp);
  auto space = table_of(options, start.hyp);
  if (!options.hyp.empty()) space = hyp::started_at(space, start);
  if (trains_with_yolov5_hyp(options)) {
    check_known(space, start, options);
    space = hyp::with_defaults(space);
  } else if (python_trainer(options.trainer)) {
    check_optimizers(space, start, options);
  }
  if (!options.evolve_genes.empty()) hyp::select_evolved(space, options.evolve_genes);
  if (space.evolved().empty() && !options.space.empty())
    throw bad_input({options.space}, "no gene evolves", "give one a range, or name --evolve-genes");
  return space;
}

std::vector<hyp::Hyperparameters> initial_of(const Options& options, const hyp::Space& space) {
  std::vector<hyp::HypFile> files;
  if (!options.resume_evolve.empty()) files = results::read_population(options.resume_evolve);
  if (!options.evolve_population.empty()) {
    const auto more = results::read_hyp_folder(options.evolve_population);
    files.insert(files.end(), more.begin(), more.end());
  }
  std::vector<hyp::Hyperparameters> initial;
  for (const auto& file : files) {
    hyp::check_values(space, file);
    initial.push_back(file.hyp);
  }
  return initial;
}

/// What becomes of sets that are not as this space has them: YOLOv5 moves values to the bounds too,
/// and evolves no other name.
std::vector<std::string> notes_on(const std::vector<hyp::Hyperparameters>& initial,
                                  const hyp::Space& space) {
  int outside = 0;
  std::set<std::string> fixed;
  for (const auto& set : initial) {
    bool moved = false;
    for (const auto& [name, value] : set) {
      const auto* gene = space.find(name);
      const auto* number = std::get_if<double>(&value);
      if (!gene || !gene->evolve) {
        if (!gene || !number || *number != gene->start) fixed.insert(name);
      } else if (number && !hyp::is_categorical(*gene)) {
        moved |= *number < gene->low || *number > gene->high;
      }
    }
    outside += moved;
  }
  std::vector<std::string> notes;
  if (outside > 0)
    notes.push_back(fmt::format("population: {} of {} outside the bounds, moved to them", outside,
                                core::counted(std::ssize(initial), "set")));
  if (!fixed.empty())
    notes.push_back(fmt::format("population: {} {} here: as at the start", fmt::join(fixed, ", "),
                                fixed.size() == 1 ? "does not evolve" : "do not evolve"));
  return notes;
}

/// Whether the runs that come with evolve say something about this one: they are trainings with
/// Adam or AdamW, whose rates are alike, on another data set than this.
bool learns_from_known_runs(const Options& options, const hyp::Space& space) {
  return options.from.empty() && options.search == "screened" && trains_with_yolov5_hyp(options) &&
         options.train.data != default_data && options.train.optimizer != "SGD" &&
         !space.find("optimizer");
}

/// What other runs have taught: those that --from names, else those that come with evolve.
std::vector<results::EarlierRun> earlier_of(const Options& options, const hyp::Space& space) {
  const hyp::Fitness fitness(options.fitness);
  if (learns_from_known_runs(options, space)) return results::known_runs(space, fitness);
  std::vector<results::EarlierRun> earlier;
  for (const auto& run : earlier_runs(options))
    earlier.push_back(results::read_earlier_run(run, space, fitness));
  return earlier;
}

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

/// What only the trainer reads can still be missed from here: a file or a folder that has gone.
std::optional<std::string> missing_input(const trainer::TrainOptions& train) {
  for (const auto& path : {train.data, train.weights}) {
    std::error_code error;
    if (!path.starts_with('/') || std::filesystem::exists(path, error)) continue;
    return path + ": " + (error ? error.message() : "No such file or directory");
  }
  return {};
}

/// The check reads an image's header and end; a worker that decoded it knows more.
bool undecodable(const std::string& said) {
  std::error_code ignored;
  // "FILE: what is wrong", and a file's name may have a colon too.
  for (auto end = said.find(": "); end != said.npos; end = said.find(": ", end + 1)) {
    const auto file = said.substr(0, end);
    if (std::filesystem::is_regular_file(file, ignored) && data::is_image_name(file))
      return data::decode(file).empty();
  }
  return false;
}

std::function<std::optional<std::string>(const std::string&)> fault_finder(const Options& options) {
  const auto& train = options.train;
  // It looks at all of its data, and says so; here, nothing but a file's existence could be seen.
  if (options.trainer != "built-in") return {};
  if (options.has_external_trainer()) {
    // A path that existed at the start is absolute.
    if (!train.data.starts_with('/') && !train.weights.starts_with('/')) return {};
    return [train](const std::string&) { return missing_input(train); };
  }
  return [train](const std::string& said) -> std::optional<std::string> {
    try {
      check_model(train);
      inspect(train, training_splits);
      return undecodable(said) ? std::optional(said) : std::nullopt;
    } catch (const Error& error) {
      return error.what();
    }
  };
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
