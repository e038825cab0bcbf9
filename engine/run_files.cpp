#include "engine/run_files.hpp"

#include "hyp/fitness.hpp"
#include "results/plots/evolution_plot.hpp"
#include "results/repeats_csv.hpp"
#include "results/yaml_files.hpp"

namespace evolve::engine {
namespace {

/// With more rows than this, working out the recommended set takes longer than everything else
/// here. So after each time it rests for this multiple of what it took.
constexpr std::ptrdiff_t few_rows = 100;
constexpr int times_its_cost = 100;

results::Row table_row(const ga::Evolution& search, int trial, const hyp::Metrics& metrics) {
  return {.metrics = metrics, .values = hyp::raw_values(search.space(), search.hyp(trial))};
}

/// A row for each completed trial.
results::Table table_of(const RunState& state) {
  const auto& search = state.evolution();
  auto table = results::table_of(search.space());
  for (const auto& one : state.completed())
    table.rows.push_back(table_row(search, one.trial, one.metrics));
  return table;
}

void plot(const results::Table& table, const RunState& state, const std::string& fitness,
          std::optional<std::size_t> recommended, const std::filesystem::path& image) {
  const auto& search = state.evolution();
  results::PlotMarks marks{.recommended = recommended};
  for (const auto& [trial, at] : state.paused())
    marks.paused.push_back(table_row(search, trial, at.metrics));
  for (const auto& repeat : state.repeats().completed())
    marks.repeats.push_back({state.row_of(repeat.trial), repeat.again});
  results::plot_evolution(table, hyp::Fitness(fitness), search.space(), image, marks);
}

}  // namespace

void plot_run(const RunState& state, const std::string& fitness,
              const std::filesystem::path& image) {
  plot(table_of(state), state, fitness, state.recommendation()->row, image);
}

RunFiles::RunFiles(results::RunDirectory directory, std::string fitness, const Leftovers& leftovers,
                   const RunState& state)
    : directory_(std::move(directory)),
      fitness_(std::move(fitness)),
      table_(table_of(state)),
      kept_weights_(directory_.root, leftovers.keep_weights, state) {
  if (leftovers.remove_kept_trainings) kept_trainings_.emplace(directory_.root, state);
  rewrite(state);
  if (!state.repeats().completed().empty())
    results::write_repeats(directory_.repeats(), state.repeats().completed());
  if (kept_trainings_) kept_trainings_->remove_ended(state);
}

void RunFiles::update(const results::Event& event, const RunState& state) {
  const auto* outcome = std::get_if<hyp::Outcome>(&event);
  if (!outcome) return;
  if (kept_trainings_) kept_trainings_->update(state);
  if (std::holds_alternative<hyp::Completed>(outcome->result)) {
    if (outcome->repeat > 0)
      results::write_repeats(directory_.repeats(), state.repeats().completed());
    else
      add_rows(state);
  }
  if (hyp::ends_trial(*outcome)) {  // a failure says something of its set, too
    stale_ = true;
    catch_up(state);
  }
  kept_weights_.update(*outcome, recommended_, state);
}

void RunFiles::add_rows(const RunState& state) {
  // The first of trials that ended together brought the rows of all.
  if (table_.rows.size() == state.completed().size()) return;
  for (auto next = table_.rows.size(); next < state.completed().size(); ++next) {
    const auto& one = state.completed()[next];
    table_.rows.push_back(table_row(state.evolution(), one.trial, one.metrics));
    results::append_row(directory_.evolve_csv(), table_.names, table_.rows.back());
  }
}

void RunFiles::catch_up(const RunState& state) {
  const auto begun = Clock::now();
  if (!stale_ || (begun < due_ && std::ssize(table_.rows) > few_rows)) return;
  write_recommended(state);
  write_population(state);
  stale_ = false;
  const auto ended = Clock::now();
  due_ = ended + times_its_cost * (ended - begun);
}

void RunFiles::rewrite(const RunState& state) {
  // Rows were only added to it: somebody may have moved it away since, or saved it otherwise.
  results::write_table(directory_.evolve_csv(), table_);
  write_recommended(state);
  write_population(state);
}

void RunFiles::draw(const RunState& state) const {
  if (state.best()) plot(table_, state, fitness_, recommended_, directory_.plot());
}

// Also where it is the same set: the header counts the rows.
void RunFiles::write_recommended(const RunState& state) {
  const auto recommendation = state.recommendation();
  if (!recommendation) return;
  const auto row = recommendation->row;
  const auto& best = state.completed()[row];
  results::write_hyp_evolved(directory_.hyp_evolved(),
                             {.hyp = state.evolution().hyp(best.trial),
                              .metrics = best.metrics,
                              .row = static_cast<int>(row)},
                             static_cast<int>(table_.rows.size()));
  recommended_ = row;
}

void RunFiles::write_population(const RunState& state) const {
  std::vector<hyp::Hyperparameters> sets;
  for (const auto& individual : state.evolution().population())
    sets.push_back(hyp::express(state.evolution().space(), individual.genes));
  if (!sets.empty()) results::write_population(directory_.population(), state.generation(), sets);
}

}  // namespace evolve::engine
