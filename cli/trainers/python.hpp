// The Python that runs what evolve brings in Python (python/evolve): trainers and exporters.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace evolve::cli {

/// What the environment says of Python.
struct Python {
  /// A name that is looked for in PATH, or a file.
  std::string program = "python3";
  /// PYTHONPATH, as it is.
  std::string path;
  /// A checkout of YOLOv5's repository, which takes the place of its package; or "".
  std::string yolov5;
};

/// $EVOLVE_PYTHON, or the first python3 of PATH; $EVOLVE_YOLOV5.
Python python_of_environment();

/// The folder that has our package `evolve`. Throws `Error` when it is not there.
std::filesystem::path package_folder();

/// `python` running a module of our package, whatever modules the current folder has: unlike with
/// -m, none is imported from there, be it of our names or of Python's.
std::vector<std::string> module_command(const Python& python, const std::string& module,
                                        std::vector<std::string> arguments);

/// The file that this Python would import for a package, which is not imported for that; "" where
/// there is none. Throws `Error`, on behalf of `who`, when it cannot be started.
std::filesystem::path package_file(const Python& python, const std::string& package,
                                   const std::string& who);

/// Throws `Error`, on behalf of `who`, when this Python cannot be started or does not have this
/// package.
void check_package(const Python& python, const std::string& package, const std::string& who);

/// Throws `Error`, on behalf of `who`, unless YOLOv5 is there: the checkout that `python` names, or
/// the package.
void check_yolov5(const Python& python, const std::string& who);

}  // namespace evolve::cli
