// The main job: plan it, or find where it stopped; run it; say what came out.

#include <fmt/format.h>
#include <malloc.h>
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/commands.hpp"
#include "cli/evolve/conclusion.hpp"
#include "cli/evolve/plan.hpp"
#include "cli/evolve/run_screen.hpp"
#include "cli/evolve/run_summary.hpp"
#include "cli/screen/text.hpp"
#include "cli/signals.hpp"
#include "core/error.hpp"
#include "core/number.hpp"
#include "engine/engine.hpp"
#include "ga/evolution.hpp"
#include "results/yaml_files.hpp"

namespace evolve::cli {
namespace {

namespace fs = std::filesystem;

using engine::RunState;

/// The bounds that the command line gives to a run.
engine::Bounds bounds_given(const EvolveOptions& now) {
  const auto if_given = [&](const char* name, std::optional<int> value) {
    return now.given.contains(name) ? value : std::nullopt;
  };
  return {.generations = if_given("generations", now.generations),
          .trials = if_given("trials", now.trials),
          .max_epochs = if_given("max_epochs", now.max_epochs),
          .repeats = if_given("repeats", now.repeats)};
}

/// A worker at work takes five descriptors, and many systems allow 1,024 unless they are asked for
/// more.
void allow_many_workers() {
  constexpr rlim_t enough = 1 << 16;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= enough) return;
  limit.rlim_cur = std::min(limit.rlim_max, enough);
  ::setrlimit(RLIMIT_NOFILE, &limit);  // as far as it goes
}

/// The model's matrices come and go. Were their memory given back each time, getting it anew would
/// take up to a third of the time in which a child is bred.
void keep_freed_memory() {
  ::mallopt(M_MMAP_THRESHOLD, 32 << 20);
  ::mallopt(M_TRIM_THRESHOLD, 256 << 20);
}

/// Before a data set is looked over: that may take minutes.
void check_unused(const results::RunDirectory& directory) {
  results::check_none_begun(directory.journal());
  const auto refuse = [](const fs::path& path, const char* what) {
    throw bad_input({path.string()}, what, "choose another folder with --name or --output");
  };
  if (fs::exists(directory.results_csv()))
    refuse(directory.results_csv(), "this folder holds a training");
  if (fs::exists(directory.journal())) return;
  for (const auto& file :
       {directory.options(), directory.hyp_evolved(), directory.population(), directory.plot(),
        directory.repeats(), directory.report(), directory.prometheus(), directory.devices()})
    if (fs::is_regular_file(file))
      refuse(file, "this file is not of a run of evolve, and would be overwritten");
  if (const auto trials = directory.root / hyp::trials_folder; fs::exists(trials))
    refuse(trials, "this is not of a run of evolve, and would be written into");
}

int run_new(const EvolveOptions& options, Screen& screen) {
  if (const auto folder = given_folder(options.destination)) check_unused(*folder);
  const auto plan = make_plan(options, screen);
  const RunState checked(plan.settings.run);  // what is wrong with the search is found here
  for (const auto& line : plan_lines(plan)) screen.line(line);
  if (options.dry_run) return 0;

  const auto directory = create(options.destination);
  const StopOnSignals stop;
  RunScreen observer(screen, directory, options.train.epochs, plan.settings.time_limit);
  const auto run = engine::begin_run(plan.settings, directory, stop.source(), observer);
  results::write_options(directory.options(), to_json(plan.options));
  screen.line("results in " + display_path(directory.root));
  const auto end = run->run();
  screen.clear();
  return conclude(screen, *run, end, directory, plan.options, stop.source().reason());
}

/// Of a finished run that was given these bounds in vain: what lets it go on.
std::string larger_bound(const RunState& state, const engine::Bounds& given) {
  const auto& search = state.evolution();
  auto most = state.most_epochs();
  if (given.max_epochs) most = *given.max_epochs;
  const bool all_begun =
      search.asked() >= search.planned() || (given.trials && *given.trials <= state.trainings());
  const bool some_wait = std::ranges::any_of(
      state.paused(), [&](const auto& paused) { return !search.given_up(paused.first); });
  const auto epochs = fmt::format("--max-epochs {}", engine::epochs_with(state, 1));
  if (most && (!all_begun || some_wait)) return epochs + " or more";
  const int trials = state.trainings() + 1;
  const bool spent = most && engine::epochs_with(state, 1) > *most;
  const auto more = fmt::format("--trials {}{} or more{}", trials, spent ? " and " + epochs : "",
                                state.repeats().in_all() > 0 ? " (repeats count)" : "");
  if (!engine::ends_by_generations(search.settings(), state.repeats().in_all())) return more;
  const int generations =
      ga::generations_for(trials, search.settings().population, search.settings().generations + 1);
  return fmt::format("{}, or with --generations {}{} or more", more, generations,
                     spent ? " and " + epochs : "");
}

/// Where a run has no room for all repeats that it was to have.
std::optional<std::string> note_on_repeats(const std::optional<results::Extended>& bounds,
                                           int wished) {
  const int most = bounds ? bounds->repeats.value_or(wished) : wished;
  if (most >= wished) return {};
  return fmt::format("there is room for {} of {}", most, core::counted(wished, "repeat"));
}

std::string greeting(const RunState& state, const engine::Bounds& given,
                     const results::RunDirectory& directory) {
  const auto& search = state.evolution();
  const bool epochs = search.settings().max_epochs.has_value();
  return fmt::format(
      "{}: {} done{}, {}", display_path(directory.root), share_done(state),
      epochs ? " in " + core::counted(search.asked(), "trial") : "",
      state.finished() ? "finished; extend it with " + larger_bound(state, given) : "going on");
}

/// What a resumed run would do that has been given its bounds.
int dry_run(const RunState& state, const engine::Bounds& given, Plan plan,
            const results::RunDirectory& directory, Screen& screen) {
  plan.settings.run.generations = state.evolution().settings().generations;
  plan.settings.run.trials = state.evolution().settings().trials;
  plan.settings.run.max_epochs = state.evolution().settings().max_epochs;
  plan.settings.run.repeats = 0;  // taken off already
  plan.options.repeats = state.repeats().in_all();
  for (const auto& line : plan_lines(plan)) screen.line(line);
  screen.line(greeting(state, given, directory));
  return 0;
}

/// What a journal holds, and the journal to go on with; a dry run gets none.
std::pair<std::optional<results::Journal>, results::JournalContents> opened(const fs::path& path,
                                                                            bool dry_run) {
  if (dry_run) return {std::nullopt, results::read_journal(path)};
  return results::Journal::resume(path);
}

/// Where a card was replaced, or drivers number them otherwise, a name means another one.
void say_other_devices(Screen& screen, const RunState& state,
                       const std::vector<core::Slot>& slots) {
  const auto others =
      state.other_devices_on({devices::names_of(slots), devices::identity_texts(slots)});
  for (const auto& [name, before] : others)
    screen.line(fmt::format("{} is another device than before ({})", name, before));
}

int run_resumed(const EvolveOptions& now, Screen& screen) {
  const auto directory = now.resume->empty() ? results::newest_run(now.destination.project)
                                             : results::open_run(*now.resume);
  const auto path = directory.journal();
  auto [journal, contents] = opened(path, now.dry_run);
  if (!contents.warning.empty()) screen.line(contents.warning);
  if (const auto note = note_on_folder(contents.run)) screen.line(*note);
  auto state = engine::fold(contents.run, contents.events, path.string());
  contents.run.inputs = state.inputs();
  auto plan = resumed_plan(now, contents.run, state.devices().slots, path.string());
  const auto given = bounds_given(now);
  const auto bounds = engine::extension(state, given);
  if (const auto note = note_on_repeats(bounds, given.repeats.value_or(state.repeats().wished())))
    screen.line(*note);
  const bool may_change = state.nothing_known();
  // One that has ended needs its inputs no more, but is not said to have had others.
  const bool names_input = std::ranges::any_of(input_files, [&](std::string_view option) {
    return now.given.contains(std::string(option));
  });
  if (!state.finished() || bounds || names_input) settle_inputs(plan, may_change, screen);
  if (now.dry_run) {
    if (bounds) state.apply(*bounds);
    return dry_run(state, given, std::move(plan), directory, screen);
  }

  for (const auto& note : plan.device_notes) screen.line(note);
  say_other_devices(screen, state, plan.settings.slots);
  if (may_change || now.given.contains("skip_bad"))
    for (const auto& note : plan.notes) screen.line(note);
  if (plan.note_on_trainer) screen.line(*plan.note_on_trainer);
  const StopOnSignals stop;
  RunScreen observer(screen, directory, plan.options.train.epochs, plan.settings.time_limit);
  const auto run = engine::resume_run(plan.settings, directory, std::move(*journal),
                                      std::move(state), bounds, stop.source(), observer);
  results::write_options(directory.options(),
                         engine::with_bounds(to_json(plan.options), run->state()));
  screen.line(greeting(run->state(), given, directory));
  const auto& again = run->state().repeats();
  if (const int repeats = again.wanted() - again.begun();
      bounds && repeats > 0 && !run->state().finished())
    screen.line(
        fmt::format("of these, the last {} again of the best sets (--repeats)",
                    repeats == 1 ? "training is" : fmt::format("{} trainings are", repeats)));
  const auto end = run->run();
  screen.clear();
  return conclude(screen, *run, end, directory, plan.options, stop.source().reason());
}

int evolve(const EvolveOptions& options) {
  allow_many_workers();
  keep_freed_memory();
  Screen screen(stdout);
  return options.resume ? run_resumed(options, screen) : run_new(options, screen);
}

}  // namespace

Command evolve_command(CLI::App& app) {
  const auto options = std::make_shared<EvolveOptions>();
  declare(app, *options);
  return {&app, [&app, options] {
            complete(app, *options);
            return options->dry_run ? printed(evolve(*options)) : evolve(*options);
          }};
}

}  // namespace evolve::cli
