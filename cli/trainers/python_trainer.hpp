// Trainers that come along: Python workers of ours (python/evolve) around somebody else's package.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/trainers/python.hpp"
#include "core/error.hpp"
#include "core/yaml.hpp"
#include "hyp/space.hpp"
#include "trainer/options.hpp"

namespace evolve::cli {

/// A trainer that comes along. Its name is that of the package that it trains with, and of our
/// module.
struct PythonTrainer {
  std::string name;
  /// What a person could name: --data, --model.
  std::string example_data, example_model;
  /// The optimizer that the trainer uses unless --optimizer is given.
  std::string optimizer;
  /// A trial can be paused.
  bool can_pause = false;
  /// Options of the built-in trainer that it cannot take: keys of `Given`.
  std::vector<std::string> unknown_options;
};

/// Whose hyperparameters and optimizers they are: YOLOv5's evolve knows; of Ultralytics' files
/// beside our module have the space and the start, and its package says which optimizers there are.
inline bool is_yolov5(const PythonTrainer& trainer) {
  return trainer.name == "yolov5";
}
inline bool is_ultralytics(const PythonTrainer& trainer) {
  return trainer.name == "ultralytics";
}

/// The trainer of that name; null for the built-in one. Throws `Error` with the list for an unknown
/// name.
const PythonTrainer* python_trainer(const std::string& name);

/// The size of the trainer's images unless one is given: Ultralytics has another for classifiers.
int default_imgsz(const PythonTrainer& trainer, const trainer::TrainOptions& options);

/// The trainer's file of that kind ("space", "hyp"), which lies with its code: the one for
/// classifiers when the model's name is one of Ultralytics' for these (yolo11n-cls.pt). Throws
/// `Error` when our code is not there.
std::string file_of(const PythonTrainer& trainer, const trainer::TrainOptions& options,
                    const std::string& kind);

/// "yolo11n.pt on coco8.yaml for 10 epochs at 640 px with AdamW, by ultralytics"; without a size
/// where `imgsz` is 0.
std::string description(const PythonTrainer& trainer, const trainer::TrainOptions& options);

/// The installed package's own table of all its settings and their defaults, where it has one as
/// Ultralytics has. Empty where that is not found.
core::Yaml installed_settings(const PythonTrainer& trainer, const Python& python);

/// What is wrong with an optimizer for Ultralytics: with `auto` the genes lr0 and momentum would do
/// nothing. Nothing: it may be used.
std::optional<std::string> ultralytics_optimizer_fault(const std::string& optimizer);

/// How the trainer's worker is started. Throws `Error` when our code is not there.
std::vector<std::string> worker_command(const PythonTrainer& trainer, const Python& python);

/// What a trainer says of the trials to come.
struct LookedOver {
  /// "ultralytics 8.4.190, torch 2.4.1"
  std::string trains_with;
  /// What else a person should know of them.
  std::vector<std::string> notes;
  /// The contents of the data set, {"train":…,"val":…} (python/evolve/data_set.py); empty where it
  /// is fetched only when it is trained on.
  nlohmann::ordered_json data;
};

/// Has the trainer itself look once at what every trial needs: its model and data set are found, a
/// model of its own is fetched, and it takes each hyperparameter of the space at its start, its
/// bounds and between these. `options` are what trials are given; a run that goes on rather than
/// `begins` may have a space that a new one is refused. Throws `Error` with its line where
/// something is wrong: of a hyperparameter after the place that `written` gives for its name, and
/// for whether the fault is in its start. Takes as long as importing its package.
LookedOver look_over(
    const PythonTrainer& trainer, const Python& python, const nlohmann::ordered_json& options,
    const hyp::Space& space, bool begins,
    const std::function<std::optional<Where>(const std::string& gene, bool is_start)>& written);

/// Throws `Error` when this Python cannot be started, does not have the trainer's package, or the
/// checkout that it names is missing.
void check_installed(const PythonTrainer& trainer, const Python& python);

}  // namespace evolve::cli
