#include "ga/evolution_state.hpp"

#include <utility>

#include "core/error.hpp"

namespace evolve::ga {
namespace {

std::vector<hyp::Gene> genes_of_search(const hyp::Space& space) {
  for (const auto& gene : space.genes)
    if (!hyp::is_sound(gene) || space.find(gene.name) != &gene)
      throw bad_argument("hyperparameter " + gene.name +
                             ": its bounds or its start make no sense, or it is there twice",
                         "give it bounds, a start within them, and a name of its own");
  auto genes = hyp::evolved_genes(space);
  if (genes.empty()) {
    throw bad_argument("no gene evolves",
                       "let at least one evolve in the space file or by --evolve-genes");
  }
  return genes;
}

}  // namespace

EvolutionState::EvolutionState(hyp::Space run_space, Settings run_settings,
                               const std::vector<hyp::Hyperparameters>& initial,
                               std::span<const EarlierRun> earlier_runs)
    : space(std::move(run_space)),
      settings(std::move(run_settings)),
      counts_sets(settings.trials && !settings.max_epochs),
      genes(genes_of_search(space)),
      earlier(genes, earlier_runs),
      basis(genes, earlier),
      visited(genes),
      known{.pool = MatingPool(settings.population), .history = History(genes)} {
  hyp::Genes start = hyp::genes_of(space, {});
  visited.insert(start);
  first_sets.push_back(std::move(start));
  for (const hyp::Hyperparameters& hyp : initial) {
    hyp::Genes set = hyp::genes_of(space, hyp);
    if (visited.insert(set)) first_sets.push_back(std::move(set));
  }
}

}  // namespace evolve::ga
