#include "cli/evolve/conclusion.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "cli/evolve/how_to_train.hpp"
#include "cli/evolve/recommendation.hpp"
#include "cli/evolve/run_summary.hpp"
#include "cli/screen/savings.hpp"
#include "cli/screen/text.hpp"
#include "core/error.hpp"
#include "core/number.hpp"
#include "core/shell_word.hpp"

namespace evolve::cli {
namespace {

namespace fs = std::filesystem;

using engine::RunEnd;
using engine::RunState;

void say_recommended(Screen& screen, const RunState& state, const results::RunDirectory& directory,
                     const EvolveOptions& options, const std::string& go_on) {
  const auto& repeats = state.repeats().completed();
  const auto recommendation = *state.recommendation();
  screen.line("");
  for (const auto& line : recommendation_lines(state, recommendation, directory.root, go_on))
    screen.line(line);
  if (!repeats.empty()) screen.line(repeat_summary(repeats));
  const std::pair<const char*, fs::path> files[] = {
      {"the recommended set", directory.hyp_evolved()},
      {"every trial", directory.evolve_csv()},
      {"every repeat", directory.repeats()},
      {"the plot", directory.plot()},
      {"the report", directory.report()}};
  for (const auto& [what, file] : files)
    if (fs::exists(file)) screen.line(fmt::format("  {:<20} {}", what, display_path(file)));
  const int recommended = state.completed()[recommendation.row].trial;
  for (const auto& command :
       how_to_train(options.trainer, options.python, options.train, state.evolution().space(),
                    state.evolution().hyp(recommended), directory.hyp_evolved()))
    screen.as_it_is(command);
}

/// The command that goes on with a run, as it was told to run this time: its journal has what it
/// began with.
std::string go_on_command(const results::RunDirectory& directory, const EvolveOptions& options) {
  auto command = "evolve --resume " + shell_folder(directory.root);
  if (!options.resume) return command;
  const auto values = to_json(options);
  for (const auto& [key, option] : options.given) {
    const auto is_among = [&name = key](const auto& keys) {
      return std::ranges::count(keys, name) > 0;
    };
    if (!is_among(how_it_runs) && !is_among(input_files) && !is_among(trainer_commands) &&
        !is_among(trainer::changeable_options))
      continue;
    const auto& value = values.at(key);
    if (value == "") continue;  // of --model's two keys it is the other one
    command +=
        fmt::format(" {} {}", option,
                    value.is_string() ? core::shell_word(value.get<std::string>()) : value.dump());
  }
  return command;
}

void say_interrupted(Screen& screen, const RunState& state, RunEnd end,
                     const std::string& go_on_command) {
  screen.line(fmt::format("{} after {}; nothing finished is lost. Go on with:",
                          end == RunEnd::time_limit ? "Stopped at the time limit" : "Interrupted",
                          share_done(state)));
  screen.as_it_is("  " + go_on_command);
}

/// What came of it: what pausing saved, what failed, and which trial to use.
void say_result(Screen& screen, const RunState& state, const results::RunDirectory& directory,
                const EvolveOptions& options, const std::string& go_on) {
  if (const auto words = savings(state); !words.empty()) screen.line(words);
  if (!state.best()) return;
  for (const auto& words : {failure_summary(state, directory), failed_repeats(state)})
    if (!words.empty()) screen.line(words);
  say_recommended(screen, state, directory, options, go_on);
}

/// Throws where no training has ended well, as its trainer is most likely broken.
void check_success(const engine::Run& run, RunEnd end, const results::RunDirectory& directory,
                   const std::string& command) {
  if (end != RunEnd::no_success) return;
  const auto& last = run.state().surroundings().last_without_success();
  throw run_failed("no trial has ended well, the last one with: " + last.message,
                   "see " + display_path(directory.root / last.log) + "; mend it, and go on with " +
                       command + " or begin anew");
}

/// Throws where what every trial needs is not there.
void check_surroundings(const engine::Run& run, RunEnd end, const std::string& go_on) {
  if (end == RunEnd::no_usable_device) throw run_failed(run.no_usable_device(), go_on);
  if (end == RunEnd::inputs_changed) throw run_failed(run.change(), go_on);
  const auto& surroundings = run.state().surroundings();
  // What a run that its time limit ended before anything was trained would have ended by.
  const bool none =
      end == RunEnd::time_limit && run.state().epochs_trained() == 0 && surroundings.failures() > 0;
  if (end != RunEnd::surroundings && !none) return;
  throw run_failed(
      fmt::format("{} in {} in a row: {}",
                  surroundings.last_failure().failed_before_ready ? "no worker became ready"
                                                                  : "nothing could be trained",
                  core::counted(surroundings.failures(), "attempt"),
                  surroundings.last_failure().message),
      go_on);
}

/// Of a run of which nothing has completed.
void say_nothing_completed(Screen& screen, const RunState& state, RunEnd end,
                           const results::RunDirectory& directory, const std::string& command) {
  if (const auto& first = state.first_failure();
      first && (state.paused().empty() || end == RunEnd::finished))
    throw run_failed(
        (state.paused().empty() ? "every trial failed" : "every trial failed that is not paused") +
            std::string(", the first one with: ") + first->message,
        "see " + display_path(directory.root / first->log));
  if (const auto words = failure_summary(state, directory); !words.empty()) screen.line(words);
  if (end == RunEnd::finished)
    throw run_failed("no trial was trained to its end",
                     "go on with more epochs: " + command + " --max-epochs N");
}

}  // namespace

int conclude(Screen& screen, const engine::Run& run, RunEnd end,
             const results::RunDirectory& directory, const EvolveOptions& options, int signal) {
  if (signal != 0) screen.hurry();
  const auto& state = run.state();
  const auto command = go_on_command(directory, options);
  say_result(screen, state, directory, options, command);
  check_success(run, end, directory, command);
  check_surroundings(run, end, "mend it and go on with: " + command);
  if (end == RunEnd::stopped || end == RunEnd::time_limit)
    say_interrupted(screen, state, end, command);
  if (end == RunEnd::stopped) return 128 + signal;
  if (!state.best()) say_nothing_completed(screen, state, end, directory, command);
  return 0;
}

}  // namespace evolve::cli
