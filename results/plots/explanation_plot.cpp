#include "results/plots/explanation_plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/utf8.hpp"
#include "results/plots/chart.hpp"
#include "results/plots/gnuplot.hpp"

namespace evolve::results {
namespace {

/// Pixels.
constexpr double first_line = 24, line_height = 26, top_margin = 80, bottom_margin = 70;
constexpr double bars_width = 350, fitness_width = 105;
constexpr int least_height = 700, least_pitch = 26, most_pitch = 42;
constexpr std::size_t most_panels = 8, longest_name = 30;

void add_bars(Chart& chart, const Rectangle& box, const Explanation& explanation) {
  const auto& genes = explanation.genes;
  std::vector<std::vector<double>> shares;
  Axis y{.low = static_cast<double>(genes.size()) - 0.4, .high = -0.6};
  for (const auto& gene : genes) {
    const auto line = static_cast<double>(shares.size());
    y.ticks.emplace_back(line, core::without_beginning(gene.gene.name, longest_name));
    shares.push_back({line, gene.alone, gene.total});
  }
  Axis x = linear_axis(0, std::max(genes.front().total, 0.01), 5);
  x.low = 0;
  for (auto& [value, text] : x.ticks) text = fmt::format("{:.4g} %", 100 * value);
  const auto bars = [](int column, const char* rest) {
    return fmt::format("$shares using (0):1:(0):{}:($1-0.3):($1+0.3) with boxxyerror {}", column,
                       rest);
  };
  chart.panel(box, "");
  chart.text(fmt::format("share of the variation (R² of the model {:.2f})", explanation.r2),
             box.left, first_line);
  chart.axis("x", x);
  chart.axis("y", y);
  chart.data("shares", shares);
  chart.text("■ alone", box.left, first_line + line_height, "left", "#5365b5");
  chart.text("■ with its part in interactions", box.left + 90, first_line + line_height, "left",
             "#8ba6d4");
  chart.add("set style fill solid noborder\nset grid noytics");
  chart.plot(bars(3, "lc rgb '#b9cbe8'") + ", " + bars(2, "lc rgb '#5365b5'"));
  chart.add("set grid ytics");
}

/// Such values are drawn one by one.
bool is_few(const GeneExplanation& gene) {
  return gene.gene.kind != hyp::Gene::Kind::real && gene.expected.size() <= most_places;
}

/// Beside a whole value, so that trials of one value do not hide each other.
double beside(std::size_t trial) {
  constexpr double golden = 0.618033988749895;
  const double place = golden * static_cast<double>(trial);
  return 0.3 * (place - std::floor(place) - 0.5);
}

void add_expectation(Chart& chart, const Rectangle& box, const GeneExplanation& gene,
                     const Explanation& explanation, const Axis& y, bool is_leftmost) {
  std::vector<std::vector<double>> trials, expected;
  for (std::size_t i = 0; i < gene.values.size(); ++i)
    trials.push_back({gene.values[i] + (is_few(gene) ? beside(i) : 0), explanation.fitness[i]});
  for (const auto& at : gene.expected) expected.push_back({at.value, at.mean, at.low, at.high});
  const double best = gene.values[explanation.best];
  const double width = box.right - box.left;
  chart.panel(box, gene_title(gene.gene.name, value_name(best, &gene.gene), width));
  chart.axis("x",
             gene_axis(&gene.gene, gene.expected.front().value, gene.expected.back().value, width));
  chart.axis("y", y, "fitness", is_leftmost);
  chart.data("trials", trials);
  chart.data("expected", expected);
  const std::string dots = "$trials using 1:2 with points pt 7 ps 0.7 lc rgb '#9ebcda', ";
  const std::string expectation =
      is_few(gene)
          ? dots + "$expected using 1:2:3:4 with yerrorbars pt 7 ps 1.2 lw 3 lc rgb '#d9480f', "
          : "$expected using 1:3:4 with filledcurves fc rgb '#d9480f' fs transparent solid 0.15 "
            "noborder, " +
                dots + "$expected using 1:2 with lines lw 3 lc rgb '#d9480f', ";
  chart.plot(expectation + plus(best, explanation.fitness[explanation.best]));
}

/// One axis for all panels, so that they compare: from the tenth percentile of the trials, or lower
/// where an expectation is, to the best.
Axis fitness_axis(const Explanation& explanation, std::size_t panels) {
  auto fitness = explanation.fitness;
  std::sort(fitness.begin(), fitness.end());
  double low = fitness[fitness.size() / 10], high = fitness.back();
  for (std::size_t i = 0; i < panels; ++i) {
    for (const auto& at : explanation.genes[i].expected) {
      low = std::min(low, at.mean);
      high = std::max(high, at.mean);
    }
  }
  return linear_axis(std::max(low, fitness.front()), high, 6);
}

/// The longest name has room before the bars.
double names_width(const Explanation& explanation) {
  std::size_t longest = 0;
  for (const auto& gene : explanation.genes)
    longest = std::max(longest, core::characters(gene.gene.name));
  return 30 + 10.5 * static_cast<double>(std::clamp<std::size_t>(longest, 7, longest_name));
}

}  // namespace

std::string explanation_script(const Explanation& explanation, const std::string& terminal) {
  const auto genes = explanation.genes.size();
  const auto words = verdict(explanation);
  const double top = top_margin + (words.empty() ? 0 : line_height);
  const auto lowest = [&](int pitch) { return top + pitch * static_cast<double>(genes); };
  const double height = std::max<double>(least_height, lowest(least_pitch) + bottom_margin);
  Chart chart(terminal, height);
  const double bars = names_width(explanation), left = bars + bars_width + fitness_width;
  add_bars(chart,
           {bars, bars + bars_width, top, std::min(height - bottom_margin, lowest(most_pitch))},
           explanation);

  const auto panels = std::min(genes, most_panels);
  const std::size_t lines = panels > 4 ? 2 : 1, columns = (panels + lines - 1) / lines;
  const double panel_width =
      (Chart::width - left - Chart::right_margin + Chart::gap) / static_cast<double>(columns);
  const double panel_height = (height - top + 10) / static_cast<double>(lines);
  const Axis y = fitness_axis(explanation, panels);
  const auto below =
      std::ranges::count_if(explanation.fitness, [&](double value) { return value < y.low; });
  chart.text("fitness to expect when one gene leaves the highest (+)", left, first_line);
  chart.text("± one standard deviation; dots: trials" +
                 (below > 0 ? fmt::format(", {} below", below) : ""),
             left, first_line + line_height);
  if (!words.empty()) chart.text(words, left, first_line + 2 * line_height, "left", "#d9480f");
  for (std::size_t i = 0; i < panels; ++i) {
    const double x = left + static_cast<double>(i % columns) * panel_width;
    const double line = top - 20 + static_cast<double>(i / columns) * panel_height;
    add_expectation(chart, {x, x + panel_width - Chart::gap, line + 40, line + panel_height - 60},
                    explanation.genes[i], explanation, y, i % columns == 0);
  }
  return chart.script();
}

void plot_explanation(const Explanation& explanation, const std::filesystem::path& image) {
  run_gnuplot(explanation_script(explanation, terminal_of(image)), image);
}

}  // namespace evolve::results
