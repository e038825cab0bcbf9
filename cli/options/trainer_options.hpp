// How a detector is trained, as options and hyperparameters of `evolve`, `evolve train` and
// `evolve val`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/options/command_line.hpp"
#include "core/slot.hpp"
#include "hyp/hyp_file.hpp"
#include "hyp/hyperparameters.hpp"
#include "trainer/options.hpp"

namespace evolve::cli {

/// What a validation needs too: --data --cfg --weights --batch-size --imgsz --single-cls --skip-bad
/// --workers.
void declare_data(CLI::App& app, trainer::TrainOptions& options, const char* group,
                  const char* weights = "Weights to start from (.pt)");
/// What only a training needs: --epochs --optimizer …; --cos-restarts is read into its two numbers.
/// `epochs` says whose they are.
void declare_training(CLI::App& app, trainer::TrainOptions& options, const char* group,
                      const std::string& epochs);

/// --devices of a command that trains or validates on one.
void declare_one_device(CLI::App& app, std::string& devices);

/// The paths that the options hold, made absolute. "shapes" is not a path; "./shapes" is one.
void make_absolute(trainer::TrainOptions& options);
/// Sees to the folder of a run that goes on: what its data YAML names by a relative path is looked
/// for where the run began, or here where there is no such folder any more.
void settle_folder(trainer::TrainOptions& options);

/// The model that is trained: a table, or weights that bring theirs.
const std::string& cfg_or_weights(const trainer::TrainOptions& options);

/// The table of the embedded weights.
inline constexpr const char* embedded_model = "yolov5p.yaml";

/// The embedded data set, which everything without --data trains on.
inline constexpr const char* default_data = "shapes";
/// The size of its images in pixels, and the epochs of a training on them, unless --imgsz and
/// --epochs say otherwise.
inline constexpr int shapes_imgsz = 96, shapes_epochs = 16;

/// The largest size of images, in pixels: more than anybody trains at.
inline constexpr int most_imgsz = 16384;
/// The most epochs of a training: a run of thousands can count its own.
inline constexpr int most_epochs = 100000;

/// On the embedded data set, which is small, what was not given suits it: a few seconds of training
/// from a small pre-trained checkpoint.
void default_to_shapes(trainer::TrainOptions& options, const Given& given);

/// yolov5s.yaml, YOLOv5's own default, unless weights bring theirs; the embedded ones have a known
/// one.
void default_model(trainer::TrainOptions& options);

/// Throw `Error` for values that make no sense: to any trainer, to one with YOLOv5's optimizers, to
/// the built-in one, and to it as sizes of batches and of images (`least_imgsz` pixels at least, in
/// a validation too). YOLOv5 rounds an image size up to whole strides; here the user does it.
void check_epochs(const trainer::TrainOptions& options);
void check_optimizer(const trainer::TrainOptions& options);
void check_training(const trainer::TrainOptions& options);
void check_sizes(const trainer::TrainOptions& options, int least_imgsz);

/// What `yolo copy-cfg` and each training of Ultralytics write has the names of hyperparameters
/// too, among many that are none and have no value. Throws `Error` with this remedy for such a
/// file.
void check_no_configuration(const std::string& path, const std::string& remedy);
/// Reads a hyp file for a trainer that has YOLOv5's hyperparameters. Throws `Error`, also for one
/// of Ultralytics', whose gains of the same names have another scale.
hyp::HypFile read_yolov5_hyp(const std::string& path);

/// What is wrong, and what would be right.
struct HyperparameterFault {
  std::string what, remedy;
};

/// What keeps a trainer with YOLOv5's hyperparameters from training with this one at these values;
/// nothing where it can. `instead` is what else than removing an unknown one would help.
std::optional<HyperparameterFault> hyperparameter_fault(const std::string& name,
                                                        const std::vector<hyp::Value>& values,
                                                        const std::string& trainer = "built-in",
                                                        const std::string& instead = "");

/// Throw `Error` when a batch, or the data set, has fewer images than the slot has devices that
/// train together.
void check_group(const core::Slot& slot, int batch_size);
void check_images(const core::Slot& slot, std::int64_t images, const std::string& data);

/// "yolov5p.yaml on shapes for 16 epochs at 96 px with Adam, from shapes-base"
std::string description(const trainer::TrainOptions& options);

}  // namespace evolve::cli
