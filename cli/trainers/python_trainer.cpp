#include "cli/trainers/python_trainer.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <boost/algorithm/string/predicate.hpp>
#include <filesystem>
#include <numbers>

#include "cli/options/trainer_options.hpp"
#include "cli/screen/text.hpp"
#include "core/error.hpp"
#include "core/number.hpp"
#include "core/spawn.hpp"
#include "core/split.hpp"
#include "core/text_file.hpp"
#include "core/yaml.hpp"
#include "devices/environment.hpp"
#include "workers/protocol/text.hpp"

namespace evolve::cli {
namespace {

namespace fs = std::filesystem;

const std::array<PythonTrainer, 2> trainers = {{
    {.name = "ultralytics",
     .example_data = "coco8.yaml",
     .example_model = "yolo11n.pt",
     .optimizer = "AdamW",
     .can_pause = true,
     .unknown_options = {"label_smoothing", "image_weights", "multi_scale", "noautoanchor",
                         "cos_restarts", "skip_bad"}},
    {.name = "yolov5",
     .example_data = "coco128.yaml",
     .example_model = "yolov5s.pt",
     .optimizer = "SGD",
     .unknown_options = {"amp", "cos_restarts", "fraction", "skip_bad"}},
}};

/// Whether the model is called as Ultralytics' classifiers are: yolo11n-cls.pt.
bool is_classifier(const trainer::TrainOptions& options) {
  return fs::path(cfg_or_weights(options)).stem().string().ends_with("-cls");
}

/// The module of the trainer, with these arguments and what else it is always told.
std::vector<std::string> command_of(const PythonTrainer& trainer, const Python& python,
                                    std::vector<std::string> arguments) {
  if (is_yolov5(trainer) && !python.yolov5.empty())
    arguments.push_back(fs::absolute(python.yolov5));
  return module_command(python, "evolve." + trainer.name, std::move(arguments));
}

/// Values that a gene may have, of a real one also one between the bounds that is hardly a whole
/// number.
nlohmann::ordered_json possible_values(const hyp::Gene& gene) {
  auto values = nlohmann::ordered_json::array();
  for (const auto& value : hyp::extreme_values(gene))
    std::visit([&](const auto& each) { values.push_back(each); }, value);
  if (gene.evolve && gene.kind == hyp::Gene::Kind::real)
    values.push_back(gene.low + (gene.high - gene.low) / std::numbers::pi);
  return values;
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

int default_imgsz(const PythonTrainer& trainer, const trainer::TrainOptions& options) {
  return is_ultralytics(trainer) && is_classifier(options) ? 224 : trainer::TrainOptions().imgsz;
}

std::string file_of(const PythonTrainer& trainer, const trainer::TrainOptions& options,
                    const std::string& kind) {
  const auto task = is_ultralytics(trainer) && is_classifier(options) ? ".cls." : ".";
  return (package_folder() / "evolve" / (trainer.name + task + kind + ".yaml")).string();
}

std::string description(const PythonTrainer& trainer, const trainer::TrainOptions& t) {
  const auto start = t.cfg.empty() || t.weights.empty() ? "" : ", from " + display_path(t.weights);
  const auto size = t.imgsz > 0 ? fmt::format(" at {} px", t.imgsz) : "";
  return fmt::format("{} on {} for {}{} with {}{}, by {}", display_path(cfg_or_weights(t)),
                     display_path(t.data), core::counted(t.epochs, "epoch"), size, t.optimizer,
                     start, trainer.name);
}

core::Yaml installed_settings(const PythonTrainer& trainer, const Python& python) {
  const auto package = package_file(python, trainer.name, "--trainer " + trainer.name);
  const auto table = package.parent_path() / "cfg/default.yaml";
  if (package.empty() || !fs::exists(table)) return {};
  return core::parse_yaml(core::read_text_file(table), table.string());
}

std::optional<std::string> ultralytics_optimizer_fault(const std::string& optimizer) {
  if (!boost::iequals(optimizer, "auto")) return {};
  return "Ultralytics would choose lr0 and momentum itself";
}

std::vector<std::string> worker_command(const PythonTrainer& trainer, const Python& python) {
  return command_of(trainer, python, {});
}

LookedOver look_over(
    const PythonTrainer& trainer, const Python& python, const nlohmann::ordered_json& options,
    const hyp::Space& space, bool begins,
    const std::function<std::optional<Where>(const std::string& gene, bool is_start)>& written) {
  auto values = nlohmann::ordered_json::object();
  for (const auto& gene : space.genes) values[gene.name] = possible_values(gene);
  const nlohmann::ordered_json asked = {
      {"options", options}, {"space", values}, {"begins", begins}};
  // Nobody has said on which device; it can be done without one.
  const auto looked = core::run({.words = command_of(trainer, python, {"--check", asked.dump()}),
                                 .set = devices::environment_of("cpu", "cpu", {}, 1),
                                 .errors = core::same_as_output});
  std::string place = "--trainer " + trainer.name;
  auto words = workers::last_line(looked.output);
  // What a library prints at its end may stand behind it.
  for (const auto& line : core::split(looked.output, '\n')) {
    const auto said = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
    if (!said.is_object()) continue;
    if (looked.status == 0 && said.contains("trains_with"))
      return {.trains_with = said.at("trains_with"),
              .notes = said.at("notes"),
              .data = said.at("data")};
    if (!said.contains("hyperparameter")) continue;
    words = said.at("message");
    if (const auto where = written(said.at("hyperparameter"), said.at("is_start")))
      place = text_of(*where);
  }
  throw Error(Error::Fault::input,
              place + ": " + (words.empty() ? core::ending_text(looked.status) : words));
}

void check_installed(const PythonTrainer& trainer, const Python& python) {
  const auto who = "--trainer " + trainer.name;
  if (is_yolov5(trainer)) return check_yolov5(python, who);
  check_package(python, trainer.name, who);
}

}  // namespace evolve::cli
