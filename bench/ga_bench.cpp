// What a trial costs the engine: one ask and one tell, by the number of trials that ended before.
#include <benchmark/benchmark.h>

#include <limits>

#include "ga/ga.hpp"

namespace {

using namespace evolve;

void ask_and_tell(ga::Evolution& evolution) {
  const hyp::Trial trial = *evolution.ask();
  const double fitness = trial.hyp.number("translate") - trial.hyp.number("mosaic");
  evolution.tell({.trial = trial.number, .device = "cpu:0", .result = hyp::Completed{{}, fitness}});
}

void AskAndTell(benchmark::State& state) {
  ga::Evolution evolution(hyp::default_space(), {.generations = std::numeric_limits<int>::max()});
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
    ga::Evolution evolution(hyp::default_space(), {.population = 50, .generations = 300});
    while (!evolution.done()) ask_and_tell(evolution);
  }
}
BENCHMARK(RunOf300Generations)->Unit(benchmark::kMillisecond);

}  // namespace
