#include "ga/evolution.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <utility>

#include "ga/classic.hpp"
#include "ga/operators.hpp"
#include "ga/rng.hpp"
#include "ga/schedule.hpp"
#include "ga/visited.hpp"
#include "hyp/error.hpp"

namespace evolve::ga {
namespace {

// What is kept of a trial that has been handed out.
struct Record {
  hyp::Genes genes;
  bool ended = false;
  // Of a completed trial whose fitness is a number.
  std::optional<double> fitness;
};

void require_one(const std::string& option, int value) {
  if (value >= 1) return;
  throw bad_argument(option + " " + std::to_string(value) + ": too few", "write 1 or more");
}

void check_bounds(int generations, std::optional<int> trials) {
  require_one("--generations", generations);
  if (trials) require_one("--trials", *trials);
}

void check(const Settings& settings) {
  check_bounds(settings.generations, settings.trials);
  require_one("--population", settings.population);
  if (settings.lag && *settings.lag < 1) {
    throw bad_argument(
        "--lag " + std::to_string(*settings.lag) + ": a trial cannot know its own outcome",
        "write 1 or more");
  }
  if (settings.search != "classic") {
    throw bad_argument("--search " + settings.search + ": there is no such search",
                       "write classic");
  }
}

std::vector<hyp::Gene> evolved_genes(const hyp::Space& space) {
  std::vector<hyp::Gene> genes;
  for (const std::size_t position : space.evolved()) genes.push_back(space.genes[position]);
  if (genes.empty()) {
    throw bad_argument("no gene evolves",
                       "let at least one evolve in the space file or by --evolve-genes");
  }
  return genes;
}

}  // namespace

struct Evolution::State {
  hyp::Space space;
  Settings settings;
  std::vector<hyp::Gene> genes;  // the evolved ones
  Visited visited;
  std::vector<hyp::Genes> given;  // what the first trials are: the start, then the initial sets
  std::vector<Record> records;    // of the trials handed out, by number
  int ended = 0;
  MatingPool pool;  // what breeding may know
  int pooled = 0;   // with a lag: the trials below this number are in the pool
  std::optional<Individual> best;

  State(hyp::Space space_, Settings settings_, const std::vector<hyp::Hyperparameters>& initial);

