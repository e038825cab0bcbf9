#include "cli/python_trainer.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>

#include "cli/screen.hpp"
#include "core/error.hpp"
#include "core/number.hpp"
#include "core/shell_word.hpp"

namespace evolve::cli {
namespace {

namespace fs = std::filesystem;

const std::array<PythonTrainer, 2> trainers = {{
    {.name = "ultralytics",
     .example_data = "coco8.yaml",
     .example_model = "yolo11n.pt",
     .optimizer = "AdamW",
     .unknown_options = {"label_smoothing", "image_weights", "multi_scale", "noautoanchor",
                         "cos_restarts", "skip_bad"}},
    {.name = "yolov5",
     .example_data = "coco128.yaml",
     .example_model = "yolov5s.pt",
     .optimizer = "SGD",
     .is_yolov5 = true,
     .unknown_options = {"amp", "cos_restarts", "fraction", "skip_bad"}},
}};

bool is_checkout(const PythonTrainer& trainer, const Python& python) {
  return trainer.name == "yolov5" && !python.yolov5.empty();
}

void check_checkout(const fs::path& folder) {
  for (const auto* file : {"train.py", "models/yolo.py"})
    if (!fs::exists(folder / file))
      throw bad_argument(fmt::format("EVOLVE_YOLOV5: {} has no {}", folder.string(), file),
                         "name a checkout of YOLOv5's repository, or leave it out for the package");
}

/// Settings of a training that Ultralytics takes as whole numbers only.
const std::array<std::string, 3> whole_numbers = {"close_mosaic", "mask_ratio", "nbs"};

/// What Ultralytics must be told besides the file, whose numbers are floats and whose yes and no
/// are texts: choices and whole numbers. "" for any other number.
std::string said_again(const hyp::Gene& gene, const hyp::Value& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return core::shell_word(*text);
  const auto number = std::get<double>(value);
  const bool may_be_whole = gene.kind != hyp::Gene::Kind::real ||
                            std::ranges::find(whole_numbers, gene.name) != whole_numbers.end();
  return may_be_whole && number == std::floor(number) ? fmt::format("{:.0f}", number) : "";
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

std::string file_of(const PythonTrainer& trainer, const trainer::TrainOptions& options,
                    const std::string& kind) {
  const auto model = fs::path(options.cfg.empty() ? options.weights : options.cfg).stem().string();
  const auto task = model.ends_with("-cls") ? ".cls." : ".";
  return (package_folder() / "evolve" / (trainer.name + task + kind + ".yaml")).string();
}

std::string description(const PythonTrainer& trainer, const trainer::TrainOptions& t) {
  const auto start = t.cfg.empty() || t.weights.empty() ? "" : ", from " + display_path(t.weights);
  return fmt::format("{} on {} for {} at {} px with {}{}, by {}",
                     display_path(t.cfg.empty() ? t.weights : t.cfg), display_path(t.data),
                     core::counted(t.epochs, "epoch"), t.imgsz, t.optimizer, start, trainer.name);
}

std::string ultralytics_usage(const trainer::TrainOptions& t, const hyp::Space& space,
                              const hyp::Hyperparameters& hyp, const std::string& file) {
  std::string again;
  for (const auto& gene : space.genes)
    if (const auto value = said_again(gene, *hyp.find(gene.name)); !value.empty())
      again += fmt::format(" {}={}", gene.name, value);
  const auto optimizer = hyp.find("optimizer") ? "" : " optimizer=" + t.optimizer;
  const auto model = t.cfg.empty() ? t.weights : t.cfg;
  return fmt::format("Use it in Ultralytics: yolo cfg={} mode=train model={} data={}{}{}",
                     shell_path(file), shell_path(model), shell_path(t.data), optimizer, again);
}

std::string yolov5_usage(const trainer::TrainOptions& t, const hyp::Hyperparameters& hyp,
                         const std::string& file) {
  const auto* gene = hyp.find("optimizer");
  const auto optimizer = gene ? std::get<std::string>(*gene) : t.optimizer;
  std::string also;
  if (optimizer != "SGD") also += " --optimizer " + optimizer;
  if (t.cos_lr) also += " --cos-lr";
  if (t.label_smoothing > 0) also += fmt::format(" --label-smoothing {}", t.label_smoothing);
  return fmt::format("Use it in YOLOv5: python train.py --hyp {}{}", shell_path(file), also);
}

std::vector<std::string> worker_command(const PythonTrainer& trainer, const Python& python) {
  std::vector<std::string> arguments = {"-m", "evolve." + trainer.name};
  if (is_checkout(trainer, python)) arguments.push_back(fs::absolute(python.yolov5));
  return python_command(python, arguments);
}

void check_installed(const PythonTrainer& trainer, const Python& python) {
  const auto who = "--trainer " + trainer.name;
  if (!is_checkout(trainer, python)) return check_package(python, trainer.name, who);
  python_file(python, who);
  check_checkout(python.yolov5);
}

}  // namespace evolve::cli
