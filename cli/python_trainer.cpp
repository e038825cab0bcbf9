#include "cli/python_trainer.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <boost/algorithm/string/predicate.hpp>
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

/// Settings of a training that Ultralytics, or an older version of it, takes as whole numbers only.
const std::array<std::string, 7> whole_numbers = {"batch",      "close_mosaic", "freeze", "imgsz",
                                                  "mask_ratio", "max_det",      "nbs"};

/// Settings that it takes as True or False only.
const std::array<std::string, 8> yes_or_no = {"amp",           "cls_remap",    "cos_lr",
                                              "deterministic", "overlap_mask", "pretrained",
                                              "rect",          "single_cls"};

bool is_among(const auto& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

/// What Ultralytics must be told besides the file, whose numbers are floats and whose yes and no
/// are texts: choices and whole numbers. "" for any other number.
std::string said_again(const hyp::Gene& gene, const hyp::Value& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return core::shell_word(*text);
  const auto number = std::get<double>(value);
  if (is_among(yes_or_no, gene.name)) return number != 0 ? "True" : "False";
  const bool may_be_whole =
      gene.kind != hyp::Gene::Kind::real || is_among(whole_numbers, gene.name);
  return may_be_whole && number == std::floor(number) ? fmt::format("{:.0f}", number) : "";
}

/// The options of these trainings that are not Ultralytics' defaults, as its command line has them:
/// names and values.
std::vector<std::pair<std::string, std::string>> settings_of(const trainer::TrainOptions& t) {
  const trainer::TrainOptions defaults;
  std::vector<std::pair<std::string, std::string>> settings;
  if (!t.cfg.empty() && !t.weights.empty())
    settings.emplace_back("pretrained", shell_path(t.weights));
  settings.emplace_back("optimizer", t.optimizer);
  if (t.imgsz != defaults.imgsz) settings.emplace_back("imgsz", std::to_string(t.imgsz));
  if (t.batch_size != defaults.batch_size)
    settings.emplace_back("batch", std::to_string(t.batch_size));
  if (t.single_cls) settings.emplace_back("single_cls", "True");
  if (t.cos_lr) settings.emplace_back("cos_lr", "True");
  if (t.rect) settings.emplace_back("rect", "True");
  if (!t.amp) settings.emplace_back("amp", "False");
  if (t.freeze.size() > 1)
    settings.emplace_back("freeze", fmt::format("'[{}]'", fmt::join(t.freeze, ",")));
  else if (t.freeze != defaults.freeze)
    settings.emplace_back("freeze", std::to_string(t.freeze.front()));
  if (t.fraction != defaults.fraction)
    settings.emplace_back("fraction", core::shortest(t.fraction));
  return settings;
}

/// " --optimizer Adam --cos-lr": the options of trainings that bear on their set.
std::string options_of_the_set(const trainer::TrainOptions& t, const hyp::Hyperparameters& hyp) {
  const auto* gene = hyp.find("optimizer");
  const auto optimizer = gene ? std::get<std::string>(*gene) : t.optimizer;
  std::string options;
  if (optimizer != "SGD") options += " --optimizer " + optimizer;
  if (t.cos_lr) options += " --cos-lr";
  if (t.label_smoothing > 0) options += fmt::format(" --label-smoothing {}", t.label_smoothing);
  return options;
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
  std::string also;
  for (const auto& [name, value] : settings_of(t))
    if (!hyp.find(name)) also += fmt::format(" {}={}", name, value);
  for (const auto& gene : space.genes)
    if (const auto value = said_again(gene, *hyp.find(gene.name)); !value.empty())
      also += fmt::format(" {}={}", gene.name, value);
  const auto model = t.cfg.empty() ? t.weights : t.cfg;
  return fmt::format("Use it in Ultralytics: yolo cfg={} mode=train model={} data={}{}",
                     shell_path(file), shell_path(model), shell_path(t.data), also);
}

std::string yolov5_usage(const trainer::TrainOptions& options, const hyp::Hyperparameters& hyp,
                         const std::string& file) {
  return fmt::format("Use it in YOLOv5: python train.py --hyp {}{}", shell_path(file),
                     options_of_the_set(options, hyp));
}

std::string train_usage(const trainer::TrainOptions& options, const hyp::Hyperparameters& hyp,
                        const std::string& file) {
  const trainer::TrainOptions usual;
  std::string command = "Or here: evolve train";
  const auto add = [&](const char* option, const auto& value, const auto& usual_value) {
    if (value != usual_value) command += fmt::format(" {} {}", option, value);
  };
  const auto path = [](const std::string& named) { return named.empty() ? "" : shell_path(named); };
  add("--data", path(options.data), usual.data);
  add("--cfg", path(options.cfg), "");
  add("--weights", path(options.weights), "");
  add("--imgsz", options.imgsz, usual.imgsz);
  add("--batch-size", options.batch_size, usual.batch_size);
  return fmt::format("{} --hyp {}{} --epochs {}", command, shell_path(file),
                     options_of_the_set(options, hyp), usual.epochs);
}

bool leaves_it_to_ultralytics(const std::string& optimizer) {
  return boost::iequals(optimizer, "auto");
}

std::vector<std::string> worker_command(const PythonTrainer& trainer, const Python& python) {
  std::vector<std::string> arguments;
  if (trainer.is_yolov5 && !python.yolov5.empty()) arguments.push_back(fs::absolute(python.yolov5));
  return module_command(python, "evolve." + trainer.name, arguments);
}

void check_installed(const PythonTrainer& trainer, const Python& python) {
  const auto who = "--trainer " + trainer.name;
  if (trainer.is_yolov5) return check_yolov5(python, who);
  check_package(python, trainer.name, who);
}

}  // namespace evolve::cli
