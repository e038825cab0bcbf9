#include "trainer/evaluation/candidate_rows.hpp"

#include <torch/torch.h>

#include <algorithm>

namespace evolve::trainer {
namespace {

/// Each row's number, and beyond all numbers where NMS would pass it over; ascending. A NaN is left
/// to NMS.
torch::Tensor wanted_first(const torch::Tensor& rows, float threshold) {
  const auto objectness = rows.select(1, 4);
  const auto confidence = rows.slice(1, 5).amax(1) * objectness;
  const auto passed_over =
      (objectness > threshold).logical_not_().logical_or_(confidence <= threshold);
  const auto numbers = torch::arange(rows.size(0), rows.options().dtype(torch::kInt));
  return std::get<0>(numbers.add(passed_over, rows.size(0)).sort());
}

/// `numbers` and their rows as [n, 1 + 5 + nc]; the numbers' bits, for floats would round them.
torch::Tensor packed(const torch::Tensor& numbers, const torch::Tensor& rows) {
  return torch::cat({numbers.view(torch::kFloat).unsqueeze(1),
                     rows.index_select(0, numbers.remainder(rows.size(0)))},
                    1);
}

}  // namespace

std::span<const float> CandidateRows::of(std::size_t image) const {
  const auto width = rows.size(1);
  return {rows.data_ptr<float>() + begin[image] * width,
          static_cast<std::size_t>((begin[image + 1] - begin[image]) * width)};
}

CandidateRows CandidateReader::read(const torch::Tensor& decoded) {
  const auto images = decoded.size(0), per_image = decoded.size(1);
  const auto all = decoded.reshape({images * per_image, decoded.size(2)});
  CandidateRows found{.begin = {0}};
  if (decoded.is_cpu()) {
    for (std::int64_t i = 1; i <= images; ++i) found.begin.push_back(i * per_image);
    found.rows = all.contiguous();
    return found;
  }
  const auto order = wanted_first(all, threshold_);
  const auto total = order.size(0);
  if (most_ < 0) capacity_ = total;
  while (true) {
    const auto count = std::min(capacity_, total);
    const auto host = packed(order.narrow(0, 0, count), all).cpu();
    const auto numbers = host.select(1, 0).contiguous().view(torch::kInt);
    const std::span<const int> sorted(numbers.data_ptr<int>(), static_cast<std::size_t>(count));
    const auto place = [&](std::int64_t number) {
      return std::lower_bound(sorted.begin(), sorted.end(), number) - sorted.begin();
    };
    const auto wanted = place(total);
    if (wanted == count && count < total) {
      capacity_ *= 2;
      continue;
    }
    most_ = std::max<std::int64_t>(most_, wanted);
    capacity_ = std::max<std::int64_t>(1024, 2 * most_);
    for (std::int64_t i = 1; i <= images; ++i) found.begin.push_back(place(i * per_image));
    found.rows = host.narrow(0, 0, wanted).slice(1, 1).contiguous();
    return found;
  }
}

}  // namespace evolve::trainer
