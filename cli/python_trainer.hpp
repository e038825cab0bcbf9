// Trainers that come along: Python workers of ours (python/evolve) around somebody else's package.
#pragma once

#include <string>
#include <vector>

#include "hyp/space.hpp"
#include "trainer/run/options.hpp"

namespace evolve::cli {

/// One of them. Its name is that of the package that it trains with, and of our module.
struct PythonTrainer {
  std::string name;
  /// Where it trains with another than YOLOv5's optimizer, unless --optimizer is given.
  std::string optimizer;
  /// Options of the built-in trainer that it cannot take: keys of `Given`.
  std::vector<std::string> unknown_options;
};

/// The trainer of that name; null for the built-in one. Throws `Error` with the list for an unknown
/// name.
const PythonTrainer* python_trainer(const std::string& name);

/// The Python that runs them.
struct Python {
  /// A name that is looked for in PATH, or a file.
  std::string program = "python3";
  /// PYTHONPATH, as it is.
  std::string path;
};

/// $EVOLVE_PYTHON, or the first python3 of PATH.
Python python_of_environment();

/// Their files of that kind ("space", "hyp"), which lie with their code. Throws `Error` when they
/// are not there.
std::string file_of(const PythonTrainer& trainer, const std::string& kind);

/// "yolo11n.pt on coco8.yaml for 10 epochs at 640 px with AdamW, by ultralytics"
std::string description(const PythonTrainer& trainer, const trainer::TrainOptions& options);

/// How a person trains with the hyperparameters of `file`, one set of this space. The file has
/// every number as a float; where Ultralytics wants a whole one, the command line says it again.
std::string usage(const trainer::TrainOptions& options, const hyp::Space& space,
                  const hyp::Hyperparameters& hyp, const std::string& file);

/// How its worker is started. Throws `Error` when our code is not there.
std::vector<std::string> worker_command(const PythonTrainer& trainer, const Python& python);

/// Throws `Error` when there is no such Python here, or it does not have the trainer's package.
void check_installed(const PythonTrainer& trainer, const Python& python);

}  // namespace evolve::cli
