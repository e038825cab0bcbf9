#include "results/plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "core/error.hpp"
#include "core/number.hpp"
#include "results/canvas.hpp"
#include "results/gene_axis.hpp"
#include "results/gnuplot.hpp"
#include "results/scatter.hpp"

namespace evolve::results {

namespace {

/// Pixels.
constexpr int history_height = 400, panel_height = 300;
constexpr int most_columns = 5;
/// Characters that fit along a panel's x axis.
constexpr int label_room = 23;

/// The trials that can be drawn.
struct Trials {
  std::vector<double> row;
  std::vector<double> fitness;
  /// Position of the best in both.
  std::size_t best = 0;
};

/// A gene's part of the picture.
struct Panel {
  std::string title;
  Axis axis;
  std::vector<double> x, y;
  std::optional<double> best;
};

Trials trials_of(const Table& table, const hyp::Fitness& fitness) {
  Trials trials;
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const double value = fitness(table.rows[i].metrics);
    if (!std::isfinite(value)) continue;
    trials.row.push_back(static_cast<double>(i));
    trials.fitness.push_back(value);
  }
  const auto best = std::max_element(trials.fitness.begin(), trials.fitness.end());
  trials.best = static_cast<std::size_t>(best - trials.fitness.begin());
  return trials;
}

/// The panel of one column, or nothing when it never moved.
std::optional<Panel> panel_of(const Table& table, std::size_t column, const Trials& trials,
                              const hyp::Space& space) {
  Panel panel;
  for (std::size_t i = 0; i < trials.row.size(); ++i) {
    const double value = table.rows[static_cast<std::size_t>(trials.row[i])].values[column];
    if (!std::isfinite(value)) continue;
    panel.x.push_back(value);
    panel.y.push_back(trials.fitness[i]);
    if (i == trials.best) panel.best = value;
  }
  if (panel.x.empty()) return std::nullopt;
  const auto [low, high] = std::minmax_element(panel.x.begin(), panel.x.end());
  if (*low == *high) return std::nullopt;
  const std::string& name = table.names[column];
  const hyp::Gene* gene = space.find(name);
  panel.axis = axis_of(gene, *low, *high, label_room);
  panel.title = panel.best ? name + " = " + value_name(*panel.best, gene) : name;
  return panel;
}

/// 0xRRGGBB between a pale and a deep colour; 0 is a lonely point, 1 the most crowded.
int colour(double density) {
  static constexpr double stops[][3] = {
      {158, 188, 218}, {107, 146, 204}, {83, 101, 181}, {93, 55, 145}, {106, 17, 103}};
  const double position = std::clamp(std::sqrt(density), 0.0, 1.0) * 4;
  const int stop = std::min(static_cast<int>(position), 3);
  int rgb = 0;
  for (int channel = 0; channel < 3; ++channel) {
    const double a = stops[stop][channel], b = stops[stop + 1][channel];
    rgb = rgb * 256 + static_cast<int>(std::lround(a + (position - stop) * (b - a)));
  }
  return rgb;
}

std::vector<double> places(const Axis& axis, const std::vector<double>& values) {
  std::vector<double> result;
  for (const double value : values) result.push_back(place(axis, value));
  return result;
}

/// The points of a scatter plot in this box that can be seen: one of those that cover each other. A
/// picture of 100,000 trials is so drawn, and opened, as fast as one of a few thousand.
std::vector<std::size_t> seen(const std::vector<double>& x, const std::vector<double>& y,
                              const Box& box) {
  constexpr double pixels = 2;
  return distinct(x, y, (box.right - box.left) / pixels, (box.bottom - box.top) / pixels);
}

/// Data block $best: the best so far where it changes, and at the end.
std::string best_data(const Trials& trials, std::size_t rows) {
  std::string data = "$best << EOD\n", last;
  double record = -std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < trials.row.size(); ++i) {
    if (trials.fitness[i] <= record) continue;
    record = trials.fitness[i];
    last = core::shortest(record);
    data += fmt::format("{} {}\n", trials.row[i], last);
  }
  return data + fmt::format("{} {}\nEOD\n", rows - 1, last);
}

