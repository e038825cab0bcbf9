#include "ga/visited.hpp"

#include <cmath>
#include <limits>
#include <utility>

#include "ga/operators.hpp"

namespace evolve::ga {
namespace {

double count_values(const hyp::Gene& gene) {
  if (gene.low == gene.high) return 1;
  if (gene.kind == hyp::Gene::Kind::real) return std::numeric_limits<double>::infinity();
  return gene.high - gene.low + 1;
}

double count_sets(const std::vector<hyp::Gene>& space) {
  double count = 1;
  for (const hyp::Gene& gene : space) count *= count_values(gene);
  return count;
}

// The next set of a finite space in counting order, the last gene being the fastest; after the last
// set comes the first.
void advance(const std::vector<hyp::Gene>& space, hyp::Genes& genes) {
  for (std::size_t i = space.size(); i-- > 0;) {
    if (genes[i] < space[i].high) {
      genes[i] += 1;
      return;
    }
    genes[i] = space[i].low;
  }
}

}  // namespace

Visited::Visited(std::vector<hyp::Gene> space)
    : space_(std::move(space)), size_(count_sets(space_)) {}

std::optional<hyp::Genes> Visited::find_unseen(Rng& rng) const {
  if (!std::isfinite(size_) || exhausted()) return std::nullopt;
  hyp::Genes genes = random_genes(space_, rng);
  while (contains(genes)) advance(space_, genes);
  return genes;
}

}  // namespace evolve::ga
