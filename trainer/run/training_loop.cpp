#include "trainer/run/training_loop.hpp"

#include <fmt/format.h>
#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/error.hpp"
#include "trainer/data/image_weights.hpp"
#include "trainer/run/setup.hpp"
#include "trainer/stopwatch.hpp"
#include "trainer/training_failed.hpp"

namespace evolve::trainer {
namespace {

/// Nothing may run on another device unnoticed.
void check_device(const char* what, const torch::Tensor& tensor, const torch::Device& device) {
  TORCH_CHECK(tensor.device() == device, what, " lies on ", tensor.device(), ", not on ", device);
}

void check_device(const Detector& detector, const torch::Device& device) {
  for (const auto& tensors : {detector.parameters(), detector.buffers()}) {
    for (const auto& tensor : tensors) check_device("the model", tensor, device);
  }
}

/// Adds up the gradients of all ranks, by way of the host's memory. A library of the device's maker
/// that adds up on the devices themselves (NCCL, oneCCL) would be called here.
void add_up(Ranks& ranks, const torch::Tensor& gradients) {
  if (ranks.alone()) return;
  const torch::NoGradGuard no_grad;
  const auto host = gradients.to(torch::kCPU);
  ranks.sum({host.data_ptr<float>(), static_cast<std::size_t>(host.numel())});
  if (!gradients.is_cpu()) gradients.copy_(host);
}

/// What rank 0 says before each epoch, and at the end.
std::string order_for(int epoch, std::span<const double> ap) {
  return nlohmann::json{{"epoch", epoch}, {"ap", std::vector<double>(ap.begin(), ap.end())}}.dump();
}
constexpr const char* end_of_training = "end";

}  // namespace

int batch_workers(const TrainOptions& options, const ComputeContext& context) {
  return std::clamp(options.workers, 0, context.threads - 1);
}

ValidateOptions validate_options(const TrainOptions& options, const ComputeContext& context,
                                 const DeviceImages& images) {
  return {.nms = {.conf = options.conf, .iou = options.iou, .agnostic = options.single_cls},
          .single_cls = options.single_cls,
          .stored = images.validation,
          .workers = batch_workers(options, context),
          .beat = context.beat};
}

TrainingLoop::TrainingLoop(const TrainOptions& options, const hyp::Hyperparameters& hyp,
                           std::uint64_t seed, PreparedData& data,
                           std::unique_ptr<Detector> detector, const ComputeContext& context)
    : options_(options),
      data_(data),
      images_(data.on(context)),
      seed_(seed),
      context_(context),
      augmentation_(data::augmentation_of(hyp)),
      detector_(std::move(detector)),
      parameters_(*detector_, context.device),
      loss_(loss_options(hyp, detector_->config(), options.imgsz, options.label_smoothing),
            detector_->anchors()),
      schedule_(schedule_of(hyp, options, batches())),
      step_(parameters_, schedule_, algorithm_of(optimizer_name(options, hyp)),
            hyp.number("weight_decay"), GradScaler(precision(), context.device),
            [ranks = context.ranks](const auto& gradients) { add_up(*ranks, gradients); }) {
  check_device(*detector_, context.device);
  context.ranks->reserve(static_cast<std::size_t>(parameters_.gradients().numel()));
}

EpochProgress TrainingLoop::train_epoch(int epoch, std::span<const double> ap,
                                        const OnBatch& on_batch) {
  if (context_.ranks->rank() == 0) context_.ranks->tell(order_for(epoch, ap));
  detector_->train();
  step_.begin_epoch(epoch * batches());
  const auto made = begun_ && begun_->epoch == epoch ? std::move(begun_) : begun_epoch(epoch, ap);
  EpochProgress progress{.batches = made->count};
  LossLog losses(context_.device);
  int read = 0, taken = 0;
  const auto next = [&] {
    Stopwatch watch;
    auto load = made->loads.next();
    if (load) load = sent(std::move(*load), context_.device);
    seconds_.images += watch.lap();
    return load;
  };
  while (const auto load = next()) {
    for (std::size_t i = 0; i < load->batches.size(); ++i) {
      losses.add(train_batch(*load, i, epoch, progress.batch));
      ++progress.batch;
      if (losses.full() || progress.batch == progress.batches) {
        take(losses.read(), epoch * batches() + read, taken, progress);
        read = progress.batch;
      }
      const data::Batch& batch = load->batches[i].batch;
      const auto size = scaled({batch.height, batch.width}, epoch, progress.batch - 1);
      progress.imgsz = static_cast<int>(std::max(size.ny, size.nx));
      progress.labels = static_cast<int>(batch.targets.size());
      if (on_batch) on_batch(progress);
    }
  }
  // Its batches are made while this one is validated; weights of images would follow from that.
  if (epoch + 1 < options_.epochs && !options_.image_weights) begun_ = begun_epoch(epoch + 1, ap);
  return progress;
}

void TrainingLoop::follow() {
  while (const auto order = context_.ranks->next_line()) {
    if (*order == end_of_training) return;
    const auto json = nlohmann::json::parse(*order);
    train_epoch(json.at("epoch"), json.at("ap").get<std::vector<double>>(), {});
  }
}

void TrainingLoop::end() const {
  context_.ranks->tell(end_of_training);
}

void TrainingLoop::take(const std::vector<std::array<double, 3>>& losses, int first, int& taken,
                        EpochProgress& progress) {
  const auto type = step_.precision();
  // In bfloat16 there is no scale that the next step could halve.
  bool overflowed = step_.take_left_out() > 0 && type == torch::kBFloat16;
  for (std::size_t i = 0; i < losses.size(); ++i) {
    const auto& items = losses[i];
    if (!std::isfinite(items[0] + items[1] + items[2])) {
      if (type == torch::kFloat) {
        throw TrainingFailed(
            hyp::FailureKind::diverged,
            fmt::format("the loss is not finite at iteration {}", first + static_cast<int>(i)));
      }
      overflowed = true;
      continue;
    }
    ++taken;
    for (std::size_t k = 0; k < items.size(); ++k)
      progress.losses[k] += (items[k] - progress.losses[k]) / taken;
  }
  if (type != torch::kFloat) overflowed = context_.ranks->any(overflowed);
  if (!overflowed) return;
  context_.note(fmt::format("mixed precision is off: {} overflowed before iteration {}",
                            torch::toString(type), first + static_cast<int>(losses.size())));
  step_.give_up_16_bits();
}

Validation TrainingLoop::validate() const {
  const auto averaged = average();
  averaged->fuse();
  auto with = validate_options(options_, context_, images_);
  // As YOLOv5 does. bfloat16 has too few digits for boxes: only where Detect is not computed in it.
  const auto type = step_.precision();
  if (type == torch::kHalf || context_.device.is_cpu()) with.precision = type;
  auto result = trainer::validate(*averaged, data_.validation(), &loss_, with);
  if (with.precision != torch::kFloat && !hyp::is_finite(result.metrics)) {
    with.precision = torch::kFloat;  // too large for 16 bits is no verdict
    result = trainer::validate(*averaged, data_.validation(), &loss_, with);
  }
  if (const auto wrong = hyp::first_not_finite(result.metrics))
    throw TrainingFailed(hyp::FailureKind::diverged,
                         hyp::Metrics::names()[*wrong] + " is not finite in validation");
  return result;
}

std::unique_ptr<Detector> TrainingLoop::average() const {
  auto averaged = std::make_unique<Detector>(detector_->config(), seed_);
  averaged->set_anchors(detector_->anchors_in_pixels());
  freeze(*averaged, options_.freeze);
  const FlatParameters parameters(*averaged, context_.device);
  parameters.values().copy_(step_.ema().values());
  return averaged;
}

std::array<double, group_count> TrainingLoop::learning_rates(int epoch) const {
  return schedule_.at((epoch + 1) * batches() - 1).learning_rate;
}

void TrainingLoop::load_state(const State& state) {
  parameters_.unpack(state.values, parameters_.values());
  const bool was_on = step_.precision() != torch::kFloat;
  step_.load_state(state.step);
  const auto type = step_.precision();
  if (was_on && type == torch::kFloat)
    context_.note("mixed precision is off: this training goes on without it, as before");
  if (!was_on && type == context_.fast_type && type != torch::kFloat)
    context_.note("mixed precision is on: this training goes on with it, as before");
  if (type == torch::kFloat || type == context_.fast_type) return;
  context_.note(
      fmt::format("mixed precision is off: this training began in {}, and this device is "
                  "not fast in it",
                  torch::toString(type)));
  step_.give_up_16_bits();
}

int TrainingLoop::batch_size() const {
  return std::min(options_.batch_size, static_cast<int>(data_.training().images.size()));
}

int TrainingLoop::batches() const {
  const int images = static_cast<int>(data_.training().images.size());
  return (images + batch_size() - 1) / batch_size();
}

data::EpochPlan TrainingLoop::plan_of(int epoch, std::span<const double> ap) const {
  auto plan = full_plan_of(epoch, ap);
  const auto& ranks = *context_.ranks;
  for (auto& batch : plan.batches) batch = data::share_of(batch, ranks.rank(), ranks.count());
  return plan;
}

data::EpochPlan TrainingLoop::full_plan_of(int epoch, std::span<const double> ap) const {
  const data::Dataset& images = data_.training();
  if (options_.image_weights) {  // YOLOv5: beats rect
    const auto weights = data::image_weights(images, ap);
    if (std::all_of(weights.begin(), weights.end(), [](double w) { return w == 0; })) {
      throw bad_argument("--image-weights: no training image has a label", "leave it out");
    }
    return data::plan_epoch(images, data::weighted_order(weights, seed_, epoch), batch_size(),
                            seed_, epoch);
  }
  if (options_.rect) {
    return data::plan_rect_epoch(images, batch_size(), image_stride(detector_->config()), seed_,
                                 epoch);
  }
  const int count = static_cast<int>(images.images.size());
  return data::plan_epoch(images, data::epoch_order(count, seed_, epoch), batch_size(), seed_,
                          epoch);
}

torch::ScalarType TrainingLoop::precision() {
  const auto type = options_.amp ? context_.fast_type : torch::kFloat;
  if (type == torch::kFloat) return type;
  const std::vector<double> no_ap(static_cast<std::size_t>(data_.classes()));
  auto plan = plan_of(0, no_ap);
  constexpr std::size_t enough = 4;  // a whole batch computed twice would delay the first step
  auto& images = plan.batches.front().images;
  images.resize(std::min(images.size(), enough));
  const auto batch = data::train_batch(data_.training(), plan, 0, augmentation_);
  const double difference = difference_in(type, *detector_, batch, context_.beat);
  constexpr double tolerance = 0.1;
  const bool agrees = difference <= tolerance;  // false for NaN
  const bool all_agree = !context_.ranks->any(!agrees);
  const auto by = agrees && !all_agree ? "too much in another rank"
                                       : fmt::format("by {:.2g} % on this batch", 100 * difference);
  context_.note(fmt::format("mixed precision is {}: {} differs from single precision {}",
                            all_agree ? "on" : "off", torch::toString(type), by));
  return all_agree ? type : torch::kFloat;
}

MapSize TrainingLoop::scaled(MapSize size, int epoch, int index) const {
  if (!options_.multi_scale) return size;
  const int stride = image_stride(detector_->config());
  // Numbers that no sample of the epoch draws.
  const auto rng = data::seeded_random_source(data::sample_seed(seed_, epoch, -2 - index));
  const int least = options_.imgsz / 2, most = options_.imgsz * 3 / 2 + stride;
  const int side = (least + static_cast<int>(rng->random() * (most - least))) / stride * stride;
  const double factor = static_cast<double>(side) / static_cast<double>(std::max(size.ny, size.nx));
  if (factor == 1) return size;
  const auto whole = [&](std::int64_t length) {
    return static_cast<std::int64_t>(std::ceil(static_cast<double>(length) * factor / stride)) *
           stride;
  };
  return {whole(size.ny), whole(size.nx)};
}

std::unique_ptr<TrainingLoop::EpochBatches> TrainingLoop::begun_epoch(
    int epoch, std::span<const double> ap) const {
  // Where the images lie on the device, what is left to upload is so little that it can wait.
  const int together = images_.training ? 8 : 1;
  auto plan = plan_of(epoch, ap);
  const int count = static_cast<int>(plan.batches.size());
  auto make = [this, together, epoch, plan = std::move(plan)](int index) {
    return make_load(plan, epoch, index * together, together);
  };
  return std::unique_ptr<EpochBatches>(new EpochBatches{
      epoch,
      count,
      {(count + together - 1) / together, batch_workers(options_, context_), std::move(make)}});
}

Load TrainingLoop::make_load(const data::EpochPlan& plan, int epoch, int first, int count) const {
  std::vector<HostBatch> batches;
  const int end = std::min(first + count, static_cast<int>(plan.batches.size()));
  for (int index = first; index < end; ++index) batches.push_back(make_batch(plan, epoch, index));
  return staged(std::move(batches), context_.device);
}

HostBatch TrainingLoop::make_batch(const data::EpochPlan& plan, int epoch, int index) const {
  const auto& planned = plan.batches[static_cast<std::size_t>(index)];
  if (planned.images.empty()) return {.batch = data::batch_of(planned, {})};
  const auto matches_of = [&](const data::Batch& batch) {
    const auto size = scaled({batch.height, batch.width}, epoch, index);
    return loss_.matches(batch.targets, batch.size, map_sizes(detector_->config(), size));
  };
  if (const auto& renderer = images_.training) {
    const auto recipes = data::draw_recipes(data_.training(), plan, index, augmentation_);
    if (all_stored(recipes, renderer->store())) {
      auto batch = data::batch_of(planned, recipes);
      auto matches = matches_of(batch);
      return {.batch = std::move(batch),
              .matches = std::move(matches),
              .renderer = &*renderer,
              .tables = tables_in_parts(recipes, renderer->store())};
    }
  }
  read_ahead(plan, index);
  auto batch = data::train_batch(data_.training(), plan, index, augmentation_);
  auto matches = matches_of(batch);
  return {.batch = std::move(batch), .matches = std::move(matches)};
}

void TrainingLoop::read_ahead(const data::EpochPlan& plan, int index) const {
  const auto& images = data_.training();
  const int ahead = index + batch_workers(options_, context_) + 1;
  if (!images.on_disk || ahead >= static_cast<int>(plan.batches.size())) return;
  data::read_ahead(images, data::images_in(data::draw_recipes(images, plan, ahead, augmentation_)));
}

torch::Tensor TrainingLoop::train_batch(const Load& load, std::size_t i, int epoch, int index) {
  // An epoch's last batch may have fewer images than there are ranks.
  if (load.batches[i].batch.size == 0) {
    step_.end_iteration(epoch * batches() + index);
    return torch::zeros(3, context_.device);
  }
  Stopwatch watch;
  auto [images, matches] = on_device(load, i);
  const MapSize size{images.size(2), images.size(3)};
  if (const auto other = scaled(size, epoch, index); other != size)
    images = torch::upsample_bilinear2d(images, {other.ny, other.nx}, /*align_corners=*/false);
  check_device("the batch", images, context_.device);
  const auto precision = step_.precision();
  // In 16 bits a pass that overflows must not leave NaNs in the running statistics.
  const auto statistics = parameters_.statistics();
  const auto before = precision == torch::kFloat ? torch::Tensor() : statistics.clone();
  seconds_.images += watch.lap();
  const auto maps = forward_in(precision, *detector_, images, context_.beat);
  seconds_.forward += watch.lap();
  const LossValue value = loss_(maps, matches);
  check_device("the loss", value.total, context_.device);
  context_.beat();
  if (before.defined()) {
    const torch::NoGradGuard no_grad;
    statistics.copy_(torch::where(value.total.detach().isfinite(), statistics, before));
  }
  seconds_.loss += watch.lap();
  step_.scaled(value.total).backward();
  seconds_.backward += watch.lap();
  const auto average = step_.end_iteration(epoch * batches() + index).average_seconds;
  seconds_.optimizer += watch.lap() - average;
  seconds_.average += average;
  context_.beat();
  return value.items;
}

}  // namespace evolve::trainer
