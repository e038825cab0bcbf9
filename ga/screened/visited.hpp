// The sets that a run has already handed out: a new one is none of them.
#pragma once

#include <boost/functional/hash.hpp>
#include <optional>
#include <unordered_set>
#include <vector>

#include "ga/random/rng.hpp"
#include "hyp/space.hpp"

namespace evolve::ga {

class Visited {
 public:
  /// `space`: the evolved genes.
  explicit Visited(std::vector<hyp::Gene> space);

  bool contains(const hyp::Genes& genes) const { return seen_.contains(genes); }
  /// False when it was there before.
  bool insert(const hyp::Genes& genes) { return seen_.insert(genes).second; }

  /// Every set of the space has been handed out. A space with a real gene that can move has no end.
  bool exhausted() const { return static_cast<double>(seen_.size()) >= size_; }

  /// A set of a finite space that has not been handed out: the first one from a random place on.
  /// Nothing when the space is exhausted or not finite. At most one look per set handed out.
  std::optional<hyp::Genes> find_unseen(Rng& rng) const;

 private:
  std::vector<hyp::Gene> space_;
  // Number of different sets; infinite where a real gene can move. Beyond 2^53 inexact, and out of
  // reach.
  double size_;
  std::unordered_set<hyp::Genes, boost::hash<hyp::Genes>> seen_;
};

}  // namespace evolve::ga