  int planned() const;
  /// Share of the run that is behind trial `number`, in [0, 1].
  double progress(int number) const;
  /// Lets the pool know all that trial `number` may know; false when some of that has not ended
  /// yet.
  bool pool_outcomes_for(int number);
  /// Adds trial `number` to `to`, if it completed.
  void offer(int number, MatingPool& to) const;
  hyp::Genes breed(int number);
  hyp::Genes unseen(hyp::Genes child, double t, Rng& rng) const;
};

Evolution::State::State(hyp::Space space_, Settings settings_,
                        const std::vector<hyp::Hyperparameters>& initial)
    : space(std::move(space_)),
      settings(std::move(settings_)),
      genes(evolved_genes(space)),
      visited(genes),
      pool(settings.population) {
  hyp::Genes start = hyp::genes_of(space, {});
  visited.insert(start);
  given.push_back(std::move(start));
  for (const hyp::Hyperparameters& hyp : initial) {
    hyp::Genes set = hyp::genes_of(space, hyp);
    if (visited.insert(set)) given.push_back(std::move(set));
  }
}

int Evolution::State::planned() const {
  const std::int64_t all = std::int64_t{settings.population} * settings.generations;
  const std::int64_t wanted =
      std::min<std::int64_t>(all, settings.trials.value_or(std::numeric_limits<int>::max()));
  return static_cast<int>(std::max(wanted, std::ssize(records)));
}

double Evolution::State::progress(int number) const {
  const int generation = number / settings.population;
  return std::min(1.0, static_cast<double>(generation) / settings.generations);
}

bool Evolution::State::pool_outcomes_for(int number) {
  if (!settings.lag) return true;  // told is pooled
  for (; pooled <= number - *settings.lag; ++pooled) {
    if (!records[static_cast<std::size_t>(pooled)].ended) return false;
    offer(pooled, pool);
  }
  return true;
}

void Evolution::State::offer(int number, MatingPool& to) const {
  const Record& record = records[static_cast<std::size_t>(number)];
  if (record.fitness) to.add({number, record.genes, *record.fitness});
}

hyp::Genes Evolution::State::breed(int number) {
  if (static_cast<std::size_t>(number) < given.size())
    return given[static_cast<std::size_t>(number)];
  Rng rng = breeding_rng(settings.seed, number);
  const double t = progress(number);
  const std::vector<Individual> parents = pool.members(elite_count(t));
  const bool random = number < settings.population || parents.empty();
  return unseen(random ? random_genes(genes, rng) : classic_child(genes, parents, t, rng), t, rng);
}

// The child, or where that set was handed out before, one that was not: a mutant of the child, or a
// random one, or in a small space whatever is left.
hyp::Genes Evolution::State::unseen(hyp::Genes child, double t, Rng& rng) const {
  constexpr int tries = 20;
  if (visited.exhausted()) return child;
  const double rate = std::max(mutation_rate(t), 1.0 / static_cast<double>(genes.size()));
  for (int i = 0; i < tries && visited.contains(child); ++i) {
    child = mutate(genes, std::move(child), rate, rng);
  }
  for (int i = 0; i < tries && visited.contains(child); ++i) child = random_genes(genes, rng);
  if (!visited.contains(child)) return child;
  return visited.find_unseen(rng).value_or(child);
}

Evolution::Evolution(hyp::Space space, Settings settings,
                     const std::vector<hyp::Hyperparameters>& initial) {
  check(settings);
  state_ = std::make_unique<State>(std::move(space), std::move(settings), initial);
}
Evolution::~Evolution() = default;
Evolution::Evolution(Evolution&&) noexcept = default;
Evolution& Evolution::operator=(Evolution&&) noexcept = default;

std::optional<hyp::Trial> Evolution::ask() {
  State& s = *state_;
  const int number = asked();
  if (number >= s.planned() || !s.pool_outcomes_for(number)) return std::nullopt;
  hyp::Genes genes = s.breed(number);
  hyp::Trial trial{.number = number,
                   .generation = number / s.settings.population,
                   .hyp = hyp::express(s.space, genes),
                   .seed = training_seed(s.settings.seed, number)};
  s.visited.insert(genes);
  s.records.push_back({std::move(genes), false, std::nullopt});
  return trial;
}

void Evolution::tell(const hyp::Outcome& outcome) {
  State& s = *state_;
  const std::string trial = "trial " + std::to_string(outcome.trial);
  if (outcome.trial < 0 || outcome.trial >= asked()) {
    throw bad_argument(trial + " ended, but was never asked for",
                       "tell of trials that were asked for");
  }
  Record& record = s.records[static_cast<std::size_t>(outcome.trial)];
  if (record.ended) throw bad_argument(trial + " ended twice", "tell of the end of a trial once");

  const auto* failed = std::get_if<hyp::Failed>(&outcome.result);
  if (failed && !failed->final) return;
  record.ended = true;
  ++s.ended;
  const auto* completed = std::get_if<hyp::Completed>(&outcome.result);
  if (!completed || !std::isfinite(completed->fitness)) return;
  record.fitness = completed->fitness;
  if (!s.best || *record.fitness > s.best->fitness) {
    s.best = Individual{outcome.trial, record.genes, *record.fitness};
  }
  if (!s.settings.lag) s.offer(outcome.trial, s.pool);
}

int Evolution::planned() const {
  return state_->planned();
}
int Evolution::asked() const {
  return static_cast<int>(state_->records.size());
}
int Evolution::ended() const {
  return state_->ended;
}
bool Evolution::done() const {
  return ended() == planned();
}

void Evolution::extend(int generations, std::optional<int> trials) {
  check_bounds(generations, trials);
  state_->settings.generations = generations;
  state_->settings.trials = trials;
}

std::optional<Individual> Evolution::best() const {
  return state_->best;
}

std::vector<Individual> Evolution::population() const {
  const State& s = *state_;
  MatingPool pool = s.pool;
  if (s.settings.lag) {
    for (int number = s.pooled; number < asked(); ++number) s.offer(number, pool);
  }
  return pool.members(elite_count(s.progress(asked())));
}

const hyp::Space& Evolution::space() const {
  return state_->space;
}
const Settings& Evolution::settings() const {
  return state_->settings;
}

}  // namespace evolve::ga
