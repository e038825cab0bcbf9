#include "trainer/loss/matches.hpp"

#include <torch/torch.h>

#include <cstring>

namespace evolve::trainer {
namespace {

std::int64_t row_of(const Match& m, std::int64_t anchors, MapSize size, bool by_anchor) {
  return by_anchor ? ((m.image * anchors + m.anchor) * size.ny + m.y) * size.nx + m.x
                   : ((m.image * size.ny + m.y) * size.nx + m.x) * anchors + m.anchor;
}

/// Of each row's several matches the last one; there are `all` rows.
std::vector<std::int64_t> last_of_each(const std::vector<std::int64_t>& rows, std::int64_t all) {
  std::vector<bool> seen(static_cast<std::size_t>(all));
  std::vector<std::int64_t> last;
  for (auto i = static_cast<std::int64_t>(rows.size()) - 1; i >= 0; --i) {
    const auto row = static_cast<std::size_t>(rows[static_cast<std::size_t>(i)]);
    if (seen[row]) continue;
    seen[row] = true;
    last.push_back(i);
  }
  return last;
}

/// Calls `put` with each array, in the order in which they lie: those of 8 bytes first; and with
/// what it is on the device.
template <class Put>
void for_each_array(const Matches& matches, const Put& put) {
  put(matches.rows, &MatchTensors::rows);
  put(matches.classes, &MatchTensors::classes);
  put(matches.deciding, &MatchTensors::deciding);
  put(matches.deciding_rows, &MatchTensors::deciding_rows);
  put(matches.boxes, &MatchTensors::boxes);
  put(matches.anchor_sizes, &MatchTensors::anchor_sizes);
}

template <class T>
std::size_t bytes_of(const std::vector<T>& values) {
  return values.size() * sizeof(T);
}

}  // namespace

Matches match(const std::vector<Target>& targets, const std::vector<LevelShape>& levels,
              std::int64_t images, float anchor_t, bool by_anchor) {
  Matches matches{.by_anchor = by_anchor};
  std::vector<std::int64_t> rows;  // counted through all levels
  std::int64_t first_row = 0;
  for (const auto& [anchors, size] : levels) {
    const auto count = static_cast<std::int64_t>(anchors.size());
    const auto before = matches.rows.size();
    for (const Match& m : assign(targets, anchors, size, anchor_t)) {
      matches.rows.push_back(row_of(m, count, size, by_anchor));
      rows.push_back(first_row + matches.rows.back());
      matches.classes.push_back(m.cls);
      matches.boxes.insert(matches.boxes.end(), m.box.begin(), m.box.end());
      matches.anchor_sizes.insert(matches.anchor_sizes.end(), m.anchor_size.begin(),
                                  m.anchor_size.end());
    }
    matches.counts.push_back(static_cast<std::int64_t>(matches.rows.size() - before));
    first_row += images * count * size.ny * size.nx;
  }
  matches.deciding = last_of_each(rows, first_row);
  for (const auto i : matches.deciding)
    matches.deciding_rows.push_back(rows[static_cast<std::size_t>(i)]);
  return matches;
}

std::int64_t Matches::bytes() const {
  std::size_t sum = 0;
  for_each_array(*this, [&](const auto& values, auto) { sum += bytes_of(values); });
  return static_cast<std::int64_t>(sum);
}

void Matches::write(std::byte* to) const {
  for_each_array(*this, [&](const auto& values, auto) {
    if (!values.empty()) std::memcpy(to, values.data(), bytes_of(values));
    to += bytes_of(values);
  });
}

MatchTensors tensors_of(const Matches& matches, const torch::Tensor& bytes) {
  MatchTensors tensors{.by_anchor = matches.by_anchor, .counts = matches.counts};
  std::int64_t at = 0;
  for_each_array(matches, [&](const auto& values, torch::Tensor MatchTensors::*tensor) {
    const auto size = static_cast<std::int64_t>(bytes_of(values));
    tensors.*tensor =
        bytes.narrow(0, at, size).view(sizeof(values[0]) == 8 ? torch::kLong : torch::kFloat);
    at += size;
  });
  tensors.classes = tensors.classes.view({-1, 1});
  tensors.boxes = tensors.boxes.view({-1, 4});
  tensors.anchor_sizes = tensors.anchor_sizes.view({-1, 2});
  return tensors;
}

}  // namespace evolve::trainer
