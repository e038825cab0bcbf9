#include "workers/exec/results_csv.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <utility>

#include "core/csv.hpp"

namespace evolve::workers {
namespace {

/// The columns whose mean is a metric, metric by metric in our order; without any it is 0.
using Columns = std::array<std::vector<std::string>, hyp::Metrics::count>;

/// What some of Ultralytics' models have instead: YOLO26 has no dfl loss, RT-DETR neither of these.
const std::array<std::pair<std::string, std::string>, 2> instead = {
    {{"val/box_loss", "val/giou_loss"}, {"val/dfl_loss", "val/l1_loss"}}};

bool has(const std::vector<std::string>& header, const std::string& name) {
  return std::ranges::count(header, name) > 0;
}

/// Ultralytics' loss of that name in a table, or what it has instead.
std::vector<std::string> loss(const std::vector<std::string>& header, const std::string& name) {
  for (const auto& [usual, other] : instead)
    if (name == usual && !has(header, usual) && has(header, other)) return {other};
  return {name};
}

/// Ultralytics': means over what the model predicts, as python/evolve/ultralytics.py has them.
/// (That takes a loss that is not there for 0; here the table is somebody else's, who may have
/// misspelt it.)
Columns ultralytics(const std::vector<std::string>& header, const std::vector<char>& kinds) {
  const auto of_kinds = [&](const std::string& name) {
    std::vector<std::string> columns;
    for (const char kind : kinds) columns.push_back(fmt::format("metrics/{}({})", name, kind));
    return columns;
  };
  return {of_kinds("precision"),       of_kinds("recall"),           of_kinds("mAP50"),
          of_kinds("mAP50-95"),        loss(header, "val/box_loss"), loss(header, "val/dfl_loss"),
          loss(header, "val/cls_loss")};
}

Columns columns_of(const std::vector<std::string>& header) {
  const std::string top1 = "metrics/accuracy_top1", top5 = "metrics/accuracy_top5";
  if (has(header, top1)) return {{{top1}, {top1}, {top5}, {top1}, {}, {}, {"val/loss"}}};
  std::vector<char> kinds;
  for (const char kind : {'B', 'M', 'P'}) {  // boxes, masks, poses
    if (has(header, fmt::format("metrics/mAP50-95({})", kind))) kinds.push_back(kind);
  }
  if (!kinds.empty()) return ultralytics(header, kinds);
  Columns columns;
  std::ranges::transform(hyp::Metrics::names(), columns.begin(),
                         [](const auto& name) { return std::vector{name}; });
  return columns;
}

}  // namespace

EpochTable parse_results_csv(std::string_view text, const std::string& path) {
  EpochTable result;
  std::array<std::vector<std::size_t>, hyp::Metrics::count> places{};
  const auto find = [&](const std::vector<std::string>& header, const Where& where) {
    const auto columns = columns_of(header);
    std::vector<std::string> missing;
    std::vector<std::size_t> all;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      result.columns[i] = fmt::format("{}", fmt::join(columns[i], " and "));
      for (const auto& column : columns[i]) {
        const auto found = std::ranges::find(header, column);
        if (found == header.end()) missing.push_back(column);
        places[i].push_back(static_cast<std::size_t>(found - header.begin()));
      }
      all.insert(all.end(), places[i].begin(), places[i].end());
    }
    if (!missing.empty())
      throw bad_input(where, fmt::format("there is no column {}", fmt::join(missing, ", nor ")),
                      "write the columns of YOLOv5's or of Ultralytics' results.csv, with 0 for a "
                      "loss that the trainer does not have");
    return all;
  };
  // pandas leaves the cells of what is NaN empty, a trainer those of epochs that it does not
  // validate.
  const auto table = core::parse_csv(text, path, "write a header and a row per epoch", find,
                                     core::EmptyCells::nan);
  for (const auto& row : table.rows) {
    std::array<double, hyp::Metrics::count> values{};
    std::ranges::transform(places, values.begin(), [&](const std::vector<std::size_t>& columns) {
      double sum = 0;
      for (const auto column : columns) sum += row[column];
      return columns.empty() ? 0 : sum / static_cast<double>(columns.size());
    });
    result.epochs.push_back(hyp::Metrics::from_values(values));
  }
  return result;
}

}  // namespace evolve::workers
