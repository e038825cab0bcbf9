#include "cli/options.hpp"

#include <CLI/CLI.hpp>
#include <filesystem>

#include "hyp/error.hpp"
#include "hyp/fitness.hpp"

namespace evolve::cli {
namespace {

namespace fs = std::filesystem;

/// Calls `visit(name, member)` for each option that belongs to the run: the one list of their
/// names.
template <class O, class Visit>
void for_each_option(O& options, Visit visit) {
  visit("generations", options.generations);
  visit("population", options.population);
  visit("trials", options.trials);
  visit("time_limit", options.time_limit);
  visit("devices", options.devices);
  visit("search", options.search);
  visit("lag", options.lag);
  visit("seed", options.seed);
  visit("space", options.space);
  visit("evolve_genes", options.evolve_genes);
  visit("hyp", options.hyp);
  visit("fitness", options.fitness);
  visit("evolve_population", options.evolve_population);
  visit("resume_evolve", options.resume_evolve);
  visit("trainer_command", options.trainer_command);
  visit("trial_timeout", options.trial_timeout);
  visit("hang_timeout", options.hang_timeout);
  visit("retries", options.retries);
}

/// What a resumed run may change: how long and where it runs, not what it is.
const std::set<std::string> changeable = {"generations",   "trials",       "time_limit", "devices",
                                          "trial_timeout", "hang_timeout", "retries"};

template <class T>
void assign(const nlohmann::ordered_json& json, T& value) {
  json.get_to(value);
}
template <class T>
void assign(const nlohmann::ordered_json& json, std::optional<T>& value) {
  value = json.is_null() ? std::nullopt : std::optional<T>(json.get<T>());
}

template <class T>
nlohmann::ordered_json json_of(const T& value) {
  return value;
}
template <class T>
nlohmann::ordered_json json_of(const std::optional<T>& value) {
  return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json();
}

/// "--batch-size" -> "batch_size".
std::string key_of(std::string option) {
  option.erase(0, option.find_first_not_of('-'));
  std::replace(option.begin(), option.end(), '-', '_');
  return option;
}

void make_absolute(std::string& path) {
  std::error_code ignored;
  if (!path.empty() && fs::exists(path, ignored)) path = fs::absolute(path).lexically_normal();
}

/// The embedded data set is small: a trial on it is a few seconds, from a small pre-trained
/// checkpoint.
void default_to_shapes(Options& options) {
  auto set = [&](const char* name, auto& value, auto wanted) {
    if (!options.given.contains(name)) value = wanted;
  };
  set("cfg", options.train.cfg, "yolov5p.yaml");
  set("weights", options.train.weights,
      options.given.contains("cfg") ? "" : trainer::embedded_weights);
  set("epochs", options.train.epochs, 16);
  set("imgsz", options.train.imgsz, 96);
  set("optimizer", options.train.optimizer, "Adam");
}

/// YOLOv5's smallest usual model, unless weights ask for another.
void default_model(Options& options) {
  if (!options.train.cfg.empty() || !options.trainer_command.empty()) return;
  if (!options.train.weights.empty()) {
    throw bad_argument("--weights " + options.train.weights + ": the model's table is not in it",
                       "add --cfg, for instance --cfg yolov5s.yaml");
  }
  options.train.cfg = "yolov5s.yaml";
}

void check(const Options& options) {
  const auto& train = options.train;
  if (train.epochs < 1)
    throw bad_argument("--epochs " + std::to_string(train.epochs), "train for at least 1 epoch");
  if (train.batch_size < 1)
    throw bad_argument("--batch-size " + std::to_string(train.batch_size), "at least 1 picture");
  if (train.imgsz < 32 || train.imgsz % 32 != 0)
    throw bad_argument("--imgsz " + std::to_string(train.imgsz), "a multiple of 32 is needed");
  if (options.retries < 0)
    throw bad_argument("--retries " + std::to_string(options.retries), "0 or more");
  duration_seconds(options.time_limit, "--time-limit");
  duration_seconds(options.trial_timeout, "--trial-timeout");
  duration_seconds(options.hang_timeout, "--hang-timeout");
  hyp::Fitness{options.fitness};
}

void declare_search(CLI::App& app, Options& o) {
  const auto* group = "Search";
  app.add_option("--generations,--evolve", o.generations, "Generations to evolve")
      ->group(group)
      ->capture_default_str();
  app.add_option("--population", o.population, "Trials per generation")
      ->group(group)
      ->capture_default_str();
  app.add_option("--trials", o.trials, "Stop after this many trials")->group(group);
  app.add_option("--time-limit", o.time_limit, "Stop starting trials after this long: 90m, 12h")
      ->group(group);
  app.add_option("--search", o.search, "classic: YOLOv5's genetic algorithm, repaired")
      ->group(group)
      ->capture_default_str();
  app.add_option("--lag", o.lag,
                 "Breed trial k from the trials up to k - LAG, exactly those: the same run on any "
                 "number of devices")
      ->group(group);
  app.add_option("--seed", o.seed, "Seed of everything random")
      ->group(group)
      ->capture_default_str();
  app.add_option("--space", o.space, "Search space (YAML); default: YOLOv5's 29 hyperparameters")
      ->group(group);
  app.add_option("--evolve-genes", o.evolve_genes,
                 "Evolve exactly these: names with commas, or all")
      ->group(group);
  app.add_option("--hyp", o.hyp,
                 "Hyperparameters to start from (YAML); default: YOLOv5's hyp.scratch-low")
      ->group(group);
  app.add_option("--fitness", o.fitness, "Over P R mAP50 mAP50_95 box_loss obj_loss cls_loss")
      ->group(group)
      ->default_str(hyp::Fitness::standard);
  app.add_option("--evolve_population,--evolve-population", o.evolve_population,
                 "Folder of hyp files that join the first generation")
      ->group(group);
  app.add_option("--resume_evolve,--resume-evolve", o.resume_evolve,
                 "Start from this evolve_population.yaml (ours or YOLOv5's)")
      ->group(group);
}

void declare_trainer(CLI::App& app, Options& o) {
  const auto* group = "Training";
  auto& t = o.train;
  app.add_option("--data", t.data, "Data set (YAML); default: the embedded \"shapes\"")
      ->group(group);
  app.add_option("--cfg", t.cfg,
                 "Model table: yolov5n.yaml … yolov5x.yaml, yolov5p.yaml, or a file")
      ->group(group);
  app.add_option("--weights", t.weights, "Initial weights (.pt)")->group(group);
  app.add_option("--epochs", t.epochs, "Epochs of each trial")->group(group);
  app.add_option("--batch-size", t.batch_size, "Pictures per batch")
      ->group(group)
      ->capture_default_str();
  app.add_option("--imgsz,--img,--img-size", t.imgsz, "Picture size in pixels")->group(group);
  app.add_option("--optimizer", t.optimizer, "SGD, Adam or AdamW")
      ->group(group)
      ->check(CLI::IsMember({"SGD", "Adam", "AdamW"}));
  app.add_flag("--cos-lr", t.cos_lr, "Cosine learning-rate schedule")->group(group);
  app.add_option("--label-smoothing", t.label_smoothing, "Label smoothing epsilon")
      ->group(group)
      ->check(CLI::Range(0.0, 1.0));
  app.add_flag("--single-cls", t.single_cls, "Treat all classes as one")->group(group);
  app.add_flag("--rect", t.rect, "Rectangular training batches")->group(group);
  app.add_flag("--noautoanchor", t.noautoanchor, "Keep the model's anchors")->group(group);
  app.add_option("--workers", t.workers,
                 "Threads that prepare pictures, at most one less than the slot's cores")
      ->group(group)
      ->capture_default_str();
  app.add_option("--freeze", t.freeze, "Leading layers that keep their weights (backbone: 10)")
      ->group(group);
  app.add_option("--cache",
                 "Accepted for YOLOv5's command lines: pictures are kept in memory anyway")
      ->group(group)
      ->expected(0, 1);
  app.add_option("--trainer-command", o.trainer_command,
                 "An external trainer that speaks the worker protocol on stdin and stdout")
      ->group(group);
}

void declare_running(CLI::App& app, Options& o) {
  const auto* group = "Running";
  app.add_option("--devices,--device", o.devices, "auto, cpu, or cpu:0,cpu:1")
      ->group(group)
      ->capture_default_str();
  app.add_option("--trial-timeout", o.trial_timeout, "Longest duration of a trial")->group(group);
  app.add_option("--hang-timeout", o.hang_timeout, "Longest silence of a trainer")
      ->group(group)
      ->capture_default_str();
  app.add_option("--retries", o.retries, "Further attempts at a failed trial, on another device")
      ->group(group)
      ->capture_default_str();
  app.add_option("--project", o.project, "Folder of runs")->group(group)->capture_default_str();
  app.add_option("--name", o.name, "Name of the run in it: exp, exp2, …")
      ->group(group)
      ->capture_default_str();
  app.add_flag("--exist-ok", o.exist_ok, "Use the folder even if it exists")->group(group);
  app.add_option("--output", o.output, "Exactly this run directory")->group(group);
  app.add_option("--resume", o.resume, "Go on with this run; default: the newest")
      ->group(group)
      ->expected(0, 1)
      ->type_name("[DIR]");
  app.add_flag("--dry-run", o.dry_run, "Print what would run, touch nothing")->group(group);
}

}  // namespace

void declare(CLI::App& app, Options& options) {
  declare_search(app, options);
  declare_trainer(app, options);
  declare_running(app, options);
}

void complete(const CLI::App& app, Options& options) {
  for (const auto* option : app.get_options()) {
    if (option->count() > 0) options.given.insert(key_of(option->get_name()));
  }
  for (auto* path :
       {&options.space, &options.hyp, &options.evolve_population, &options.resume_evolve,
        &options.train.data, &options.train.cfg, &options.train.weights, &options.output}) {
    make_absolute(*path);
  }
  if (options.fitness.empty()) options.fitness = hyp::Fitness::standard;
  if (options.trainer_command.empty() && !options.given.contains("data"))
    default_to_shapes(options);
  default_model(options);
  check(options);
}

nlohmann::ordered_json to_json(const Options& options) {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  for_each_option(options,
                  [&](const char* name, const auto& value) { json[name] = json_of(value); });
  json.update(trainer::to_json(options.train));
  return json;
}

Options resumed(const Options& now, const nlohmann::ordered_json& run) {
  Options options = now;
  const auto command_line = to_json(now);
  auto merged = run;
  const auto option = [](std::string name) {
    std::replace(name.begin(), name.end(), '_', '-');
    return "--" + name;
  };
  for (const auto& name : now.given) {
    if (!command_line.contains(name) ||
        command_line[name] == run.value(name, nlohmann::ordered_json()))
      continue;
    if (!changeable.contains(name)) {
      throw bad_argument(option(name) + " " + command_line[name].dump() +
                             ": the run to resume has " +
                             run.value(name, nlohmann::ordered_json()).dump(),
                         "leave the option out, or start a new run");
    }
    merged[name] = command_line[name];
  }
  for_each_option(options, [&](const char* name, auto& value) {
    if (const auto it = merged.find(name); it != merged.end()) assign(*it, value);
  });
  options.train = trainer::train_options_from_json(merged);
  return options;
}

std::optional<double> duration_seconds(const std::string& text, const std::string& option) {
  if (text.empty()) return std::nullopt;
  const auto wrong = [&] {
    return bad_argument(option + " " + text + ": not a duration", "write 90s, 15m, 12h or 1h30m");
  };
  double seconds = 0;
  std::size_t at = 0;
  while (at < text.size()) {
    const auto end = text.find_first_not_of("0123456789.", at);
    const auto number = text.substr(at, end == std::string::npos ? end : end - at);
    double amount = 0;
    try {
      std::size_t used = 0;
      amount = std::stod(number, &used);
      if (used != number.size()) throw wrong();
    } catch (const std::logic_error&) {
      throw wrong();
    }
    if (end == std::string::npos) {
      if (at != 0) throw wrong();
      return amount;
    }
    const auto unit = std::string("smhd").find(text[end]);
    if (unit == std::string::npos) throw wrong();
    seconds += amount * (unit == 0 ? 1 : unit == 1 ? 60 : unit == 2 ? 3600 : 86400);
    at = end + 1;
  }
  return seconds;
}

}  // namespace evolve::cli
