#include "ga/model/ranking.hpp"

#include <algorithm>
#include <numeric>

namespace evolve::ga {

using Eigen::Index;

std::vector<Index> ranking(const Eigen::VectorXd& values, Index most) {
  std::vector<Index> order(static_cast<std::size_t>(values.size()));
  std::iota(order.begin(), order.end(), Index{0});
  const auto end = order.begin() + std::min(most, values.size());
  std::partial_sort(order.begin(), end, order.end(), [&](Index a, Index b) {
    return values[a] != values[b] ? values[a] > values[b] : a < b;
  });
  order.erase(end, order.end());
  return order;
}

}  // namespace evolve::ga
