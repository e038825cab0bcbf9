// What is searched, and what is known of it before the first trial.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/evolve/evolve_options.hpp"
#include "hyp/hyp.hpp"
#include "results/run_settings.hpp"

namespace evolve::cli {

/// The genes, with their bounds and where they start: --space or the trainer's own table, --hyp,
/// --evolve-genes. Throws `Error` for what the trainer cannot be given, and where no gene evolves.
hyp::Space space_of(const EvolveOptions& options);

/// The sets to begin with besides the start: --resume_evolve, then --evolve_population. Throws
/// `Error` for values that this space cannot have.
std::vector<hyp::Hyperparameters> initial_of(const EvolveOptions& options, const hyp::Space& space);

/// Where a value of a gene is written: its start in --hyp, if that has one, others in --space;
/// nothing: in the trainer's own tables.
std::optional<Where> where_written(const EvolveOptions& options, const std::string& gene,
                                   bool is_start);

/// Throws `Error` for an --optimizer that no trial would have.
void check_one_optimizer(const EvolveOptions& options, const hyp::Space& space);

/// Which options the trainer gets as hyperparameters instead.
std::optional<std::string> note_on_options(const EvolveOptions& options, const hyp::Space& space);

/// Which genes of --space start, or stay, in the middle of their ranges, because nothing says where
/// else.
std::vector<std::string> notes_on_start(const EvolveOptions& options, const hyp::Space& space);

/// What becomes of sets that are not as this space has them: YOLOv5 moves values to the bounds too,
/// and evolves no other name.
std::vector<std::string> notes_on(const std::vector<hyp::Hyperparameters>& initial,
                                  const hyp::Space& space);

/// What other runs have taught: those that --from names, else those that come with evolve where
/// these say something about this run. Throws `Error` for a run that cannot be read.
std::vector<results::EarlierRun> earlier_of(const EvolveOptions& options, const hyp::Space& space);

}  // namespace evolve::cli
