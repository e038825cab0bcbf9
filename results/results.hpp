// What is kept and shown of a run.
//
// A `RunDirectory` knows every file name. The `Journal` is the durable state: one JSON line per
// event, one writer, committed before anyone acts on it; everything else in the folder can be
// rebuilt from it. For YOLOv5's users and tools there are evolve.csv, hyp_evolved.yaml and
// evolve_population.yaml, and the plot; a single training leaves results.csv and its plot.
// `results/plots/` draws from what is here, `results/report/` is the page of a run.
#pragma once

#include "results/earlier_run.hpp"
#include "results/event.hpp"
#include "results/evolve_csv.hpp"
#include "results/explanation.hpp"
#include "results/journal.hpp"
#include "results/prometheus.hpp"
#include "results/repeat.hpp"
#include "results/repeats_csv.hpp"
#include "results/report.hpp"
#include "results/run_directory.hpp"
#include "results/run_settings.hpp"
#include "results/timeline.hpp"
#include "results/training_csv.hpp"
#include "results/yaml_files.hpp"
