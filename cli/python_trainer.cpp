#include "cli/python_trainer.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "cli/screen.hpp"
#include "core/error.hpp"
#include "core/spawn.hpp"

namespace evolve::cli {
namespace {

namespace fs = std::filesystem;

const std::array<PythonTrainer, 1> trainers = {{
    {.name = "ultralytics",
     .optimizer = "AdamW",
     .unknown_options = {"label_smoothing", "image_weights", "multi_scale", "noautoanchor",
                         "cos_restarts"}},
}};

/// The folder that has our package: beside the program in a build folder, in share/ of an
/// installation.
fs::path package_folder() {
  const auto here = fs::read_symlink("/proc/self/exe").parent_path();
  for (const auto& folder : {here / "python", here.parent_path() / "share/evolve/python"})
    if (fs::exists(folder / "evolve/worker.py")) return folder.lexically_normal();
  throw bad_input({(here / "python").string()}, "the trainers in Python are not there",
                  "build or install evolve again");
}

/// `python` with arguments, and with our package among those that it finds.
std::vector<std::string> python_command(const Python& python, std::vector<std::string> arguments) {
  const auto path =
      "PYTHONPATH=" + package_folder().string() + (python.path.empty() ? "" : ":" + python.path);
  std::vector<std::string> command = {"/usr/bin/env", path, python.program};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return command;
}

std::string environment(const char* name, const std::string& otherwise) {
  const char* value = std::getenv(name);
  return value && *value ? value : otherwise;
}

}  // namespace

const PythonTrainer* python_trainer(const std::string& name) {
  if (name == "built-in") return nullptr;
  const auto found = std::ranges::find(trainers, name, &PythonTrainer::name);
  if (found != trainers.end()) return &*found;
  std::vector<std::string> names = {"built-in"};
  for (const auto& trainer : trainers) names.push_back(trainer.name);
  throw bad_argument("--trainer " + name + ": there is no such trainer",
                     fmt::format("choose among {}, or name your own with --trainer-command or "
                                 "--trainer-exec",
                                 fmt::join(names, ", ")));
}

Python python_of_environment() {
  return {.program = environment("EVOLVE_PYTHON", "python3"),
          .path = environment("PYTHONPATH", "")};
}

std::string file_of(const PythonTrainer& trainer, const std::string& kind) {
  return (package_folder() / "evolve" / (trainer.name + "." + kind + ".yaml")).string();
}

std::string description(const PythonTrainer& trainer, const trainer::TrainOptions& t) {
  const auto start = t.cfg.empty() || t.weights.empty() ? "" : ", from " + display_path(t.weights);
  return fmt::format("{} on {} for {} at {} px with {}{}, by {}",
                     display_path(t.cfg.empty() ? t.weights : t.cfg), display_path(t.data),
                     counted(t.epochs, "epoch"), t.imgsz, t.optimizer, start, trainer.name);
}

std::string usage(const trainer::TrainOptions& t, const hyp::Space& space,
                  const hyp::Hyperparameters& hyp, const std::string& file) {
  std::string whole;
  for (const auto& gene : space.genes)
    if (gene.kind == hyp::Gene::Kind::integer)
      whole += fmt::format(" {}={:.0f}", gene.name, hyp.number(gene.name));
  const auto model = t.cfg.empty() ? t.weights : t.cfg;
  return fmt::format(
      "Use it in Ultralytics: yolo cfg={} mode=train model={} data={} optimizer={}{}",
      shell_path(file), shell_path(model), shell_path(t.data), t.optimizer, whole);
}

std::vector<std::string> worker_command(const PythonTrainer& trainer, const Python& python) {
  return python_command(python, {"-m", "evolve." + trainer.name});
}

void check_installed(const PythonTrainer& trainer, const Python& python) try {
  const auto file = core::program_file(python.program);
  // A folder of that name in the current one is not yet the package.
  const auto code = fmt::format(
      "import importlib.util, sys; spec = importlib.util.find_spec('{}'); "
      "sys.exit(spec is None or spec.origin is None)",
      trainer.name);
  if (core::run({.words = python_command(python, {"-c", code})}).status == 0) return;
  throw bad_argument(
      fmt::format("--trainer {}: {} has no package '{}'", trainer.name, file, trainer.name),
      fmt::format("install it: {} -m pip install {}; or name another Python in EVOLVE_PYTHON", file,
                  trainer.name));
} catch (const std::system_error& error) {
  throw bad_argument(fmt::format("--trainer {}: '{}' cannot be started ({})", trainer.name,
                                 python.program, error.code().message()),
                     "install Python 3, or name one in EVOLVE_PYTHON");
}

}  // namespace evolve::cli
