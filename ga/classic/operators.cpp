#include "ga/classic/operators.hpp"

#include <algorithm>
#include <boost/random/uniform_01.hpp>
#include <boost/random/uniform_int_distribution.hpp>
#include <boost/random/uniform_real_distribution.hpp>
#include <cmath>
#include <numeric>
#include <vector>

namespace evolve::ga {
namespace {

using boost::random::uniform_01;
using boost::random::uniform_int_distribution;
using boost::random::uniform_real_distribution;

// `value` moved by a share of its gene's range, on its scale; it may leave the bounds.
double moved(const hyp::Gene& gene, double value, double step) {
  if (gene.scale == hyp::Gene::Scale::log) {
    return value * std::exp(step * (std::log(gene.high) - std::log(gene.low)));
  }
  return value + step * (gene.high - gene.low);
}

}  // namespace

std::size_t tournament(std::span<const double> fitness, int size, Rng& rng) {
  std::vector<std::size_t> order(fitness.size());
  std::iota(order.begin(), order.end(), 0U);
  const std::size_t drawn = std::min(static_cast<std::size_t>(size), order.size());
  for (std::size_t i = 0; i < drawn; ++i) {  // the first steps of a Fisher-Yates shuffle
    const std::size_t j = uniform_int_distribution<std::size_t>(i, order.size() - 1)(rng);
    std::swap(order[i], order[j]);
  }
  return *std::max_element(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(drawn),
                           [&](auto a, auto b) { return fitness[a] < fitness[b]; });
}

hyp::Genes single_point(const hyp::Genes& a, const hyp::Genes& b, Rng& rng) {
  hyp::Genes child = a;
  if (a.size() < 2) return child;
  const auto last = static_cast<std::ptrdiff_t>(a.size()) - 1;
  const auto cut = uniform_int_distribution<std::ptrdiff_t>(1, last)(rng);
  std::copy(b.begin() + cut, b.end(), child.begin() + cut);
  return child;
}

double another_choice(const hyp::Gene& gene, double value, Rng& rng) {
  const int count = static_cast<int>(gene.choices.size());
  if (count < 2) return value;
  const int drawn = uniform_int_distribution<int>(0, count - 2)(rng);
  return drawn < value ? drawn : drawn + 1;
}

double mutated(const hyp::Gene& gene, double value, Rng& rng) {
  if (is_categorical(gene)) return another_choice(gene, value, rng);
  const double step = uniform_real_distribution<double>(-mutation_reach, mutation_reach)(rng);
  const double there = hyp::nearest(gene, moved(gene, value, step));
  const bool stuck = gene.kind == hyp::Gene::Kind::integer && there == value;
  return stuck ? hyp::nearest(gene, value + (step < 0 ? -1 : 1)) : there;
}

hyp::Genes mutate(std::span<const hyp::Gene> space, hyp::Genes genes, double rate, Rng& rng) {
  uniform_01<double> chance;
  for (std::size_t i = 0; i < space.size(); ++i) {
    if (chance(rng) < rate) genes[i] = mutated(space[i], genes[i], rng);
  }
  return genes;
}

hyp::Genes random_genes(std::span<const hyp::Gene> space, Rng& rng) {
  uniform_01<double> unit;
  hyp::Genes genes;
  genes.reserve(space.size());
  for (const hyp::Gene& gene : space) genes.push_back(hyp::from_unit(gene, unit(rng)));
  return genes;
}

}  // namespace evolve::ga
