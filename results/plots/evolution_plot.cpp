#include "results/plots/evolution_plot.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "core/error.hpp"
#include "core/number.hpp"
#include "results/plots/chart.hpp"
#include "results/plots/gnuplot.hpp"
#include "results/plots/scatter.hpp"

namespace evolve::results {

namespace {

using Rows = std::vector<std::vector<double>>;

/// Pixels.
constexpr double history_height = 400, gene_height = 300, left_margin = 125;
constexpr int most_columns = 5;

/// The trials that have a fitness, by their rows of the table.
struct Trials {
  std::vector<std::size_t> row;
  std::vector<double> fitness;
  /// Positions in both of the highest fitness and of the marked set: the recommended one where that
  /// is known, else the highest.
  std::size_t highest = 0, marked = 0;
  bool is_recommended = false;
};

Trials trials_of(const Table& table, const hyp::Fitness& fitness,
                 const std::optional<std::size_t>& recommended) {
  Trials trials;
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const double value = fitness(table.rows[i].metrics);
    if (!std::isfinite(value)) continue;
    if (i == recommended) {
      trials.marked = trials.row.size();
      trials.is_recommended = true;
    }
    trials.row.push_back(i);
    trials.fitness.push_back(value);
  }
  const auto greatest = std::max_element(trials.fitness.begin(), trials.fitness.end());
  trials.highest = static_cast<std::size_t>(greatest - trials.fitness.begin());
  if (!trials.is_recommended) trials.marked = trials.highest;
  return trials;
}

/// Fitness (y) against anything (x).
struct Points {
  std::vector<double> x, y;
};

/// The points of one column, without values that are not finite.
Points points_of(const Table& table, std::size_t column, const Trials& trials) {
  Points points;
  for (std::size_t i = 0; i < trials.row.size(); ++i) {
    const double value = table.rows[trials.row[i]].values[column];
    if (!std::isfinite(value)) continue;
    points.x.push_back(value);
    points.y.push_back(trials.fitness[i]);
  }
  return points;
}

/// Data block $trials: x, y and a colour from 0 to 1 of the dots that can be seen in this box.
void add_dots(Chart& chart, const Rectangle& box, const Points& points, const Axis& x_axis,
              const Axis& y_axis) {
  std::vector<double> x, y;
  for (const double value : points.x) x.push_back(x_axis.place(value));
  for (const double value : points.y) y.push_back(y_axis.place(value));
  constexpr double pixels = 2;
  Rows rows;
  for (const auto& [i, density] :
       visible_dots(x, y, (box.right - box.left) / pixels, (box.bottom - box.top) / pixels))
    rows.push_back({points.x[i], points.y[i], std::sqrt(density)});
  chart.data("trials", rows);
}

/// The highest so far where it changes, and at the end.
Rows highest_so_far(const Points& history, double last) {
  Rows steps;
  for (std::size_t i = 0; i < history.x.size(); ++i) {
    if (steps.empty() || history.y[i] > steps.back()[1])
      steps.push_back({history.x[i], history.y[i]});
  }
  steps.push_back({last, steps.back()[1]});
  return steps;
}

/// The paused trials, as far as the fitness of the others reaches.
struct Paused {
  std::vector<Row> shown;
  std::size_t below = 0, above = 0;
};

Paused paused_of(std::vector<Row> rows, const hyp::Fitness& fitness, const Trials& trials) {
  const auto [least, greatest] = std::ranges::minmax(trials.fitness);
  Paused paused{.shown = std::move(rows)};
  paused.above =
      std::erase_if(paused.shown, [&](const Row& row) { return fitness(row.metrics) > greatest; });
  paused.below =
      std::erase_if(paused.shown, [&](const Row& row) { return !(fitness(row.metrics) >= least); });
  return paused;
}

std::string title_of(const Trials& trials, const Paused& paused, std::size_t repeats) {
  std::string title =
      fmt::format("{}: {:.4g}, row {}", trials.is_recommended ? "+ recommended" : "+ highest",
                  trials.fitness[trials.marked], trials.row[trials.marked]);
  if (trials.marked != trials.highest) {
    title += fmt::format("; highest: {:.4g}, row {}", trials.fitness[trials.highest],
                         trials.row[trials.highest]);
  } else if (trials.is_recommended) {
    title += ", the highest";
  }
  title += "; line: highest so far";
  if (repeats > 0) title += "; crosses: trained again";
  std::vector<std::string> counts;
  if (!paused.shown.empty()) counts.push_back(core::counted(std::ssize(paused.shown), "ring"));
  if (paused.below > 0) counts.push_back(fmt::format("{} below", paused.below));
  if (paused.above > 0) counts.push_back(fmt::format("{} above", paused.above));
  if (!counts.empty()) title += fmt::format("; paused: {}", fmt::join(counts, ", "));
  return title;
}

void add_history(Chart& chart, const Trials& trials, std::size_t rows, const Axis& y,
                 const Paused& paused, const std::vector<RepeatMark>& repeats) {
  const Rectangle box{left_margin, Chart::width - Chart::right_margin, 45, history_height - 85};
  const Points history{{trials.row.begin(), trials.row.end()}, trials.fitness};
  const double last = static_cast<double>(rows - 1);
  const Axis x = counting_axis(0, last, 16);
  chart.panel(box, title_of(trials, paused, repeats.size()));
  chart.axis("x", x, "completed trial (row of evolve.csv)");
  chart.axis("y", y, "fitness");
  add_dots(chart, box, history, x, y);
  chart.data("highest", highest_so_far(history, last));
  Rows again;
  for (const auto& one : repeats) again.push_back({static_cast<double>(one.row), one.fitness});
  if (!again.empty()) chart.data("again", again);
  const double size = rows < 100 ? 1.3 : 0.7;
  chart.plot(fmt::format("$trials using 1:2 with points pt 7 ps {} lc rgb '#9ebcda', ", size) +
             "$highest using 1:2 with steps lw 3 lc rgb '#d9480f', " +
             (again.empty() ? "" : "$again using 1:2 with points pt 2 ps 1.3 lc rgb '#495057', ") +
             plus(history.x[trials.marked], history.y[trials.marked]));
}

/// A column that moved.
struct GenePanel {
  const std::string& name;
  const hyp::Gene* gene;
  Points points;
  /// Of the paused trials.
  Rows rings;
  /// The least and the greatest value of all.
  double low, high;
  /// The marked set's value; may be no number.
  double marked;
};

/// What the paused trials that are shown had.
Rows rings_of(const Paused& paused, std::size_t column, const hyp::Fitness& fitness) {
  Rows rings;
  for (const Row& row : paused.shown) {
    const double x = row.values[column];
    if (std::isfinite(x)) rings.push_back({x, fitness(row.metrics)});
  }
  return rings;
}

std::vector<GenePanel> panels_of(const Table& table, const Trials& trials, const hyp::Space& space,
                                 const hyp::Fitness& fitness, const Paused& paused) {
  std::vector<GenePanel> panels;
  for (std::size_t column = 0; column < table.names.size(); ++column) {
    Points points = points_of(table, column, trials);
    Rows rings = rings_of(paused, column, fitness);
    std::vector<double> all = points.x;
    for (const auto& ring : rings) all.push_back(ring[0]);
    const auto [low, high] = std::minmax_element(all.begin(), all.end());
    if (points.x.empty() || *low == *high) continue;
    const std::string& name = table.names[column];
    const hyp::Gene* gene = space.find(name);
    const double marked = table.rows[trials.row[trials.marked]].values[column];
    panels.push_back({name, gene, std::move(points), std::move(rings), *low, *high, marked});
  }
  return panels;
}

void add_gene_panel(Chart& chart, const Rectangle& box, const GenePanel& panel, const Axis& y,
                    double marked_fitness) {
  const bool marked = std::isfinite(panel.marked);
  const double width = box.right - box.left;
  const Axis x = gene_axis(panel.gene, panel.low, panel.high, width);
  chart.panel(box,
              gene_title(panel.name, marked ? value_name(panel.marked, panel.gene) : "", width));
  chart.axis("x", x);
  chart.axis("y", y, "fitness", box.left == left_margin);
  add_dots(chart, box, panel.points, x, y);
  if (!panel.rings.empty()) chart.data("paused", panel.rings);
  chart.plot(
      (panel.rings.empty() ? "" : "$paused using 1:2 with points pt 6 ps 0.9 lc rgb '#808080', ") +
      std::string("$trials using 1:2:3 with points pt 7 ps 0.9 lc palette") +
      (marked ? ", " + plus(panel.marked, marked_fitness) : ""));
}

}  // namespace

