#include "cli/evolve/how_to_train.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <system_error>
#include <utility>

#include "cli/options/trainer_options.hpp"
#include "cli/screen/text.hpp"
#include "core/shell_word.hpp"
#include "hyp/space.hpp"
#include "trainer/checkpoint/weights_file.hpp"

namespace evolve::cli {
namespace {

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

/// What Ultralytics must be told besides the file, whose numbers are floats: choices and whole
/// numbers. "" for any other number.
std::string said_again(const hyp::Gene& gene, const hyp::Value& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return core::shell_word(*text);
  const auto number = std::get<double>(value);
  if (is_among(yes_or_no, gene.name)) return number != 0 ? "True" : "False";
  const bool may_be_whole =
      gene.kind != hyp::Gene::Kind::real || is_among(whole_numbers, gene.name);
  return may_be_whole && number == std::floor(number) ? fmt::format("{:.0f}", number) : "";
}

/// The options of these trainings, as Ultralytics' command line has them: names and values. Those
/// that are its defaults are left out where they do not depend on its model.
std::vector<std::pair<std::string, std::string>> settings_of(const trainer::TrainOptions& t) {
  const trainer::TrainOptions defaults;
  std::vector<std::pair<std::string, std::string>> settings;
  if (!t.cfg.empty() && !t.weights.empty())
    settings.emplace_back("pretrained", shell_path(t.weights));
  settings.emplace_back("optimizer", t.optimizer);
  // Without it Ultralytics takes the size that its weights were trained at, of a classifier 224.
  settings.emplace_back("imgsz", std::to_string(t.imgsz));
  if (t.batch_size != defaults.batch_size)
    settings.emplace_back("batch", std::to_string(t.batch_size));
  // Without it Ultralytics does as its weights were trained.
  if (t.single_cls || t.cfg.empty())
    settings.emplace_back("single_cls", t.single_cls ? "True" : "False");
  if (t.cos_lr) settings.emplace_back("cos_lr", "True");
  if (t.rect) settings.emplace_back("rect", "True");
  if (!t.amp) settings.emplace_back("amp", "False");
  if (t.freeze.size() > 1)
    settings.emplace_back("freeze", fmt::format("'[{}]'", fmt::join(t.freeze, ",")));
  else if (t.freeze != defaults.freeze)
    settings.emplace_back("freeze", std::to_string(t.freeze.front()));
  return settings;
}

/// " --optimizer Adam --cos-lr": the options of trainings that bear on their set, as YOLOv5 calls
/// them and `evolve train` does; "SGD" where `usual` is another optimizer.
std::string options_of_the_set(const trainer::TrainOptions& t, const hyp::Hyperparameters& hyp,
                               const std::string& usual = "SGD") {
  const auto* gene = hyp.find("optimizer");
  // What somebody else's trainer calls so need not be one of YOLOv5's.
  const bool is_known = gene && !trainer::fault_of("optimizer", *gene);
  const auto optimizer = is_known ? hyp::text_of(*gene) : t.optimizer;
  std::string options;
  if (optimizer != usual) options += " --optimizer " + optimizer;
  const auto add = [&](bool given, const char* flag) { options += given ? flag : ""; };
  add(t.cos_lr, " --cos-lr");
  if (t.label_smoothing > 0) options += fmt::format(" --label-smoothing {}", t.label_smoothing);
  add(t.single_cls, " --single-cls");
  add(t.rect, " --rect");
  add(t.image_weights, " --image-weights");
  add(t.multi_scale, " --multi-scale");
  add(t.noautoanchor, " --noautoanchor");
  if (t.freeze != trainer::TrainOptions().freeze)
    options += fmt::format(" --freeze {}", fmt::join(t.freeze, " "));
  return options;
}

std::string path(const std::string& named) {
  return named.empty() ? "" : shell_path(named);
}

/// The path of a file as nothing else can be called: YOLOv5's package takes "exp/best.pt" for the
/// name of weights on a server, and asks for them.
std::string path_alone(const std::string& file) {
  const auto shown = display_path(file);
  return core::shell_word(std::filesystem::path(shown).is_absolute() ? shown : "./" + shown);
}

/// " --data my.yaml --imgsz 320": on what is trained, as far as it is not usual. On shapes another
/// size is usual for evolve. `weights`: how these are written.
std::string options_of_the_data(const trainer::TrainOptions& t, const std::string& weights) {
  const trainer::TrainOptions usual;
  std::string options;
  const auto add = [&](const char* option, const auto& value, const auto& usual_value) {
    if (value != usual_value) options += fmt::format(" {} {}", option, value);
  };
  add("--data", path(t.data), usual.data);
  add("--cfg", path(t.cfg), "");
  add("--weights", weights, "");
  add("--imgsz", t.imgsz, t.data == usual.data ? 0 : usual.imgsz);
  add("--batch-size", t.batch_size, usual.batch_size);
  return options;
}

/// Whether YOLOv5 can read these weights only once they are exported: those of `evolve train`.
bool need_export(const std::string& weights) try {
  return !weights.empty() && trainer::read_summary(weights).is_ours;
} catch (const Error&) {
  return false;  // gone by now, or of no kind that is known here
}

/// Whether it has what YOLOv5 wants of a hyp file (`anchors` it does without).
bool has_all_yolov5_genes(const hyp::Space& space) {
  return std::ranges::all_of(hyp::default_space().genes, [&](const hyp::Gene& gene) {
    return gene.name == "anchors" || space.find(gene.name);
  });
}

}  // namespace

std::string ultralytics_command(const trainer::TrainOptions& t, const hyp::Space& space,
                                const hyp::Hyperparameters& hyp, const std::string& file) {
  std::string also;
  for (const auto& [name, value] : settings_of(t))
    if (!hyp.find(name)) also += fmt::format(" {}={}", name, value);
  for (const auto& gene : space.genes)
    if (const auto value = said_again(gene, *hyp.find(gene.name)); !value.empty())
      also += fmt::format(" {}={}", gene.name, value);
  return fmt::format("Use it in Ultralytics: yolo cfg={} mode=train model={} data={}{}",
                     shell_path(file), shell_path(cfg_or_weights(t)), shell_path(t.data), also);
}

std::string yolov5_command(const trainer::TrainOptions& options, const hyp::Hyperparameters& hyp,
                           const std::string& file, const std::string& program) {
  // YOLOv5 has no shapes, nor what trained on them.
  auto known = options;
  if (options.weights == trainer::embedded_weights) known.weights = "";
  std::error_code ignored;
  const bool are_a_file = std::filesystem::exists(known.weights, ignored);
  std::string before;
  if (need_export(known.weights)) {
    before = "evolve export yolov5 " + shell_path(known.weights) + " && ";
    known.weights = trainer::exported(known.weights).string();
  }
  const auto weights =
      are_a_file && program == yolov5_package ? path_alone(known.weights) : path(known.weights);
  // Its tables it knows by their files' names.
  if (!options.cfg.empty() && !std::filesystem::exists(options.cfg, ignored))
    known.cfg = std::filesystem::path(options.cfg).replace_extension(".yaml");
  if (known.cfg == embedded_model) known.cfg = "";
  auto on = options.data == default_data ? "" : options_of_the_data(known, weights);
  // Its own default is weights.
  if (!on.empty() && known.weights.empty() && !known.cfg.empty()) on += " --weights ''";
  return fmt::format("Use it in YOLOv5: {}python {}{} --hyp {}{}", on.empty() ? "" : before,
                     program, on, shell_path(file), options_of_the_set(options, hyp));
}

std::string evolve_train_command(const trainer::TrainOptions& options,
                                 const hyp::Hyperparameters& hyp, const std::string& file) {
  const bool on_shapes = options.data == default_data;
  // What only this program has.
  std::string ours;
  if (options.restart_epochs > 0)
    ours += fmt::format(" --cos-restarts {},{}", options.restart_epochs, options.restart_factor);
  if (!options.amp) ours += " --no-amp";
  if (options.skip_bad) ours += " --skip-bad";
  return fmt::format("Or here: evolve train{} --hyp {}{}{} --epochs {}",
                     options_of_the_data(options, path(options.weights)), shell_path(file),
                     options_of_the_set(options, hyp, on_shapes ? "" : "SGD"), ours,
                     trainer::TrainOptions().epochs);
}

std::vector<std::string> how_to_train(const Trainer& trainer, const Python& with,
                                      const trainer::TrainOptions& options, const hyp::Space& space,
                                      const hyp::Hyperparameters& hyp, const std::string& file) {
  const bool built_in = is_built_in(trainer);
  const auto* python = python_trainer(trainer);
  std::vector<std::string> commands;
  if (python && is_ultralytics(*python)) {
    commands.push_back(ultralytics_command(options, space, hyp, file));
  } else if (has_all_yolov5_genes(space)) {
    // What options somebody else's program trains with is not known here.
    const bool known = python || built_in;
    commands.push_back(
        yolov5_command(known ? options : trainer::TrainOptions(), hyp, file,
                       python && with.yolov5.empty() ? yolov5_package : yolov5_file));
  }
  if (built_in) commands.push_back(evolve_train_command(options, hyp, file));
  return commands;
}

}  // namespace evolve::cli
