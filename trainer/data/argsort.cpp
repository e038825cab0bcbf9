#include "trainer/data/argsort.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <numeric>
#include <utility>

namespace evolve::data {
namespace {

/// Quicksort with the median of three as pivot, insertion sort for short ranges. What it does to
/// equal keys follows from the details: the pivot waits in the last place but one, and scans stop
/// at keys equal to it.
class Quicksort {
 public:
  Quicksort(std::span<const double> keys, std::vector<int>& order) : keys_(keys), order_(order) {}

  /// Sorts places first..last, both inclusive. At `depth` 0 the pivots are hopeless.
  void sort(std::ptrdiff_t first, std::ptrdiff_t last, int depth) {
    constexpr std::ptrdiff_t shortest = 15;
    while (last - first > shortest) {
      if (depth-- == 0) {
        std::stable_sort(order_.begin() + first, order_.begin() + last + 1,
                         [&](int a, int b) { return keys_[a] < keys_[b]; });
        return;
      }
      const std::ptrdiff_t middle = partition(first, last);
      if (middle - first < last - middle) {
        sort(first, middle - 1, depth);
        first = middle + 1;
      } else {
        sort(middle + 1, last, depth);
        last = middle - 1;
      }
    }
    insertion_sort(first, last);
  }

 private:
  double key(std::ptrdiff_t place) const { return keys_[order_[place]]; }
  void swap(std::ptrdiff_t a, std::ptrdiff_t b) { std::swap(order_[a], order_[b]); }
  void put_in_order(std::ptrdiff_t a, std::ptrdiff_t b) {
    if (key(b) < key(a)) swap(a, b);
  }

  /// Returns the pivot's final place.
  std::ptrdiff_t partition(std::ptrdiff_t first, std::ptrdiff_t last) {
    const std::ptrdiff_t middle = first + (last - first) / 2;
    put_in_order(first, middle);
    put_in_order(middle, last);
    put_in_order(first, middle);
    const double pivot = key(middle);
    const std::ptrdiff_t waiting = last - 1;
    swap(middle, waiting);
    std::ptrdiff_t low = first, high = waiting;
    while (true) {
      do ++low;
      while (key(low) < pivot);
      do --high;
      while (pivot < key(high));
      if (low >= high) break;
      swap(low, high);
    }
    swap(low, waiting);
    return low;
  }

  void insertion_sort(std::ptrdiff_t first, std::ptrdiff_t last) {
    for (std::ptrdiff_t i = first + 1; i <= last; ++i) {
      for (std::ptrdiff_t k = i; k > first && key(k) < key(k - 1); --k) swap(k, k - 1);
    }
  }

  std::span<const double> keys_;
  std::vector<int>& order_;
};

}  // namespace

std::vector<int> argsort(std::span<const double> keys) {
  std::vector<int> order(keys.size());
  std::iota(order.begin(), order.end(), 0);
  const int depth = 2 * static_cast<int>(std::bit_width(keys.size()));
  Quicksort(keys, order).sort(0, std::ssize(order) - 1, depth);
  return order;
}

}  // namespace evolve::data
