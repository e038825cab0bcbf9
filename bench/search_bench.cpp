// What several slots cost the search in trainings: slots learn of a trial only when it has ended.
//
//   search_bench [SEEDS]      # default 6; prints a table for docs/search_measured.md
//
// The problem is a bowl over YOLOv5's 13 evolved hyperparameters, its axes mixed in pairs, 100
// times as steep along one as along another, with training noise of 0.003; the seed moves its top.
// Regret is what the best observed set lacks, 1 at the start. Trainings last 1, give or take a
// third, so that slots run out of step.
#include <fmt/format.h>

#include <algorithm>
#include <boost/random/normal_distribution.hpp>
#include <boost/random/uniform_01.hpp>
#include <cmath>
#include <cstdlib>
#include <map>
#include <optional>
#include <vector>

#include "ga/ga.hpp"

namespace {

using namespace evolve;

class Bowl {
 public:
  explicit Bowl(std::uint64_t seed) : rng_(ga::breeding_rng(seed, 1 << 20)) {
    boost::random::uniform_01<double> chance;
    genes_ = hyp::evolved_genes(hyp::default_space());
    while (top_.size() < genes_.size()) top_.push_back(0.05 + 0.9 * chance(rng_));
  }

  double truth(const hyp::Hyperparameters& hyp) const {
    const std::size_t n = genes_.size();
    std::vector<double> away;
    for (std::size_t i = 0; i < n; ++i) {
      away.push_back(hyp::to_unit(genes_[i], hyp.number(genes_[i].name)) - top_[i]);
    }
    double badness = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const double mixed = i + 1 < n ? away[i] + (i % 2 ? -1 : 1) * away[i + 1] : away[i];
      badness += std::pow(100, static_cast<double>(i) / static_cast<double>(n - 1)) * mixed * mixed;
    }
    return 0.6 * std::exp(-badness / 60);
  }

  double observed(double truth) {
    return truth + boost::random::normal_distribution<double>(0, 0.003)(rng_);
  }

  double regret(double truth) const { return (0.6 - truth) / (0.6 - start()); }
  double start() const { return truth(hyp::start_of(hyp::default_space())); }

 private:
  std::vector<hyp::Gene> genes_;
  std::vector<double> top_;
  ga::Rng rng_;
};

constexpr int budgets[] = {50, 100, 300};

// The regret of the best observed set when so many trainings have ended.
std::vector<double> regrets(std::uint64_t seed, int slots, bool lagging) {
  Bowl bowl(seed);
  const auto lag = lagging ? std::optional(slots) : std::nullopt;
  ga::Evolution evolution(hyp::default_space(),
                          {.search = "screened", .seed = seed, .trials = budgets[2], .lag = lag});
  ga::Rng rng = ga::breeding_rng(seed, 1 << 21);
  boost::random::uniform_01<double> chance;
  std::multimap<double, hyp::Trial> running;  // by when they end
  std::vector<double> found;
  double now = 0, best = -1, value = 0;
  while (!evolution.done()) {
    while (static_cast<int>(running.size()) < slots) {
      auto trial = evolution.ask();
      if (!trial) break;
      running.emplace(now + 2.0 / 3 + 2.0 / 3 * chance(rng), std::move(*trial));
    }
    const auto first = running.begin();
    now = first->first;
    const double truth = bowl.truth(first->second.hyp), seen = bowl.observed(truth);
    evolution.tell({.trial = first->second.number,
                    .device = "",
                    .result = hyp::Completed{.metrics = {}, .fitness = seen}});
    running.erase(first);
    if (seen > best) best = seen, value = truth;
    if (std::ranges::count(budgets, evolution.ended())) found.push_back(bowl.regret(value));
  }
  return found;
}

std::string row(const std::string& name, int slots, bool lagging, int seeds) {
  std::vector<double> sums(std::size(budgets));
  for (int seed = 0; seed < seeds; ++seed) {
    const auto found = regrets(static_cast<std::uint64_t>(seed), slots, lagging);
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += std::log(std::max(found[i], 1e-3));
  }
  std::string text = "| " + name + " |";
  for (const double sum : sums) text += fmt::format(" {:.3f} |", std::exp(sum / seeds));
  return text;
}

}  // namespace

int main(int argc, char** argv) {
  const int seeds = argc > 1 ? std::atoi(argv[1]) : 6;
  fmt::print("| slots | regret after 50 | 100 | 300 trainings |\n|---|---|---|---|\n");
  for (const int slots : {1, 2, 4, 8, 16}) {
    fmt::print("{}\n", row(fmt::format("{}, asynchronous", slots), slots, false, seeds));
    fmt::print("{}\n", row(fmt::format("{0}, `--lag {0}`", slots), slots, true, seeds));
    std::fflush(stdout);
  }
}
