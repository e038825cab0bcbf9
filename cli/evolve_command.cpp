// The main job: plan it, or find where it stopped; run it; say what came out.

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <filesystem>

#include "cli/commands.hpp"
#include "cli/plan.hpp"
#include "cli/recommendation.hpp"
#include "cli/run_screen.hpp"
#include "cli/savings.hpp"
#include "cli/signals.hpp"
#include "core/error.hpp"
#include "core/number.hpp"
#include "engine/engine.hpp"
#include "results/yaml_files.hpp"

namespace evolve::cli {
namespace {

namespace fs = std::filesystem;

using engine::RunEnd;
using engine::RunState;

/// Whether the command line gives a run that bound: once its search is done only a larger one.
bool gives(const Options& now, const RunState& state, const char* name, bool larger) {
  return now.given.contains(name) && (larger || !state.evolution().done());
}

/// The bounds that the command line gives to a run, if it does: of `--trials` and `--generations`
/// one alone decides. Repeats count, those of an earlier end too.
std::optional<results::Extended> extension(const RunState& state, const Options& now) {
  const auto& before = state.evolution().settings();
  const int wanted = state.repeats().wanted();
  const int repeats = now.given.contains("repeats") ? now.repeats : wanted;
  const int earlier = state.repeats().begun_in_all();
  const bool searching = !state.evolution().done();
  auto after = before;
  // As they were given: the search has what repeats leave.
  const int kept = state.repeats().in_all();
  if (searching && after.trials) *after.trials += kept;
  if (searching && after.max_epochs) *after.max_epochs += kept * before.epochs;
  const bool trials = gives(now, state, "trials", now.trials > state.trainings());
  const bool generations = gives(now, state, "generations", now.generations > before.generations);
  // Of the search that goes on the best are trained again.
  const bool epochs =
      gives(now, state, "max_epochs",
            now.max_epochs >= state.epochs_trained() + std::int64_t{1 + repeats} * before.epochs);
  if (trials) {
    after.trials = now.trials;
    if (!generations)
      after.generations =
          std::max(before.generations, ga::generations_of(*now.trials, before.population));
  }
  if (generations) {
    after.generations = now.generations;
    if (!trials) after.trials.reset();
  }
  if (epochs) after.max_epochs = now.max_epochs;
  if (trials || generations || searching)
    after.trials = engine::search_trials(after, repeats + earlier);
  if (epochs || searching) after.max_epochs = engine::search_epochs(after, repeats + earlier);
  // Where nothing new could begin, the search does not go on.
  if (!searching && state.paused().empty() && ga::most_trials(after) <= state.evolution().asked()) {
    after = before;
  }
  if (after.generations == before.generations && after.trials == before.trials &&
      after.max_epochs == before.max_epochs && repeats == wanted)
    return {};
  return results::Extended{after.generations, after.trials, repeats, after.max_epochs};
}

/// Whether it has what YOLOv5 wants of a hyp file (`anchors` it does without).
bool has_all_yolov5_genes(const hyp::Space& space) {
  return std::ranges::all_of(hyp::default_space().genes, [&](const hyp::Gene& gene) {
    return gene.name == "anchors" || space.find(gene.name);
  });
}

/// How the recommended set is used in YOLOv5 or Ultralytics; nothing where it cannot be.
std::optional<std::string> usage(const RunState& state, int recommended, const fs::path& file,
                                 const Options& options) {
  const auto& space = state.evolution().space();
  const auto hyp = state.evolution().hyp(recommended);
  const auto* trainer = python_trainer(options.trainer);
  if (trainer && !trainer->is_yolov5) return ultralytics_usage(options.train, space, hyp, file);
  if (!has_all_yolov5_genes(space)) return {};
  // How somebody else's program trains is not known here.
  const bool known = trainer || !options.has_external_trainer();
  return yolov5_usage(known ? options.train : trainer::TrainOptions(), hyp, file);
}

void say_recommended(Screen& screen, const RunState& state, const results::RunDirectory& directory,
                     const Options& options) {
  const auto& repeats = state.repeats().completed();
  const auto recommendation = *state.recommendation();
  screen.line("");
  for (const auto& line : recommendation_lines(state, recommendation, directory.root))
    screen.line(line);
  if (!repeats.empty()) screen.line(repeat_summary(repeats));
  const std::pair<const char*, fs::path> files[] = {
      {"its hyperparameters", directory.hyp_evolved()},
      {"every trial", directory.evolve_csv()},
      {"every repeat", directory.repeats()},
      {"the plot", directory.plot()},
      {"the report", directory.report()}};
  for (const auto& [what, file] : files)
    if (fs::exists(file)) screen.line(fmt::format("  {:<20} {}", what, display_path(file)));
  const int recommended = state.completed()[recommendation.row].trial;
  if (const auto how = usage(state, recommended, directory.hyp_evolved(), options))
    screen.as_it_is(*how);
  if (!options.has_external_trainer())
    screen.as_it_is(
        train_usage(options.train, state.evolution().hyp(recommended), directory.hyp_evolved()));
}

/// "612 of 900 epochs" where these are what is counted, else "12 of 50 trials".
std::string share_done(const RunState& state) {
  const auto& search = state.evolution();
  const auto most = state.most_epochs();
  return most ? fmt::format("{} of {}", state.epochs_trained(), core::counted(*most, "epoch"))
              : fmt::format("{} of {} trials", search.ended(), search.planned());
}

void say_interrupted(Screen& screen, const RunState& state, RunEnd end,
                     const results::RunDirectory& directory) {
  screen.line(fmt::format("{} after {}{}; nothing finished is lost. Go on with:",
                          end == RunEnd::time_limit ? "Stopped at the time limit" : "Interrupted",
                          share_done(state), state.evolution().done() ? ", in their repeats" : ""));
  screen.line("  evolve --resume " + shell_path(directory.root));
}

/// The last words of a run, and its exit code.
int conclude(Screen& screen, const engine::Run& run, RunEnd end,
             const results::RunDirectory& directory, const Options& options, int signal) {
  const auto& state = run.state();
  const auto go_on = "mend it and go on with: evolve --resume " + shell_path(directory.root);
  if (const auto words = savings(state); !words.empty()) screen.line(words);
  if (state.best()) say_recommended(screen, state, directory, options);
  switch (end) {
    case RunEnd::no_usable_device:
      throw run_failed(run.no_usable_device(), go_on);
    case RunEnd::surroundings:
      throw run_failed(
          fmt::format("{} in {} attempts in a row: {}",
                      state.surroundings_failure().failed_before_ready ? "no worker became ready"
                                                                       : "nothing could be trained",
                      state.surroundings_failures(), state.surroundings_failure().message),
          go_on);
    case RunEnd::stopped:
      say_interrupted(screen, state, end, directory);
      return 128 + signal;
    case RunEnd::time_limit:
      say_interrupted(screen, state, end, directory);
      break;
    case RunEnd::finished:
      break;
  }
  if (state.best()) return 0;
  if (const auto& first = state.first_failure(); first && state.paused().empty())
    throw run_failed("every trial failed, the first one with: " + first->message,
                     "see " + display_path(directory.root / first->log));
  if (end == RunEnd::finished)
    throw run_failed("no trial was trained to its end", "go on with more epochs: evolve --resume " +
                                                            shell_path(directory.root) +
                                                            " --max-epochs N");
  return 0;
}

/// A worker takes four descriptors, and many systems allow 1,024 unless they are asked for more.
void allow_many_workers() {
  constexpr rlim_t enough = 1 << 16;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= enough) return;
  limit.rlim_cur = std::min(limit.rlim_max, enough);
  ::setrlimit(RLIMIT_NOFILE, &limit);  // as far as it goes
}

int run_new(const Options& options, Screen& screen) {
  const auto plan = make_plan(options);
  const RunState checked(plan.settings.run);  // what is wrong with the search is found here
  for (const auto& line : description(plan)) screen.line(line);
  if (options.dry_run) return 0;

  const auto directory = create(options.destination);
  if (fs::exists(directory.results_csv()))
    throw bad_input({directory.results_csv().string()}, "this folder holds a training",
                    "choose another folder with --name or --output");
  const StopOnSignals stop;
  RunScreen observer(screen, directory, options.train.epochs, plan.settings.time_limit);
  const auto run = engine::begin_run(plan.settings, directory, stop.source(), observer);
  results::write_options(directory.options(), to_json(options));
  screen.line("results in " + display_path(directory.root));
  const auto end = run->run();
  screen.clear();
  return conclude(screen, *run, end, directory, options, stop.source().reason());
}

/// Of a finished run: what lets it go on.
std::string larger_bound(const RunState& state) {
  const auto& search = state.evolution();
  const bool all_begun = search.asked() >= search.planned();
  if (search.settings().max_epochs && !all_begun)
    return fmt::format("--max-epochs {} or more",
                       state.epochs_trained() + search.settings().epochs);
  return fmt::format(
      "--trials {} or more{}, or with a larger --generations",
      state.trainings() + 1 + state.repeats().wanted(),
      state.repeats().in_all() > 0 ? " (repeats count, also those of the new ones)" : "");
}

std::string greeting(const RunState& state, const results::RunDirectory& directory) {
  const auto& search = state.evolution();
  const bool epochs = search.settings().max_epochs.has_value();
  return fmt::format(
      "{}: {} done{}, {}", display_path(directory.root), share_done(state),
      epochs ? " in " + core::counted(search.ended(), "trial") : "",
      state.finished() ? "finished; extend it with " + larger_bound(state) : "going on");
}

/// What a resumed run would do.
int dry_run(RunState state, const std::optional<results::Extended>& bounds, Plan plan,
            const results::RunDirectory& directory, Screen& screen) {
  if (bounds) state.apply(*bounds);
  plan.settings.run.generations = state.evolution().settings().generations;
  plan.settings.run.trials = state.evolution().settings().trials;
  plan.settings.run.max_epochs = state.evolution().settings().max_epochs;
  plan.settings.run.repeats = 0;  // taken off already
  plan.options.repeats = state.repeats().wanted();
  for (const auto& line : description(plan)) screen.line(line);
  screen.line(greeting(state, directory));
  return 0;
}

/// The options of a run as they are after all extensions.
Options with_bounds(Options options, const RunState& state) {
  const auto& search = state.evolution().settings();
  const auto& repeats = state.repeats();
  options.generations = search.generations;
  options.repeats = repeats.wanted();
  if (search.trials) options.trials = *search.trials + repeats.in_all();
  if (const auto most = state.most_epochs()) options.max_epochs = static_cast<int>(*most);
  return options;
}

int run_resumed(const Options& now, Screen& screen) {
  const auto directory = now.resume->empty() ? results::newest_run(now.destination.project)
                                             : results::open_run(*now.resume);
  const auto path = directory.journal();
  std::optional<results::Journal> journal;
  results::History history;
  if (now.dry_run) {
    history = results::read_journal(path);
  } else {
    auto resumed = results::Journal::resume(path);
    journal.emplace(std::move(resumed.first));
    history = std::move(resumed.second);
  }
  if (!history.warning.empty()) screen.line(history.warning);
  auto plan = resumed_plan(now, history.run, path.string());
  auto state = engine::fold(history.run, history.events, path.string());
  const auto bounds = extension(state, now);
  if (!state.finished() || bounds) check_inputs(plan);
  if (now.dry_run) return dry_run(std::move(state), bounds, std::move(plan), directory, screen);

  for (const auto& note : plan.device_notes) screen.line(note);
  const StopOnSignals stop;
  RunScreen observer(screen, directory, plan.options.train.epochs, plan.settings.time_limit);
  const auto run = engine::resume_run(plan.settings, directory, std::move(*journal),
                                      std::move(state), bounds, stop.source(), observer);
  results::write_options(directory.options(), to_json(with_bounds(plan.options, run->state())));
  screen.line(greeting(run->state(), directory));
  const auto end = run->run();
  screen.clear();
  return conclude(screen, *run, end, directory, plan.options, stop.source().reason());
}

}  // namespace

int evolve_command(const Options& options) {
  allow_many_workers();
  Screen screen(stdout);
  return options.resume ? run_resumed(options, screen) : run_new(options, screen);
}

}  // namespace evolve::cli
