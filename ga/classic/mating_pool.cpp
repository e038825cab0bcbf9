#include "ga/classic/mating_pool.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>

#include "ga/classic/schedule.hpp"

namespace evolve::ga {

MatingPool::MatingPool(int latest) : capacity_(static_cast<std::size_t>(latest)) {}

void MatingPool::add(Individual individual) {
  // Behind its equals: the earlier one is the better one.
  const auto place =
      std::ranges::upper_bound(best_, individual.fitness, std::greater{}, &Individual::fitness);
  best_.insert(place, individual);
  if (best_.size() > static_cast<std::size_t>(max_elites)) best_.pop_back();

  latest_.push_back(std::move(individual));
  if (latest_.size() > capacity_) latest_.pop_front();
}

std::vector<Individual> MatingPool::members(int elites) const {
  const auto count = std::min(static_cast<std::ptrdiff_t>(elites), std::ssize(best_));
  const auto end = best_.begin() + count;
  std::vector<Individual> members(best_.begin(), end);
  for (const Individual& individual : latest_) {
    const bool is_elite =
        std::ranges::find(best_.begin(), end, individual.trial, &Individual::trial) != end;
    if (!is_elite) members.push_back(individual);
  }
  return members;
}

}  // namespace evolve::ga
