#include "ga/evolution_state.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <utility>

#include "core/error.hpp"
#include "ga/classic/classic.hpp"
#include "ga/classic/operators.hpp"
#include "ga/classic/schedule.hpp"
#include "ga/screened/prior.hpp"
#include "ga/screened/screened.hpp"

namespace evolve::ga {
namespace {

// Paused trials that may go on. Each takes space on a disk.
constexpr int most_waiting = 40;

// Every claim compares with the start: it is trained with each of the first seeds, early enough to
// tell how much of a fitness is luck, and late enough to cost a search of ten trainings nothing.
// Where the first two agree to the last digit the third follows at once: two may agree by chance, a
// table of trainings has a few seeds only, and three tell that there is no luck.
constexpr int second_start = 13, early_third_start = 14, third_start = 26;
static_assert(second_start % rotating_seeds == 1 && early_third_start % rotating_seeds == 2 &&
              third_start % rotating_seeds == 2);

std::vector<hyp::Gene> genes_of_search(const hyp::Space& space) {
  auto genes = hyp::evolved_genes(space);
  if (genes.empty()) {
    throw bad_argument("no gene evolves",
                       "let at least one evolve in the space file or by --evolve-genes");
  }
  return genes;
}

}  // namespace

Evolution::State::State(hyp::Space space_, Settings settings_,
                        const std::vector<hyp::Hyperparameters>& initial,
                        std::span<const EarlierRun> earlier_runs)
    : space(std::move(space_)),
      settings(std::move(settings_)),
      genes(genes_of_search(space)),
      visited(genes),
      pool(settings.population),
      history(genes),
      earlier(genes, earlier_runs),
      basis(genes, earlier),
      whole(settings.trials && !settings.max_epochs) {
  hyp::Genes start = hyp::genes_of(space, {});
  visited.insert(start);
  given.push_back(std::move(start));
  for (const hyp::Hyperparameters& hyp : initial) {
    hyp::Genes set = hyp::genes_of(space, hyp);
    if (visited.insert(set)) given.push_back(std::move(set));
  }
}

int Evolution::State::planned() const {
  return static_cast<int>(std::max<std::int64_t>(most_trials(settings), std::ssize(records)));
}

double Evolution::State::progress(int number) const {
  const int generation = number / settings.population;
  return std::min(1.0, static_cast<double>(generation) / settings.generations);
}

int Evolution::State::must_know() const {
  return settings.lag ? std::max(0, static_cast<int>(std::ssize(steps)) - *settings.lag + 1) : 0;
}

bool Evolution::State::outcomes_told() const {
  for (int number = learnt; number < must_know(); ++number)
    if (!step(number).over) return false;
  return true;
}

bool Evolution::State::repeats_told() const {
  return !settings.lag ||
         std::ranges::all_of(repeats, [](const Repeat& one) { return one.end.has_value(); });
}

// With a lag, where what is known leaves no room for anything, the next outcomes may: they are
// learnt one by one, so that what follows still depends on nothing but outcomes.
bool Evolution::State::has_room() const {
  int left = epochs_left();
  if (new_trial_fits(left) || paused_fits(left)) return true;
  if (!settings.lag) return false;
  const int end = settings.max_epochs ? static_cast<int>(std::ssize(steps)) : must_know();
  for (int number = learnt; number < end && step(number).over; ++number) {
    const auto& [trial, begin, promised, over, reached] = step(number);
    left += promised - reached;
    const bool is_paused = !records[static_cast<std::size_t>(trial)].observation;
    if (new_trial_fits(left) || paused_fits(left) ||
        (pausing() && is_paused && settings.epochs - reached <= left))
      return true;
  }
  return false;
}

void Evolution::State::learn_outcomes() {
  if (!settings.lag) return;  // told is learnt
  const auto is_over = [&] { return learnt < std::ssize(steps) && step(learnt).over; };
  while (learnt < must_know() && is_over()) learn(step(learnt++));
  if (!settings.max_epochs) return;
  while (!new_trial_fits() && !paused_fits(epochs_left()) && is_over()) learn(step(learnt++));
}

void Evolution::State::learn_repeats() {
  if (!settings.lag || !screened()) return;
  for (; learnt_repeats < std::ssize(repeats); ++learnt_repeats) {
    const Repeat& repeat = repeats[static_cast<std::size_t>(learnt_repeats)];
    if (!repeat.end) return;
    history.add(records[static_cast<std::size_t>(repeat.trial)].genes, *repeat.end);
  }
}

void Evolution::State::learn(const Step& step) {
  pending.erase(step.trial);
  offer(step.trial, pool);
  if (screened()) offer(step, history);
  if (!records[static_cast<std::size_t>(step.trial)].observation) paused[step.trial] = step.reached;
  if (std::ssize(paused) > most_waiting) give_up_one();
  epochs += step.reached - step.end;
}

void Evolution::State::offer(const Step& step, History& to) const {
  const Record& record = records[static_cast<std::size_t>(step.trial)];
  const auto looks = pause_epochs();
  for (const auto& [epoch, fitness] : record.rungs) {
    if (epoch <= step.begin || epoch > step.reached || !std::ranges::count(looks, epoch)) continue;
    to.add(record.genes, {.ending = Observation::Ending::at_rung,
                          .fitness = fitness,
                          .trial = step.trial,
                          .left = 1 - static_cast<double>(epoch) / settings.epochs});
  }
  if (record.observation) to.add(record.genes, *record.observation);
}

History Evolution::State::told(int first_repeats) const {
  History all = history;
  for (int number = learnt; number < std::ssize(steps); ++number)
    if (step(number).over) offer(step(number), all);
  for (int number = learnt_repeats; number < first_repeats; ++number) {
    const Repeat& repeat = repeats[static_cast<std::size_t>(number)];
    if (repeat.end) all.add(records[static_cast<std::size_t>(repeat.trial)].genes, *repeat.end);
  }
  return all;
}

std::optional<Standing> Evolution::State::standing(History& known,
                                                   const std::set<int>& repeating) const {
  if (!screened()) return std::nullopt;
  const std::vector<int> trials(repeating.begin(), repeating.end());
  return ga::standing(genes, known, given.front(), trials);
}

// With a lag repeat r knows the first r - N, and takes the later ones to be under way. Where that
// leaves nothing to choose from, it knows one more.
std::optional<int> Evolution::State::trial_to_repeat() {
  std::map<int, double> fitness;
  for (int trial = 0; trial < std::ssize(records); ++trial) {
    const auto& end = records[static_cast<std::size_t>(trial)].observation;
    if (end && end->ending == Observation::Ending::completed) fitness[trial] = end->fitness;
  }
  const auto choose = [&](History& known, const std::set<int>& repeating) {
    return ga::trial_to_repeat(standing(known, repeating), fitness, repeats, repeating);
  };
  if (!settings.lag) {
    std::set<int> repeating;
    for (const Repeat& repeat : repeats)
      if (!repeat.end) repeating.insert(repeat.trial);
    return choose(history, repeating);
  }
  const auto begun = static_cast<int>(std::ssize(repeats));
  const auto has_ended = [&](int number) {
    return repeats[static_cast<std::size_t>(number)].end.has_value();
  };
  int known = 0;
  for (; known < begun + 1 - *settings.lag; ++known)
    if (!has_ended(known)) return std::nullopt;
  for (known = std::max(known, learnt_repeats);; ++known) {
    History history_then = told(known);
    const auto later = std::span(repeats).subspan(static_cast<std::size_t>(known));
    const auto trial = choose(history_then, trials_of(later));
    if (trial || known == begun || !has_ended(known)) return trial;
  }
}

hyp::Trial Evolution::State::repeat_of(int trial, int number) const {
  return {.number = trial,
          .hyp = hyp::express(space, records[static_cast<std::size_t>(trial)].genes),
          .seed = training_seed(settings.seed, seed_number(trial, number)),
          .repeat = number};
}

void Evolution::State::end_repeat(const hyp::Outcome& outcome) {
  const auto repeat = std::ranges::find_if(repeats, [&](const Repeat& one) {
    return one.trial == outcome.trial && one.number == outcome.repeat && !one.end;
  });
  if (repeat == repeats.end()) {
    throw bad_argument("repeat " + std::to_string(outcome.repeat) + " of trial " +
                           std::to_string(outcome.trial) + " ended, but is not under way",
                       "tell of the end of a repeat that has begun, once");
  }
  repeat->end = observation_of(outcome);
  if (!settings.lag && screened())
    history.add(records[static_cast<std::size_t>(outcome.trial)].genes, *repeat->end);
}

void Evolution::State::end_step(int trial, int reached) {
  Step& step = steps[records[static_cast<std::size_t>(trial)].step];
  step.over = true;
  step.reached = reached;
  --under_way;
  if (!settings.lag) learn(step);
}

int Evolution::State::epochs_left() const {
  return settings.max_epochs.value_or(std::numeric_limits<int>::max()) - epochs;
}

bool Evolution::State::new_trial_fits(int epochs_left) const {
  return std::ssize(records) < planned() &&
         (!settings.max_epochs || epochs_left >= settings.epochs);
}

void Evolution::State::offer(int number, MatingPool& to) const {
  const Record& record = records[static_cast<std::size_t>(number)];
  if (record.observation && record.observation->ending == Observation::Ending::completed) {
    to.add({number, record.genes, record.observation->fitness});
  }
}

std::vector<hyp::Genes> Evolution::State::breed(int number, int most) {
  if (static_cast<std::size_t>(number) < given.size())
    return {given[static_cast<std::size_t>(number)]};
  if (auto again = set_to_train_again(number)) return {*std::move(again)};
  std::vector<Rng> rngs = {breeding_rng(settings.seed, number)};
  if (!screened()) return {unseen(breed_classic(number, rngs[0]), progress(number), rngs[0])};
  const int count = bred_together(number, most);
  for (int i = 1; i < count; ++i) rngs.push_back(breeding_rng(settings.seed, number + i));
  auto children = breed_screened(number, rngs);
  for (std::size_t i = 0; i < children.size(); ++i)
    children[i] = unseen(std::move(children[i]), progress(number + static_cast<int>(i)), rngs[i]);
  return children;
}

int Evolution::State::bred_together(int number, int most) {
  if (settings.lag || !has_model(number)) return 1;
  int together = std::min(most, planned() - number);
  if (settings.max_epochs) together = std::min(together, epochs_left() / settings.epochs);
  for (int i = 1; i < together; ++i)
    if (may_train_again(number + i)) return i;
  return together;
}

bool Evolution::State::decides(int number) const {
  constexpr int least = 45, share = 5, most = 50;
  int all = planned();
  if (settings.max_epochs) all = std::min(all, *settings.max_epochs / settings.epochs);
  return number >= least && number >= all - std::min(all / share, most);
}

bool Evolution::State::may_train_again(int number) const {
  if (!screened() || pausing()) return false;
  return number == second_start || number == early_third_start || number == third_start ||
         decides(number);
}

// The best of many noisy trainings is the luckiest, so the last ones are of the two sets that may
// be best, whichever is known less; not with a seed that it has had.
std::optional<hyp::Genes> Evolution::State::set_to_train_again(int number) {
  if (!may_train_again(number)) return std::nullopt;
  const auto start = std::optional(given.front());
  if (number == second_start) return start;
  if (number == early_third_start) return start_agrees_with(second_start) ? start : std::nullopt;
  if (number == third_start) return is_start(early_third_start) ? std::nullopt : start;
  if (start_agrees_with(second_start) && start_agrees_with(early_third_start)) return std::nullopt;
  std::vector<int> repeating;
  for (const int trial : pending) {
    const auto& set = records[static_cast<std::size_t>(trial)].genes;
    if (const Observation* first = history.first_completed(set)) repeating.push_back(first->trial);
  }
  const auto known = ga::standing(genes, history, given.front(), repeating);
  if (!known || known->doubt <= worth_deciding || !known->undecided) return std::nullopt;
  const auto& set = records[static_cast<std::size_t>(*known->undecided)].genes;
  for (int trial = number % rotating_seeds; trial < number; trial += rotating_seeds) {
    if (records[static_cast<std::size_t>(trial)].genes == set) return std::nullopt;
  }
  return set;
}

bool Evolution::State::is_start(int trial) const {
  return records[static_cast<std::size_t>(trial)].genes == given.front();
}

bool Evolution::State::start_agrees_with(int trial) const {
  const auto& first = records.front().observation;
  const auto& again = records[static_cast<std::size_t>(trial)].observation;
  if (!is_start(trial) || pending.contains(0) || pending.contains(trial) || !first || !again)
    return false;
  return first->ending == again->ending && first->fitness == again->fitness;
}

hyp::Genes Evolution::State::breed_classic(int number, Rng& rng) const {
  const double t = progress(number);
  const std::vector<Individual> parents = pool.members(elite_count(t));
  const bool random = number < settings.population || parents.empty();
  return random ? random_genes(genes, rng) : classic_child(genes, parents, t, rng);
}

bool Evolution::State::has_model(int number) const {
  constexpr int least_known = 3;
  if (pausing()) return true;
  return earlier.count() > 0 ? history.size() >= least_known
                             : number >= design_size && history.completed() >= least_known;
}

std::vector<hyp::Genes> Evolution::State::breed_screened(int number, std::span<Rng> rngs) {
  if (!has_model(number)) return {design(number)};
  std::vector<hyp::Genes> open;
  for (const int trial : pending) open.push_back(records[static_cast<std::size_t>(trial)].genes);
  return screened_children(genes, history, basis, open, visited, rngs);
}

hyp::Genes Evolution::State::design(int number) const {
  const auto place = static_cast<std::size_t>(number) - given.size();
  if (place < earlier.portfolio().size()) return earlier.portfolio()[place];
  if (!far_worse_known()) return design_genes(genes, settings.seed, number);
  Rng rng = breeding_rng(settings.seed, number);
  return varied_start(genes, rng);
}

bool Evolution::State::far_worse_known() const {
  constexpr double much = 0.5;
  using Ending = Observation::Ending;
  const Record& start = records.front();
  // Of a fitness below 0 nobody can say what half of it is.
  if (pending.contains(0) || !start.observation || start.observation->ending != Ending::completed ||
      start.observation->fitness <= 0)
    return false;
  const auto looks = pause_epochs();
  const auto far_worse = [&](const Record& record) {
    const auto& end = record.observation;
    if (end && end->ending == Ending::failed) return true;
    if (end && end->ending == Ending::completed)
      return end->fitness < much * start.observation->fitness;
    return std::ranges::any_of(looks, [&](int epoch) {
      const auto seen = record.rungs.find(epoch), then = start.rungs.find(epoch);
      return seen != record.rungs.end() && then != start.rungs.end() &&
             seen->second < much * then->second;
    });
  };
  for (int trial = 1; trial < std::ssize(records); ++trial)
    if (!pending.contains(trial) && far_worse(records[static_cast<std::size_t>(trial)]))
      return true;
  return false;
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

hyp::Trial Evolution::State::hand_out(hyp::Genes set, int pause_epoch) {
  visited.insert(set);
  records.push_back({std::move(set)});
  return begin_step(static_cast<int>(records.size()) - 1, 0, pause_epoch);
}

hyp::Trial Evolution::State::go_on(int trial, int pause_epoch) {
  auto& from = given_up.contains(trial) ? given_up : paused;
  const auto found = from.find(trial);
  if (found == from.end()) {
    throw bad_argument("trial " + std::to_string(trial) + " goes on, but is not paused",
                       "go on with trials that are paused");
  }
  const int begin = found->second;
  from.erase(found);
  return begin_step(trial, begin, pause_epoch);
}

hyp::Trial Evolution::State::begin_step(int trial, int begin, int pause_epoch) {
  Record& record = records[static_cast<std::size_t>(trial)];
  record.step = steps.size();
  steps.push_back(
      {.trial = trial, .begin = begin, .end = pause_epoch > 0 ? pause_epoch : settings.epochs});
  epochs += steps.back().end - begin;
  ++under_way;
  pending.insert(trial);
  return {.number = trial,
          .generation = trial / settings.population,
          .hyp = hyp::express(space, record.genes),
          .seed = training_seed(settings.seed, seed_number(trial, 0)),
          .start_epoch = begin,
          .pause_epoch = pause_epoch};
}

}  // namespace evolve::ga
