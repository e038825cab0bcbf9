// What the trials of a run, and its repeats, tell as they are.
#pragma once

#include <vector>

#include "engine/run_state.hpp"

namespace evolve::engine {

/// Whether one set was trained in both trials.
bool have_one_set(const RunState& state, int trial, int other);

/// The trainings of a trial's set, in whichever trials and repeats.
struct Trainings {
  /// What those gave that completed; one that came again bit for bit once.
  std::vector<double> fitness;
  int failed = 0;

  int ended() const { return static_cast<int>(fitness.size()) + failed; }
};
Trainings trainings_of(const RunState& state, int trial);

/// How many of the set's trainings are so far below what is expected of it, four times the standard
/// deviation of one training, that they collapsed: the expectation is for those that do not.
int collapsed(const Trainings& trainings, const ga::Candidate& set, double training_sd);

/// Whether all of several completed trials have the same fitness: nothing is known of any set then.
bool all_alike(const RunState& state);

/// Whether a set was trained with two seeds and learnt something both times: else nobody knows what
/// another seed does.
bool luck_was_seen(const RunState& state);

}  // namespace evolve::engine
