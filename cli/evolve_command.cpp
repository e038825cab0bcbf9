// The main job: plan it, or find where it stopped; run it; say what came out.

#include <fmt/format.h>

#include <algorithm>

#include "cli/commands.hpp"
#include "cli/coordinator.hpp"
#include "cli/plan.hpp"
#include "cli/replay.hpp"
#include "core/error.hpp"

namespace evolve::cli {
namespace {

/// Sets larger bounds, where the command line gives them; `--trials` or `--generations` alone
/// decides. `repeats` are taken off. Returns whether they changed.
bool extend(ga::Evolution& evolution, const Options& now, int repeats) {
  const auto before = evolution.settings();
  auto after = before;
  const bool trials = now.given.contains("trials"), generations = now.given.contains("generations");
  if (trials) {
    after.trials = now.trials;
    const int needed = (*now.trials + before.population - 1) / before.population;
    if (!generations) after.generations = std::max(before.generations, needed);
  }
  if (generations) {
    after.generations = now.generations;
    if (!trials) after.trials.reset();
  }
  if (trials || generations) after.trials = search_trials(after, repeats);
  if (after.generations == before.generations && after.trials == before.trials) return false;
  evolution.extend(after.generations, after.trials);
  return true;
}

void say_best(Screen& screen, const Coordinator& run, const results::RunDirectory& directory) {
  const auto& best = *run.best();
  std::string text =
      fmt::format("Best: trial {}, fitness {:.4f} (mAP50 {:.3f}, mAP50-95 {:.3f})", best.trial,
                  best.fitness, best.metrics.map50, best.metrics.map50_95);
  if (best.trial == 0) {
    text += ", the start";
  } else if (run.start_fitness()) {
    text += fmt::format("; the start had {:.4f}", *run.start_fitness());
  }
  const auto& repeats = run.repeats().completed();
  screen.line("");
  screen.line(text);
  if (!repeats.empty()) screen.line(repeat_summary(repeats));
  screen.line("  its hyperparameters  " + display_path(directory.hyp_evolved()));
  screen.line("  every trial          " + display_path(directory.evolve_csv()));
  if (!repeats.empty()) screen.line("  every repeat         " + display_path(directory.repeats()));
  screen.line("  the picture          " + display_path(directory.plot()));
  screen.line("Use it in YOLOv5: python train.py --hyp " + display_path(directory.hyp_evolved()));
}

/// "12 of 60 trials stopped early: 76 of 600 epochs saved"
std::string savings(const Coordinator& run, int epochs) {
  const auto& early = run.early_stopping();
  const int trials = run.evolution().ended();
  return fmt::format("{} of {} stopped early: {} of {} saved", early.stopped(),
                     counted(trials, "trial"), early.stopped() * epochs - early.stopped_epochs(),
                     counted(long{trials} * epochs, "epoch"));
}

/// The last words of a run, and its exit code.
int conclude(Screen& screen, const Coordinator& run, const results::RunDirectory& directory,
             const Options& options, int code) {
  const auto& evolution = run.evolution();
  if (run.early_stopping().stopped() > 0) screen.line(savings(run, options.train.epochs));
  if (run.best()) say_best(screen, run, directory);
  if (code == 0 && run.no_usable_device() && !run.finished()) {
    throw run_failed(*run.no_usable_device(),
                     "mend it and go on with: evolve --resume " + display_path(directory.root));
  }
  if (!run.finished()) {
    screen.line(fmt::format(
        "{} after {} of {} trials{}; nothing finished is lost. Go on with: evolve --resume {}",
        code == 0 ? "Stopped at the time limit" : "Interrupted", evolution.ended(),
        evolution.planned(), evolution.done() ? ", in their repeats" : "", display_path(directory.root)));
    return code;
  }
  if (!run.best() && run.first_failure()) {
    throw run_failed("every trial failed, the first one with: " + run.first_failure()->message,
                     "see " + display_path(directory.root / run.first_failure()->log));
  }
  return code;
}

int run_new(const Options& options, Screen& screen) {
  const auto plan = make_plan(options);
  ga::Evolution evolution(plan.space, plan.search, plan.initial);
  for (const auto& line : description(plan)) screen.line(line);
  if (options.dry_run) return 0;

  const auto directory = create(options.destination);
  auto journal = results::Journal::create(directory.journal(), run_line(plan));
  results::write_options(directory.options(), to_json(options));
  screen.line("results in " + display_path(directory.root));
  Coordinator run(plan, directory, std::move(journal), std::move(evolution), {}, screen);
  const int code = run.run();
  return conclude(screen, run, directory, plan.options, code);
}

int run_resumed(const Options& now, Screen& screen) {
  const auto directory = now.resume->empty() ? results::newest_run(now.destination.project)
                                             : results::open_run(*now.resume);
  auto [journal, history] = results::Journal::resume(directory.journal());
  if (!history.warning.empty()) screen.line(history.warning);
  auto plan = resumed_plan(now, history.run, directory.journal().string());
  for (const auto& note : plan.device_notes) screen.line(note);
  ga::Evolution evolution(plan.space, plan.search, plan.initial);
  auto replayed = replay(history.events, evolution, directory.journal().string());
  int& repeats = plan.options.repeats;
  const int repeats_before =
      replayed.repeats_wanted.value_or(history.run.at("options").value("repeats", 0));
  if (!now.given.contains("repeats")) repeats = repeats_before;
  if (extend(evolution, now, repeats) || repeats != repeats_before) {
    journal.append(extended_event(evolution.settings(), repeats));
    journal.commit();
  }
  Coordinator run(plan, directory, std::move(journal), std::move(evolution), std::move(replayed),
                  screen);
  const auto& search = run.evolution();
  screen.line(fmt::format(
      "{}: {} of {} trials done{}", display_path(directory.root), search.ended(), search.planned(),
      run.finished() ? ", finished; extend it with a larger --generations or --trials"
                     : ", going on"));
  const int code = run.run();
  return conclude(screen, run, directory, plan.options, code);
}

}  // namespace

int evolve_command(const Options& options) {
  Screen screen(stdout);
  return options.resume ? run_resumed(options, screen) : run_new(options, screen);
}

}  // namespace evolve::cli
