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

std::int64_t length(const std::vector<std::int64_t>& values) {
  return static_cast<std::int64_t>(values.size());
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
  const auto whole_numbers = 2 * (length(rows) + length(deciding));
  return whole_numbers * 8 + static_cast<std::int64_t>(boxes.size() + anchor_sizes.size()) * 4;
}

void Matches::write(std::byte* to) const {
  const auto put = [&](const auto& values) {
    const auto size = values.size() * sizeof(values[0]);
    if (size > 0) std::memcpy(to, values.data(), size);
    to += size;
  };
  put(rows);
  put(classes);
  put(deciding);
  put(deciding_rows);
  put(boxes);
  put(anchor_sizes);
}

MatchTensors tensors_of(const Matches& matches, const torch::Tensor& bytes) {
  std::int64_t at = 0;
  const auto take = [&](torch::ScalarType type, torch::IntArrayRef shape) {
    const auto size =
        c10::multiply_integers(shape) * static_cast<std::int64_t>(torch::elementSize(type));
    at += size;
    return bytes.narrow(0, at - size, size).view(type).view(shape);
  };
  const auto n = length(matches.rows), deciding = length(matches.deciding);
  MatchTensors tensors{.by_anchor = matches.by_anchor, .counts = matches.counts};
  tensors.rows = take(torch::kLong, {n});
  tensors.classes = take(torch::kLong, {n, 1});
  tensors.deciding = take(torch::kLong, {deciding});
  tensors.deciding_rows = take(torch::kLong, {deciding});
  tensors.boxes = take(torch::kFloat, {n, 4});
  tensors.anchor_sizes = take(torch::kFloat, {n, 2});
  return tensors;
}

}  // namespace evolve::trainer
