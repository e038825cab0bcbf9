#include "ga/evolution.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/error.hpp"
#include "ga/breeding.hpp"
#include "ga/classic/schedule.hpp"
#include "ga/evolution_state.hpp"
#include "ga/knowledge.hpp"
#include "ga/pauses.hpp"
#include "ga/repeats.hpp"
#include "ga/retraining.hpp"
#include "ga/steps.hpp"

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
  require_one("--epochs", settings.epochs);
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

int at_most_whole(int trainings, const Settings& settings) {
  return settings.max_epochs ? std::min(trainings, *settings.max_epochs / settings.epochs)
                             : trainings;
}

bool among_the_last(std::int64_t before, std::int64_t all) {
  constexpr std::int64_t least = 45, share = 5, most = 50;
  return before >= least && before >= all - std::min(all / share, most);
}

int generations_of(int trials, int population) {
  return trials / population + (trials % population != 0);
}

int generations_for(int trials, int population, int generations) {
  return std::max(generations, generations_of(trials, population));
}

Evolution::Evolution(hyp::Space space, Settings settings,
                     const std::vector<hyp::Hyperparameters>& initial,
                     std::span<const EarlierRun> earlier) {
  check(settings);
  state_ =
      std::make_unique<EvolutionState>(std::move(space), std::move(settings), initial, earlier);
}
Evolution::~Evolution() = default;
Evolution::Evolution(Evolution&&) noexcept = default;
Evolution& Evolution::operator=(Evolution&&) noexcept = default;

bool Evolution::can_ask() const {
  return outcomes_told(*state_) && repeats_told(*state_) && has_room(*state_);
}

const hyp::Genes& Evolution::genes(int trial) const {
  return state_->trials.at(static_cast<std::size_t>(trial)).genes;
}

hyp::Hyperparameters Evolution::hyp(int trial) const {
  return hyp::express(state_->space, genes(trial));
}

const std::optional<Observation>& Evolution::observation(int trial) const {
  return state_->trials.at(static_cast<std::size_t>(trial)).observation;
}

std::vector<std::pair<int, Observation>> Evolution::ended_repeats() const {
  std::vector<std::pair<int, Observation>> ended;
  for (const Repeat& repeat : state_->repeats)
    if (repeat.is_over()) ended.emplace_back(repeat.trial, *repeat.observation);
  return ended;
}

int Evolution::last_epoch(int trial) const {
  return ga::last_epoch(*state_, state_->step_of(trial));
}

const std::map<int, double>& Evolution::rungs(int trial) const {
  return state_->trials.at(static_cast<std::size_t>(trial)).rungs;
}

std::optional<hyp::Trial> Evolution::ask() {
  auto trials = ask(1);
  return trials.empty() ? std::nullopt : std::optional(std::move(trials.front()));
}

std::vector<hyp::Trial> Evolution::ask(int most) {
  EvolutionState& state = *state_;
  std::vector<hyp::Trial> trials;
  while (std::ssize(trials) < most && can_ask()) {
    learn_outcomes(state);
    learn_repeats(state);
    if (ga::pausing(state)) {
      trials.push_back(begin_or_go_on(state));
      continue;
    }
    for (auto& set : next_sets(state, most - static_cast<int>(std::ssize(trials))))
      trials.push_back(hand_out(state, std::move(set)));
  }
  return trials;
}

// Earlier versions did not wait for repeats.
bool Evolution::can_ask_again() {
  if (!outcomes_told(*state_) || !has_room(*state_)) return false;
  learn_outcomes(*state_);
  learn_repeats(*state_);
  return true;
}

std::optional<hyp::Trial> Evolution::ask_again(const hyp::Hyperparameters& hyp, int pause_epoch) {
  EvolutionState& state = *state_;
  if (!can_ask_again()) return std::nullopt;
  hyp::Genes set = hyp::genes_of(state.space, hyp);
  if (ga::pausing(state) && asked() > 0 && pause_epoch == 0 && set == state.start() &&
      start_is_due_again(state))
    state.start_again.push_back(asked());
  return hand_out(state, std::move(set), pause_epoch);
}

std::optional<hyp::Trial> Evolution::ask_again(int trial, int pause_epoch) {
  if (!can_ask_again()) return std::nullopt;
  return go_on(*state_, trial, pause_epoch);
}

void Evolution::tell(const hyp::Rung& rung) {
  EvolutionState& state = *state_;
  Record& record = state.trials.at(static_cast<std::size_t>(rung.trial));
  if (std::isfinite(rung.fitness)) {
    record.rungs[rung.epoch] = rung.fitness;
    return;
  }
  // It says nothing, as 0/0 while P and R are 0: nothing could decide when it goes on. Its end may
  // have a fitness all the same.
  Step& step = state.step_of(rung.trial);
  const bool fits = state.settings.epochs - step.end <= epochs_left();
  if (ga::pausing(state) && !step.is_over() && rung.epoch == step.end && fits) step.goes_on = true;
}

