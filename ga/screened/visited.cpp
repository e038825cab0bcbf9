#include "ga/screened/visited.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "ga/classic/operators.hpp"

namespace evolve::ga {
namespace {

double count_sets(const std::vector<hyp::Gene>& space) {
  double count = 1;
  for (const hyp::Gene& gene : space) {
    if (gene.kind != hyp::Gene::Kind::real) {
      count = std::min(count * (hyp::greatest_value(gene) - hyp::least_value(gene) + 1),
                       std::numeric_limits<double>::max());
    } else if (hyp::has_range(gene)) {
      return std::numeric_limits<double>::infinity();
    }
  }
  return count;
}

// The next set of a finite space in counting order, the last gene being the fastest; after the last
// set comes the first.
void advance(const std::vector<hyp::Gene>& space, hyp::Genes& genes) {
  for (std::size_t i = space.size(); i-- > 0;) {
    if (genes[i] < hyp::greatest_value(space[i])) {
      genes[i] += 1;
      return;
    }
    genes[i] = hyp::least_value(space[i]);
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
