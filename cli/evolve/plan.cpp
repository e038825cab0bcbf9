#include "cli/evolve/plan.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "cli/evolve/search_space.hpp"
#include "cli/options/trainer_options.hpp"
#include "cli/screen/text.hpp"
#include "cli/trainers/built_in_worker.hpp"
#include "cli/trainers/inputs.hpp"
#include "cli/trainers/own_trainer.hpp"
#include "core/device_kind.hpp"
#include "core/number.hpp"
#include "core/placeholders.hpp"
#include "core/slot_environment.hpp"
#include "devices/devices.hpp"
#include "engine/launcher.hpp"
#include "engine/search_bounds.hpp"
#include "ga/evolution.hpp"

namespace evolve::cli {
namespace {

/// What starts the slots' workers is there, before a folder is made for their run.
void check_launchers(const std::vector<core::Slot>& slots) {
  std::set<std::string> programs;
  for (const auto& slot : slots)
    if (!slot.launcher.empty()) programs.insert(slot.launcher.front());
  for (const auto& program : programs) check_program("--launcher", program);
}

/// Each slot's device has a number to stand for {index}.
void check_numbers(const std::vector<core::Slot>& slots) {
  for (const auto& slot : slots)
    if (!core::variable(slot, core::index_variable))
      throw bad_argument("--trainer-exec with {index}: " + slot.name + " has no number",
                         "write {device}, or name GPUs with --devices");
}

/// The trainer can train on the devices of a slot that has several.
void check_groups(const std::vector<core::Slot>& slots, const EvolveOptions& options) {
  for (const auto& slot : slots) {
    const auto devices = core::members_of(slot.name).size();
    if (const auto* python = python_trainer(options.trainer); python && devices > 1)
      throw bad_argument(fmt::format("--trainer {}: it trains on one device, {} has {}",
                                     python->name, slot.name, devices),
                         "name each device by itself, or use the built-in trainer");
    if (is_built_in(options.trainer)) check_group(slot, options.train.batch_size);
  }
}

devices::TrainerTraits traits_of(const EvolveOptions& o) {
  devices::TrainerTraits traits{.external = !is_built_in(o.trainer),
                                .by_number = mentions_index(o.trainer),
                                .device_env = o.device_env};
  if (!traits.external) traits.drives = built_in_drives();
  return traits;
}

void resolve_devices(Plan& plan) {
  const auto& o = plan.options;
  if (o.launcher == "local") check_startable(o.trainer, o.python);
  plan.settings.choose_devices = [traits = traits_of(o), o](const std::string& spec,
                                                            const devices::Had& had) {
    auto choice = engine::launched_slots(o.launcher, spec, traits, had);
    devices::check_no_fallback(spec, devices::names_of(had.slots), choice);
    check_groups(choice.slots, o);
    if (traits.by_number) check_numbers(choice.slots);
    return choice;
  };
  auto choice = plan.settings.choose_devices(o.devices, {});
  check_launchers(choice.slots);
  plan.settings.slots = std::move(choice.slots);
  plan.settings.accelerators = std::move(choice.accelerators);
  plan.device_notes = std::move(choice.notes);
}

/// Everything but the run's own settings and its inputs.
Plan planned(const EvolveOptions& options) {
  Plan plan{.options = options};
  resolve_devices(plan);
  auto& settings = plan.settings;
  const auto& trainer = options.trainer;
  settings.workers = {.command = worker_command(trainer, options.python),
                      .named_by = named_by(trainer),
                      .trial_timeout = options.limits.trial,
                      .hang_timeout = options.limits.hang};
  settings.trainer_options = trainer::to_json(options.train);
  settings.can_pause = can_pause(trainer);
  settings.failures.retries = options.retries;
  if (python_trainer(trainer) && options.keep_weights >= 0)
    settings.leftovers.keep_weights = options.keep_weights;
  settings.leftovers.remove_kept_trainings = settings.can_pause.value_or(false);
  settings.time_limit = options.limits.run_seconds;
  settings.failures.sees_data = is_built_in(trainer);
  return plan;
}

/// Where `--trials` asks for more than the generations have, there are more of these, and where
/// `--max-epochs` alone does, so many that they end nothing.
int generations_of(const EvolveOptions& options) {
  const bool asked = options.given.contains("generations");
  const auto trials = options.trials ? options.trials : asked ? std::nullopt : options.max_epochs;
  if (!trials || options.population < 1 || options.generations < 1) return options.generations;
  return ga::generations_for(*trials, options.population, options.generations);
}

hyp::Space without_start(hyp::Space space) {
  for (auto& gene : space.genes) gene.start = 0;
  return space;
}

/// Files that the command line of a run to go on with names again say what they said when it began.
void check_same_search(const EvolveOptions& options, const results::RunSettings& run) {
  const auto check = [&](std::initializer_list<const char*> keys, const auto& is_the_same) {
    for (const auto* key : keys)
      if (const auto given = options.given.find(key);
          given != options.given.end() && !is_the_same())
        throw bad_argument(given->second + ": not what it was when the run began",
                           "leave the option out, or start a new run with --from and this one");
  };
  const auto space = options.given.contains("space") || options.given.contains("hyp")
                         ? space_of(options)
                         : run.space;
  check({"space"}, [&] { return without_start(space) == without_start(run.space); });
  check({"hyp", "space"}, [&] { return space == run.space; });
  check({"evolve_population", "resume_evolve"},
        [&] { return initial_of(options, run.space) == run.initial; });
}

/// What a command that trains once is not told, as only a trainer that speaks the protocol is.
std::vector<std::string> notes_on_command(const EvolveOptions& options) {
  const auto* command = std::get_if<TrialCommand>(&options.trainer);
  if (!command) return {};
  std::vector<std::string> notes;
  std::set<std::string> untold;
  auto known = trainer::to_json(options.train);
  for (const auto* key : {"data", "cfg", "weights", "epochs"}) known.erase(key);
  for (const auto& [key, option] : options.given)
    if (known.contains(key)) untold.insert(option);
  if (!untold.empty())
    notes.push_back(
        fmt::format("the command does not get {}: write its own options for this into it",
                    fmt::join(untold, ", ")));
  if (std::ranges::none_of(command->words,
                           [](const auto& word) { return core::mentions(word, "{epochs}"); }))
    notes.push_back(fmt::format("the command does not get {{epochs}}: its trainings count as {}",
                                core::counted(options.train.epochs, "epoch")));
  return notes;
}

/// "" where there is no such text: a journal may have been mended by hand.
std::string text(const nlohmann::ordered_json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_string() ? found->get<std::string>() : "";
}

std::string current_folder() {
  return std::filesystem::current_path().string();
}

/// Whether a file was mended can be told later only where there is one: no name comes in its place.
void check_comparable(const nlohmann::ordered_json& before, const nlohmann::ordered_json& now) {
  for (const auto& option : input_files)
    if (before.contains(option) && !now.contains(option))
      throw bad_argument(fmt::format("the run began with a file for its {}", option),
                         "name a file in its place, or start a new run");
}

/// Throws `Error` where a file that these options name has gone. `began_with`: see
/// RunSettings::inputs.
void check_present(const trainer::TrainOptions& train, const nlohmann::ordered_json& began_with) {
  const auto missing = missing_input(train);
  if (!missing) return;
  const auto* remedy = began_with.is_null() ? "restore it, or name another"
                       : may_be_elsewhere(missing->option, began_with)
                           ? "restore it, or say with its option where it is now"
                           : restore_or_link;
  throw bad_argument(missing->what, remedy);
}

/// Weights that the trainer has fetched by their name are a file from now on: what trials train on
/// can be compared with it.
void settle_fetched_weights(Plan& plan) {
  auto& train = plan.options.train;
  const auto name = train.weights;
  make_absolute(train.weights);
  if (train.weights == name) return;
  auto& run = plan.settings.run;
  run.options = to_json(plan.options);
  run.inputs["weights"] = files_trained_on(train).at("weights");
  plan.settings.trainer_options["weights"] = train.weights;
}

/// Of a trainer in Python: trials start from what the run began with, in the folder where it did
/// (Ultralytics looks there for a relative `path:`), and the trainer finds nothing wrong. What a
/// launcher starts may have files that are not here, or a Python that is not.
void settle_python_inputs(Plan& plan, const PythonTrainer& trainer, bool may_change) {
  const auto& o = plan.options;
  auto& began_with = plan.settings.run.inputs;
  const auto now = files_trained_on(o.train);
  const bool begins = began_with.is_null();
  if (begins || may_change) {
    check_comparable(began_with, now);
    began_with.update(now);
    for (const auto split : training_splits) began_with.erase(data::name_of(split));
  } else {
    check_same_files(began_with, now, o.train);
  }
  if (begins) began_with["folder"] = current_folder();
  auto& told = plan.settings.trainer_options;
  told["folder"] = text(began_with, "folder");
  told["inputs"] = began_with;
  if (o.dry_run || o.launcher != "local") return;
  const auto written = [&](const std::string& gene, bool is_start) {
    return begins ? where_written(o, gene, is_start) : std::nullopt;
  };
  const auto [trains_with, notes, data] =
      look_over(trainer, o.python, told, plan.settings.run.space, begins, written);
  plan.notes = notes;
  if (begins) settle_fetched_weights(plan);
  began_with.update(data);
  told["inputs"] = began_with;
  if (begins) began_with["trainer"] = trains_with;
  if (const auto before = text(began_with, "trainer"); !before.empty() && before != trains_with)
    plan.note_on_trainer =
        fmt::format("the run began with {} and goes on with {}: its trials may not be comparable",
                    before, trains_with);
}

/// Of a trainer of somebody's own: where its files are looked for, and the one that it consists of,
/// which may have been mended since the run began.
void settle_own_inputs(Plan& plan, bool may_change) {
  auto& began_with = plan.settings.run.inputs;
  const auto& trainer = plan.options.trainer;
  const bool begins = began_with.is_null();
  if (begins) began_with["folder"] = current_folder();
  if (plan.options.launcher == "local") check_script_found(trainer, begins);
  const auto words = own_words(trainer);
  const auto place = place_of_program(words);
  if (!place) return;
  const auto checksum = checksum_of_file(words[*place]);
  if (!checksum) return;  // a program may be one that can only be executed
  const nlohmann::ordered_json now = {*place, *checksum};
  if (begins || may_change) began_with["program"] = now;
  const auto before = began_with.value("program", now);
  if (before.is_array() && before.size() == 2 && before[0] == now[0] && before != now)
    plan.note_on_trainer = display_path(words[*place]) +
                           " is not what the run began with: its trials may not be comparable";
}

/// Each device of a slot has an image to train on, also of one that comes while the run goes on.
void check_images_of_groups(Plan& plan, std::int64_t images) {
  const auto check = [images, data = plan.options.train.data](const auto& slots) {
    for (const auto& slot : slots) check_images(slot, images, data);
  };
  check(plan.settings.slots);
  plan.settings.choose_devices = [check, choose = std::move(plan.settings.choose_devices)](
                                     const std::string& spec, const devices::Had& had) {
    auto choice = choose(spec, had);
    check(choice.slots);
    return choice;
  };
}

/// How many sets there are of which none is another, or the start.
std::int64_t sets_beside_start(const hyp::Space& space,
                               const std::vector<hyp::Hyperparameters>& given) {
  std::set<hyp::Genes> sets;
  for (const auto& hyp : given) sets.insert(hyp::genes_of(space, hyp));
  sets.erase(hyp::genes_of(space, {}));
  return std::ssize(sets);
}

}  // namespace

Plan make_plan(const EvolveOptions& options, Screen& screen) {
  const auto space = space_of(options);
  check_one_optimizer(options, space);
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
                       .slots = devices::names_of(plan.settings.slots),
                       .identities = devices::identity_texts(plan.settings.slots),
                       .space = space,
                       .initial = initial,
                       .earlier = earlier,
                       .options = to_json(options)};
  const auto trials = ga::most_trials(engine::search_settings(plan.settings.run));
  settle_inputs(plan, /*may_change=*/true, screen);
  if (const auto given = sets_beside_start(space, initial); given >= trials)
    plan.notes.push_back(fmt::format("{}, but room for {}: the first trial is the start's",
                                     core::counted(given, "given set"), trials - 1));
  if (auto note = note_on_options(options, space)) plan.notes.push_back(*std::move(note));
  for (auto& note : notes_on_start(options, space)) plan.notes.push_back(std::move(note));
  for (auto& note : notes_on(initial, space)) plan.notes.push_back(std::move(note));
  for (auto& note : notes_on_command(options)) plan.notes.push_back(std::move(note));
  return plan;
}

