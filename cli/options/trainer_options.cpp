#include "cli/options/trainer_options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>
#include <string_view>

#include "cli/screen/text.hpp"
#include "core/device_kind.hpp"
#include "core/error.hpp"
#include "core/number.hpp"
#include "core/text_file.hpp"
#include "core/yaml.hpp"
#include "trainer/data/embedded/shapes.hpp"

namespace evolve::cli {
namespace {

std::optional<int> whole_number(std::string_view text) {
  const auto number = core::parse_number(text);
  constexpr double most = 1e6;
  if (!number || *number != std::trunc(*number) || std::abs(*number) > most) return {};
  return static_cast<int>(*number);
}

std::string count_fault(const std::string& text) {
  const auto count = whole_number(text);
  return count && *count >= 0 ? "" : text + " is no whole number from 0";
}

/// "50,2": cycles of 50, 100, 200, … epochs.
void read_restarts(const std::string& text, trainer::TrainOptions& options) {
  const auto comma = text.find(',');
  const auto first = whole_number(text.substr(0, comma));
  const auto factor = comma == text.npos ? std::nullopt : whole_number(text.substr(comma + 1));
  if (!first || !factor || *first < 1 || *factor < 1) {
    throw bad_argument("--cos-restarts " + text + ": not two whole numbers from 1",
                       "write T0,Tmult: 50,2 for cycles of 50, 100, 200, … epochs");
  }
  options.restart_epochs = *first;
  options.restart_factor = *factor;
}

}  // namespace

void declare_data(CLI::App& app, trainer::TrainOptions& t, const char* group, const char* weights) {
  app.add_option("--data", t.data,
                 "Data set: a YAML file, or \"shapes\", the embedded one (the default)")
      ->group(group);
  app.add_option("--cfg", t.cfg,
                 "Model table: yolov5n.yaml … yolov5x.yaml, yolov5n6.yaml … yolov5x6.yaml, "
                 "yolov5p.yaml, or a file; default: that of the weights, else yolov5s.yaml "
                 "(yolov5p.yaml for shapes)")
      ->group(group);
  app.add_option("--weights", t.weights, weights)->group(group);
  app.add_option("--batch-size,--batch", t.batch_size, "Images per batch")
      ->group(group)
      ->capture_default_str();
  app.add_option("--imgsz,--img,--img-size", t.imgsz,
                 fmt::format("Image size in pixels; default: 640 ({} for shapes)", shapes_imgsz))
      ->group(group);
  app.add_flag("--single-cls", t.single_cls, "Treat all classes as one")->group(group);
  app.add_flag("--skip-bad", t.skip_bad,
               "Go on without the images that cannot be used, and say which")
      ->group(group);
  app.add_option("--workers", t.workers,
                 "Threads that prepare images, at most one less than the slot's cores")
      ->group(group)
      ->check(count_fault, "")
      ->capture_default_str();
}

void declare_training(CLI::App& app, trainer::TrainOptions& t, const char* group,
                      const std::string& epochs) {
  app.add_option("--epochs", t.epochs,
                 fmt::format("{}; default: 100 ({} for shapes)", epochs, shapes_epochs))
      ->group(group);
  app.add_option("--optimizer", t.optimizer,
                 std::string(trainer::optimizers_text) + "; default: SGD (Adam for shapes)")
      ->group(group);
  app.add_flag("--cos-lr", t.cos_lr, "Cosine learning-rate schedule")->group(group);
  app.add_option_function<std::string>(
         "--cos-restarts", [&t](const std::string& text) { read_restarts(text, t); },
         "Cosine with warm restarts: epochs of the first cycle, and how much longer each next one "
         "is")
      ->group(group)
      ->type_name("T0,Tmult");
  app.add_option("--label-smoothing", t.label_smoothing, "Label smoothing epsilon")
      ->group(group)
      ->check(share_fault, "");
  app.add_flag("--rect", t.rect, "Rectangular training batches")->group(group);
  app.add_flag(
         "--image-weights", t.image_weights,
         "Draw images of badly detected classes more often (in trials of the built-in trainer: of "
         "rare classes)")
      ->group(group);
  app.add_flag("--multi-scale", t.multi_scale, "Vary the image size by half, batch by batch")
      ->group(group);
  app.add_flag("--noautoanchor", t.noautoanchor, "Keep the model's anchors")->group(group);
  app.add_option(
         "--freeze", t.freeze,
         "Layers that keep their weights: 10 is the first ten (the backbone), 0 1 2 are just these")
      ->group(group)
      ->type_name("N | LAYER...")
      ->trigger_on_parse()  // the last one counts; a list would go on where an earlier one ended
      ->check(count_fault, "");
  app.add_flag("--amp,!--no-amp", t.amp, "Mixed precision where it is faster and as good")
      ->group(group);
  app.add_option_function<std::string>(
         "--cache", [&t](const std::string& where) { t.cache = where.empty() ? "ram" : where; },
         "Where decoded images are kept: ram (the built-in trainer's default), disk, none")
      ->group(group)
      ->expected(0, 1)
      ->check(CLI::IsMember({"", "ram", "disk", "none"}))
      ->type_name("[ram|disk|none]");
  app.add_option("--fraction", t.fraction,
                 "Train on this share of the training images (the first ones)")
      ->group(group)
      ->check(
          [](const std::string& text) {
            const auto share = core::parse_number(text);
            return share && *share > 0 && *share <= 1 ? ""
                                                      : text + " is not more than 0 and at most 1";
          },
          "");
}

void declare_one_device(CLI::App& app, std::string& devices) {
  app.add_option("--devices,--device", devices, "One device: auto, cuda:0, xpu:0, cpu (all cores)")
      ->group("Running")
      ->capture_default_str();
}

void make_absolute(trainer::TrainOptions& t) {
  // The name of an embedded data set is not a path, even where a folder is called so.
  if (!data::is_embedded(t.data)) make_absolute(t.data);
  if (t.weights != trainer::embedded_weights) make_absolute(t.weights);
  make_absolute(t.cfg);
  t.folder = std::filesystem::current_path().string();
}

void settle_folder(trainer::TrainOptions& options) {
  std::error_code absent;
  if (!std::filesystem::is_directory(options.folder, absent))
    options.folder = std::filesystem::current_path().string();
}

const std::string& cfg_or_weights(const trainer::TrainOptions& options) {
  return options.cfg.empty() ? options.weights : options.cfg;
}

void default_to_shapes(trainer::TrainOptions& options, const Given& given) {
  if (options.data != default_data) return;
  const auto set = [&](const char* name, auto& value, auto wanted) {
    if (!given.contains(name)) value = wanted;
  };
  // Weights of somebody's own are of the model that they bring.
  if (options.weights.empty() || options.weights == trainer::embedded_weights)
    set("cfg", options.cfg, embedded_model);
  set("weights", options.weights, given.contains("cfg") ? "" : trainer::embedded_weights);
  set("epochs", options.epochs, shapes_epochs);
  set("imgsz", options.imgsz, shapes_imgsz);
  set("optimizer", options.optimizer, "Adam");
}

void default_model(trainer::TrainOptions& options) {
  if (!options.cfg.empty()) return;
  if (options.weights.empty()) options.cfg = "yolov5s.yaml";
  if (options.weights == trainer::embedded_weights) options.cfg = embedded_model;
}

void check_epochs(const trainer::TrainOptions& options) {
  if (options.epochs < 1)
    throw bad_argument("--epochs " + std::to_string(options.epochs), "train for at least 1 epoch");
  if (options.epochs > most_epochs)
    throw bad_argument(fmt::format("--epochs {}: too many", options.epochs),
                       fmt::format("write {} at most", most_epochs));
}

void check_optimizer(const trainer::TrainOptions& options) {
  const auto& optimizer = options.optimizer;
  if (trainer::fault_of("optimizer", optimizer))
    throw bad_argument("--optimizer " + optimizer + ": there is no such optimizer",
                       std::string("choose ") + trainer::optimizers_text);
}

void check_training(const trainer::TrainOptions& options) {
  check_epochs(options);
  check_optimizer(options);
  check_sizes(options, trainer::least_training_strides * trainer::least_stride);
}

void check_sizes(const trainer::TrainOptions& options, int least_imgsz) {
  if (options.batch_size == -1)
    throw bad_argument(
        "--batch-size -1: the built-in trainer has no AutoBatch",
        fmt::format("write a number, such as {}", trainer::TrainOptions().batch_size));
  if (options.batch_size < 1)
    throw bad_argument(fmt::format("--batch-size {}: too few", options.batch_size),
                       "write 1 or more");
  const int wanted = options.imgsz;
  if (wanted > most_imgsz)
    throw bad_argument(fmt::format("--imgsz {}: too large", wanted),
                       fmt::format("write {} at most", most_imgsz));
  if (wanted >= least_imgsz && wanted % trainer::least_stride == 0) return;
  const int next = trainer::whole_strides(std::max(wanted, 0), trainer::least_stride,
                                          least_imgsz / trainer::least_stride);
  throw bad_argument(fmt::format("--imgsz {}: image sizes are multiples of {} pixels, {} at least",
                                 wanted, trainer::least_stride, least_imgsz),
                     fmt::format("write {}", next));
}

void check_no_configuration(const std::string& path, const std::string& remedy) {
  const auto root = core::parse_yaml(core::read_text_file(path), path);
  if (core::yaml_value(root, "task") && core::yaml_value(root, "mode"))
    throw bad_input({path}, "this is a whole configuration of Ultralytics'", remedy);
}

hyp::HypFile read_yolov5_hyp(const std::string& path) {
  const std::filesystem::path file = path;
  // "hyp.scratch-low.yaml", which YOLOv5 finds by its name; "hyp.yaml" is evolve's own.
  const bool is_yolov5s =
      !file.has_parent_path() && path.starts_with("hyp.") && file.stem().has_extension();
  std::error_code ignored;
  if (is_yolov5s && !std::filesystem::exists(file, ignored))
    throw bad_input({path}, "there is no such file, and evolve brings none of YOLOv5's",
                    "write its path in YOLOv5's data/hyps, or leave --hyp out: hyp.scratch-low is "
                    "the default");
  const std::string remedy =
      "name a hyp file of YOLOv5's, or evolve these with --trainer ultralytics";
  check_no_configuration(path, remedy);
  auto given = hyp::read_hyp_file(path);
  if (given.hyp.find("dfl"))
    throw bad_input(given.where("dfl"),
                    "dfl is Ultralytics', whose box and cls are no gains of YOLOv5's", remedy);
  return given;
}

std::optional<HyperparameterFault> hyperparameter_fault(const std::string& name,
                                                        const std::vector<hyp::Value>& values,
                                                        const std::string& trainer,
                                                        const std::string& instead) {
  if (!trainer::is_known(name))
    return HyperparameterFault{fmt::format("'{}' means nothing to the {} trainer", name, trainer),
                               "remove it" + instead};
  for (const auto& value : values)
    if (const auto fault = trainer::fault_of(name, value))
      return HyperparameterFault{
          fmt::format("{}: {} cannot be trained with", name, hyp::text_of(value)), *fault};
  return {};
}

void check_group(const core::Slot& slot, int batch_size) {
  const auto devices = std::ssize(core::members_of(slot.name));
  if (batch_size < devices)
    throw bad_argument(fmt::format("--batch-size {}: each of the {} devices of {} trains a part of "
                                   "a batch",
                                   batch_size, devices, slot.name),
                       fmt::format("give {} at least, or name fewer devices", devices));
}

void check_images(const core::Slot& slot, std::int64_t images, const std::string& data) {
  const auto devices = std::ssize(core::members_of(slot.name));
  if (images < devices)
    throw bad_input({data},
                    fmt::format("{} for the {} devices of {}, which train together",
                                core::counted(images, "training image"), devices, slot.name),
                    "name fewer devices");
}

std::string description(const trainer::TrainOptions& t) {
  const auto model = display_path(cfg_or_weights(t));
  const auto start = t.weights.empty() ? "random weights" : display_path(t.weights);
  return fmt::format("{} on {} for {} at {} px with {}{}", model, display_path(t.data),
                     core::counted(t.epochs, "epoch"), t.imgsz, t.optimizer,
                     t.cfg.empty() ? "" : ", from " + start);
}

}  // namespace evolve::cli
