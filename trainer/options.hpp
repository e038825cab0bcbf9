// How a trial is trained, apart from its hyperparameters. Torch-free: the coordinator sends it, the
// worker obeys it.
#pragma once

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hyp/hyperparameters.hpp"

namespace evolve::trainer {

/// What a training may have, and the same for people.
constexpr std::array<std::string_view, 3> optimizers = {"SGD", "Adam", "AdamW"};
constexpr const char* optimizers_text = "SGD, Adam or AdamW";

/// A training's images have so many of its model's strides at least, as with YOLOv5.
inline constexpr int least_training_strides = 2;
/// That of models without a level P6, in pixels: images have a multiple of it. Those with one have
/// a greater one, which only the model's table tells.
inline constexpr int least_stride = 32;
/// `pixels` rounded up to whole strides, `least` of them at least.
constexpr int whole_strides(int pixels, int stride, int least) {
  return std::max((pixels + stride - 1) / stride, least) * stride;
}

/// Anchors of a level at most: far beyond any detector.
inline constexpr int most_anchors = 1000;

/// The name of the embedded checkpoint.
constexpr const char* embedded_weights = "shapes-base";

/// What is said of inputs that are not those of the run: who looks at others than the worker had
/// cannot tell.
inline constexpr const char* run_began_with = "the run began with";
inline constexpr const char* other_weights = "these are other weights than the run began with";
inline constexpr const char* other_model = "this is another model than the run began with";

/// What is said of weights of a training that diverged, which only a worker reads in full.
inline constexpr const char* holds_nan = "holds NaN: the training had diverged";

/// Defaults are YOLOv5's. Paths are absolute or relative to the current folder of the coordinator.
struct TrainOptions {
  /// A data YAML, or "shapes": the embedded synthetic data set.
  std::string data = "shapes";
  /// Where what a data YAML names by a relative path is looked for, besides beside it: where the
  /// run began. "": the current folder.
  std::string folder;
  /// A model table: a file, or the name of a built-in one ("yolov5s.yaml").
  std::string cfg;
  /// Where to start: a .pt file, "shapes-base" (embedded), or empty for random weights.
  std::string weights;
  int epochs = 100;
  int batch_size = 16;
  /// Pixels of the square training image; a multiple of the model's stride.
  int imgsz = 640;
  /// One of `optimizers`; a hyperparameter of that name overrides it.
  std::string optimizer = "SGD";
  bool cos_lr = false;
  double label_smoothing = 0;
  bool single_cls = false;
  bool rect = false;
  bool noautoanchor = false;
  /// Threads at most that make batches beside the training; a slot of one core has none.
  int workers = 8;
  /// Layers that keep their weights, as YOLOv5 means it: one number N is the first N (10 is the
  /// backbone), several are exactly these.
  std::vector<int> freeze = {0};
  /// Each epoch draws its images with replacement, classes that do badly more often; a trial, which
  /// is not validated at each epoch, those that are rare.
  bool image_weights = false;
  /// Each batch is scaled to a random size, 0.5 to 1.5 times imgsz in steps of the stride.
  bool multi_scale = false;
  /// Warm restarts of the cosine (Loshchilov and Hutter 2017): the first cycle's epochs, 0 for
  /// none, and the factor from one cycle's length to the next one's.
  int restart_epochs = 0;
  int restart_factor = 1;
  /// Where images are kept: "ram", "disk" or "none"; empty is what the trainer does by itself, the
  /// built-in one "ram" (data::Keep).
  std::string cache;
  /// The share of the training images that is used, the first ones (data::with_fraction).
  double fraction = 1;
  /// Goes on without the images that cannot be used.
  bool skip_bad = false;
  /// Mixed precision where it is faster and agrees with single precision on some first images.
  bool amp = true;
  /// Epochs since the last fitness as good as any before, after which a full training ends; 0:
  /// never.
  int patience = 100;
  /// Confidence threshold and IoU threshold of NMS in validation, as YOLOv5's train.py uses them.
  double conf = 0.001;
  double iou = 0.6;
  /// Where the trained weights go (the moving average, half precision, as YOLOv5 keeps them);
  /// empty: nowhere.
  std::string save;
  /// What the trials of a run train on, {"train":…,"val":…,"weights":…,"cfg":…} (data::counts_of,
  /// and checksums of these files): one on anything else could not be compared with them, and
  /// fails. Null: whatever is there.
  nlohmann::ordered_json inputs = {};

  bool operator==(const TrainOptions&) const = default;
};

/// The options that a training may go on with changed: they do not say what is learnt.
inline constexpr std::array changeable_options = {"workers", "patience", "cache"};

/// Keys are the fields' names; a single `freeze` is a number, several are a list, and there is no
/// `inputs` that is null.
nlohmann::ordered_json to_json(const TrainOptions& options);
/// Absent keys keep their defaults, unknown ones are ignored.
TrainOptions train_options_from_json(const nlohmann::ordered_json& json);

/// Whether this layer keeps its weights, as `TrainOptions::freeze` means it.
bool is_frozen(const std::vector<int>& freeze, int layer);

/// The hyperparameter `optimizer` where there is one, else the option.
std::string optimizer_name(const TrainOptions& options, const hyp::Hyperparameters& hyp);

/// Whether the built-in trainer knows this hyperparameter: one of YOLOv5's 29, or `optimizer`.
bool is_known(const std::string& hyperparameter);

/// What is wrong with a value that it can do nothing with: "optimizer is SGD, Adam or AdamW".
std::optional<std::string> fault_of(const std::string& hyperparameter, const hyp::Value& value);

}  // namespace evolve::trainer
