// How the next hyperparameter set is bred: populations, operators and their schedules.
//
// `Evolution` is asked for trials and told how they ended. It does no I/O, reads no clock and owns
// no thread: trial k is a pure function of the run's seed, k, and the outcomes that it may know, so
// replaying the same outcomes in the same order rebuilds the very same state.
#pragma once

#include "ga/classic.hpp"
#include "ga/evolution.hpp"
#include "ga/mating_pool.hpp"
#include "ga/operators.hpp"
#include "ga/rng.hpp"
#include "ga/rungs.hpp"
#include "ga/schedule.hpp"
