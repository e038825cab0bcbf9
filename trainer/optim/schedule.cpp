#include "trainer/optim/schedule.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>

namespace evolve::trainer {
namespace {

/// Half to even, as Python and NumPy round.
int round_even(double value) {
  return static_cast<int>(std::nearbyint(value));
}

/// Half a cosine from 1 to `last`; `done` in 0..1.
double half_cosine(double done, double last) {
  return (1 - std::cos(done * std::numbers::pi)) / 2 * (last - 1) + 1;
}

/// The share of its cycle that lies behind `epoch`.
double done_of_cycle(const Restarts& restarts, int epoch) {
  std::int64_t length = restarts.epochs;
  std::int64_t begin = restarts.factor == 1 ? epoch / length * length : 0;
  for (; epoch - begin >= length; length *= restarts.factor) begin += length;
  return static_cast<double>(epoch - begin) / static_cast<double>(length);
}

}  // namespace

int Schedule::accumulation() const {
  return std::max(round_even(static_cast<double>(nominal_batch_size) / batch_size), 1);
}

double Schedule::factor(int epoch) const {
  if (restarts.epochs > 0) return half_cosine(done_of_cycle(restarts, epoch), lrf);
  const double done = static_cast<double>(epoch) / epochs;
  if (cosine) return half_cosine(done, lrf);
  return (1 - done) * (1 - lrf) + lrf;
}

double Schedule::rate(int iteration) const {
  const int epoch = iteration / batches;
  const bool warmed_up = epoch > warmup_iterations / batches;
  return lr0 * factor(warmed_up ? epoch - 1 : epoch);
}

StepSettings Schedule::at(int iteration) const {
  const double rate = this->rate(iteration);
  if (iteration > warmup_iterations) return {{rate, rate, rate}, momentum, accumulation()};
  // In NumPy's order (np.interp): where a half is rounded, another one rounds it otherwise.
  const auto between = [&](double from, double to) {
    if (iteration == warmup_iterations) return to;
    return (to - from) / warmup_iterations * iteration + from;
  };
  const double images = static_cast<double>(nominal_batch_size) / batch_size;
  return {{between(warmup_bias_lr, rate), between(0, rate), between(0, rate)},
          between(warmup_momentum, momentum),
          std::max(round_even(between(1, images)), 1)};
}

int warmup_iterations(double warmup_epochs, int batches) {
  constexpr double longer_than_any = 1e9;
  return std::max(round_even(std::min(warmup_epochs * batches, longer_than_any)), 100);
}

Schedule schedule_of(const hyp::Hyperparameters& hyp, const TrainOptions& options, int batches) {
  return {.epochs = options.epochs,
          .batches = batches,
          .batch_size = options.batch_size,
          .cosine = options.cos_lr,
          .restarts = {options.restart_epochs, options.restart_factor},
          .lr0 = hyp.number("lr0"),
          .lrf = hyp.number("lrf"),
          .momentum = hyp.number("momentum"),
          .warmup_iterations = warmup_iterations(hyp.number("warmup_epochs"), batches),
          .warmup_momentum = hyp.number("warmup_momentum"),
          .warmup_bias_lr = hyp.number("warmup_bias_lr")};
}

}  // namespace evolve::trainer
