#include "cli/record.hpp"

#include "hyp/fitness.hpp"
#include "results/plot.hpp"

namespace evolve::cli {
namespace {

results::Row row_of(const hyp::Space& space, const Finished& finished) {
  return {.metrics = finished.metrics, .values = hyp::raw_values(space, finished.hyp)};
}

}  // namespace

Record::Record(results::RunDirectory directory, hyp::Space space, std::string fitness,
               const std::vector<Finished>& finished)
    : directory_(std::move(directory)),
      space_(std::move(space)),
      fitness_(std::move(fitness)),
      table_(results::table_of(space_)) {
  for (const auto& one : finished) {
    table_.rows.push_back(row_of(space_, one));
    improve(one);
  }
  results::write_table(directory_.evolve_csv(), table_);
  write_best();
}

bool Record::add(const Finished& finished) {
  const auto row = row_of(space_, finished);
  results::append_row(directory_.evolve_csv(), table_.names, row);
  table_.rows.push_back(row);
  const bool better = improve(finished);
  if (better) write_best();
  return better;
}

void Record::set_population(int generation, const std::vector<hyp::Hyperparameters>& population) {
  results::write_population(directory_.population(), generation, population);
}

void Record::close() {
  write_best();
}

void Record::draw() const {
  if (!best_) return;
  results::plot_evolution(table_, hyp::Fitness(fitness_), space_, directory_.plot());
}

bool Record::improve(const Finished& finished) {
  if (best_ && !(finished.fitness > best_->fitness)) return false;
  best_ = finished;
  best_row_ = rows() - 1;
  return true;
}

void Record::write_best() const {
  if (!best_) return;
  results::write_hyp_evolved(directory_.hyp_evolved(),
                             {.hyp = best_->hyp, .metrics = best_->metrics, .row = best_row_},
                             rows());
}

}  // namespace evolve::cli
