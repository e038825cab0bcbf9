#include "results/earlier_run.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include "core/csv.hpp"
#include "core/error.hpp"
#include "results/evolve_csv.hpp"
#include "results/journal.hpp"
#include "results/known/known.hpp"
#include "results/run_directory.hpp"
#include "results/tune_results.hpp"

namespace evolve::results {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_trials = 200;

/// A run that names none of these genes says nothing of them.
bool shares_a_gene(const hyp::Space& evolved, const auto& has) {
  return std::ranges::any_of(evolved.genes, [&](const hyp::Gene& gene) { return has(gene.name); });
}

/// A set of these values, unless one lies outside its bounds.
std::optional<hyp::Hyperparameters> inside(const hyp::Space& evolved,
                                           const std::vector<double>& raw) {
  hyp::Genes genes;
  for (std::size_t i = 0; i < raw.size(); ++i) {
    const hyp::Gene& gene = evolved.genes[i];
    if (!(raw[i] >= gene.low && raw[i] <= gene.high)) return {};
    genes.push_back(hyp::nearest(gene, raw[i]));
  }
  return hyp::express(evolved, genes);
}

std::optional<hyp::Hyperparameters> inside(const hyp::Space& evolved,
                                           const hyp::Hyperparameters& hyp) {
  if (!shares_a_gene(evolved, [&](const auto& name) { return hyp.find(name) != nullptr; }))
    return {};
  try {
    return inside(evolved, hyp::raw_values(evolved, hyp));
  } catch (const Error&) {  // a text that is not one of the choices here
    return {};
  }
}

/// How many genes `has` not.
int unnamed(const hyp::Space& evolved, const auto& has) {
  return static_cast<int>(
      std::ranges::count_if(evolved.genes, [&](const hyp::Gene& gene) { return !has(gene.name); }));
}

std::optional<double> finite(double fitness) {
  return std::isfinite(fitness) ? std::optional(fitness) : std::nullopt;
}

/// Adds a trial to a run, if its set lies inside the space.
void add(EarlierRun& run, std::optional<hyp::Hyperparameters> inside,
         std::optional<double> fitness) {
  if (inside) {
    run.trials.push_back({*std::move(inside), fitness});
  } else {
    ++run.outside;
  }
}

void add_journal(EarlierRun& run, const fs::path& file, const hyp::Space& evolved,
                 const hyp::Fitness& fitness) {
  const auto journal = read_journal(file);
  run.unnamed =
      unnamed(evolved, [&](const auto& name) { return journal.run.space.find(name) != nullptr; });
  std::map<int, hyp::Hyperparameters> sets;
  for (const Event& event : journal.events) {
    if (const auto* started = std::get_if<Started>(&event)) sets[started->trial] = started->hyp;
    const auto* outcome = std::get_if<hyp::Outcome>(&event);
    if (!outcome || !sets.contains(outcome->trial)) continue;
    const auto* completed = std::get_if<hyp::Completed>(&outcome->result);
    const auto* failed = std::get_if<hyp::Failed>(&outcome->result);
    if (!completed && !(failed && failed->final && outcome->repeat == 0)) continue;
    add(run, inside(evolved, sets.at(outcome->trial)),
        completed ? finite(fitness(completed->metrics)) : std::optional<double>());
  }
}

/// The set of a row, in which choices are indices into those of `space`; nothing where one is none.
std::optional<hyp::Hyperparameters> set_of(const Row& row, const std::vector<std::string>& names,
                                           const hyp::Space& space) {
  hyp::Hyperparameters set;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const double value = row.values[i];
    const hyp::Gene* gene = space.find(names[i]);
    if (!gene || !is_categorical(*gene)) {
      set.set(names[i], value);
      continue;
    }
    if (!(value >= gene->low && value <= gene->high) || value != std::floor(value)) return {};
    set.set(names[i], hyp::choice(*gene, static_cast<std::size_t>(value)));
  }
  return set;
}

/// `choices`: the space whose choices the table's numbers mean.
void add_table(EarlierRun& run, const Table& table, const hyp::Space& choices,
               const hyp::Space& evolved, const hyp::Fitness& fitness) {
  const auto has = [&](const auto& name) { return std::ranges::count(table.names, name) > 0; };
  if (!shares_a_gene(evolved, has)) {
    run.outside = static_cast<int>(std::ssize(table.rows));
    return;
  }
  run.unnamed = unnamed(evolved, has);
  for (const Row& row : table.rows) {
    const auto set = set_of(row, table.names, choices);
    add(run, set ? inside(evolved, *set) : std::nullopt, finite(fitness(row.metrics)));
  }
}

