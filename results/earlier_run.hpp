// Earlier runs that a new one learns from.
#pragma once

#include <filesystem>
#include <vector>

#include "hyp/fitness.hpp"
#include "hyp/space.hpp"
#include "results/run_settings.hpp"

namespace evolve::results {

/// The trials of an earlier run: the folder of a run of ours (its journal, perhaps one that is
/// being written), an evolve.csv of ours or of YOLOv5's (its choices are numbers: those of the run
/// in whose folder it lies, else of `space`), a tune_results of Ultralytics', or a folder with one
/// of them. Of each completed trial (and repeat) the evolved genes of `space`, a
/// name that it does not have at its start, and its fitness by this run's expression (of
/// Ultralytics' tuner: the tuner's own); of a trial that failed for good, or whose fitness is not
/// finite, the set. Trials that were stopped or paused say nothing of their end and are left out,
/// and sets outside the space's bounds are counted only; of more than 200 trials the best 100 stay
/// and an even sample of the others. Throws `Error` when there is no such run, it cannot be read,
/// or no completed trial of it lies in the space.
EarlierRun read_earlier_run(const std::filesystem::path& path, const hyp::Space& space,
                            const hyp::Fitness& fitness);

/// What a run is told apart by: its folder, where one of the files that are read of it is named.
std::filesystem::path run_of(const std::filesystem::path& path);

/// The runs that come with evolve (results/known): what YOLOv5's 29 hyperparameters gave on the
/// embedded data set "shapes". None unless all of them evolve in `space`.
std::vector<EarlierRun> known_runs(const hyp::Space& space, const hyp::Fitness& fitness);

}  // namespace evolve::results
