#include "ga/evolution.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/error.hpp"
#include "ga/classic/schedule.hpp"
#include "ga/evolution_state.hpp"

namespace evolve::ga {
namespace {

void require_one(const std::string& option, int value) {
  if (value >= 1) return;
  throw bad_argument(option + " " + std::to_string(value) + ": too few", "write 1 or more");
}

void check_bounds(int generations, std::optional<int> trials, std::optional<int> max_epochs) {
  require_one("--generations", generations);
  if (trials) require_one("--trials", *trials);
  if (max_epochs) require_one("--max-epochs", *max_epochs);
}

void check(const Settings& settings) {
  check_bounds(settings.generations, settings.trials, settings.max_epochs);
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

}  // namespace

std::int64_t most_trials(const Settings& settings) {
  return std::min(std::int64_t{settings.population} * settings.generations,
                  std::int64_t{settings.trials.value_or(std::numeric_limits<int>::max())});
}

int generations_of(int trials, int population) {
  return trials / population + (trials % population != 0);
}

Evolution::Evolution(hyp::Space space, Settings settings,
                     const std::vector<hyp::Hyperparameters>& initial,
                     std::span<const EarlierRun> earlier) {
  check(settings);
  state_ = std::make_unique<State>(std::move(space), std::move(settings), initial, earlier);
}
Evolution::~Evolution() = default;
Evolution::Evolution(Evolution&&) noexcept = default;
Evolution& Evolution::operator=(Evolution&&) noexcept = default;

bool Evolution::can_ask() const {
  return state_->outcomes_told() && state_->repeats_told() && state_->has_room();
}

const hyp::Genes& Evolution::genes(int trial) const {
  return state_->records.at(static_cast<std::size_t>(trial)).genes;
}

hyp::Hyperparameters Evolution::hyp(int trial) const {
  return hyp::express(state_->space, genes(trial));
}

const std::optional<Observation>& Evolution::observation(int trial) const {
  return state_->records.at(static_cast<std::size_t>(trial)).observation;
}

const std::map<int, double>& Evolution::rungs(int trial) const {
  return state_->records.at(static_cast<std::size_t>(trial)).rungs;
}

std::optional<hyp::Trial> Evolution::ask() {
  auto trials = ask(1);
  return trials.empty() ? std::nullopt : std::optional(std::move(trials.front()));
}

std::vector<hyp::Trial> Evolution::ask(int most) {
  State& s = *state_;
  std::vector<hyp::Trial> trials;
  while (std::ssize(trials) < most && can_ask()) {
    s.learn_outcomes();
    s.learn_repeats();
    if (s.pausing()) {
      trials.push_back(s.thaw());
      continue;
    }
    for (auto& set : s.breed(asked(), most - static_cast<int>(std::ssize(trials))))
      trials.push_back(s.hand_out(std::move(set)));
  }
  return trials;
}

// Earlier versions did not wait for repeats.
std::optional<hyp::Trial> Evolution::ask_again(const hyp::Hyperparameters& hyp, int pause_epoch) {
  State& s = *state_;
  if (!s.outcomes_told() || !s.has_room()) return std::nullopt;
  s.learn_outcomes();
  s.learn_repeats();
  hyp::Genes set = hyp::genes_of(s.space, hyp);
  if (s.pausing() && asked() > 0 && pause_epoch == 0 && set == s.given.front())
    s.start_again.push_back(asked());
  return s.hand_out(std::move(set), pause_epoch);
}

std::optional<hyp::Trial> Evolution::ask_again(int trial, int pause_epoch) {
  State& s = *state_;
  if (!s.outcomes_told() || !s.has_room()) return std::nullopt;
  s.learn_outcomes();
  s.learn_repeats();
  return s.go_on(trial, pause_epoch);
}

void Evolution::tell(const hyp::Rung& rung) {
  if (!std::isfinite(rung.fitness)) return;  // it says nothing, as 0/0 while P and R are 0
  state_->records.at(static_cast<std::size_t>(rung.trial)).rungs[rung.epoch] = rung.fitness;
}

void Evolution::cannot_pause() {
  State& s = *state_;
  s.settings.pauses = false;
  for (Step& step : s.steps) {
    if (step.over) continue;
    s.epochs += s.settings.epochs - step.end;
    step.end = s.settings.epochs;
  }
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
    if (hyp::ends_trial(outcome)) s.end_repeat(outcome);
    return;
  }
  const Step& step = s.steps[record.step];
  if (step.over) throw bad_argument(trial + " ended twice", "tell of the end of a trial once");

  if (const auto* paused = std::get_if<hyp::Paused>(&outcome.result)) {
    record.rungs[paused->epoch] = paused->fitness;
    return s.end_step(outcome.trial, paused->epoch);
  }
  const int reached = std::max(hyp::reached_epoch(outcome, s.settings.epochs), step.begin);
  if (!hyp::ends_trial(outcome)) {
    s.epochs += reached - step.begin;
    return;
  }
  record.observation = observation_of(outcome);
  ++s.ended;
  s.end_step(outcome.trial, reached);
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
  return state_->under_way == 0 && !state_->has_room();
}
bool Evolution::pausing() const {
  return state_->pausing();
}
bool Evolution::given_up(int trial) const {
  return state_->given_up.contains(trial);
}
std::vector<int> Evolution::pause_epochs() const {
  return state_->pause_epochs();
}

int Evolution::epochs_left() const {
  return state_->epochs_left();
}

void Evolution::extend(int generations, std::optional<int> trials, std::optional<int> max_epochs) {
  check_bounds(generations, trials, max_epochs);
  state_->learn_outcomes();  // what it may know where nothing more fits in the bounds so far
  state_->settings.generations = generations;
  state_->settings.trials = trials;
  state_->settings.max_epochs = max_epochs;
  if (max_epochs) state_->whole = false;
}

const std::optional<Individual>& Evolution::best() const {
  return state_->best;
}

std::optional<hyp::Trial> Evolution::next_repeat() const {
  if (!done()) return std::nullopt;
  const auto trial = state_->trial_to_repeat();
  if (!trial) return std::nullopt;
  const auto before = std::ranges::count(state_->repeats, *trial, &Repeat::trial);
  return state_->repeat_of(*trial, static_cast<int>(before) + 1);
}

hyp::Trial Evolution::begin_repeat(int trial, int number) {
  if (trial < 0 || trial >= asked() || !observation(trial)) {
    throw bad_argument("trial " + std::to_string(trial) + " is trained again, but has not ended",
                       "repeat trials that have completed");
  }
  state_->repeats.push_back({.trial = trial, .number = number});
  return state_->repeat_of(trial, number);
}

std::optional<Standing> Evolution::standing() const {
  State& s = *state_;
  if (!s.settings.lag) return s.standing(s.history);
  History all = s.told(static_cast<int>(std::ssize(s.repeats)));
  return s.standing(all);
}

std::vector<Individual> Evolution::population() const {
  const State& s = *state_;
  MatingPool pool = s.pool;
  if (s.settings.lag) {
    for (auto step = s.steps.begin() + s.learnt; step != s.steps.end(); ++step)
      s.offer(step->trial, pool);
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
