#include "cli/trainers/python.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>

#include "core/environment.hpp"
#include "core/error.hpp"
#include "core/shell_word.hpp"
#include "core/spawn.hpp"
#include "workers/protocol/text.hpp"

namespace evolve::cli {

namespace fs = std::filesystem;

namespace {

/// `python` with arguments, and with our package among those that it finds.
std::vector<std::string> python_command(const Python& python, std::vector<std::string> arguments) {
  const auto path =
      "PYTHONPATH=" + package_folder().string() + (python.path.empty() ? "" : ":" + python.path);
  // Paths come as UTF-8, which is not what a file is called under every locale.
  std::vector<std::string> command = {"/usr/bin/env", path, "PYTHONUTF8=1", python.program};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return command;
}

/// The file of the program; throws `Error`, on behalf of `who`, when it cannot be started.
std::string python_file(const Python& python, const std::string& who) try {
  // A name without a slash is looked for in PATH, whatever the current folder has.
  if (python.program.find('/') != std::string::npos && fs::is_directory(python.program))
    throw bad_argument(who + ": EVOLVE_PYTHON: " + python.program + " is a folder",
                       "name its bin/python3");
  return core::program_file(python.program);
} catch (const std::system_error& error) {
  throw bad_argument(who + ": " + core::cannot_start(python.program, error),
                     "install Python 3, or name one in EVOLVE_PYTHON");
}

/// Whether pip refuses to install anything for it, as for a distribution's own, which may have no
/// pip either (PEP 668).
bool is_distributions_own(const fs::path& python) {
  std::error_code ignored;
  fs::directory_iterator libraries(python.parent_path().parent_path() / "lib", ignored);
  return std::any_of(fs::begin(libraries), fs::end(libraries), [&](const auto& library) {
    return fs::exists(library.path() / "EXTERNALLY-MANAGED", ignored);
  });
}

}  // namespace

Python python_of_environment() {
  const auto program = core::environment_variable("EVOLVE_PYTHON");
  return {.program = program.empty() ? "python3" : program,
          .path = core::environment_variable("PYTHONPATH"),
          .yolov5 = core::environment_variable("EVOLVE_YOLOV5")};
}

/// Beside the program in a build folder, in share/ of an installation.
fs::path package_folder() {
  const auto here = core::this_program().parent_path();
  for (const auto& folder : {here / "python", here.parent_path() / "share/evolve/python"})
    if (fs::exists(folder / "evolve/worker.py")) return folder.lexically_normal();
  throw bad_input({(here / "python").string()}, "what evolve brings in Python is not there",
                  "build or install evolve again");
}

std::vector<std::string> module_command(const Python& python, const std::string& module,
                                        std::vector<std::string> arguments) {
  // "" is the current folder, which -c puts first: a user's yaml.py there is not to be imported.
  const auto* code =
      "import sys; sys.path[:] = [sys.argv.pop(1), *filter(None, sys.path)]; import runpy; "
      "runpy.run_module(sys.argv.pop(1), run_name='__main__', alter_sys=True)";
  const std::vector<std::string> before = {"-c", code, package_folder().string(), module};
  arguments.insert(arguments.begin(), before.begin(), before.end());
  return python_command(python, std::move(arguments));
}

fs::path package_file(const Python& python, const std::string& package, const std::string& who) {
  python_file(python, who);
  // A folder of that name in the current one is not yet the package.
  const auto code = fmt::format(
      "import sys; sys.path[:] = filter(None, sys.path); import importlib.util; "
      "spec = importlib.util.find_spec('{}'); "
      "print(spec and spec.origin or '')",
      package);
  const auto found = core::run({.words = python_command(python, {"-c", code})});
  return found.status == 0 ? workers::last_line(found.output) : "";
}

void check_package(const Python& python, const std::string& package, const std::string& who) {
  const auto file = python_file(python, who);
  if (!package_file(python, package, who).empty()) return;
  // YOLOv5's imports pkg_resources, which later versions of setuptools have not.
  const std::string packages = package + (package == "yolov5" ? " 'setuptools<81'" : "");
  throw bad_argument(
      fmt::format("{}: {} has no package '{}'", who, file, package),
      is_distributions_own(file)
          ? fmt::format(
                "make a Python that has it, and name that in EVOLVE_PYTHON: {} -m venv venv "
                "(Debian's package python3-venv), venv/bin/pip install {}, export "
                "EVOLVE_PYTHON=venv/bin/python3",
                core::shell_word(file), packages)
          : fmt::format("install it: {} -m pip install {}; or name another Python in EVOLVE_PYTHON",
                        core::shell_word(file), packages));
}

void check_yolov5(const Python& python, const std::string& who) {
  if (python.yolov5.empty()) return check_package(python, "yolov5", who);
  python_file(python, who);
  for (const auto* file : {"train.py", "models/yolo.py"})
    if (!fs::exists(fs::path(python.yolov5) / file))
      throw bad_argument(fmt::format("EVOLVE_YOLOV5: {} has no {}", python.yolov5, file),
                         "name a checkout of YOLOv5's repository, or leave it out for the package");
}

}  // namespace evolve::cli
