#include "ga/evolution.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <set>
#include <utility>

#include "core/error.hpp"
#include "ga/classic.hpp"
#include "ga/history.hpp"
#include "ga/observation.hpp"
#include "ga/operators.hpp"
#include "ga/rng.hpp"
#include "ga/schedule.hpp"
#include "ga/screened.hpp"
#include "ga/visited.hpp"

namespace evolve::ga {
namespace {

// What is kept of a trial that has been handed out.
struct Record {
  hyp::Genes genes;
  std::optional<Observation> observation = {};  // of a trial that has ended
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
  if (settings.search != "classic" && settings.search != "screened") {
    throw bad_argument("--search " + settings.search + ": there is no such search",
                       "write screened or classic");
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
  MatingPool pool;             // what the classic search may know
  History history;             // what the screened search may know
  int learnt = 0;              // with a lag: breeding knows the trials below this number
  std::set<int> pending = {};  // handed out, and breeding does not know how they ended
  std::optional<Individual> best;

  State(hyp::Space space_, Settings settings_, const std::vector<hyp::Hyperparameters>& initial);

  int planned() const;
  /// Share of the run that is behind trial `number`, in [0, 1].
  double progress(int number) const;
  /// The next trial is planned, and all that it may know is known.
  bool can_hand_out();
  /// Lets breeding know all that trial `number` may know; false when some of that has not ended
  /// yet.
  bool learn_outcomes_for(int number);
  /// Lets breeding know how trial `number` ended.
  void learn(int number);
  /// Adds trial `number` to `to`, if it completed.
  void offer(int number, MatingPool& to) const;
  hyp::Genes breed(int number);
  /// The set that trial `number` trains again, if it does.
  std::optional<hyp::Genes> set_to_train_again(int number);
  hyp::Genes breed_classic(int number, Rng& rng) const;
  hyp::Genes breed_screened(int number, Rng& rng);
  hyp::Genes unseen(hyp::Genes child, double t, Rng& rng) const;
  /// The next trial is one of these genes.
  hyp::Trial hand_out(hyp::Genes set);
};

Evolution::State::State(hyp::Space space_, Settings settings_,
                        const std::vector<hyp::Hyperparameters>& initial)
    : space(std::move(space_)),
      settings(std::move(settings_)),
      genes(evolved_genes(space)),
      visited(genes),
      pool(settings.population),
      history(genes) {
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

bool Evolution::State::can_hand_out() {
  const auto number = static_cast<int>(records.size());
  return number < planned() && learn_outcomes_for(number);
}

bool Evolution::State::learn_outcomes_for(int number) {
  if (!settings.lag) return true;  // told is learnt
  for (; learnt <= number - *settings.lag; ++learnt) {
    if (!records[static_cast<std::size_t>(learnt)].observation) return false;
    learn(learnt);
  }
  return true;
}

void Evolution::State::learn(int number) {
  const Record& record = records[static_cast<std::size_t>(number)];
  offer(number, pool);
  if (settings.search == "screened") history.add(record.genes, *record.observation);
  pending.erase(number);
}

void Evolution::State::offer(int number, MatingPool& to) const {
  const Record& record = records[static_cast<std::size_t>(number)];
  if (record.observation && record.observation->ending == Observation::Ending::completed) {
    to.add({number, record.genes, record.observation->fitness});
  }
}

hyp::Genes Evolution::State::breed(int number) {
  if (static_cast<std::size_t>(number) < given.size())
    return given[static_cast<std::size_t>(number)];
  if (auto again = set_to_train_again(number)) return *std::move(again);
  Rng rng = breeding_rng(settings.seed, number);
  hyp::Genes child =
      settings.search == "screened" ? breed_screened(number, rng) : breed_classic(number, rng);
  return unseen(std::move(child), progress(number), rng);
}

// Every claim compares with the start: it is trained with each of the first seeds, early enough to
// tell how much of a fitness is luck, and late enough to cost a search of ten trainings nothing.
// Where two of its trainings are known to agree to the last digit there is no luck, and once more
// says nothing.
std::optional<hyp::Genes> Evolution::State::set_to_train_again(int number) {
  constexpr int first = 13, second = 26;
  static_assert(first % rotating_seeds == 1 && second % rotating_seeds == 2);
  if (settings.search != "screened") return std::nullopt;
  const auto same = [&](int a, int b) {
    if (pending.contains(a) || pending.contains(b)) return false;
    const Observation& one = *records[static_cast<std::size_t>(a)].observation;
    const Observation& other = *records[static_cast<std::size_t>(b)].observation;
    return one.ending == other.ending && one.fitness == other.fitness;
  };
  if (number == first || (number == second && !same(0, first))) return given.front();
  return std::nullopt;
}

hyp::Genes Evolution::State::breed_classic(int number, Rng& rng) const {
  const double t = progress(number);
  const std::vector<Individual> parents = pool.members(elite_count(t));
  const bool random = number < settings.population || parents.empty();
  return random ? random_genes(genes, rng) : classic_child(genes, parents, t, rng);
}

hyp::Genes Evolution::State::breed_screened(int number, Rng& rng) {
  constexpr int least_known = 3;
  if (number < design_size || history.completed() < least_known) {
    return design_genes(genes, settings.seed, number);
  }
  std::vector<hyp::Genes> open;
  for (const int trial : pending) open.push_back(records[static_cast<std::size_t>(trial)].genes);
  return screened_child(genes, history, open, visited, rng);
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

hyp::Trial Evolution::State::hand_out(hyp::Genes set) {
  const auto number = static_cast<int>(records.size());
  hyp::Trial trial{.number = number,
                   .generation = number / settings.population,
                   .hyp = hyp::express(space, set),
                   .seed = training_seed(settings.seed, seed_number(number, 0))};
  visited.insert(set);
  records.push_back({std::move(set)});
  pending.insert(number);
  return trial;
}

Evolution::Evolution(hyp::Space space, Settings settings,
                     const std::vector<hyp::Hyperparameters>& initial) {
  check(settings);
  state_ = std::make_unique<State>(std::move(space), std::move(settings), initial);
}
Evolution::~Evolution() = default;
Evolution::Evolution(Evolution&&) noexcept = default;
Evolution& Evolution::operator=(Evolution&&) noexcept = default;

bool Evolution::can_ask() const {
  return state_->can_hand_out();
}

const hyp::Genes& Evolution::genes(int trial) const {
  return state_->records.at(static_cast<std::size_t>(trial)).genes;
}

const std::optional<Observation>& Evolution::observation(int trial) const {
  return state_->records.at(static_cast<std::size_t>(trial)).observation;
}

std::optional<hyp::Trial> Evolution::ask() {
  State& s = *state_;
  if (!s.can_hand_out()) return std::nullopt;
  return s.hand_out(s.breed(asked()));
}

std::optional<hyp::Trial> Evolution::ask_again(const hyp::Hyperparameters& hyp) {
  State& s = *state_;
  if (!s.can_hand_out()) return std::nullopt;
  return s.hand_out(hyp::genes_of(s.space, hyp));
}

void Evolution::tell(const hyp::Outcome& outcome) {
  State& s = *state_;
  const std::string trial = "trial " + std::to_string(outcome.trial);
  if (outcome.trial < 0 || outcome.trial >= asked()) {
    throw bad_argument(trial + " ended, but was never asked for",
                       "tell of trials that were asked for");
  }
  Record& record = s.records[static_cast<std::size_t>(outcome.trial)];
  if (outcome.repeat > 0) {
    if (hyp::ends_trial(outcome) && s.settings.search == "screened")
      s.history.add(record.genes, observation_of(outcome));
    return;
  }
  if (record.observation)
    throw bad_argument(trial + " ended twice", "tell of the end of a trial once");

  if (!hyp::ends_trial(outcome)) return;
  record.observation = observation_of(outcome);
  ++s.ended;
  if (!s.settings.lag) s.learn(outcome.trial);
  if (record.observation->ending != Observation::Ending::completed) return;
  if (!s.best || record.observation->fitness > s.best->fitness) {
    s.best = Individual{outcome.trial, record.genes, record.observation->fitness};
  }
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

const std::optional<Individual>& Evolution::best() const {
  return state_->best;
}

std::optional<Standing> Evolution::standing(std::span<const int> repeating) const {
  State& s = *state_;
  if (s.settings.search != "screened") return std::nullopt;
  if (!s.settings.lag) return ga::standing(s.genes, s.history, s.given.front(), repeating);
  History all = s.history;
  for (int number = s.learnt; number < asked(); ++number) {
    const Record& record = s.records[static_cast<std::size_t>(number)];
    if (record.observation) all.add(record.genes, *record.observation);
  }
  return ga::standing(s.genes, all, s.given.front(), repeating);
}

std::vector<Individual> Evolution::population() const {
  const State& s = *state_;
  MatingPool pool = s.pool;
  if (s.settings.lag) {
    for (int number = s.learnt; number < asked(); ++number) s.offer(number, pool);
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