void Evolution::begin_again(int trial, bool anew) {
  Step& step = state_->step_of(trial);
  if (anew != step.anew) step.lost += anew ? step.begin : -step.begin;
  step.anew = anew;
}

void Evolution::cannot_pause() {
  EvolutionState& state = *state_;
  state.settings.pauses = false;
  for (Step& step : state.steps)
    if (!step.is_over()) step.goes_on = true;
}

void Evolution::tell(const hyp::Outcome& outcome) {
  EvolutionState& state = *state_;
  const std::string trial = "trial " + std::to_string(outcome.trial);
  if (outcome.trial < 0 || outcome.trial >= asked()) {
    throw bad_argument(trial + " ended, but was never asked for",
                       "tell of trials that were asked for");
  }
  if (outcome.repeat > 0) {
    if (hyp::ends_trial(outcome)) return end_repeat(state, outcome);
    // It takes these from what the search has left, which may go on later.
    state.known.epochs += hyp::reached_epoch(outcome, state.settings.epochs);
    return;
  }
  Record& record = state.trials[static_cast<std::size_t>(outcome.trial)];
  Step& step = state.step_of(outcome.trial);
  if (step.is_over()) throw bad_argument(trial + " ended twice", "tell of the end of a trial once");

  const int trained = hyp::reached_epoch(outcome, state.settings.epochs);
  // It has not come to where it was before.
  if (step.anew) step.lost += std::min(trained, step.begin) - step.begin;
  if (const auto* paused = std::get_if<hyp::Paused>(&outcome.result)) {
    record.rungs[paused->epoch] = paused->fitness;
    return end_step(state, outcome.trial, paused->epoch);
  }
  const int reached = std::max(trained, step.begin);
  if (!hyp::ends_trial(outcome)) {
    step.lost += reached - step.begin;
    step.anew = false;
    return;
  }
  record.observation = observation_of(outcome);
  ++state.trials_ended;
  end_step(state, outcome.trial, reached);
  if (record.observation->ending != Observation::Ending::completed) return;
  if (!state.best || record.observation->fitness > state.best->fitness) {
    state.best = Individual{outcome.trial, record.genes, record.observation->fitness};
  }
}

std::optional<hyp::Trial> Evolution::next_repeat() const {
  return done() ? ga::next_repeat(*state_) : std::nullopt;
}
hyp::Trial Evolution::begin_repeat(int trial, int number) {
  return ga::begin_repeat(*state_, trial, number);
}

void Evolution::expect(std::optional<int> trainings) {
  state_->expected = trainings;
}
const std::optional<int>& Evolution::expected() const {
  return state_->expected;
}

bool Evolution::screened() const {
  return state_->screened();
}
int Evolution::planned() const {
  return ga::planned(*state_);
}
int Evolution::begun() const {
  return ga::begun(*state_);
}
int Evolution::asked() const {
  return state_->asked();
}
int Evolution::ended() const {
  return state_->trials_ended;
}
bool Evolution::done() const {
  return state_->steps_under_way == 0 && !has_room(*state_);
}
bool Evolution::pausing() const {
  return ga::pausing(*state_);
}
bool Evolution::given_up(int trial) const {
  return state_->known.given_up.contains(trial);
}
int Evolution::epochs_left() const {
  return ga::epochs_left(*state_);
}

void Evolution::extend(int generations, std::optional<int> trials, std::optional<int> max_epochs) {
  check_bounds(generations, trials, max_epochs);
  EvolutionState& state = *state_;
  learn_outcomes(state);  // what it may know where nothing more fits in the bounds so far
  state.settings.generations = generations;
  state.settings.trials = trials;
  state.settings.max_epochs = max_epochs;
  if (max_epochs) state.counts_sets = false;
}

const std::optional<Individual>& Evolution::best() const {
  return state_->best;
}

std::optional<Standing> Evolution::standing() const {
  EvolutionState& state = *state_;
  if (!state.screened()) return std::nullopt;
  if (!state.settings.lag) return standing_now(state);
  History all = history_of_all(state, static_cast<int>(std::ssize(state.repeats)));
  return ga::standing(state.genes, all, state.start());
}

std::vector<Individual> Evolution::population() const {
  const MatingPool& known = state_->known.pool;
  const MatingPool pool = state_->settings.lag ? pool_of_all(*state_) : known;
  return pool.members(elite_count(progress(*state_, asked())));
}

const hyp::Space& Evolution::space() const {
  return state_->space;
}
const Settings& Evolution::settings() const {
  return state_->settings;
}

}  // namespace evolve::ga
