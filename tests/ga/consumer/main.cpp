// A program of somebody else, built against an installed evolve: it tunes two numbers of its own.
#include <cmath>
#include <iostream>

#include "ga/ga.hpp"
#include "hyp/hyp.hpp"

int main() {
  using namespace evolve;
  const hyp::Space space = hyp::parse_space(
      "rate: {low: 1.0e-5, high: 1.0, scale: log}\ndepth: {low: 1, high: 9, type: int}",
      "space.yaml");
  const hyp::Fitness fitness("mAP50");
  ga::Evolution evolution(space, {.seed = 1, .population = 10, .generations = 20});
  while (const auto trial = evolution.ask()) {
    const double off = std::abs(std::log10(trial->hyp.number("rate")) + 3);
    const hyp::Metrics metrics = {.map50 = 1 - 0.1 * off -
                                           0.1 * std::abs(trial->hyp.number("depth") - 4)};
    evolution.tell({.trial = trial->number, .result = hyp::Completed{metrics, fitness(metrics)}});
  }
  std::cout << hyp::hyp_lines(hyp::express(space, evolution.best()->genes));
  return evolution.best()->fitness > 0.99 ? 0 : 1;
}
