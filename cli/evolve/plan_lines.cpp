#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/evolve/plan.hpp"
#include "cli/options/trainer_options.hpp"
#include "cli/screen/text.hpp"
#include "core/number.hpp"
#include "devices/slots.hpp"
#include "engine/search_bounds.hpp"
#include "engine/settings.hpp"
#include "ga/evolution.hpp"

namespace evolve::cli {
namespace {

/// What is known of earlier runs: a line for each that was named, one for all of evolve's own.
std::vector<std::string> known_lines(const std::vector<results::EarlierRun>& earlier, bool own) {
  if (own && !earlier.empty()) {
    std::int64_t trainings = 0;
    for (const auto& run : earlier) trainings += std::ssize(run.trials);
    return {
        fmt::format("learns from {} that come with evolve, on shapes with Adam and AdamW (not with "
                    "--from none)",
                    core::counted(trainings, "training"))};
  }
  std::vector<std::string> lines;
  for (const auto& run : earlier) {
    lines.push_back(fmt::format("learns from {} of {}",
                                core::counted(std::ssize(run.trials), "training"),
                                display_path(run.run)));
    if (run.outside > 0)
      lines.back() += fmt::format("; {} more outside this run's bounds", run.outside);
    if (run.unnamed > 0)
      lines.back() += fmt::format("; {} that it does not name taken as at this run's start",
                                  core::counted(run.unnamed, "hyperparameter"));
  }
  return lines;
}

/// "520 epochs of training, at most 200 trials"; only what may decide.
std::string bounded(const std::string& trials, const ga::Settings& search) {
  if (!search.max_epochs) return trials;
  const auto epochs = core::counted(*search.max_epochs, "epoch") + " of training";
  const auto most = ga::most_trials(search);
  if (search.trials && most * search.epochs <= *search.max_epochs) return trials;
  return most < *search.max_epochs ? epochs + ", at most " + trials : epochs;
}

/// The options with what hyperparameters of the same name make of them, for whom it is read: "SGD
/// or MuSGD" where the optimizer evolves, no size where that does.
trainer::TrainOptions as_trained(trainer::TrainOptions t, const hyp::Space& space) {
  if (const auto* gene = space.find("optimizer"); gene && hyp::is_categorical(*gene))
    t.optimizer = gene->evolve ? fmt::format("{}", fmt::join(gene->choices, " or "))
                               : gene->choices.at(static_cast<std::size_t>(gene->start));
  if (const auto* gene = space.find("imgsz"))  // where these trainers train, a number
    t.imgsz = gene->evolve ? 0 : static_cast<int>(hyp::start_of(space).number("imgsz"));
  return t;
}

/// "trains yolov5p.yaml on shapes …", "runs python mine.py"
std::string what_runs(const EvolveOptions& o, const hyp::Space& space) {
  return match(
      o.trainer,
      [&](const BuiltIn&) { return "trains " + description(as_trained(o.train, space)); },
      [&](const PythonTrainer* one) {
        return "trains " + description(*one, as_trained(o.train, space));
      },
      [&](const WorkerCommand&) { return "runs " + o.trainer_texts.command; },
      [&](const TrialCommand&) { return "runs " + o.trainer_texts.exec; });
}

}  // namespace

std::string listed(std::vector<std::string> slots) {
  constexpr std::ptrdiff_t most = 16, first = 3;
  if (std::ssize(slots) > most) {
    slots.back().insert(0, "… ");
    slots.erase(slots.begin() + first, slots.end() - 1);
  }
  return fmt::format("{}", fmt::join(slots, ", "));
}

std::vector<std::string> plan_lines(const Plan& plan) {
  const auto& o = plan.options;
  const auto& run = plan.settings.run;
  std::vector<std::string> genes;
  for (const auto& gene : hyp::evolved_genes(run.space)) genes.push_back(gene.name);
  const auto slots = devices::names_of(plan.settings.slots);

  const auto search = engine::search_settings(run);
  const auto again =
      o.repeats == 0 ? "" : ", then " + core::counted(o.repeats, "repeat") + " of the best";
  const auto trials = ga::most_trials(search);
  auto bounds = core::counted(trials, "trial");
  if (engine::ends_by_generations(search, o.repeats)) {
    const auto generations = fmt::format(
        " ({} of {})", core::counted(search.generations, "generation"), search.population);
    bounds = o.repeats == 0
                 ? bounds + generations
                 : core::counted(trials + o.repeats, "training") + generations + ": " + bounds;
  }
  const auto limit = plan.settings.time_limit;
  const auto until = limit ? fmt::format(", none begun after {},", duration_text(*limit)) : "";
  std::vector<std::string> lines;
  lines.push_back(fmt::format("{}{}{} on {}: {}", bounded(bounds, search), again, until,
                              core::counted(std::ssize(slots), "slot"), listed(slots)));
  lines.insert(lines.end(), plan.device_notes.begin(), plan.device_notes.end());
  lines.push_back("each " + what_runs(o, run.space));
  lines.push_back(fmt::format("{} of {} {}: {}", genes.size(),
                              core::counted(std::ssize(run.space.genes), "hyperparameter"),
                              genes.size() == 1 ? "evolves" : "evolve", fmt::join(genes, " ")));
  lines.push_back("fitness " + o.fitness);
  const auto known = known_lines(run.earlier, o.from.empty());
  lines.insert(lines.end(), known.begin(), known.end());
  constexpr std::int64_t many = 1000;  // hardly what somebody wanted
  const bool unlike_yolov5 =
      !o.resume && o.given.contains("generations") && !o.given.contains("population");
  if (!run.trials && !run.max_epochs && !limit && (trials >= many || unlike_yolov5))
    lines.push_back(
        fmt::format("only --generations ends this run; in YOLOv5 up to 7.0 --evolve {0} was {0} "
                    "trainings: --trials {0}",
                    o.generations));
  lines.insert(lines.end(), plan.notes.begin(), plan.notes.end());
  return lines;
}

}  // namespace evolve::cli
