// What a training sample costs: the trainer at 64 pixels needs more than 541 a second on one core
// with everything else.
#include <benchmark/benchmark.h>

#include <opencv2/core/utility.hpp>

#include "trainer/data/data.hpp"

namespace evolve::data {
namespace {

/// hyp.scratch-low's augmentation; `mixup` and the tilts of stronger hyps cost more.
constexpr Augmentation scratch_low{.hsv_h = 0.015,
                                   .hsv_s = 0.7,
                                   .hsv_v = 0.4,
                                   .translate = 0.1,
                                   .scale = 0.5,
                                   .fliplr = 0.5,
                                   .mosaic = 1};

Dataset shapes(int imgsz) {
  cv::setNumThreads(0);
  return load(embedded_config("shapes"), Split::train, {.imgsz = imgsz});
}

void train_epoch(benchmark::State& state, const Augmentation& augmentation) {
  const Dataset dataset = shapes(static_cast<int>(state.range(0)));
  const int images = static_cast<int>(dataset.images.size());
  int epoch = 0;
  for (auto _ : state) {
    const EpochPlan plan = plan_epoch(dataset, epoch_order(images, 1, epoch), 16, 1, epoch);
    for (int i = 0; i < static_cast<int>(plan.batches.size()); ++i) {
      benchmark::DoNotOptimize(train_batch(dataset, plan, i, augmentation));
    }
    ++epoch;
  }
  state.SetItemsProcessed(state.iterations() * images);
}

void train_scratch_low(benchmark::State& state) {
  train_epoch(state, scratch_low);
}
BENCHMARK(train_scratch_low)->Arg(64)->Arg(96)->Arg(160)->Arg(640)->Unit(benchmark::kMillisecond);

void train_everything(benchmark::State& state) {
  Augmentation augmentation = scratch_low;
  augmentation.degrees = 10;
  augmentation.shear = 5;
  augmentation.perspective = 0.0005;
  augmentation.mixup = 1;
  train_epoch(state, augmentation);
}
BENCHMARK(train_everything)->Arg(64)->Unit(benchmark::kMillisecond);

void validation(benchmark::State& state) {
  const auto set = validation_set(shapes(static_cast<int>(state.range(0))), 32, 32, true);
  for (auto _ : state) {
    for (const BatchPlan& plan : set.batches) {
      benchmark::DoNotOptimize(validation_batch(set.dataset, plan));
    }
  }
  state.SetItemsProcessed(state.iterations() *
                          static_cast<std::int64_t>(set.dataset.images.size()));
}
BENCHMARK(validation)->Arg(64)->Unit(benchmark::kMillisecond);

void draw_shapes(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(embedded_images("shapes", Split::val));
  state.SetItemsProcessed(state.iterations() * 100);
}
BENCHMARK(draw_shapes)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace evolve::data
