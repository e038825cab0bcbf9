#include "trainer/trainer.hpp"

#include <ATen/Parallel.h>
#include <torch/torch.h>

#include <chrono>
#include <cmath>
#include <opencv2/core/utility.hpp>

#include "trainer/checkpoint.hpp"
#include "trainer/data/data.hpp"
#include "trainer/flat_state.hpp"
#include "trainer/loss.hpp"
#include "trainer/pictures.hpp"
#include "trainer/prepared_data.hpp"
#include "trainer/setup.hpp"
#include "trainer/state.hpp"
#include "trainer/stepper.hpp"
#include "trainer/validate.hpp"

namespace evolve::trainer {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

bool is_finite(const hyp::Metrics& metrics) {
  const auto values = metrics.values();
  return std::all_of(values.begin(), values.end(),
                     [](double value) { return std::isfinite(value); });
}

/// One training run.
class Run {
 public:
  Run(const TrainOptions& options, const hyp::Hyperparameters& hyp, std::uint64_t seed,
      PreparedData& data, const torch::Device& device, int threads)
      : options_(options),
        data_(data),
        seed_(seed),
        device_(device),
        workers_(std::clamp(options.workers, 0, threads - 1)),
        augmentation_(data::augmentation_of(hyp)),
        detector_(make_detector(options, hyp, seed, data)),
        state_(*detector_, device),
        loss_(loss_options(hyp, detector_->config(), options.imgsz, options.label_smoothing),
              detector_->anchors()),
        stepper_(state_, schedule_of(hyp, options.epochs, batches(), batch_size(), options.cos_lr),
                 algorithm_of(optimizer_name(options, hyp)), hyp.number("weight_decay")) {}

  /// `epoch` counts from 0. Throws `TrainingFailed` at the first loss that is no number.
  void train_epoch(int epoch) {
    detector_->train();
    stepper_.begin_epoch();
    const data::EpochPlan plan = plan_of(epoch);
    data::BatchStream stream(static_cast<int>(plan.batches.size()), workers_, [&](int index) {
      return data::train_batch(data_.training(), plan, index, augmentation_);
    });
    for (int i = 0; const auto batch = stream.next(); ++i) {
      train_batch(*batch, epoch * batches() + i);
    }
  }

  /// Of the moving average.
  hyp::Metrics validate() {
    const auto averaged = average();
    averaged->fuse();
    ValidateOptions validate_options;
    validate_options.nms.conf = options_.conf;
    validate_options.nms.iou = options_.iou;
    validate_options.single_cls = options_.single_cls;
    const auto metrics =
        trainer::validate(*averaged, data_.validation(), &loss_, validate_options).metrics;
    if (!is_finite(metrics)) {
      throw TrainingFailed(hyp::FailureKind::diverged,
                           "validation gave a metric that is no number");
    }
    return metrics;
  }

  /// Writes the moving average.
  void save(const std::string& path) const {
    auto state = state_dict(*average());
    for (auto& [name, tensor] : state) {
      if (tensor.is_floating_point()) tensor = tensor.to(torch::kHalf);
    }
    write_checkpoint(path, {.state = std::move(state)});
  }

 private:
  /// A detector with the moving average of the weights.
  std::unique_ptr<Detector> average() const {
    auto averaged = std::make_unique<Detector>(detector_->config(), seed_);
    averaged->set_anchors(detector_->anchors_in_pixels());
    freeze(*averaged, options_.freeze);
    const FlatState state(*averaged, device_);
    state.values().copy_(stepper_.ema().values());
    return averaged;
  }

  int batch_size() const {
    return std::min(options_.batch_size, static_cast<int>(data_.training().pictures.size()));
  }
  int batches() const {
    const int pictures = static_cast<int>(data_.training().pictures.size());
    return (pictures + batch_size() - 1) / batch_size();
  }

  data::EpochPlan plan_of(int epoch) const {
    const data::Dataset& pictures = data_.training();
    if (options_.rect) {
      const auto& strides = detector_->strides();
      return data::plan_rect_epoch(pictures, batch_size(),
                                   *std::max_element(strides.begin(), strides.end()), seed_, epoch);
    }
    const int count = static_cast<int>(pictures.pictures.size());
    return data::plan_epoch(pictures, data::epoch_order(count, seed_, epoch), batch_size(), seed_,
                            epoch);
  }

  void train_batch(const data::Batch& batch, int iteration) {
    const auto value = loss_(detector_->forward(pictures_of(batch, device_)), batch.targets);
    if (!std::isfinite(value.total.item<float>())) {
      throw TrainingFailed(hyp::FailureKind::diverged,
                           "the loss is no number at iteration " + std::to_string(iteration));
    }
    value.total.backward();
    stepper_.end_iteration(iteration);
  }

  const TrainOptions& options_;
  PreparedData& data_;
  std::uint64_t seed_;
  torch::Device device_;
  /// Threads that make batches beside the training.
  int workers_;
  data::Augmentation augmentation_;
  std::unique_ptr<Detector> detector_;
  FlatState state_;
  Loss loss_;
  Stepper stepper_;
};

/// YOLOv5 rounds the pictures' size up to whole strides, two at least.
TrainOptions settled(TrainOptions options, int stride) {
  options.imgsz = std::max((options.imgsz + stride - 1) / stride, 2) * stride;
  return options;
}

}  // namespace

struct Trainer::State {
  torch::Device device;
  int threads;
  DataCache cache;
};

Trainer::Trainer(const std::string& device, int threads)
    : state_(std::make_unique<State>(State{torch::Device(device), threads, {}})) {
  at::set_num_threads(threads);
  cv::setNumThreads(1);
}

Trainer::~Trainer() = default;

TrainResult Trainer::train(const TrainOptions& wanted, const hyp::Hyperparameters& hyp,
                           std::uint64_t seed, const OnEpoch& on_epoch) {
  const auto start = Clock::now();
  check_names(hyp);
  const auto strides = model_config(wanted, hyp, {}).strides;
  const int stride = std::max(*std::max_element(strides.begin(), strides.end()), 32);
  const TrainOptions options = settled(wanted, stride);
  PreparedData& data = state_->cache.get(options, stride, state_->threads);
  Run run(options, hyp, seed, data, state_->device, state_->threads);
  TrainResult result;
  for (int epoch = 1; epoch <= options.epochs; ++epoch) {
    const auto training = Clock::now();
    run.train_epoch(epoch - 1);
    result.timing.training += seconds_since(training);
    if (epoch == options.epochs) {
      const auto validation = Clock::now();
      result.metrics = run.validate();
      result.timing.validation += seconds_since(validation);
    }
    if (on_epoch) on_epoch(epoch, result.metrics);
  }
  if (!options.save.empty()) run.save(options.save);
  result.timing.total = seconds_since(start);
  return result;
}

}  // namespace evolve::trainer
