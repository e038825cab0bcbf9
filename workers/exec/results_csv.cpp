#include "workers/exec/results_csv.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <utility>

#include "core/csv.hpp"

namespace evolve::workers {
namespace {

using Columns = std::array<std::string, hyp::Metrics::count>;

/// Ultralytics' names for our metrics, in their order.
const Columns ultralytics = {"metrics/precision(B)", "metrics/recall(B)", "metrics/mAP50(B)",
                             "metrics/mAP50-95(B)",  "val/box_loss",      "val/dfl_loss",
                             "val/cls_loss"};

/// What some of its models have instead: YOLO26 has no dfl loss, RT-DETR neither of these.
const std::array<std::pair<std::string, std::string>, 2> instead = {
    {{"val/box_loss", "val/giou_loss"}, {"val/dfl_loss", "val/l1_loss"}}};

/// The names in `header`: Ultralytics' where it has metrics of boxes ("(B)").
Columns columns_of(const std::vector<std::string>& header) {
  const bool theirs =
      std::ranges::any_of(header, [](const auto& name) { return name.ends_with("(B)"); });
  if (!theirs) return hyp::Metrics::names();
  const auto has = [&](const auto& name) { return std::ranges::count(header, name) > 0; };
  auto columns = ultralytics;
  for (const auto& [usual, other] : instead)
    if (!has(usual) && has(other)) std::ranges::replace(columns, usual, other);
  return columns;
}

}  // namespace

EpochTable parse_results_csv(std::string_view text, const std::string& path) {
  EpochTable result;
  std::array<std::size_t, hyp::Metrics::count> places{};
  const auto find = [&](const std::vector<std::string>& header, const Where& where) {
    result.columns = columns_of(header);
    std::vector<std::string> missing;
    for (std::size_t i = 0; i < places.size(); ++i) {
      const auto found = std::ranges::find(header, result.columns[i]);
      if (found == header.end()) missing.push_back(result.columns[i]);
      places[i] = static_cast<std::size_t>(found - header.begin());
    }
    if (!missing.empty())
      throw bad_input(where, fmt::format("there is no column {}", fmt::join(missing, ", nor ")),
                      "write the columns of YOLOv5's or of Ultralytics' results.csv, with 0 for a "
                      "loss that the trainer does not have");
    return std::vector<std::size_t>(places.begin(), places.end());
  };
  const auto table = core::parse_csv(text, path, "write a header and a row per epoch", find);
  for (const auto& row : table.rows) {
    std::array<double, hyp::Metrics::count> values{};
    std::ranges::transform(places, values.begin(), [&](std::size_t place) { return row[place]; });
    result.epochs.push_back(hyp::Metrics::from_values(values));
  }
  return result;
}

}  // namespace evolve::workers