/// The space of the run in whose folder this table lies, where it has one; else that of the run to
/// come, as where the journal there is damaged and choices do not matter here.
hyp::Space space_of_table(const fs::path& file, const hyp::Space& evolved) {
  const auto journal = RunDirectory{file.parent_path()}.journal();
  if (!fs::is_regular_file(journal)) return evolved;
  try {
    return read_run_settings(journal).space;
  } catch (const Error&) {
    if (std::ranges::any_of(evolved.genes, hyp::is_categorical)) throw;
    return evolved;
  }
}

/// Under whatever name somebody keeps it.
bool is_journal(const fs::path& file) {
  if (file.filename() == RunDirectory().journal().filename()) return true;
  const auto first = core::csv_header(file);
  return !first.empty() && first[0].starts_with("{\"event\":");
}

/// What there may be of a run in this folder, that which tells most first.
std::vector<fs::path> files_of_run(const fs::path& folder) {
  const RunDirectory run{folder};
  return {run.journal(), run.evolve_csv(), run.tune_results(), run.tune_results_csv()};
}

/// What tells most; one that is not there, where nothing does.
fs::path file_of_run(const fs::path& folder) {
  const auto files = files_of_run(folder);
  const auto there =
      std::ranges::find_if(files, [](const auto& file) { return fs::is_regular_file(file); });
  return there == files.end() ? files.back() : *there;
}

/// The best half of what may stay, and an even sample of the others, in their order.
std::vector<EarlierTrial> thinned(std::vector<EarlierTrial> trials) {
  if (trials.size() <= most_trials) return trials;
  std::vector<std::size_t> order(trials.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater(), [&](std::size_t i) {
    return trials[i].fitness.value_or(-std::numeric_limits<double>::infinity());
  });
  const std::size_t best = most_trials / 2, others = order.size() - best;
  std::ranges::sort(order.begin() + best, order.end());
  std::vector<std::size_t> kept(order.begin(), order.begin() + best);
  for (std::size_t i = 0; i < most_trials - best; ++i)
    kept.push_back(order[best + i * others / (most_trials - best)]);
  std::ranges::sort(kept);
  std::vector<EarlierTrial> chosen;
  for (const auto i : kept) chosen.push_back(std::move(trials[i]));
  return chosen;
}

}  // namespace

fs::path run_of(const fs::path& path) {
  const auto files = files_of_run(path.parent_path());
  return std::ranges::count(files, path) > 0 ? path.parent_path() : path;
}

EarlierRun read_earlier_run(const fs::path& path, const hyp::Space& space,
                            const hyp::Fitness& fitness) {
  const fs::path file = fs::is_directory(path) ? file_of_run(path) : path;
  if (!fs::is_regular_file(file))
    throw bad_input({path.string()},
                    fs::exists(file) ? "this is neither a file nor a folder" : "no run is there",
                    "name the folder of a run, an evolve.csv, or Ultralytics' tune_results");
  const hyp::Space evolved{hyp::evolved_genes(space)};
  EarlierRun earlier{.run = path.string()};
  if (is_journal(file)) {
    add_journal(earlier, file, evolved, fitness);
  } else if (const auto tuned = read_tune_results(file)) {
    for (const auto& training : *tuned)
      add(earlier, inside(evolved, training.hyp), finite(*training.fitness));
    if (!tuned->empty())
      earlier.unnamed = unnamed(
          evolved, [&](const auto& name) { return tuned->front().hyp.find(name) != nullptr; });
  } else {
    add_table(earlier, read_table(file), space_of_table(file, evolved), evolved, fitness);
  }
  earlier.trials = thinned(std::move(earlier.trials));
  const bool none = std::ranges::none_of(
      earlier.trials, [](const auto& trial) { return trial.fitness.has_value(); });
  if (none && earlier.outside == 0)
    throw bad_input({file.string()}, "no trial of it has completed", "leave it out of --from");
  if (none)
    throw bad_input({file.string()}, "no completed trial of it lies in this run's search space",
                    "name a run that evolved the same hyperparameters");
  if (earlier.trials.size() > 1 && earlier.outside == 0 &&
      std::ranges::adjacent_find(earlier.trials, std::not_equal_to(), &EarlierTrial::hyp) ==
          earlier.trials.end())
    throw bad_input({file.string()}, "none of the hyperparameters that evolve here varied in it",
                    "name a run that evolved the same hyperparameters");
  return earlier;
}

std::vector<EarlierRun> known_runs(const hyp::Space& space, const hyp::Fitness& fitness) {
  const hyp::Space evolved{hyp::evolved_genes(space)};
  const auto evolves = [&](const std::string& name) { return evolved.find(name) != nullptr; };
  std::vector<EarlierRun> runs;
  for (const auto& [name, csv] : known_tables()) {
    const Table table = parse_table(csv, fs::path(name));
    if (!std::ranges::all_of(table.names, evolves)) continue;
    EarlierRun run{.run = std::string(name)};
    add_table(run, table, evolved, evolved, fitness);
    if (!run.trials.empty()) runs.push_back(std::move(run));
  }
  return runs;
}

}  // namespace evolve::results
