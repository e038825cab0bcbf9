#include "results/training_plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>

#include "core/error.hpp"
#include "hyp/fitness.hpp"
#include "core/number.hpp"
#include "results/canvas.hpp"
#include "results/gnuplot.hpp"

namespace evolve::results {

namespace {

/// Epochs to either side that count in the smoothed line.
constexpr std::ptrdiff_t reach = 12;

/// Pixels.
constexpr int top_height = 50, panel_height = 310, bottom_height = 20;
constexpr int columns = 5;

struct Panel {
  std::string name;
  std::function<double(const EpochRow&)> value;
};

/// In YOLOv5's order: line by line.
const std::vector<Panel>& panels() {
  static const std::vector<Panel> all = {
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
  return all;
}

/// The first epoch of greatest fitness, and that fitness.
struct Best {
  const EpochRow* row = nullptr;
  double fitness = 0;
};

Best best_of(const std::vector<EpochRow>& epochs) {
  const hyp::Fitness fitness;
  Best best;
  for (const auto& row : epochs) {
    const double value = fitness(row.metrics);
    if (std::isfinite(value) && (!best.row || value > best.fitness)) best = {&row, value};
  }
  return best;
}

/// Data block $epochs: epoch, value, smoothed value.
std::string data_of(const std::vector<double>& x, const std::vector<double>& y) {
  const auto line = smoothed(x, y);
  std::string data = "$epochs << EOD\n";
  for (std::size_t i = 0; i < x.size(); ++i)
    data += fmt::format("{} {} {}\n", x[i], core::shortest(y[i]), core::shortest(line[i]));
  return data + "EOD\n";
}

std::string panel_commands(const Panel& panel, const std::vector<EpochRow>& epochs,
                           const Best& best, const Axis& x_axis) {
  std::vector<double> x, y;
  for (const auto& row : epochs) {
    const double value = panel.value(row);
    if (!std::isfinite(value)) continue;
    x.push_back(row.epoch);
    y.push_back(value);
  }
  const bool marked = best.row && std::isfinite(panel.value(*best.row));
  std::string name = panel.name;
  if (marked) name += fmt::format(" = {:.3g}", panel.value(*best.row));
  const auto [low, high] = std::minmax_element(y.begin(), y.end());
  Axis y_axis = y.empty() ? Axis{} : linear_axis(*low, *high, 26);
  if (y_axis.ticks.size() == 1) y_axis.ticks[0].second = fmt::format("{:.3g}", *low);
  std::string script = title(name) + axis_commands("x", x_axis) + axis_commands("y", y_axis);
  if (y.empty()) return script + "plot NaN\n";
  script += data_of(x, y) +
            "plot $epochs using 1:2 with linespoints pt 7 ps 0.6 lw 1 lc rgb '#9ebcda', "
            "$epochs using 1:3 with lines lw 3 lc rgb '#d9480f'";
  if (marked) script += ", " + plus(best.row->epoch, panel.value(*best.row));
  return script + "\n";
}

}  // namespace

std::vector<double> smoothed(const std::vector<double>& epochs, const std::vector<double>& values) {
  const auto count = std::ssize(values);
  const double deviation = std::clamp(static_cast<double>(count - 1) / 10, 0.1, 3.0);
  std::vector<double> result;
  for (std::ptrdiff_t i = 0; i < count; ++i) {
    double sum = 0, weights = 0;
    for (auto j = std::max<std::ptrdiff_t>(i - reach, 0); j <= std::min(i + reach, count - 1);
         ++j) {
      const auto here = static_cast<std::size_t>(i), there = static_cast<std::size_t>(j);
      const double distance = (epochs[here] - epochs[there]) / deviation;
      const double weight = std::exp(-0.5 * distance * distance);
      sum += weight * values[there];
      weights += weight;
    }
    result.push_back(sum / weights);
  }
  return result;
}

std::string training_script(const std::vector<EpochRow>& epochs, const std::string& terminal) {
  if (epochs.empty())
    throw bad_argument("results.csv has no epoch", "draw it once an epoch has ended");
  const Best best = best_of(epochs);
  const int lines = static_cast<int>(panels().size()) / columns;
  const Canvas canvas{.height = top_height + lines * panel_height + bottom_height};
  std::string script = begin(canvas, terminal);
  const std::string headline =
      best.row ? fmt::format("best epoch {}, fitness {:.4g}", best.row->epoch, best.fitness)
               : "no epoch has a fitness";
  script += "set label 1 " + gnuplot_quoted(headline) +
            fmt::format(" at screen 0.5,{:.5f} center textcolor rgb '#222222'\n",
                        1 - 22.0 / canvas.height);
  const Axis x = counting_axis(epochs.front().epoch, epochs.back().epoch, 22);
  const double step = static_cast<double>(canvas.width) / columns;
  for (int i = 0; i < static_cast<int>(panels().size()); ++i) {
    const double left = i % columns * step, top = top_height + i / columns * panel_height;
    const bool lowest = i / columns == lines - 1;
    script += place_at({left + 84, left + step - 22, top + 40, top + panel_height - 55}, canvas);
    if (lowest) script += "set xlabel 'epoch' offset 0,0.4 textcolor rgb '#555555'\n";
    script += panel_commands(panels()[static_cast<std::size_t>(i)], epochs, best, x);
    if (i == 0) script += "unset label 1\n";
  }
  return script + end();
}

void plot_training(const std::vector<EpochRow>& epochs, const std::filesystem::path& image) {
  run_gnuplot(training_script(epochs, terminal_of(image)), image);
}

}  // namespace evolve::results
