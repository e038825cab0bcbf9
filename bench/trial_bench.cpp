// Where the time of a trial goes in a warm worker: yolov5p at 64 pixels on one thread. With
// images in $EVOLVE_DATA/bccd.yaml those are used (205 to train on, 87 to validate with), else
// the embedded shapes.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "hyp/space.hpp"
#include "trainer/data/data_yaml.hpp"
#include "trainer/run/trainer.hpp"

namespace evolve::trainer {
namespace {

std::string data_yaml() {
  const char* folder = std::getenv("EVOLVE_DATA");
  const auto file = std::filesystem::path(folder ? folder : "") / "bccd.yaml";
  return std::filesystem::exists(file) ? file.string() : "shapes";
}

/// A trial of `state.range(0)` epochs. Counters, in seconds per trial: training, validation and
/// what remains (model, optimizer, anchors), and the images trained on in a second of training.
void trial(benchmark::State& state) {
  const TrainOptions options{.data = data_yaml(),
                             .cfg = "yolov5p.yaml",
                             .epochs = static_cast<int>(state.range(0)),
                             .imgsz = 64};
  const auto hyp = hyp::start_of(hyp::default_space());
  Trainer trainer("cpu", 1);
  trainer.train(options, hyp, 0, {});
  const auto images = data::read_data_yaml(options.data).train.size();
  Timing sum;
  for (auto _ : state) {
    const auto result = trainer.train(options, hyp, 1, {});
    sum.total += result.timing.total;
    sum.training += result.timing.training;
    sum.validation += result.timing.validation;
  }
  const auto per_trial = [&](double seconds) {
    return seconds / static_cast<double>(state.iterations());
  };
  state.SetLabel(options.data);
  state.counters["training"] = per_trial(sum.training);
  state.counters["validation"] = per_trial(sum.validation);
  state.counters["images/s"] =
      static_cast<double>(images) * options.epochs / per_trial(sum.training);
  state.counters["rest"] = per_trial(sum.total - sum.training - sum.validation);
}
BENCHMARK(trial)->Arg(1)->Arg(2)->Arg(10)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace evolve::trainer
