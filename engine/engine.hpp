// The engine: a whole evolution over a pool of devices, as a library.
//
// `Settings` say what is to run. `Run` is the heart: it asks the search for trials while slots are
// free, hands them to workers, and records what happens as events. `RunState` is the fold of those
// events; `Run` changes it in no other way, resuming folds the journal into it, and whoever
// explains or reports a run does the same. `Fleet` knows which devices can take a trial, `RunFiles`
// keeps the files for people, an `Observer` watches.
//
// It installs no signal handler and knows no screen: a `core::StopSource` stops it, and several may
// run in one process, each in a thread of its own, where none asks a driver (devices/probe.hpp
// forks).
#pragma once

#include "engine/explanation.hpp"
#include "engine/extension.hpp"
#include "engine/fleet.hpp"
#include "engine/fold.hpp"
#include "engine/launcher.hpp"
#include "engine/longer_trainings.hpp"
#include "engine/observer.hpp"
#include "engine/repeats.hpp"
#include "engine/report.hpp"
#include "engine/run.hpp"
#include "engine/run_facts.hpp"
#include "engine/run_files.hpp"
#include "engine/run_state.hpp"
#include "engine/search_bounds.hpp"
#include "engine/settings.hpp"