std::string history_commands(const Trials& trials, const Axis& y, std::size_t rows,
                             const Box& box) {
  const Axis x = counting_axis(0, static_cast<double>(rows - 1), 100);
  std::string script = "$history << EOD\n";
  for (const auto i : seen(places(x, trials.row), places(y, trials.fitness), box)) {
    script += fmt::format("{} {}\n", trials.row[i], core::shortest(trials.fitness[i]));
  }
  const double row = trials.row[trials.best], fitness = trials.fitness[trials.best];
  script += "EOD\n" + best_data(trials, rows);
  script += title(fmt::format("best fitness {:.4g}, row {} of evolve.csv", fitness, row));
  script += axis_commands("x", x) + axis_commands("y", y);
  script +=
      "set ylabel 'fitness' textcolor rgb '#555555'\n"
      "set xlabel 'completed trial' offset 0,0.4 textcolor rgb '#555555'\n"
      "plot $history using 1:2 with points pt 7 ps 0.7 lc rgb '#9ebcda', "
      "$best using 1:2 with steps lw 3 lc rgb '#d9480f', " +
      plus(row, fitness) + "\nunset xlabel\n";
  return script;
}

std::string panel_commands(const Panel& panel, const Axis& y, bool is_leftmost, double best_fitness,
                           const Box& box) {
  const auto x_places = places(panel.axis, panel.x), y_places = places(y, panel.y);
  const auto crowd = density(x_places, y_places);
  auto order = seen(x_places, y_places, box);
  // Crowded points lie on top: the pale ones around them stay visible.
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return crowd[a] < crowd[b]; });

  std::string script = "$panel << EOD\n";
  for (const auto i : order) {
    script += fmt::format("{} {} {}\n", core::shortest(panel.x[i]), core::shortest(panel.y[i]),
                          colour(crowd[i]));
  }
  script += "EOD\n" + title(panel.title) + axis_commands("x", panel.axis) +
            axis_commands("y", y, is_leftmost);
  script += is_leftmost ? "set ylabel 'fitness' textcolor rgb '#555555'\n" : "unset ylabel\n";
  script += "plot $panel using 1:2:3 with points pt 7 ps 0.9 lc rgb variable";
  if (panel.best) script += ", " + plus(*panel.best, best_fitness);
  return script + "\n";
}

}  // namespace

std::string plot_script(const Table& table, const hyp::Fitness& fitness, const hyp::Space& space,
                        const std::string& terminal) {
  const Trials trials = trials_of(table, fitness);
  if (trials.row.empty()) {
    throw bad_argument("no row of evolve.csv has a fitness", "draw it once a trial has completed");
  }
  std::vector<Panel> panels;
  for (std::size_t column = 0; column < table.names.size(); ++column) {
    if (auto panel = panel_of(table, column, trials, space)) panels.push_back(*std::move(panel));
  }
  const int count = static_cast<int>(panels.size());
  const int lines = (count + most_columns - 1) / most_columns;
  const int columns = lines == 0 ? 1 : (count + lines - 1) / lines;
  const Canvas canvas{.height = history_height + lines * panel_height};

  const auto [low, high] = std::minmax_element(trials.fitness.begin(), trials.fitness.end());
  const Axis y = linear_axis(*low, *high, 32);
  constexpr double left = 110, right = 25, gap = 28;
  const Box top{left, canvas.width - right, 45, history_height - 85};
  std::string script = begin(canvas, terminal) + place_at(top, canvas) +
                       history_commands(trials, y, table.rows.size(), top);
  const double step = (canvas.width - left - right + gap) / columns;
  for (int i = 0; i < count; ++i) {
    const double x = left + i % columns * step;
    const double line = history_height + i / columns * panel_height;
    const Box box{x, x + step - gap, line + 40, line + panel_height - 50};
    script += place_at(box, canvas) +
              panel_commands(panels[static_cast<std::size_t>(i)], y, i % columns == 0, *high, box);
  }
  return script + end();
}

void plot_evolution(const Table& table, const hyp::Fitness& fitness, const hyp::Space& space,
                    const std::filesystem::path& image) {
  run_gnuplot(plot_script(table, fitness, space, terminal_of(image)), image);
}

}  // namespace evolve::results
