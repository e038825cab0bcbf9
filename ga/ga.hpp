// How the next hyperparameter set is bred.
//
// `Evolution` is asked for trials and told how they ended. It does no I/O, reads no clock and owns
// no thread: trial k is a pure function of the run's seed, k, and the outcomes that it may know, so
// replaying the same outcomes in the same order rebuilds the very same state.
//
// - classic/: YOLOv5's search, and the operators that both searches have.
// - screened/: the default, whose children are bred by unit_operators where the start may be good
//   (prior), and judged by an acquisition function.
// - model/: its Gaussian process. Sets are points of the unit_cube; history has what it learns
//   from, observation how an outcome enters, kernel and fit its covariances, curves what trainings
//   gain until their end, basis what is expected beforehand, earlier what other runs say; surrogate
//   predicts.
// - epochs/: trainings that end early, stopped (early_stopping) or paused and continued
//   (freeze_thaw).
// - random/: a generator for each trial (rng), points that are spread evenly (sobol).
// - Here: Evolution, and what comes of it: recommendation, importance. Its inside are values
//   (evolution_state) and what is done with them: steps, knowledge, breeding, retraining, pauses,
//   repeats.
#pragma once

#include "ga/classic/classic.hpp"
#include "ga/classic/mating_pool.hpp"
#include "ga/classic/operators.hpp"
#include "ga/classic/schedule.hpp"
#include "ga/epochs/early_stopping.hpp"
#include "ga/evolution.hpp"
#include "ga/importance.hpp"
#include "ga/random/rng.hpp"
