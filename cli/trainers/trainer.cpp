#include "cli/trainers/trainer.hpp"

#include <algorithm>
#include <system_error>

#include "cli/trainers/built_in_worker.hpp"
#include "core/error.hpp"
#include "core/placeholders.hpp"
#include "core/shell_word.hpp"
#include "core/spawn.hpp"
#include "workers/exec/exec_worker.hpp"

namespace evolve::cli {

Trainer trainer_of(const TrainerTexts& texts) {
  if (const auto* python = python_trainer(texts.name)) return python;
  if (!texts.command.empty())
    return WorkerCommand{core::shell_words(texts.command, "--trainer-command")};
  if (!texts.exec.empty()) return TrialCommand{workers::exec_words(texts.exec)};
  return BuiltIn{};
}

bool is_built_in(const Trainer& trainer) {
  return std::holds_alternative<BuiltIn>(trainer);
}

const PythonTrainer* python_trainer(const Trainer& trainer) {
  const auto* python = std::get_if<const PythonTrainer*>(&trainer);
  return python ? *python : nullptr;
}

bool has_yolov5_hyp(const Trainer& trainer) {
  const auto* python = python_trainer(trainer);
  return python ? is_yolov5(*python) : is_built_in(trainer);
}

std::optional<bool> can_pause(const Trainer& trainer) {
  return match(
      trainer, [](const BuiltIn&) -> std::optional<bool> { return true; },
      [](const PythonTrainer* one) -> std::optional<bool> { return one->can_pause; },
      [](const WorkerCommand&) -> std::optional<bool> { return std::nullopt; },
      [](const TrialCommand&) -> std::optional<bool> { return false; });
}

bool mentions_index(const Trainer& trainer) {
  const auto* command = std::get_if<TrialCommand>(&trainer);
  return command && std::ranges::any_of(command->words, [](const std::string& word) {
           return core::mentions(word, "{index}");
         });
}

void check_program(const std::string& option, const std::string& program) try {
  if (program.find('{') == program.npos) core::program_file(program);
} catch (const std::system_error& error) {
  throw bad_argument(option + ": " + core::cannot_start(program, error),
                     "name a program that exists and may be started");
}

void check_startable(const Trainer& trainer, const Python& python) {
  match(
      trainer, [](const BuiltIn&) {},
      [&](const PythonTrainer* one) { check_installed(*one, python); },
      [](const WorkerCommand& one) { check_program("--trainer-command", one.words.front()); },
      [](const TrialCommand& one) { check_program("--trainer-exec", one.words.front()); });
}

std::vector<std::string> worker_command(const Trainer& trainer, const Python& python) {
  return match(
      trainer,
      [](const BuiltIn&) {
        return std::vector{built_in_worker(
            "; or train with another (--trainer, --trainer-command, --trainer-exec)")};
      },
      [&](const PythonTrainer* one) { return worker_command(*one, python); },
      [](const WorkerCommand& one) { return one.words; },
      [](const TrialCommand& one) { return workers::exec_worker_command_for(one.words); });
}

std::string named_by(const Trainer& trainer) {
  return match(
      trainer, [](const BuiltIn&) { return std::string(); },
      [](const PythonTrainer*) { return std::string("EVOLVE_PYTHON"); },
      [](const WorkerCommand&) { return std::string("--trainer-command"); },
      [](const TrialCommand&) { return std::string(); });
}

}  // namespace evolve::cli