std::string plot_script(const Table& table, const hyp::Fitness& fitness, const hyp::Space& space,
                        const std::string& terminal, const PlotMarks& marks) {
  const Trials trials = trials_of(table, fitness, marks.recommended);
  if (trials.row.empty()) {
    throw bad_argument("no row has a fitness", "draw it once a trial has completed");
  }
  const auto paused = paused_of(marks.paused, fitness, trials);
  const auto panels = panels_of(table, trials, space, fitness, paused);
  const int count = static_cast<int>(panels.size());
  const int lines = (count + most_columns - 1) / most_columns;
  const int columns = lines == 0 ? 1 : (count + lines - 1) / lines;
  std::vector<double> all = trials.fitness;
  for (const auto& one : marks.repeats) all.push_back(one.fitness);
  const auto [least, greatest] = std::ranges::minmax(all);
  const Axis y = linear_axis(least, greatest, 6);

  Chart chart(terminal, history_height + lines * gene_height);
  // From pale, for a lonely point, to deep, for the most crowded.
  chart.add(
      "set cbrange [0:1]\n"
      "set palette defined (0 '#9ebcda', 1 '#6b92cc', 2 '#5365b5', 3 '#5d3791', 4 '#6a1167')");
  add_history(chart, trials, table.rows.size(), y, paused, marks.repeats);
  const double step = (Chart::width - left_margin - Chart::right_margin + Chart::gap) / columns;
  for (int i = 0; i < count; ++i) {
    const double x = left_margin + i % columns * step;
    const double line = history_height + i / columns * gene_height;
    add_gene_panel(chart, {x, x + step - Chart::gap, line + 40, line + gene_height - 50},
                   panels[static_cast<std::size_t>(i)], y, trials.fitness[trials.marked]);
  }
  return chart.script();
}

void plot_evolution(const Table& table, const hyp::Fitness& fitness, const hyp::Space& space,
                    const std::filesystem::path& image, const PlotMarks& marks) {
  run_gnuplot(plot_script(table, fitness, space, terminal_of(image), marks), image);
}

}  // namespace evolve::results
