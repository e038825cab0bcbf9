// Genes, spaces, outcomes and whole runs, in few words.
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "ga/ga.hpp"

namespace evolve::ga {

inline hyp::Gene real(double low, double high, double start = 0) {
  return {.name = "", .low = low, .high = high, .choices = {}, .start = start};
}

inline hyp::Gene logarithmic(double low, double high, double start) {
  hyp::Gene gene = real(low, high, start);
  gene.scale = hyp::Gene::Scale::log;
  return gene;
}

inline hyp::Gene integer(double low, double high, double start) {
  hyp::Gene gene = real(low, high, start);
  gene.kind = hyp::Gene::Kind::integer;
  return gene;
}

inline hyp::Gene categorical(std::vector<std::string> choices, double start = 0) {
  hyp::Gene gene = real(0, static_cast<double>(choices.size()) - 1, start);
  gene.kind = hyp::Gene::Kind::categorical;
  gene.choices = std::move(choices);
  return gene;
}

/// A space of these genes, named g0, g1, …
inline hyp::Space space_of(std::vector<hyp::Gene> genes) {
  for (std::size_t i = 0; i < genes.size(); ++i) genes[i].name = "g" + std::to_string(i);
  return {std::move(genes)};
}

/// The covariance of two values of the signal, at a distance in units of the length scales.
inline double matern(double distance) {
  const double r = std::sqrt(5.0) * distance;
  return (1 + r + r * r / 3) * std::exp(-r);
}

/// Three real genes; `peak` is greatest in the middle of the first, at the end of the others.
inline hyp::Space cube() {
  return space_of({real(0, 1, 0.1), real(-5, 5), logarithmic(1e-5, 0.1, 0.01)});
}
inline double peak(const hyp::Hyperparameters& hyp) {
  const double middle = hyp.number("g0") - 0.5;
  return 0.5 - middle * middle + 0.01 * hyp.number("g1") + hyp.number("g2");
}

inline hyp::Outcome completed(int trial, double fitness) {
  return {.trial = trial, .device = "cpu:0", .result = hyp::Completed{{}, fitness}};
}
inline hyp::Outcome stopped(int trial, double fitness) {
  return {.trial = trial, .device = "cpu:0", .result = hyp::Stopped{1, {}, fitness}};
}
inline hyp::Outcome failed(int trial, bool final = true) {
  return {.trial = trial,
          .device = "cpu:0",
          .result = hyp::Failed{.message = "", .log = "", .final = final}};
}

/// The screened search, where sets are counted.
inline Settings screened(std::uint64_t seed = 1, int trials = 60) {
  return {.search = "screened", .seed = seed, .trials = trials};
}

inline std::vector<int> numbers_of(const std::vector<Individual>& members) {
  std::vector<int> numbers;
  for (const Individual& member : members) numbers.push_back(member.trial);
  return numbers;
}

/// Asks and tells, one trial at a time, until nothing is left to ask; the trials in their order.
inline std::vector<hyp::Trial> run(
    Evolution& evolution,
    const std::function<double(const hyp::Hyperparameters&)>& fitness = peak) {
  std::vector<hyp::Trial> trials;
  while (auto trial = evolution.ask()) {
    evolution.tell(completed(trial->number, fitness(trial->hyp)));
    trials.push_back(*std::move(trial));
  }
  return trials;
}

}  // namespace evolve::ga

namespace evolve::hyp {

inline bool operator==(const Trial& a, const Trial& b) {
  return a.number == b.number && a.generation == b.generation && a.hyp == b.hyp && a.seed == b.seed;
}

}  // namespace evolve::hyp
