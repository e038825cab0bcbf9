#include "results/explain_plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/number.hpp"
#include "results/canvas.hpp"
#include "results/gene_axis.hpp"
#include "results/gnuplot.hpp"

namespace evolve::results {
namespace {

/// Pixels.
constexpr double top = 70, bottom = 70, right = 25, gap = 28;
constexpr double bars_width = 350, fitness_width = 105;
constexpr int least_height = 700, least_pitch = 26, most_pitch = 42;
constexpr std::size_t most_panels = 8;
/// Characters that fit along a panel's x axis.
constexpr int label_room = 22;
/// Whole values up to so many are drawn one by one.
constexpr std::size_t few = 12;

const char* const alone_colour = "#5365b5";
const char* const total_colour = "#b9cbe8";

/// Where the bars and the panels begin: the longest name has room before the bars.
struct Layout {
  double bars, panels;
};

Layout layout_of(const Explanation& explanation) {
  std::size_t longest = 0;
  for (const auto& gene : explanation.genes) longest = std::max(longest, gene.gene.name.size());
  const double bars = 30 + 10.5 * static_cast<double>(std::clamp<std::size_t>(longest, 7, 30));
  return {.bars = bars, .panels = bars + bars_width + fitness_width};
}

/// A coloured text at pixels from the left and the top of the canvas.
std::string label(int number, const std::string& text, double x, double y, const char* colour,
                  const Canvas& canvas) {
  return fmt::format("set label {} {} at screen {:.5f},{:.5f} left textcolor rgb '{}'\n", number,
                     gnuplot_quoted(text), x / canvas.width, 1 - y / canvas.height, colour);
}

std::string labels(const Explanation& explanation, const Layout& layout, const Canvas& canvas) {
  const double line = 50;
  return label(1, fmt::format("share of the variation (R² of the model {:.2f})", explanation.r2),
               layout.bars, 24, "#222222", canvas) +
         label(2, "■ alone", layout.bars, line, alone_colour, canvas) +
         label(3, "■ with its part in interactions", layout.bars + 90, line, "#8ba6d4", canvas) +
         label(4,
               "fitness to expect when one gene alone leaves the best set, ± one standard "
               "deviation; dots: the trials",
               layout.panels, 24, "#222222", canvas);
}

std::string bars_commands(const Explanation& explanation) {
  const auto& genes = explanation.genes;
  std::string bars = "$bars << EOD\n";
  Axis y{.low = static_cast<double>(genes.size()) - 0.4, .high = -0.6};
  for (std::size_t i = 0; i < genes.size(); ++i) {
    bars += fmt::format("{} {} {}\n", i, genes[i].alone, genes[i].total);
    y.ticks.emplace_back(static_cast<double>(i), genes[i].gene.name);
  }
  Axis x = linear_axis(0, std::max(genes.front().total, 0.01), 26);
  x.low = 0;
  for (auto& [value, text] : x.ticks) text = fmt::format("{:.4g} %%", 100 * value);
  const auto filled = [](int column, const char* colour) {
    return fmt::format(
        "$bars using (0):1:(0):{}:($1-0.3):($1+0.3) with boxxyerror fs solid noborder lc rgb '{}'",
        column, colour);
  };
  return bars + "EOD\n" + axis_commands("x", x) + axis_commands("y", y) +
         "set grid noytics\nplot " + filled(3, total_colour) + ", " + filled(2, alone_colour) +
         "\nset grid ytics\nunset label 1\nunset label 2\nunset label 3\nunset label 4\n";
}

bool is_few(const GeneExplanation& gene) {
  return gene.gene.kind != hyp::Gene::Kind::real && gene.expected.size() <= few;
}

/// Beside a whole value, so that trials of one value do not hide each other.
double beside(std::size_t trial) {
  constexpr double golden = 0.618033988749895;
  const double place = golden * static_cast<double>(trial);
  return 0.3 * (place - std::floor(place) - 0.5);
}

std::string panel_commands(const GeneExplanation& gene, const Explanation& explanation,
                           const Axis& y, bool is_leftmost) {
  std::string trials = "$trials << EOD\n", expected = "$expected << EOD\n";
  const double best = gene.values[explanation.best];
  for (std::size_t i = 0; i < gene.values.size(); ++i) {
    const double aside = is_few(gene) ? beside(i) : 0;
    trials += fmt::format("{} {}\n", core::shortest(gene.values[i] + aside),
                          core::shortest(explanation.fitness[i]));
  }
  for (const auto& at : gene.expected) {
    expected += fmt::format("{} {} {} {}\n", core::shortest(at.value), core::shortest(at.low),
                            core::shortest(at.mean), core::shortest(at.high));
  }
  const auto axis =
      axis_of(&gene.gene, gene.expected.front().value, gene.expected.back().value, label_room);
  const std::string curve =
      is_few(gene) ? "$expected using 1:3:2:4 with yerrorbars pt 7 ps 1.2 lw 3 lc rgb '#d9480f'"
                   : "$expected using 1:3 with lines lw 3 lc rgb '#d9480f'";
  const std::string band =
      is_few(gene) ? ""
                   : "$expected using 1:2:4 with filledcurves fc rgb '#d9480f' fs transparent "
                     "solid 0.15 noborder, ";
  return trials + "EOD\n" + expected + "EOD\n" +
         title(gene.gene.name + " = " + value_name(best, &gene.gene)) + axis_commands("x", axis) +
         axis_commands("y", y, is_leftmost) +
         (is_leftmost ? "set ylabel 'fitness' textcolor rgb '#555555'\n" : "unset ylabel\n") +
         "plot " + band + "$trials using 1:2 with points pt 7 ps 0.7 lc rgb '#9ebcda', " + curve +
         ", " + plus(best, explanation.fitness[explanation.best]) + "\n";
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
  return linear_axis(std::max(low, fitness.front()), high, 32);
}

}  // namespace

std::string explanation_script(const Explanation& explanation, const std::string& terminal) {
  const auto genes = explanation.genes.size();
  const int least_bars = static_cast<int>(genes) * least_pitch;
  const Canvas canvas{.height =
                          std::max(least_height, static_cast<int>(top + bottom) + least_bars)};
  const Layout layout = layout_of(explanation);
  const double lowest =
      std::min(canvas.height - bottom, top + static_cast<double>(genes * most_pitch));
  std::string script = begin(canvas, terminal) + labels(explanation, layout, canvas) +
                       place_at({layout.bars, layout.bars + bars_width, top, lowest}, canvas) +
                       bars_commands(explanation);

  const auto panels = std::min(genes, most_panels);
  const auto columns = panels > 4 ? (panels + 1) / 2 : panels;
  const double lines = panels > 4 ? 2 : 1;
  const double width = (canvas.width - layout.panels - right + gap) / static_cast<double>(columns);
  const double height = (canvas.height - top + 10) / lines;
  const Axis y = fitness_axis(explanation, panels);
  for (std::size_t i = 0; i < panels; ++i) {
    const double x = layout.panels + static_cast<double>(i % columns) * width;
    const double line = top - 20 + static_cast<double>(i / columns) * height;
    script += place_at({x, x + width - gap, line + 40, line + height - 60}, canvas) +
              panel_commands(explanation.genes[i], explanation, y, i % columns == 0);
  }
  return script + end();
}

void plot_explanation(const Explanation& explanation, const std::filesystem::path& image) {
  run_gnuplot(explanation_script(explanation, terminal_of(image)), image);
}

}  // namespace evolve::results
