#include "engine/run_files.hpp"

#include "hyp/fitness.hpp"
#include "results/plot.hpp"
#include "results/yaml_files.hpp"

namespace evolve::engine {
namespace {

results::Row row_of(const hyp::Space& space, const Finished& finished) {
  return {.metrics = finished.metrics, .values = hyp::raw_values(space, finished.hyp)};
}

}  // namespace

RunFiles::RunFiles(results::RunDirectory directory, std::string fitness, const RunState& state)
    : directory_(std::move(directory)),
      fitness_(std::move(fitness)),
      table_(results::table_of(state.evolution().space())),
      generation_(state.generation()) {
  for (const auto& one : state.completed())
    table_.rows.push_back(row_of(state.evolution().space(), one));
  results::write_table(directory_.evolve_csv(), table_);
  write_best(state);
  write_population(state);
  if (!state.repeats().completed().empty())
    results::write_repeats(directory_.repeats(), state.repeats().completed());
}

void RunFiles::update(const results::Event& event, const RunState& state) {
  if (std::holds_alternative<results::Started>(event) && state.generation() > generation_) {
    generation_ = state.generation();
    write_population(state);
  }
  const auto* outcome = std::get_if<hyp::Outcome>(&event);
  if (!outcome || !std::holds_alternative<hyp::Completed>(outcome->result)) return;
  if (outcome->repeat) {
    results::write_repeats(directory_.repeats(), state.repeats().completed());
  } else {
    add_rows(state);
  }
}

void RunFiles::add_rows(const RunState& state) {
  const auto before = std::ssize(table_.rows);
  for (auto next = table_.rows.size(); next < state.completed().size(); ++next) {
    table_.rows.push_back(row_of(state.evolution().space(), state.completed()[next]));
    results::append_row(directory_.evolve_csv(), table_.names, table_.rows.back());
  }
  if (state.best_row() >= before) write_best(state);
}

void RunFiles::close(const RunState& state) {
  write_best(state);
  write_population(state);
}

void RunFiles::draw(const RunState& state) const {
  if (!state.best()) return;
  results::plot_evolution(table_, hyp::Fitness(fitness_), state.evolution().space(),
                          directory_.plot());
}

void RunFiles::write_best(const RunState& state) const {
  const auto* best = state.best();
  if (!best) return;
  results::write_hyp_evolved(directory_.hyp_evolved(),
                             {.hyp = best->hyp, .metrics = best->metrics, .row = state.best_row()},
                             static_cast<int>(table_.rows.size()));
}

void RunFiles::write_population(const RunState& state) const {
  std::vector<hyp::Hyperparameters> sets;
  for (const auto& individual : state.evolution().population())
    sets.push_back(hyp::express(state.evolution().space(), individual.genes));
  if (!sets.empty()) results::write_population(directory_.population(), state.generation(), sets);
}

}  // namespace evolve::engine
