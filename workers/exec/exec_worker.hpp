// The worker of --trainer-exec: evolve itself, started once per slot, speaks the worker protocol
// and runs a command for each trial.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace evolve::workers {

/// The command of `evolve` that is this worker; in no help.
constexpr std::string_view exec_worker_command = "exec-worker";

/// The words of a --trainer-exec template. Throws `Error` when it cannot be split, has an unknown
/// placeholder, or none that leads to the hyperparameters.
std::vector<std::string> exec_words(const std::string& text);

/// How to start it with the words of a template.
std::vector<std::string> exec_worker_command_for(const std::vector<std::string>& words);

/// Serves trials on standard input until it is told to stop; returns 0. For each it writes
/// `<dir>/trial_hyp.yaml`, removes `<dir>/results.csv`, and runs the words with their placeholders
/// replaced. Whatever the command prints goes to standard error. A row of results.csv becomes an
/// epoch; at a rung the trial goes on until it is told to stop. The last row is the result, once
/// the command has ended with exit code 0; a command that ends otherwise ends this process in the
/// same way. One whose trial is over before gets SIGTERM, and has a second. Whatever is left
/// running is killed. SIGTERM does nothing to this process.
int exec_worker(const std::vector<std::string>& words);

}  // namespace evolve::workers
