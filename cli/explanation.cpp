#include "cli/explanation.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "cli/screen/text.hpp"
#include "core/number.hpp"
#include "core/utf8.hpp"
#include "results/plots/axis.hpp"

namespace evolve::cli {
namespace {

std::string percent(double share) {
  return fmt::format("{:.0f} %", 100 * share);
}

std::string bar(double alone, double total, double full) {
  constexpr double width = 9;
  const auto blocks = [&](double share) { return std::lround(share / full * width); };
  std::string text;
  for (long i = 0; i < blocks(total); ++i) text += i < blocks(alone) ? "█" : "░";
  return text;
}

/// In characters: a longer one would make every line of the table too long for a terminal.
constexpr std::size_t longest_name = 24;

/// Of many genes those that explain next to nothing are counted only.
constexpr double least_told = 0.02;

std::span<const results::GeneExplanation> shown(
    const std::vector<results::GeneExplanation>& genes) {
  constexpr std::size_t few = 10;
  const auto told =
      std::ranges::find_if(genes, [](const auto& gene) { return gene.total < least_told; });
  const auto count = static_cast<std::size_t>(told - genes.begin());
  return std::span(genes).first(std::max(count, std::min(few, genes.size())));
}

/// Digits behind the point that give the greatest of these three significant ones at least.
int decimals_of(const std::vector<results::GeneExplanation>& genes) {
  constexpr int usual = 3, most = 12;
  double greatest = 0;
  for (const auto& gene : genes) greatest = std::max(greatest, std::abs(gene.loss));
  if (greatest == 0) return usual;
  const int digits = 2 - static_cast<int>(std::floor(std::log10(greatest)));
  return std::clamp(digits, greatest < 10 ? usual : 0, most);
}

}  // namespace

std::vector<std::string> explanation_lines(const results::Explanation& explanation) {
  std::size_t width = 4;
  for (const auto& gene : explanation.genes)
    width = std::max(width, std::min(longest_name, core::characters(gene.gene.name)));
  std::vector<std::string> lines;
  lines.push_back(fmt::format("{} completed, highest fitness {}",
                              core::counted(std::ssize(explanation.fitness), "trial"),
                              fitness_text(explanation.fitness[explanation.best])));
  const auto verdict = results::verdict(explanation);
  lines.push_back(fmt::format("predicting each trial from the others, the model has R² {:.2f}",
                              explanation.r2));
  if (!verdict.empty()) lines.push_back(verdict);
  lines.push_back(fmt::format("{:{}}  share of the variation     loss by", "", width));
  lines.push_back(
      fmt::format("{:{}}  alone  total{:13}chance  start → highest", "gene", width, ""));
  const double full = explanation.genes.front().total;
  const auto told = shown(explanation.genes);
  const int decimals = decimals_of(explanation.genes);
  const double unit = std::pow(10, -decimals);
  for (const auto& gene : told) {
    const auto name = [&](double value) { return results::value_name(value, &gene.gene); };
    lines.push_back(fmt::format("{:{}}  {:>5}  {:>5}  {:9}  {:>6.{}f}  {} → {}",
                                core::without_beginning(gene.gene.name, longest_name), width,
                                percent(gene.alone), percent(gene.total),
                                bar(gene.alone, gene.total, full),
                                std::round(gene.loss / unit) * unit + 0.0, decimals,
                                name(gene.gene.start), name(gene.values[explanation.best])));
  }
  if (const auto rest = explanation.genes.size() - told.size(); rest > 0)
    lines.push_back(fmt::format("{} more with less than {}{}", rest, percent(least_told),
                                rest > 1 ? " each" : ""));
  std::vector<std::string> unvaried;
  for (const auto& [gene, value] : explanation.unvaried)
    unvaried.push_back(gene.name + " " + results::value_name(value, &gene));
  if (!unvaried.empty())
    lines.push_back(fmt::format("the same in all trials that ended, so nothing is known of it: {}",
                                fmt::join(unvaried, ", ")));
  lines.push_back("alone: what the gene explains by itself; total: with its part in interactions");
  lines.push_back("loss by chance: what a random value instead of the highest's costs on average");
  lines.push_back(
      fmt::format("the trials pin down {} of that variation, the rest is the model's guess",
                  percent(explanation.known)));
  return lines;
}

}  // namespace evolve::cli
