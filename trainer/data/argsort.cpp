#include "trainer/data/argsort.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <utility>

namespace evolve::data {
namespace {

/// Quicksort with the median of three as pivot, insertion sort for short ranges. What it does to
/// equal keys follows from the details: the pivot waits in the last place but one, and scans stop
/// at keys equal to it.
class Quicksort {
 public:
  /// A key and its place before.
  using Item = std::pair<double, int>;
  explicit Quicksort(std::vector<Item>& items) : items_(items) {}

  /// Sorts places first..last, both inclusive. At `depth` 0 the pivots are hopeless.
  void sort(std::ptrdiff_t first, std::ptrdiff_t last, int depth) {
    constexpr std::ptrdiff_t shortest = 15;
    while (last - first > shortest) {
      if (depth-- == 0) {
        std::stable_sort(items_.begin() + first, items_.begin() + last + 1, less);
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
  static bool less(const Item& a, const Item& b) { return a.first < b.first; }
  Item& at(std::ptrdiff_t place) { return items_[static_cast<std::size_t>(place)]; }
  void put_in_order(std::ptrdiff_t a, std::ptrdiff_t b) {
    if (less(at(b), at(a))) std::swap(at(a), at(b));
  }

  /// Returns the pivot's final place.
  std::ptrdiff_t partition(std::ptrdiff_t first, std::ptrdiff_t last) {
    const std::ptrdiff_t middle = first + (last - first) / 2;
    put_in_order(first, middle);
    put_in_order(middle, last);
    put_in_order(first, middle);
    const Item pivot = at(middle);
    const std::ptrdiff_t waiting = last - 1;
    std::swap(at(middle), at(waiting));
    std::ptrdiff_t low = first, high = waiting;
    while (true) {
      do ++low;
      while (less(at(low), pivot));
      do --high;
      while (less(pivot, at(high)));
      if (low >= high) break;
      std::swap(at(low), at(high));
    }
    std::swap(at(low), at(waiting));
    return low;
  }

  void insertion_sort(std::ptrdiff_t first, std::ptrdiff_t last) {
    for (std::ptrdiff_t i = first + 1; i <= last; ++i) {
      const Item item = at(i);
      std::ptrdiff_t k = i;
      for (; k > first && less(item, at(k - 1)); --k) at(k) = at(k - 1);
      at(k) = item;
    }
  }

  std::vector<Item>& items_;
};

}  // namespace

std::vector<int> argsort(std::span<const double> keys) {
  std::vector<Quicksort::Item> items;
  for (const double key : keys) items.emplace_back(key, static_cast<int>(items.size()));
  Quicksort(items).sort(0, std::ssize(items) - 1, 2 * std::bit_width(keys.size()));
  std::vector<int> order;
  for (const auto& [key, place] : items) order.push_back(place);
  return order;
}

}  // namespace evolve::data
