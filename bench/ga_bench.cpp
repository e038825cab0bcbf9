// What a trial costs the engine: one ask and one tell, by the number of trials that ended before.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <ctime>
#include <limits>
#include <vector>

#include "ga/ga.hpp"

namespace {

using namespace evolve;

hyp::Space all_genes() {
  hyp::Space space = hyp::default_space();
  for (hyp::Gene& gene : space.genes) gene.evolve = true;
  return space;
}

double fitness_of(const hyp::Hyperparameters& hyp) {
  return hyp.number("translate") - hyp.number("mosaic");
}

void tell(ga::Evolution& evolution, const hyp::Trial& trial) {
  evolution.tell({.trial = trial.number,
                  .device = "cpu:0",
                  .result = hyp::Completed{{}, fitness_of(trial.hyp)}});
}

void ask_and_tell(ga::Evolution& evolution) {
  tell(evolution, *evolution.ask());
}

void AskAndTell(benchmark::State& state) {
  ga::Evolution evolution(hyp::default_space(),
                          {.search = "classic", .generations = std::numeric_limits<int>::max()});
  for (int64_t i = 0; i < state.range(0); ++i) ask_and_tell(evolution);
  for (auto _ : state) ask_and_tell(evolution);
}
BENCHMARK(AskAndTell)
    ->Arg(50)
    ->Arg(1'000)
    ->Arg(100'000)
    ->Iterations(10'000)
    ->Unit(benchmark::kMicrosecond);

// The late schedule breeds many copies, which are mutated again until they are new.
void RunOf300Generations(benchmark::State& state) {
  for (auto _ : state) {
    ga::Evolution evolution(hyp::default_space(),
                            {.search = "classic", .population = 50, .generations = 300});
    while (!evolution.done()) ask_and_tell(evolution);
  }
}
BENCHMARK(RunOf300Generations)->Unit(benchmark::kMillisecond);

double cpu_seconds() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

// 29 genes; the history is made of the classic search's trials, so that reaching it costs nothing.
// `worst`: the dearest single proposal in milliseconds of processor time, fits included.
void ScreenedProposal(benchmark::State& state) {
  const auto length = static_cast<int>(state.range(0));
  const int most = std::numeric_limits<int>::max();
  ga::Evolution recorded(all_genes(), {.search = "classic", .generations = most});
  ga::Evolution evolution(all_genes(), {.search = "screened", .generations = most});
  for (int i = 0; i < length; ++i) {
    const hyp::Trial trial = *recorded.ask();
    tell(recorded, trial);
    tell(evolution, *evolution.ask_again(trial.hyp));
  }
  ask_and_tell(evolution);  // fits what a run would have fitted on its way
  double worst = 0;
  for (auto _ : state) {
    const double start = cpu_seconds();
    ask_and_tell(evolution);
    worst = std::max(worst, cpu_seconds() - start);
  }
  state.counters["worst_ms"] = 1e3 * worst;
}
BENCHMARK(ScreenedProposal)
    ->Arg(5)
    ->Arg(20)
    ->Arg(50)
    ->Arg(100)
    ->Arg(300)
    ->Arg(1'000)
    ->Arg(15'000)
    ->Iterations(100)
    ->Unit(benchmark::kMillisecond);

// A run from its start: every proposal, every fit.
void ScreenedRunOf1000(benchmark::State& state) {
  double worst = 0;
  for (auto _ : state) {
    ga::Evolution evolution(all_genes(), {.search = "screened", .trials = 1000});
    while (!evolution.done()) {
      const double start = cpu_seconds();
      ask_and_tell(evolution);
      worst = std::max(worst, cpu_seconds() - start);
    }
  }
  state.counters["worst_ms"] = 1e3 * worst;
}
BENCHMARK(ScreenedRunOf1000)->Iterations(1)->Unit(benchmark::kMillisecond);

// Resuming a run: its trials handed in again, then the first new one with all the fits.
void ScreenedReplay(benchmark::State& state) {
  const auto length = static_cast<int>(state.range(0));
  const int most = std::numeric_limits<int>::max();
  ga::Evolution recorded(all_genes(), {.search = "classic", .generations = most});
  std::vector<hyp::Trial> trials;
  for (int i = 0; i < length; ++i) {
    trials.push_back(*recorded.ask());
    tell(recorded, trials.back());
  }
  for (auto _ : state) {
    ga::Evolution evolution(all_genes(), {.search = "screened", .generations = most});
    for (const hyp::Trial& trial : trials) tell(evolution, *evolution.ask_again(trial.hyp));
    benchmark::DoNotOptimize(evolution.ask());
  }
}
BENCHMARK(ScreenedReplay)->Arg(100'000)->Iterations(1)->Unit(benchmark::kMillisecond);

}  // namespace
