#include "cli/evolve/search_space.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "cli/options/trainer_options.hpp"
#include "core/number.hpp"
#include "core/split.hpp"
#include "core/text_file.hpp"
#include "core/yaml.hpp"
#include "results/earlier_run.hpp"
#include "results/yaml_files.hpp"

namespace evolve::cli {
namespace {

/// Where a value of a gene is written: its start in --hyp, if that has one, others in --space.
Where written(const std::string& gene, bool is_start, const hyp::HypFile& start,
              const std::string& space) {
  if (is_start && start.hyp.find(gene)) return start.where(gene);
  const auto root = core::parse_yaml(core::read_text_file(space), space);
  const auto* node = core::yaml_value(root, gene);
  return {space, node ? node->line : 0};
}

/// The space's genes mean something to a trainer with YOLOv5's. The built-in one must also be able
/// to take their values; YOLOv5 says itself what it cannot, but for an optimizer.
void check_known(const hyp::Space& space, const hyp::HypFile& start, const EvolveOptions& options) {
  for (const auto& gene : space.genes) {
    const auto values = extreme_values(gene);
    const bool looked_at = is_built_in(options.trainer) || gene.name == "optimizer";
    const auto fault = hyperparameter_fault(
        gene.name, looked_at ? values : std::vector<hyp::Value>(), options.trainer_texts.name,
        ", or name an external trainer that knows it (--trainer-command or --trainer-exec)");
    if (!fault) continue;
    const bool is_start = hyperparameter_fault(gene.name, {values.front()}).has_value();
    throw bad_input(written(gene.name, is_start, start, options.space), fault->what, fault->remedy);
  }
}

/// No optimizer that a trial may have leaves lr0 and momentum to Ultralytics.
void check_optimizers(const hyp::Space& space, const hyp::HypFile& start,
                      const EvolveOptions& options) {
  const auto* gene = space.find("optimizer");
  if (!gene) return;
  const auto values = extreme_values(*gene);
  for (const auto& value : values)
    if (const auto fault = ultralytics_optimizer_fault(hyp::text_of(value)))
      throw bad_input(written(gene->name, value == values.front(), start, options.space),
                      "optimizer auto: " + *fault, "name others, such as AdamW");
}

/// The start as the file has it, for a trainer that knows what is in there.
hyp::HypFile start_of(const EvolveOptions& options) {
  if (options.hyp.empty()) return {};
  if (has_yolov5_hyp(options.trainer)) return read_yolov5_hyp(options.hyp);
  const auto* python = python_trainer(options.trainer);
  if (python && is_ultralytics(*python))
    check_no_configuration(options.hyp,
                           "keep only its hyperparameters, lr0 to copy_paste and close_mosaic");
  return hyp::read_hyp_file(options.hyp);
}

/// Without AutoAnchor their number says nothing: the model's own are meant, and YOLOv5 has no such
/// gene then either.
void leave_out_anchors(hyp::Space& space, const std::string& evolved) {
  if (std::ranges::count(core::split_and_trim(evolved, ','), "anchors") > 0)
    throw bad_argument("--evolve-genes anchors: with --noautoanchor the model keeps its own",
                       "leave out one of the two");
  std::erase_if(space.genes, [](const hyp::Gene& gene) { return gene.name == "anchors"; });
}

/// A space started where a trainer starts. Not taken: a start outside the user's bounds, what the
/// user's own start names, and what is not among the names `known`, if there are any.
hyp::Space started_at_defaults(const hyp::Space& space, const hyp::HypFile& defaults,
                               const hyp::Hyperparameters& named,
                               const std::set<std::string>& known) {
  hyp::HypFile taken{.path = defaults.path};
  for (std::size_t i = 0; const auto& [name, value] : defaults.hyp) {
    const auto line = defaults.lines[i++];
    const auto* gene = space.find(name);
    const auto* number = std::get_if<double>(&value);
    const bool outside = gene && number && (*number < gene->low || *number > gene->high);
    const bool is_known = known.empty() || known.contains(name);
    if (outside || !is_known || named.find(name)) continue;
    taken.hyp.set(name, value);
    taken.lines.push_back(line);
  }
  return hyp::started_at(space, taken);
}

/// Where the installed package itself has a gene, if it may be there.
std::optional<double> default_of(const hyp::Gene& gene, const core::Yaml& settings) {
  const auto* node = core::yaml_value(settings, gene.name);
  if (!node || node->kind != core::Yaml::Kind::scalar) return {};
  if (hyp::is_categorical(gene)) {
    const auto number = core::yaml_number(*node);
    const auto value = number ? hyp::text_of(*number) : core::yaml_word(*node);
    for (std::size_t i = 0; i < gene.choices.size(); ++i)
      if (hyp::text_of(hyp::choice(gene, i)) == value) return static_cast<double>(i);
    return {};
  }
  const auto number = core::yaml_number(*node);
  if (!number || !(gene.low <= *number && *number <= gene.high)) return {};
  return hyp::nearest(gene, *number);
}

/// The space before --hyp, of which these are the names: the user's, or the trainer's own.
hyp::Space table_of(const EvolveOptions& options, const hyp::Hyperparameters& named) {
  const auto* trainer = python_trainer(options.trainer);
  if (!trainer || is_yolov5(*trainer))
    return options.space.empty() ? hyp::default_space() : hyp::read_space_file(options.space);
  const auto path =
      options.space.empty() ? file_of(*trainer, options.train, "space") : options.space;
  auto space = hyp::read_space_file(path);
  // What evolve brings has names that older versions lack: those are left out. Elsewhere another
  // version may be installed than here.
  const auto settings =
      options.launcher == "local" ? installed_settings(*trainer, options.python) : core::Yaml();
  const std::set<std::string> known(settings.keys.begin(), settings.keys.end());
  if (options.space.empty() && !known.empty())
    std::erase_if(space.genes, [&](const hyp::Gene& gene) { return !known.contains(gene.name); });
  const auto start = hyp::read_hyp_file(file_of(*trainer, options.train, "hyp"));
  for (auto& gene : space.genes)
    if (const auto value = default_of(gene, settings)) gene.start = *value;
  return started_at_defaults(space, start, named, known);
}

/// Whether the runs that come with evolve say something about this one: they are trainings with
/// Adam or AdamW, whose rates are alike, on another data set than this.
bool learns_from_known_runs(const EvolveOptions& options, const hyp::Space& space) {
  return options.from.empty() && options.search == "screened" && has_yolov5_hyp(options.trainer) &&
         options.train.data != default_data && options.train.optimizer != "SGD" &&
         !space.find("optimizer");
}

/// Without the genes of which a file or the trainer says that they start where they do.
void leave_out_named(std::vector<hyp::Gene>& genes, const EvolveOptions& options) {
  if (!options.hyp.empty()) {
    const auto named = hyp::read_hyp_file(options.hyp).hyp;
    std::erase_if(genes, [&](const auto& gene) { return named.find(gene.name) != nullptr; });
  }
  const auto* trainer = python_trainer(options.trainer);
  if (!trainer || is_yolov5(*trainer)) {
    std::erase_if(genes, [](const auto& gene) {
      const auto* standard = hyp::default_space().find(gene.name);
      return standard && standard->start == gene.start;
    });
    return;
  }
  const auto own = hyp::read_hyp_file(file_of(*trainer, options.train, "hyp")).hyp;
  std::erase_if(genes, [&](const auto& gene) {
    const auto* value = own.find(gene.name);
    const auto* number = value ? std::get_if<double>(value) : nullptr;
    return number && *number == gene.start;
  });
  if (genes.empty() || options.launcher != "local") return;
  const auto settings = installed_settings(*trainer, options.python);  // starts a Python
  std::erase_if(genes, [&](const auto& gene) { return default_of(gene, settings) == gene.start; });
}

}  // namespace

hyp::Space space_of(const EvolveOptions& options) {
  const auto* python = python_trainer(options.trainer);
  const auto start = start_of(options);
  auto space = table_of(options, start.hyp);
  const bool own_anchors = has_yolov5_hyp(options.trainer) && options.train.noautoanchor;
  // Before the start is looked at: 0 anchors, which means the model's own, would be out of bounds.
  if (own_anchors) leave_out_anchors(space, options.evolve_genes);
  if (!options.hyp.empty()) space = hyp::started_at(space, start);
  if (!options.evolve_genes.empty()) hyp::select_evolved(space, options.evolve_genes);
  if (has_yolov5_hyp(options.trainer)) {
    space = hyp::with_defaults(space);
    if (own_anchors) leave_out_anchors(space, options.evolve_genes);
  }
  // Not before it is known what evolves: the bounds of a gene that does not are no trial's.
  if (has_yolov5_hyp(options.trainer))
    check_known(space, start, options);
  else if (python && is_ultralytics(*python))
    check_optimizers(space, start, options);
  if (hyp::evolved_genes(space).empty() && !options.space.empty())
    throw bad_input({options.space}, "no gene evolves", "give one a range, or name --evolve-genes");
  return space;
}

std::optional<Where> where_written(const EvolveOptions& options, const std::string& gene,
                                   bool is_start) {
  const auto start = options.hyp.empty() ? hyp::HypFile{} : hyp::read_hyp_file(options.hyp);
  const bool in_start = is_start && start.hyp.find(gene);
  if (!in_start && options.space.empty()) return {};
  return written(gene, is_start, start, options.space);
}

std::vector<hyp::Hyperparameters> initial_of(const EvolveOptions& options,
                                             const hyp::Space& space) {
  std::vector<hyp::HypFile> files;
  if (!options.resume_evolve.empty()) files = results::read_population(options.resume_evolve);
  if (!options.evolve_population.empty()) {
    const auto more = results::read_hyp_folder(options.evolve_population);
    files.insert(files.end(), more.begin(), more.end());
  }
  std::vector<hyp::Hyperparameters> initial;
  for (const auto& file : files) {
    hyp::check_values(space, file);
    initial.push_back(file.hyp);
  }
  return initial;
}

void check_one_optimizer(const EvolveOptions& options, const hyp::Space& space) {
  const auto* gene = space.find("optimizer");
  const bool known = has_yolov5_hyp(options.trainer) || python_trainer(options.trainer);
  if (!gene || !known || !options.given.contains("optimizer")) return;
  const auto start = hyp::start_of({{*gene}});
  if (!gene->evolve && hyp::text_of(*start.find("optimizer")) == options.train.optimizer) return;
  throw bad_argument("--optimizer " + options.train.optimizer +
                         ": the hyperparameters have one of their own, which would be used",
                     "leave out one of the two");
}

std::optional<std::string> note_on_options(const EvolveOptions& options, const hyp::Space& space) {
  const auto* trainer = python_trainer(options.trainer);
  if (!trainer || !is_ultralytics(*trainer)) return {};
  std::vector<std::string> unused;
  for (const auto& [key, option] : options.given)
    if (key != "optimizer" && space.find(key == "batch_size" ? "batch" : key))
      unused.push_back(option);
  if (unused.empty()) return {};
  const bool one = unused.size() == 1;
  return fmt::format("{} {} not count: the hyperparameters have {} of their own",
                     fmt::join(unused, ", "), one ? "does" : "do", one ? "one" : "them");
}

std::vector<std::string> notes_on_start(const EvolveOptions& options, const hyp::Space& space) {
  if (options.space.empty()) return {};
  auto genes = space.genes;
  std::erase_if(genes, [](const auto& gene) {
    return hyp::is_categorical(gene) || !hyp::has_range(gene) ||
           gene.start != hyp::from_unit(gene, 0.5);
  });
  if (!genes.empty()) leave_out_named(genes, options);
  std::vector<std::string> starting, staying;
  for (const auto& gene : genes) (gene.evolve ? starting : staying).push_back(gene.name);
  std::vector<std::string> notes;
  const auto note = [&](const std::vector<std::string>& names, const char* one, const char* many) {
    if (names.empty()) return;
    notes.push_back(fmt::format("{} {}; --hyp says where else", fmt::join(names, ", "),
                                names.size() == 1 ? one : many));
  };
  note(starting, "starts in the middle of its range", "start in the middle of their ranges");
  note(staying, "does not evolve, and stays in the middle of its range",
       "do not evolve, and stay in the middle of their ranges");
  return notes;
}

std::vector<std::string> notes_on(const std::vector<hyp::Hyperparameters>& initial,
                                  const hyp::Space& space) {
  int outside = 0;
  std::set<std::string> fixed;
  for (const auto& set : initial) {
    bool moved = false;
    for (const auto& [name, value] : set) {
      const auto* gene = space.find(name);
      const auto* number = std::get_if<double>(&value);
      if (!gene || !gene->evolve) {
        if (!gene || !number || *number != gene->start) fixed.insert(name);
      } else if (number && !hyp::is_categorical(*gene)) {
        moved |= *number < gene->low || *number > gene->high;
      }
    }
    outside += moved;
  }
  std::vector<std::string> notes;
  if (outside > 0)
    notes.push_back(fmt::format("population: {} of {} outside the bounds, moved to them", outside,
                                core::counted(std::ssize(initial), "set")));
  if (!fixed.empty())
    notes.push_back(fmt::format("population: {} {} here: kept as at the start",
                                fmt::join(fixed, ", "),
                                fixed.size() == 1 ? "does not evolve" : "do not evolve"));
  return notes;
}

std::vector<results::EarlierRun> earlier_of(const EvolveOptions& options, const hyp::Space& space) {
  const hyp::Fitness fitness(options.fitness);
  if (learns_from_known_runs(options, space)) return results::known_runs(space, fitness);
  std::vector<results::EarlierRun> earlier;
  for (const auto& run : earlier_runs(options))
    earlier.push_back(results::read_earlier_run(run, space, fitness));
  return earlier;
}

}  // namespace evolve::cli
