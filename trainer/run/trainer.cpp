#include "trainer/run/trainer.hpp"

#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <torch/torch.h>

#include <algorithm>
#include <filesystem>
#include <opencv2/core/utility.hpp>

#include "core/number.hpp"
#include "core/text_file.hpp"
#include "trainer/checkpoint/checkpoint.hpp"
#include "trainer/checkpoint/pretrained.hpp"
#include "trainer/checksum.hpp"
#include "trainer/data/data.hpp"
#include "trainer/device/open_device.hpp"
#include "trainer/device/torch_version.hpp"
#include "trainer/evaluation/evaluation.hpp"
#include "trainer/run/full_training.hpp"
#include "trainer/run/prepared_data.hpp"
#include "trainer/run/setup.hpp"
#include "trainer/run/training_loop.hpp"
#include "trainer/run/training_state.hpp"
#include "trainer/stopwatch.hpp"

namespace evolve::trainer {
namespace {

/// The images' size rounded up to whole strides, as YOLOv5 does it.
TrainOptions settled(TrainOptions options, int stride, int least_strides) {
  options.imgsz = whole_strides(options.imgsz, stride, least_strides);
  return options;
}

/// A model of numbers that are none finds nothing, whatever it is shown.
void check_numbers(const StateDict& state, const std::string& path) {
  for (const auto& [name, tensor] : state) {
    if (tensor.is_floating_point() && torch::isnan(tensor).any().item<bool>())
      throw bad_input({path}, "its " + name + " " + holds_nan, "begin anew with others");
  }
}

/// As the weights tell it; --cfg is for those that do not.
std::unique_ptr<Detector> detector_to_validate(const TrainOptions& options) {
  const auto checkpoint = read_checkpoint(options.weights);
  check_numbers(checkpoint.state, options.weights);
  if (options.cfg.empty() || checkpoint.about.contains("yaml"))
    return detector_of(checkpoint, options.weights);
  const auto table = read_model_table(options.cfg);
  const auto nc = classes_in(checkpoint, table);
  return detector_of(config_of(table, checkpoint, options.weights, nc), checkpoint,
                     options.weights);
}

/// Class numbers mean something only when weights and data set have the same classes; YOLOv5's
/// val.py refuses the same.
void check_classes(const TrainOptions& options, const data::DataConfig& data, int trained) {
  if (options.single_cls || std::ssize(data.names) == trained) return;
  throw bad_input(
      {options.data},
      fmt::format("it has {}, {} was trained on {}", core::counted(std::ssize(data.names), "class"),
                  options.weights, trained),
      "give the data set that the weights were trained on, or take all classes as one "
      "(--single-cls)");
}

/// A run's trials train the same model from the same weights, or they could not be compared.
void check_same_model(const TrainOptions& options, const std::optional<Checkpoint>& weights) {
  const auto began_with = [&](const char* file, const auto& checksum) {
    const auto before = options.inputs.find(file);
    return before == options.inputs.end() || *before == checksum();
  };
  if (!began_with("weights", [&] { return weights.value().checksum; }))
    throw bad_input({options.weights}, other_weights, "bring them back");
  if (!began_with("cfg", [&] { return checksum_of(core::read_text_file(options.cfg)); }))
    throw bad_input({options.cfg}, other_model, "bring it back");
}

void keep(const std::string& path, int epoch, const hyp::Metrics& metrics, const TrainingLoop& loop,
          const std::vector<std::string>& names) {
  Checkpoint checkpoint = checkpoint_of(*loop.average(), names);
  checkpoint.about["epoch"] = epoch - 1;  // YOLOv5 counts from 0
  checkpoint.about["metrics"] = to_json(metrics);
  add_state(checkpoint, loop.state());
  write_checkpoint(path, checkpoint);
}

/// What keep() wrote; nothing where it is gone or damaged.
std::optional<Checkpoint> read_kept(const std::string& path, const data::Note& note) {
  if (!std::filesystem::exists(path)) return {};
  try {
    return read_checkpoint(path);
  } catch (const Error& damage) {
    note(fmt::format("{}\nits epochs are trained again", damage.what()));
    return {};
  }
}

/// Lets a training go on from what keep() wrote; the epochs that it has, 0 where there is nothing.
int load_kept(const Rungs& rungs, TrainingLoop& loop, hyp::Metrics& metrics,
              const ComputeContext& context) {
  if (rungs.start_epoch == 0) return 0;
  const auto kept = read_kept(rungs.kept, context.note);
  const bool missing = !kept || kept->about.at("epoch") != rungs.start_epoch - 1;
  if (context.ranks->any(missing)) return 0;  // all of them begin alike
  loop.load_state(state_in(*kept));
  metrics = hyp::metrics_from_json(kept->about.at("metrics"));
  return rungs.start_epoch;
}

void add(Timing& timing, const Validation& found, double seconds) {
  timing.validation += seconds;
  timing.validated += found.images;
  timing.inference += found.inference_seconds;
  timing.nms += found.nms_seconds;
  timing.ap += found.ap_seconds;
}

}  // namespace

struct Trainer::State {
  ComputeContext context;
  DataCache cache;

