// How the next hyperparameter set is bred.
//
// `Evolution` is asked for trials and told how they ended. It does no I/O, reads no clock and owns
// no thread: trial k is a pure function of the run's seed, k, and the outcomes that it may know, so
// replaying the same outcomes in the same order rebuilds the very same state.
//
// - The classic search, YOLOv5's: classic, mating_pool, operators, schedule.
// - The screened search, the default: screened, whose children are bred by unit_operators in the
//   unit_cube, where the start may be good (prior), and judged by an acquisition function
//   (expected_improvement).
// - Its model, a Gaussian process: history has what it learns from, observation how an outcome
//   enters, kernel and fit its covariances, basis what it expects beforehand, earlier what other
//   runs say; surrogate predicts.
// - Trainings that end early: rungs (stopped), thaw (paused and continued) by learning curves.
// - What comes of it: recommendation, importance.
#pragma once

#include "ga/classic.hpp"
#include "ga/evolution.hpp"
#include "ga/mating_pool.hpp"
#include "ga/operators.hpp"
#include "ga/rng.hpp"
#include "ga/rungs.hpp"
#include "ga/schedule.hpp"
