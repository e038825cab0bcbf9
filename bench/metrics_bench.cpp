// What validation costs beside the forward pass, and what finding anchors costs.
#include <benchmark/benchmark.h>

#include <boost/random/mersenne_twister.hpp>
#include <boost/random/uniform_01.hpp>
#include <vector>

#include "trainer/data/autoanchor.hpp"
#include "trainer/evaluation/average_precision.hpp"
#include "trainer/evaluation/nms.hpp"

namespace evolve::trainer {
namespace {

/// Numbers in 0..1, the same in every run.
class UniformNumbers {
 public:
  float operator()() { return boost::random::uniform_01<float>()(rng_); }

 private:
  boost::random::mt19937 rng_{1};
};

constexpr int classes = 3;

/// What a model says of a square image before it has learned much: many boxes, few of them sure.
std::vector<float> predictions(int imgsz) {
  UniformNumbers draw;
  std::vector<float> rows;
  for (const int stride : {8, 16, 32}) {
    const int cells = imgsz / stride;
    for (int i = 0; i < 3 * cells * cells; ++i) {
      const float size = 4 * static_cast<float>(stride);
      const float x = static_cast<float>(stride * (i % cells));
      const float y = static_cast<float>(stride * (i / cells % cells));
      const float objectness = draw() * draw() * draw();
      rows.insert(rows.end(), {x, y, size * (0.5f + draw()), size * (0.5f + draw()), objectness});
      for (int cls = 0; cls < classes; ++cls) rows.push_back(draw());
    }
  }
  return rows;
}

void nms(benchmark::State& state) {
  const auto rows = predictions(static_cast<int>(state.range(0)));
  for (auto _ : state) benchmark::DoNotOptimize(non_max_suppression(rows, classes, {}));
}
BENCHMARK(nms)->Arg(64)->Arg(160)->Arg(640)->Unit(benchmark::kMicrosecond);

/// 87 images of 300 detections.
void average_precision(benchmark::State& state) {
  UniformNumbers draw;
  std::vector<Judged> detections;
  for (int i = 0; i < 87 * 300; ++i) {
    const double conf = draw() * draw() * draw();
    const auto steps = static_cast<unsigned>(11 * draw());
    const Hits hits = draw() < 0.04f ? static_cast<Hits>((1u << steps) - 1) : Hits{0};
    detections.push_back({.conf = conf, .cls = i % classes, .hits = hits});
  }
  for (auto _ : state) {
    benchmark::DoNotOptimize(score_classes(detections, std::vector{900, 90, 90}));
  }
}
BENCHMARK(average_precision)->Unit(benchmark::kMillisecond);

void autoanchor(benchmark::State& state) {
  UniformNumbers draw;
  std::vector<data::Size> labels;
  for (int i = 0; i < 2804; ++i) {
    const float size = 4 + 30 * draw() * draw();
    labels.push_back({size * (0.7f + 0.6f * draw()), size * (0.7f + 0.6f * draw())});
  }
  const std::vector<data::Size> too_small(static_cast<std::size_t>(state.range(0)),
                                          data::Size{0.1f, 0.1f});
  for (auto _ : state) {
    data::AnchorFitter fitter(64, {.exact = labels, .jittered = labels});
    benchmark::DoNotOptimize(fitter.fit(too_small, 4));
  }
}
BENCHMARK(autoanchor)->Arg(9)->Arg(30)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace evolve::trainer
