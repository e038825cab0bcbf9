// Which trainer a run has: one of four kinds, found out once from what the command line names.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "cli/trainers/python_trainer.hpp"
#include "core/cases.hpp"

namespace evolve::cli {

/// What --trainer, --trainer-command and --trainer-exec say, as opt.yaml keeps it: one of them at
/// most.
struct TrainerTexts {
  /// "built-in", or the name of one that comes along.
  std::string name = "built-in";
  std::string command, exec;
};

/// evolve-worker.
struct BuiltIn {};
/// --trainer-command: a program that speaks the worker protocol.
struct WorkerCommand {
  std::vector<std::string> words;
};
/// --trainer-exec: a command that trains once, with placeholders.
struct TrialCommand {
  std::vector<std::string> words;
};

/// A PythonTrainer is never null.
using Trainer = std::variant<BuiltIn, const PythonTrainer*, WorkerCommand, TrialCommand>;

/// Throws `Error` for an unknown name, and for a command that cannot be split or has unknown
/// placeholders.
Trainer trainer_of(const TrainerTexts& texts);

/// What these functions, one for each kind of trainer, say of `trainer`.
template <class... Case>
auto match(const Trainer& trainer, Case... cases) {
  return std::visit(core::Cases{cases...}, trainer);
}

bool is_built_in(const Trainer& trainer);
/// The trainer in Python that comes along; null: this trainer is of another kind.
const PythonTrainer* python_trainer(const Trainer& trainer);
/// Whether the trainer has YOLOv5's hyperparameters, all of them and no others.
bool has_yolov5_hyp(const Trainer& trainer);

/// Whether a trial can be paused; nothing: its workers say so.
std::optional<bool> can_pause(const Trainer& trainer);
/// Whether the trainer is told the number of its device, not which one it sees.
bool mentions_index(const Trainer& trainer);

/// Throws `Error` unless `program`, which `option` names, can be started. Where its name has a
/// placeholder, that cannot be said yet.
void check_program(const std::string& option, const std::string& program);
/// Throws `Error` unless there is what starts its workers on this machine. That evolve-worker is
/// there `worker_command` sees.
void check_startable(const Trainer& trainer, const Python& python);
/// How the trainer's workers are started. Throws `Error` when a program or a file of ours is
/// missing.
std::vector<std::string> worker_command(const Trainer& trainer, const Python& python);
/// The option or variable that names the program of that command; empty: evolve brings it along.
std::string named_by(const Trainer& trainer);

}  // namespace evolve::cli
