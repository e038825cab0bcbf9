#include "results/plots/training_plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/error.hpp"
#include "hyp/fitness.hpp"
#include "results/plots/chart.hpp"
#include "results/plots/gnuplot.hpp"

namespace evolve::results {

namespace {

/// Pixels.
constexpr int top_height = 50, curve_height = 310, bottom_height = 20;
constexpr int curve_columns = 5, curve_lines = 2;

struct Curve {
  const char* name;
  double (*value)(const EpochRow&);
};

/// In YOLOv5's order: line by line.
constexpr Curve curves[curve_lines * curve_columns] = {
    {"train/box_loss", [](const EpochRow& row) { return row.losses[0]; }},
    {"train/obj_loss", [](const EpochRow& row) { return row.losses[1]; }},
    {"train/cls_loss", [](const EpochRow& row) { return row.losses[2]; }},
    {"precision", [](const EpochRow& row) { return row.metrics.precision; }},
    {"recall", [](const EpochRow& row) { return row.metrics.recall; }},
    {"val/box_loss", [](const EpochRow& row) { return row.metrics.box_loss; }},
    {"val/obj_loss", [](const EpochRow& row) { return row.metrics.obj_loss; }},
    {"val/cls_loss", [](const EpochRow& row) { return row.metrics.cls_loss; }},
    {"mAP_0.5", [](const EpochRow& row) { return row.metrics.map50; }},
    {"mAP_0.5:0.95", [](const EpochRow& row) { return row.metrics.map50_95; }}};

/// The last epoch of greatest fitness, as best.pt has it, and that fitness.
struct BestEpoch {
  const EpochRow* row = nullptr;
  double fitness = 0;
};

BestEpoch best_epoch(const std::vector<EpochRow>& epochs) {
  const hyp::Fitness fitness;
  BestEpoch best;
  for (const auto& row : epochs) {
    const double value = fitness(row.metrics);
    if (std::isfinite(value) && (!best.row || value >= best.fitness)) best = {&row, value};
  }
  return best;
}

void add_curve(Chart& chart, const Rectangle& box, const Curve& curve,
               const std::vector<EpochRow>& epochs, const BestEpoch& best) {
  std::vector<std::vector<double>> rows;
  std::vector<double> values;
  for (const auto& row : epochs) {
    const double value = curve.value(row);
    if (!std::isfinite(value)) continue;
    rows.push_back({static_cast<double>(row.epoch), value});
    values.push_back(value);
  }
  const bool marked = best.row && std::isfinite(curve.value(*best.row));
  chart.panel(box, curve.name + (marked ? fmt::format(" = {:.3g}", curve.value(*best.row)) : ""));
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  chart.axis("y", rows.empty() ? Axis{} : linear_axis(*low, *high, 6));
  if (rows.empty()) return chart.plot("NaN");
  chart.data("epochs", rows);
  chart.plot(
      "$epochs using 1:2 with linespoints pt 7 ps 0.6 lw 1 lc rgb '#9ebcda', "
      "$epochs using 1:2 smooth bezier with lines lw 3 lc rgb '#d9480f'" +
      (marked ? ", " + plus(best.row->epoch, curve.value(*best.row)) : ""));
}

}  // namespace

std::string training_script(const std::vector<EpochRow>& epochs, const std::string& terminal) {
  if (epochs.empty())
    throw bad_argument("results.csv has no epoch", "draw it once an epoch has ended");
  const BestEpoch best = best_epoch(epochs);
  Chart chart(terminal, top_height + curve_lines * curve_height + bottom_height);
  chart.text(best.row ? fmt::format("best epoch {}, fitness {:.4g}", best.row->epoch, best.fitness)
                      : "no epoch has a fitness",
             Chart::width / 2, 22, "center");
  const Axis x = counting_axis(epochs.front().epoch, epochs.back().epoch, 5);
  const double step = Chart::width / curve_columns;
  for (int i = 0; i < curve_lines * curve_columns; ++i) {
    const double left = i % curve_columns * step,
                 top = top_height + i / curve_columns * curve_height;
    chart.axis("x", x, i / curve_columns == curve_lines - 1 ? "epoch" : "");
    add_curve(chart, {left + 84, left + step - 22, top + 40, top + curve_height - 55}, curves[i],
              epochs, best);
  }
  return chart.script();
}

void plot_training(const std::vector<EpochRow>& epochs, const std::filesystem::path& image) {
  run_gnuplot(training_script(epochs, terminal_of(image)), image);
}

}  // namespace evolve::results
