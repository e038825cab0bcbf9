#include "cli/evolve/evolve_options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <boost/algorithm/string.hpp>
#include <filesystem>
#include <set>
#include <utility>

#include "cli/evolve/evolve_checks.hpp"
#include "cli/options/option_json.hpp"
#include "cli/options/trainer_options.hpp"
#include "core/error.hpp"
#include "core/number.hpp"
#include "core/split.hpp"
#include "hyp/fitness.hpp"
#include "results/earlier_run.hpp"

namespace evolve::cli {
namespace {

/// The options that belong to the run, besides the trainer's: the one list of their names.
constexpr auto kept_of_a_run = [](auto& options, auto visit) {
  visit("generations", options.generations);
  visit("population", options.population);
  visit("trials", options.trials);
  visit("max_epochs", options.max_epochs);
  visit("repeats", options.repeats);
  visit("time_limit", options.time_limit);
  visit("devices", options.devices);
  visit("device_env", options.device_env);
  visit("launcher", options.launcher);
  visit("search", options.search);
  visit("lag", options.lag);
  visit("seed", options.seed);
  visit("space", options.space);
  visit("evolve_genes", options.evolve_genes);
  visit("hyp", options.hyp);
  visit("fitness", options.fitness);
  visit("evolve_population", options.evolve_population);
  visit("resume_evolve", options.resume_evolve);
  visit("from", options.from);
  visit("trainer", options.trainer_texts.name);
  visit("trainer_command", options.trainer_texts.command);
  visit("trainer_exec", options.trainer_texts.exec);
  visit("trial_timeout", options.trial_timeout);
  visit("hang_timeout", options.hang_timeout);
  visit("retries", options.retries);
  visit("keep_weights", options.keep_weights);
  visit("early_stop", options.early_stop);
};

/// Reads what the texts of durations mean.
RunLimits limits_of(const EvolveOptions& options) {
  return {.run_seconds = duration_seconds(options.time_limit, "--time-limit"),
          .trial = duration(options.trial_timeout, "--trial-timeout"),
          .hang = duration(options.hang_timeout, "--hang-timeout")};
}

void declare_bounds(CLI::App& app, EvolveOptions& o, const char* group) {
  app.add_option_function<std::string>(
         "--generations,--evolve",
         [&o](const std::string& text) {
           if (!text.empty()) o.generations = core::parse_integer<int>(text).value();
         },
         "Generations to evolve, of --population trials each (in YOLOv5 up to 7.0 --evolve N was "
         "N trials: --trials N)")
      ->group(group)
      ->expected(0, 1)
      ->check(
          [](const std::string& text) {
            return core::parse_integer<int>(text) ? ""
                                                  : text + " is no whole number up to 2147483647";
          },
          "")
      ->type_name("INT")
      ->default_str(std::to_string(o.generations));
  app.add_option("--population", o.population, "Trials per generation")
      ->group(group)
      ->capture_default_str();
  app.add_option(
         "--trials", o.trials,
         "Trainings in all, those of --repeats among them; without --max-epochs none are paused, "
         "and few are stopped (--early-stop)")
      ->group(group);
  app.add_option("--max-epochs", o.max_epochs,
                 "Train no more epochs than this in all trials together; trials are paused, and "
                 "only the most promising ones go on")
      ->group(group);
  app.add_option(
         "--repeats", o.repeats,
         "Keep this many trainings for the end, or until --time-limit is near, to train the "
         "best sets again with other seeds (one set several times where that tells most)")
      ->group(group)
      ->capture_default_str();
  app.add_option("--time-limit", o.time_limit,
                 "Stop starting trials after this long: 90m, 12h; a number alone is seconds")
      ->group(group);
}

void declare_search(CLI::App& app, EvolveOptions& o) {
  const auto* group = "Search";
  declare_bounds(app, o, group);
  app.add_option("--search", o.search,
                 "screened: a genetic algorithm whose children a Gaussian process looks at first; "
                 "classic: YOLOv5's, repaired")
      ->group(group)
      ->capture_default_str();
  app.add_option("--lag", o.lag,
                 "Breed trial k from exactly the trials up to k - LAG: the same run comes out on "
                 "any number of devices up to LAG")
      ->group(group);
  app.add_option("--seed", o.seed, "Seed of everything random")
      ->group(group)
      ->check(seed_fault, "")
      ->capture_default_str();
  app.add_option("--space", o.space,
                 "Search space (YAML); default: YOLOv5's 29 hyperparameters, or the trainer's own")
      ->group(group);
  app.add_option("--evolve-genes", o.evolve_genes,
                 "Evolve exactly these: names separated by commas, or all")
      ->group(group);
  app.add_option("--hyp", o.hyp,
                 "Hyperparameters to start from (YAML); default: YOLOv5's hyp.scratch-low, or the "
                 "trainer's own")
      ->group(group);
  app.add_option("--fitness", o.fitness, "An expression over " + hyp::Fitness::metrics())
      ->group(group)
      ->default_str(hyp::Fitness::standard);
  app.add_option("--evolve_population,--evolve-population", o.evolve_population,
                 "Folder of hyp files that join the first generation")
      ->group(group);
  app.add_option("--resume_evolve,--resume-evolve", o.resume_evolve,
                 "Start from this evolve_population.yaml (ours or YOLOv5's)")
      ->group(group);
  app.add_option_function<std::vector<std::string>>(
         "--from",
         [&o](const std::vector<std::string>& runs) {
           o.from = fmt::format("{}", fmt::join(runs, ","));
         },
         "Learn from earlier runs, on other data sets too, as far as they predict this one: run "
         "folders, evolve.csv (ours or YOLOv5's) or tune_results (Ultralytics'), separated by "
         "commas or blanks; none: not even from the runs that come with evolve")
      ->group(group)
      ->type_name("RUN");
}

void declare_trainer(CLI::App& app, EvolveOptions& o) {
  const auto* group = "Training";
  declare_data(app, o.train, group);
  app.get_option("--imgsz")->description(fmt::format(
      "Image size in pixels; default: 640 ({} for shapes; with --trainer ultralytics 224 "
      "for a -cls model)",
      shapes_imgsz));
  declare_training(app, o.train, group, "Epochs of each trial");
  app.get_option("--optimizer")
      ->description(std::string(trainer::optimizers_text) +
                    "; default: SGD (Adam for shapes); with --trainer ultralytics any of its own, "
                    "default AdamW");
  app.add_flag(
         "--early-stop,!--no-early-stop", o.early_stop,
         "Pause the less promising trials or, with --trials, stop those that cannot be expected "
         "to reach the best half (the default); or train each to its last epoch")
      ->group(group);
  app.add_option_function<std::string>(
         "--model",
         [&o](const std::string& model) {
           const bool is_weights = model.ends_with(".pt");
           auto& named = is_weights ? o.train.weights : o.train.cfg;
           if (!named.empty())
             throw bad_argument(is_weights ? "--model and --weights both name the weights"
                                           : "--model and --cfg both name the model table",
                                "leave one of them out");
           named = model;
         },
         "As in Ultralytics: weights (--weights) if it ends in .pt, else a model table (--cfg)")
      ->group(group);
  app.add_option(
         "--trainer", o.trainer_texts.name,
         "built-in; or ultralytics or yolov5, which need that Python package (in the Python that "
         "EVOLVE_PYTHON names)")
      ->group(group)
      ->capture_default_str();
  app.add_option("--trainer-command", o.trainer_texts.command,
                 "An external trainer that speaks the worker protocol on stdin and stdout")
      ->group(group);
  app.add_option(
         "--trainer-exec", o.trainer_texts.exec,
         "A command that trains once and leaves results.csv in {dir}; {hyp} {device} {index} "
         "{epochs} {dir} {seed} {trial} are replaced")
      ->group(group);
}

void declare_running(CLI::App& app, EvolveOptions& o) {
  const auto* group = "Running";
  app.add_option(
         "--devices,--device", o.devices,
         "Where trials run, such as auto, cuda:0,cuda:1 or xpu:* or cuda:0*2 (two trials at "
         "a time) or -1,-1 (idle GPUs) or slurm or cpu:0,cpu:1; evolve devices lists them")
      ->group(group)
      ->capture_default_str();
  app.add_option("--device-env", o.device_env,
                 "The environment variable that lets a process see one device only, for a kind of "
                 "device that evolve does not know")
      ->group(group);
  app.add_option("--launcher", o.launcher,
                 "How workers start: local, slurm (each is a step of the job), or a command to put "
                 "before theirs, such as 'nice -n 19'; {device} {index} are replaced")
      ->group(group)
      ->capture_default_str();
  app.add_option("--trial-timeout", o.trial_timeout, "Longest duration of a trial")->group(group);
  app.add_option("--hang-timeout", o.hang_timeout,
                 "Longest time without a message from a trainer; 0: no limit")
      ->group(group)
      ->capture_default_str();
  app.add_option("--retries", o.retries,
                 "Further attempts at a failed trial, on another device where there is one")
      ->group(group)
      ->capture_default_str();
  app.add_option("--keep-weights", o.keep_weights,
                 "With --trainer, keep the weights of this many of the best trials; -1: of all")
      ->group(group)
      ->capture_default_str();
  declare(app, o.destination, group, "no run of evolve is overwritten");
  app.add_option("--resume", o.resume, "Go on with this run; default: the newest in --project")
      ->group(group)
      ->expected(0, 1)
      ->type_name("[DIR]");
  app.add_flag("--dry-run", o.dry_run, "Print what would run; make no run folder and train nothing")
      ->group(group);
}

std::filesystem::path canonical(const std::string& path) {
  std::error_code absent;
  return std::filesystem::weakly_canonical(path, absent);
}

}  // namespace

void declare(CLI::App& app, EvolveOptions& options) {
  declare_search(app, options);
  declare_trainer(app, options);
  declare_running(app, options);
}

std::vector<std::string> earlier_runs(const EvolveOptions& options) {
  std::vector<std::string> words, runs;
  if (!options.from.empty() && options.from != "none") words = core::split(options.from, ',');
  if (words.size() > 1 && std::ranges::count(words, "none"))
    throw bad_argument("--from " + options.from + ": none cannot stand beside an earlier run",
                       "leave it out, or name nothing else");
  // A path may have commas too: as many words as name something that exists.
  for (auto word = words.begin(); word != words.end();) {
    auto end = words.end();
    std::error_code ignored;
    const auto name = [&] {
      return std::string(core::trimmed(fmt::format("{}", fmt::join(word, end, ","))));
    };
    while (end - word > 1 && !std::filesystem::exists(name(), ignored)) --end;
    runs.push_back(name());
    word = end;
  }
  if (std::ranges::count(runs, ""))
    throw bad_argument("--from " + options.from + ": a name is missing",
                       "write runs with commas between them");
  return runs;
}

void complete(const CLI::App& app, EvolveOptions& options) {
  options.given = given_on(app);
  for (auto* path : {&options.space, &options.hyp, &options.evolve_population,
                     &options.resume_evolve, &options.destination.output}) {
    make_absolute(*path);
  }
  if (auto earlier = earlier_runs(options); !earlier.empty()) {
    for (auto& run : earlier) {
      make_absolute(run);
      if (run.size() > 1) boost::trim_right_if(run, boost::is_any_of("/"));  // a shell's completion
    }
    for (auto run = earlier.begin(); run != earlier.end(); ++run) {
      const auto is_the_same = [&](const std::string& before) {
        std::error_code absent;
        return std::filesystem::equivalent(before, *run, absent) ||
               std::filesystem::equivalent(results::run_of(canonical(before)),
                                           results::run_of(canonical(*run)), absent);
      };
      if (std::any_of(earlier.begin(), run, is_the_same))
        throw bad_argument("--from " + *run + ": it is named twice",
                           "name each run once: what it says would count twice");
    }
    options.from = fmt::format("{}", fmt::join(earlier, ","));
  }
  make_absolute(options.train);
  if (options.fitness.empty()) options.fitness = hyp::Fitness::standard;
  options.python = python_of_environment();
  check_one_trainer(options.given);
  options.trainer = trainer_of(options.trainer_texts);
  if (is_built_in(options.trainer)) {
    default_to_shapes(options.train, options.given);
    default_model(options.train);
  } else if (const auto* trainer = python_trainer(options.trainer)) {
    if (!options.given.contains("optimizer")) options.train.optimizer = trainer->optimizer;
    if (!options.given.contains("imgsz"))
      options.train.imgsz = default_imgsz(*trainer, options.train);
  }
  check(options);
  options.limits = limits_of(options);
  hyp::Fitness{options.fitness};  // throws when it cannot be computed
}

nlohmann::ordered_json to_json(const EvolveOptions& options) {
  return options_to_json(options, kept_of_a_run);
}

bool may_be_elsewhere(std::string_view option, const nlohmann::ordered_json& inputs) {
  // Of the built-in trainer's data set images and labels are known.
  return inputs.contains(option) || (option == "data" && inputs.contains("train"));
}

EvolveOptions resumed(const EvolveOptions& now, const results::RunSettings& run) {
  auto options = now;
  auto before = run.options;
  // A run of a version that kept the weights of all trials.
  if (!before.contains("keep_weights")) before["keep_weights"] = -1;
  // Whether fewer images than the run began with would be trained on shows when they are looked at.
  std::set<std::string> changeable = {"generations", "trials", "max_epochs", "repeats", "skip_bad"};
  changeable.insert(how_it_runs.begin(), how_it_runs.end());
  for (const auto& file : input_files)
    if (may_be_elsewhere(file, run.inputs)) changeable.emplace(file);
  for (const auto& command : trainer_commands)
    if (before.contains(command) && before[command] != "") changeable.emplace(command);
  auto merged = options_to_resume(before, to_json(now), now.given, std::move(changeable));
  if (run.inputs.contains("skip_bad")) merged["skip_bad"] = true;
  options_from_json(merged, options, kept_of_a_run);
  settle_folder(options.train);
  options.trainer = trainer_of(options.trainer_texts);
  check_resumed_trainer(options);
  options.limits = limits_of(options);
  return options;
}

}  // namespace evolve::cli
