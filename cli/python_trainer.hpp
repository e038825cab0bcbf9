// Trainers that come along: Python workers of ours (python/evolve) around somebody else's package.
#pragma once

#include <string>
#include <vector>

#include "cli/python.hpp"
#include "hyp/space.hpp"
#include "trainer/options.hpp"

namespace evolve::cli {

/// One of them. Its name is that of the package that it trains with, and of our module.
struct PythonTrainer {
  std::string name;
  /// What a person could name: --data, --model.
  std::string example_data, example_model;
  /// What it trains with unless --optimizer is given.
  std::string optimizer;
  /// Its hyperparameters and optimizers are YOLOv5's; otherwise files of its own have its space and
  /// its start, and its package says which optimizers there are.
  bool is_yolov5 = false;
  /// Options of the built-in trainer that it cannot take: keys of `Given`.
  std::vector<std::string> unknown_options;
};

/// The trainer of that name; null for the built-in one. Throws `Error` with the list for an unknown
/// name.
const PythonTrainer* python_trainer(const std::string& name);

/// Their files of that kind ("space", "hyp"), which lie with their code: those for classifiers when
/// the model's name is one of Ultralytics' for these (yolo11n-cls.pt). Throws `Error` when they are
/// not there.
std::string file_of(const PythonTrainer& trainer, const trainer::TrainOptions& options,
                    const std::string& kind);

/// "yolo11n.pt on coco8.yaml for 10 epochs at 640 px with AdamW, by ultralytics"
std::string description(const PythonTrainer& trainer, const trainer::TrainOptions& options);

/// How a person trains with the hyperparameters of `file`, one set of this space, in Ultralytics.
/// The file has every number as a float and every yes or no as a text; where something else is
/// wanted, the command line says it again. It has the optimizer, and what else of these options is
/// not Ultralytics' default, but for what the set has itself. How many epochs is left to the
/// person.
std::string ultralytics_usage(const trainer::TrainOptions& options, const hyp::Space& space,
                              const hyp::Hyperparameters& hyp, const std::string& file);

/// The same with `evolve train`, on the same images and from the same weights, for as many epochs
/// as that has by default.
std::string train_usage(const trainer::TrainOptions& options, const hyp::Hyperparameters& hyp,
                        const std::string& file);

/// The same in YOLOv5, with the options of these trainings that bear on the set.
std::string yolov5_usage(const trainer::TrainOptions& options, const hyp::Hyperparameters& hyp,
                         const std::string& file);

/// Whether this optimizer is Ultralytics' `auto`, which chooses lr0 and momentum itself: genes that
/// would do nothing.
bool leaves_it_to_ultralytics(const std::string& optimizer);

/// How its worker is started. Throws `Error` when our code is not there.
std::vector<std::string> worker_command(const PythonTrainer& trainer, const Python& python);

/// Throws `Error` when there is no such Python here, or it does not have the trainer's package, or
/// there is no such checkout.
void check_installed(const PythonTrainer& trainer, const Python& python);

}  // namespace evolve::cli
