#include "cli/train/val_options.hpp"

#include <CLI/CLI.hpp>

#include "cli/options/trainer_options.hpp"
#include "core/error.hpp"

namespace evolve::cli {

void declare(CLI::App& app, ValCommandOptions& o) {
  declare_data(app, o.train, "Validation", "Weights to evaluate (.pt); required");
  app.get_option("--cfg")->description("Model table, for weights that do not contain one");
  app.add_option("--task", o.task, "Split of the data set: val, test or train")
      ->group("Validation")
      ->check(CLI::IsMember({"val", "test", "train"}))
      ->capture_default_str();
  app.add_flag("--rect,!--no-rect", o.rect, "Rectangular batches; the default")
      ->group("Validation");
  app.add_option("--conf,--conf-thres", o.train.conf, "A detection has more confidence than this")
      ->group("Validation")
      ->check(share_fault, "")
      ->capture_default_str();
  app.add_option("--iou,--iou-thres", o.train.iou, "IoU above which NMS drops a detection")
      ->group("Validation")
      ->check(share_fault, "")
      ->capture_default_str();
  app.add_option("--json", o.json, "Write the numbers to this file too")->group("Validation");
  declare_one_device(app, o.devices);
  declare(app, o.destination, "Running", "files of the same names are overwritten");
}

void complete(const CLI::App& app, ValCommandOptions& o) {
  const auto given = given_on(app);
  make_absolute(o.train);
  if (o.train.data == default_data && !given.contains("imgsz")) o.train.imgsz = shapes_imgsz;
  if (o.train.weights.empty())
    throw bad_argument("there are no --weights", "name a .pt file with --weights");
  default_model(o.train);
  check_sizes(o.train, trainer::least_stride);
}

}  // namespace evolve::cli
