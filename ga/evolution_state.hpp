// The inside of the evolution, as values: what the run is, what happened, and what breeding may
// know of that. What is done with them stands in
//
// - steps: trials are handed out, go on, and end;
// - knowledge: breeding gets to know how steps ended, with a lag not all that was told;
// - breeding: the next sets; retraining: a set that is trained again in their place;
// - pauses: where trainings are paused, what is trained next;
// - repeats: completed trials that are trained once more, after the search.
//
// Nobody but these and evolution.cpp needs it.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "ga/evolution.hpp"
#include "ga/model/basis.hpp"
#include "ga/model/history.hpp"
#include "ga/model/observation.hpp"
#include "ga/screened/visited.hpp"

namespace evolve::ga {

/// What is kept of a trial that has been handed out.
struct Record {
  hyp::Genes genes;
  /// The observation of a trial that has ended.
  std::optional<Observation> observation = {};
  /// The fitness after an epoch, before the end.
  std::map<int, double> rungs = {};
  /// The number of its latest step.
  int step = 0;
};

/// What one ask gave: a trial, and which of its epochs.
struct Step {
  int trial = 0;
  /// Asked for are the epochs after the first up to the second.
  int begin = 0, end = 0;
  /// The trial is not paused there after all, but trained to its last epoch.
  bool goes_on = false;
  /// Epochs of attempts that failed and were tried again, and those up to `begin` of one that is
  /// trained anew.
  int lost = 0;
  bool anew = false;
  /// After which of them it tells its fitness. A rung that another attempt at it had besides must
  /// not count: with a lag the same trials come out whatever was killed.
  std::vector<int> rungs = {};
  /// The last epoch that was trained, once the step is over.
  std::optional<int> reached = {};

  bool is_over() const { return reached.has_value(); }
};

/// A completed trial trained once more, after the search.
struct Repeat {
  int trial = 0;
  /// From 1: which one of that trial.
  int number = 1;
  /// Once it is over.
  std::optional<Observation> observation = {};

  bool is_over() const { return observation.has_value(); }
};

/// What a search knows: without a lag, all that has been told; with one, the part of it that the
/// next step may know.
struct Knowledge {
  /// With a lag: how many of the first steps and repeats are known.
  int steps = 0, repeats = 0;
  /// For the classic search, and for the screened one.
  MatingPool pool;
  History history;
  /// What so many outcomes said of the best sets, see standing_now().
  std::optional<Judgement> judged = {};
  Eigen::Index judged_outcomes = 0;
  /// Trials of which the latest step is not known to be over.
  std::set<int> pending = {};
  /// The lowest number of a completed trial that has learnt something: its fitness is not 0.
  std::optional<int> first_learnt = {};
  /// Paused trials that may go on, and after which epoch they do; and those that will not.
  std::map<int, int> paused = {}, given_up = {};
  /// Epochs of all steps, as many as they took, or where that is not known as many as they were
  /// asked for; and those of failed attempts at repeats.
  int epochs = 0;
};

struct EvolutionState {
  hyp::Space space;
  Settings settings;
  /// The run counts sets, not epochs: each is trained to its end.
  bool counts_sets;
  /// The evolved ones.
  std::vector<hyp::Gene> genes;
  /// The start, then the initial sets: what the first trials are.
  std::vector<hyp::Genes> first_sets = {};
  /// What was known before, and what the model expects therefore.
  EarlierRuns earlier;
  Basis basis;

  /// So many trainings there will be, where the settings have more.
  std::optional<int> expected = {};

  /// The trials handed out, by number, and their steps in the order in which they were.
  std::vector<Record> trials = {};
  std::vector<Step> steps = {};
  int trials_ended = 0, steps_under_way = 0;
  /// The repeats that have begun, in that order.
  std::vector<Repeat> repeats = {};
  std::optional<Individual> best = {};
  /// Of the trials, and of the first sets that are not trials yet.
  Visited visited;
  /// Where trainings are paused: the trials that train the start again.
  std::vector<int> start_again = {};

  Knowledge known;

  EvolutionState(hyp::Space run_space, Settings run_settings,
                 const std::vector<hyp::Hyperparameters>& initial,
                 std::span<const EarlierRun> earlier_runs);
  // The basis refers to `earlier` beside it.
  EvolutionState(const EvolutionState&) = delete;
  EvolutionState& operator=(const EvolutionState&) = delete;

  int asked() const { return static_cast<int>(trials.size()); }
  bool screened() const { return settings.search == "screened"; }
  const Record& trial(int number) const { return trials.at(static_cast<std::size_t>(number)); }
  const hyp::Genes& start() const { return first_sets.front(); }
  /// The latest one of that trial.
  Step& step_of(int number) { return steps[static_cast<std::size_t>(trial(number).step)]; }
  const Step& step_of(int number) const {
    return steps[static_cast<std::size_t>(trial(number).step)];
  }
};

}  // namespace evolve::ga
