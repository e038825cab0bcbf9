// The inside of the evolution: what it knows, and how the next trial is made of that. Nobody but
// evolution.cpp needs it.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "ga/evolution.hpp"
#include "ga/model/basis.hpp"
#include "ga/model/history.hpp"
#include "ga/model/observation.hpp"
#include "ga/repeats.hpp"
#include "ga/rng.hpp"
#include "ga/screened/visited.hpp"

namespace evolve::ga {

// What is kept of a trial that has been handed out.
struct Record {
  hyp::Genes genes;
  std::optional<Observation> observation = {};  // of a trial that has ended
  std::map<int, double> rungs = {};             // the fitness after an epoch, before the end
  std::size_t step = 0;                         // the latest one
};

// What one ask gave: a trial, and which of its epochs.
struct Step {
  int trial = 0;
  int begin = 0, end = 0;  // trained are the epochs after the first up to the second
  bool over = false;
  int reached = 0;  // once it is over
};

struct Evolution::State {
  hyp::Space space;
  Settings settings;
  std::vector<hyp::Gene> genes;  // the evolved ones
  Visited visited;
  std::vector<hyp::Genes> given;  // what the first trials are: the start, then the initial sets
  std::vector<Record> records;    // of the trials handed out, by number
  std::vector<Step> steps;
  int ended = 0;
  int under_way = 0;             // steps
  int epochs = 0;                // of all steps as they were asked for, or as they turned out
  MatingPool pool;               // what the classic search may know
  History history;               // what the screened search may know
  EarlierRuns earlier;           // and what it knew before
  Basis basis;                   // and expects therefore
  int learnt = 0;                // with a lag: breeding knows the steps below this number
  std::vector<Repeat> repeats;   // those that have begun, in that order
  int learnt_repeats = 0;        // with a lag: breeding knows so many of them
  std::set<int> pending = {};    // handed out, and breeding does not know how they ended
  std::map<int, int> paused;     // trials that breeding knows to be paused, and after which epoch
  std::map<int, int> given_up;   // the same of those that do not go on
  bool whole;                    // sets are what is counted: each is trained to its end
  std::vector<int> start_again;  // trials of the start, but the first
  std::optional<Individual> best;

  State(hyp::Space space_, Settings settings_, const std::vector<hyp::Hyperparameters>& initial,
        std::span<const EarlierRun> earlier_runs);

  bool screened() const { return settings.search == "screened"; }
  int planned() const;
  /// Share of the run that is behind trial `number`, in [0, 1].
  double progress(int number) const;
  const Step& step(int number) const { return steps[static_cast<std::size_t>(number)]; }
  /// With a lag: the steps below this number must be over before the next one is handed out.
  int must_know() const;
  /// All that the next step must know has been told.
  bool outcomes_told() const;
  /// With a lag: no repeat is under way. A search that goes on knows how all before it ended.
  bool repeats_told() const;
  /// Something may be handed out, once the next step knows what has been told.
  bool has_room() const;
  /// With a lag: lets breeding know all that the next step may know.
  void learn_outcomes();
  void learn_repeats();
  /// Lets breeding know how a step ended.
  void learn(const Step& step);
  /// Adds a step that is over to `to`.
  void offer(const Step& step, History& to) const;
  /// All that has been told of trials, and of the first so many repeats.
  History told(int first_repeats) const;
  std::optional<Standing> standing(History& known, const std::set<int>& repeating = {}) const;
  /// Which trial to train once more, after the search.
  std::optional<int> trial_to_repeat();
  hyp::Trial repeat_of(int trial, int number) const;
  void end_repeat(const hyp::Outcome& outcome);
  /// Of too many paused trials the one that looks worst does not go on.
  void give_up_one();
  /// The step of that trial is over; it has been trained for so many epochs in all.
  void end_step(int trial, int reached);
  bool pausing() const;
  /// See Evolution::pause_epochs.
  std::vector<int> pause_epochs() const;
  int epochs_left() const;
  bool new_trial_fits() const { return new_trial_fits(epochs_left()); }
  bool new_trial_fits(int epochs_left) const;
  /// A paused trial can be trained to its end.
  bool paused_fits(int epochs_left) const;
  /// Adds trial `number` to `to`, if it completed.
  void offer(int number, MatingPool& to) const;
  /// The sets of the trials from `number` on: one, or `most` at the most that one model proposes.
  std::vector<hyp::Genes> breed(int number, int most);
  /// The set that trial `number` trains again, if it does.
  std::optional<hyp::Genes> set_to_train_again(int number);
  /// Trial `number` may train a set again.
  bool may_train_again(int number) const;
  /// Trial `number` belongs to those at the end that decide between the best sets.
  bool decides(int number) const;
  bool is_start(int trial) const;
  /// Breeding knows that a trial, another training of the start, ended as trial 0 did.
  bool start_agrees_with(int trial) const;
  /// Where trainings are paused: the trial to go on with, or the next one.
  hyp::Trial thaw();
  hyp::Trial thaw_without_model();
  bool start_is_due_again() const;
  hyp::Genes breed_classic(int number, Rng& rng) const;
  /// Something is known that trial `number` can be bred from.
  bool has_model(int number) const;
  /// One for each generator of random numbers: of the trials from `number` on.
  std::vector<hyp::Genes> breed_screened(int number, std::span<Rng> rngs);
  /// How many trials from `number` on one model may propose, `most` at the most.
  int bred_together(int number, int most);
  /// Breeding knows of a trial that had less than half of what the start had, in the end or at a
  /// look, or failed where the start did not.
  bool far_worse_known() const;
  /// What is trained while there is no model.
  hyp::Genes design(int number) const;
  hyp::Genes unseen(hyp::Genes child, double t, Rng& rng) const;
  /// The next trial is one of these genes.
  hyp::Trial hand_out(hyp::Genes set, int pause_epoch = 0);
  /// A paused trial goes on.
  hyp::Trial go_on(int trial, int pause_epoch);
  hyp::Trial begin_step(int trial, int begin, int pause_epoch);
};

}  // namespace evolve::ga