  /// What a training begins with, looked over.
  struct Prepared {
    TrainOptions options;  // settled
    std::optional<Checkpoint> weights;
    PreparedData& data;
  };
  Prepared prepare(const TrainOptions& wanted, const hyp::Hyperparameters& hyp);
};

Trainer::State::Prepared Trainer::State::prepare(const TrainOptions& wanted,
                                                 const hyp::Hyperparameters& hyp) {
  check_hyperparameters(hyp);
  auto weights = pretrained_weights(wanted);
  if (weights) check_numbers(weights->state, wanted.weights);
  check_same_model(wanted, weights);
  const int stride = image_stride(model_config(wanted, hyp, weights, {}));
  TrainOptions options = settled(wanted, stride, least_training_strides);
  PreparedData& data = cache.get(options, stride, context);
  check_batches(options, data, *context.ranks);
  return {std::move(options), std::move(weights), data};
}

Trainer::Trainer(const std::string& device, int threads, std::function<void()> beat,
                 std::vector<int> loading_cores, std::shared_ptr<Ranks> ranks, data::Beat preparing)
    : state_(std::make_unique<State>(State{{open_device(device), threads, std::move(beat)}, {}})) {
  auto& context = state_->context;
  context.loading_cores = std::move(loading_cores);
  context.preparing =
      preparing ? std::move(preparing) : [beat = context.beat](int, int) { beat(); };
  if (ranks) context.ranks = std::move(ranks);
  if (context.ranks->rank() > 0) context.note = [](const std::string&) {};
  at::set_num_threads(threads);
  cv::setNumThreads(1);
}

Trainer::~Trainer() = default;

TrainResult Trainer::train(const TrainOptions& wanted, const hyp::Hyperparameters& hyp,
                           std::uint64_t seed, const OnEpoch& on_epoch, const Rungs& rungs) {
  const Stopwatch all;
  auto [options, weights, data] = state_->prepare(wanted, hyp);
  TrainingLoop loop(
      options, hyp, seed, data,
      make_detector(options, hyp, weights, seed, data, state_->context.beat, state_->context.note),
      state_->context);
  weights.reset();
  const std::vector<double> no_ap(static_cast<std::size_t>(data.classes()));
  TrainResult result;
  double waited = 0;
  const int done = load_kept(rungs, loop, result.metrics, state_->context);
  if (state_->context.ranks->rank() > 0) {
    loop.follow();
    return result;
  }
  for (int epoch = done + 1; epoch <= options.epochs && result.obeyed == hyp::Decision::go_on;
       ++epoch) {
    const bool rung = std::ranges::count(rungs.epochs, epoch) > 0;
    const Stopwatch training;
    loop.train_epoch(epoch - 1, no_ap, [&](const EpochProgress&) {
      if (result.timing.first_step == 0) result.timing.first_step = all.elapsed();
    });
    synchronize(state_->context.device);
    result.timing.trained += static_cast<int>(data.training().images.size());
    result.timing.training += training.elapsed();
    if (rung || epoch == options.epochs) {
      const Stopwatch validation;
      const auto found = loop.validate();
      result.metrics = found.metrics;
      add(result.timing, found, validation.elapsed());
    }
    if (on_epoch && epoch > rungs.start_epoch) on_epoch(epoch, result.metrics);
    if (!rung) continue;
    const Stopwatch waiting;
    result.obeyed = rungs.decide(epoch);
    waited += waiting.elapsed();
    if (result.obeyed == hyp::Decision::pause)
      keep(rungs.kept, epoch, result.metrics, loop, data.training().names);
  }
  loop.end();
  if (!options.save.empty()) {
    write_checkpoint(options.save, checkpoint_of(*loop.average(), data.training().names));
  }
  result.timing.phases = loop.seconds();
  result.timing.total = all.elapsed() - waited;
  return result;
}

workers::TrainingReport Trainer::full_training(const workers::TrainingJob& job,
                                               const OnReport& on_report) {
  auto wanted = train_options_from_json(job.options);
  if (job.resume) {
    // All is in there; what the training started from may be gone.
    wanted.weights = last_weights(job);
    wanted.cfg.clear();
  }
  const auto [options, weights, data] = state_->prepare(wanted, job.hyp);
  return trainer::full_training(job, options, weights, data, state_->context, on_report);
}

workers::ValidationReport Trainer::validate(const workers::ValidationJob& job) {
  const auto wanted = train_options_from_json(job.options);
  const auto split = data::split_of(job.split);
  const auto config = data::read_data_yaml(wanted.data, {split}, wanted.folder);
  auto detector = detector_to_validate(wanted);
  const int stride = image_stride(detector->config());
  const TrainOptions options = settled(wanted, stride, 1);
  check_classes(options, config, detector->config().nc);
  const auto& context = state_->context;
  auto loading = load_options(options, context.loading_threads(), context.preparing, context.note);
  loading.training = false;
  loading.keep = data::Keep::none;  // each image is needed once
  auto images = data::load(config, split, loading);
  detector->to(context.device);
  const auto set = data::validation_set(std::move(images), options.batch_size, stride, job.rect);
  return validation_report(*detector, set, validate_options(options, context), job.dir);
}

}  // namespace evolve::trainer
