// What a hyperparameter set is: the nouns that every other folder says.
//
// A `Space` lists the genes: name, kind, bounds, whether they evolve. An individual's `Genes` are
// one raw value per evolved gene; `express()` turns them into the `Hyperparameters` that a trainer
// receives. A `Trial` is one training of one set; it ends with one `Outcome`. `Metrics` are the
// seven numbers of a finished training, and `Fitness` is the only place where they become one.
#pragma once

#include "hyp/fitness.hpp"
#include "hyp/hyp_file.hpp"
#include "hyp/hyperparameters.hpp"
#include "hyp/metrics.hpp"
#include "hyp/outcome.hpp"
#include "hyp/run_space.hpp"
#include "hyp/rung.hpp"
#include "hyp/space.hpp"
#include "hyp/space_file.hpp"
#include "hyp/trial.hpp"
#include "hyp/trial_folder.hpp"