Plan resumed_plan(const EvolveOptions& now, const results::RunSettings& run,
                  const std::vector<std::string>& slots, const std::string& journal) try {
  auto plan = planned(resumed(now, run));
  // Its file may have put it on CPUs meanwhile: `auto` is what it began with.
  const bool has_gpus = !std::ranges::all_of(slots, core::is_cpu);
  devices::check_no_fallback(plan.options.devices, has_gpus ? slots : run.slots,
                             {.slots = plan.settings.slots, .notes = plan.device_notes});
  check_same_search(plan.options, run);
  plan.settings.run = run;
  return plan;
} catch (const nlohmann::json::exception& wrong) {
  throw bad_input({journal, 1}, wrong.what(),
                  "restore the journal from a copy, or start a new run");
}

void settle_inputs(Plan& plan, bool may_change, Screen& screen) {
  const auto& train = plan.options.train;
  const bool built_in = is_built_in(plan.options.trainer);
  const bool begins = plan.settings.run.inputs.is_null();
  // What the built-in trainer begins with is looked into below.
  if (!begins || !built_in) check_present(train, plan.settings.run.inputs);
  if (built_in) {
    // A run of an earlier version may have fewer, which were rounded up; they are so again.
    auto model = check_model(train, begins ? trainer::least_training_strides : 1);
    auto& began_with = plan.settings.run.inputs;
    auto found = inspect(train, training_splits, /*began=*/!may_change, &screen);
    check_images_of_groups(plan, found.splits[0].images);
    const auto now = trained_on(found, train);
    if (!may_change) check_same(began_with, now, train);
    began_with = now;
    if (train.skip_bad) began_with["skip_bad"] = true;  // from now on
    plan.settings.trainer_options["inputs"] = began_with;
    plan.notes = std::move(found.notes);
    if (model.note) plan.notes.push_back(std::move(*model.note));
  } else if (const auto* python = python_trainer(plan.options.trainer)) {
    settle_python_inputs(plan, *python, may_change);
  } else {
    settle_own_inputs(plan, may_change);
  }
  const auto& inputs = plan.settings.run.inputs;
  plan.settings.failures.find_fault = fault_finder(plan.options.trainer, train, inputs);
  plan.settings.failures.find_change = change_finder(train, inputs);
}

std::optional<std::string> note_on_folder(const results::RunSettings& run) {
  const auto command = text(run.options, "trainer_command") + text(run.options, "trainer_exec");
  const auto folder = text(run.inputs, "folder");
  if (command.empty() || folder.empty() || folder == current_folder()) return {};
  return fmt::format(
      "the run began in {}: relative paths in its trainer's command are now looked for here",
      folder);
}

}  // namespace evolve::cli
