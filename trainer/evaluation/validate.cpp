#include "trainer/evaluation/validate.hpp"

#include <torch/torch.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>

#include "trainer/data/batch_stream.hpp"
#include "trainer/device/load.hpp"
#include "trainer/evaluation/candidate_rows.hpp"
#include "trainer/model/parallel.hpp"
#include "trainer/optim/amp.hpp"
#include "trainer/stopwatch.hpp"

namespace evolve::trainer {
namespace {

/// Where a box of the letterboxed image lies in the original one, clipped to it.
Box in_original(const Box& box, const data::LetterboxShape& shape) {
  const auto gain = static_cast<float>(shape.ratio);
  const auto back = [&](float value, double pad, int size) {
    return std::clamp((value - static_cast<float>(pad)) / gain, 0.f, static_cast<float>(size));
  };
  return {back(box.x1, shape.pad_x, shape.original_width),
          back(box.y1, shape.pad_y, shape.original_height),
          back(box.x2, shape.pad_x, shape.original_width),
          back(box.y2, shape.pad_y, shape.original_height)};
}

/// The labels of each image of a batch, in the original images.
std::vector<std::vector<GroundTruth>> ground_truth_of(const data::Batch& batch) {
  std::vector<std::vector<GroundTruth>> labels(static_cast<std::size_t>(batch.size));
  for (const auto& [image, cls, x, y, w, h] : batch.targets) {
    const auto i = static_cast<std::size_t>(image);
    const auto width = static_cast<float>(batch.width), height = static_cast<float>(batch.height);
    const float cx = x * width, cy = y * height, half_w = w * width / 2, half_h = h * height / 2;
    const Box box{cx - half_w, cy - half_h, cx + half_w, cy + half_h};
    labels[i].push_back({.box = in_original(box, batch.shapes[i]), .cls = static_cast<int>(cls)});
  }
  return labels;
}

/// What has been found out so far.
struct Tally {
  std::vector<Judged> detections;
  std::vector<int> labels_per_class;
  std::array<double, 3> losses{};
  int images = 0;
  double inference_seconds = 0, nms_seconds = 0;
};

/// `predictions`: the rows of one image.
std::vector<Judged> judge(std::span<const float> predictions, int nc,
                          const std::vector<GroundTruth>& labels, const data::LetterboxShape& shape,
                          const ValidateOptions& options) {
  auto detections = non_max_suppression(predictions, nc, options.nms);
  for (auto& detection : detections) {
    detection.box = in_original(detection.box, shape);
    if (options.single_cls) detection.cls = 0;
  }
  const std::vector<Hits> hits = match(detections, labels);
  std::vector<Judged> judged;
  for (std::size_t i = 0; i < detections.size(); ++i) {
    judged.push_back({.conf = detections[i].conf, .cls = detections[i].cls, .hits = hits[i]});
  }
  return judged;
}

/// `losses`: [batches, 3].
void add_losses(const torch::Tensor& losses, Tally& tally) {
  const auto values = losses.accessor<float, 2>();
  for (std::int64_t batch = 0; batch < values.size(0); ++batch)
    for (std::size_t i = 0; i < 3; ++i)
      tally.losses[i] += values[batch][static_cast<std::int64_t>(i)];
}

void judge_batch(const CandidateRows& found, const data::Batch& batch,
                 const ValidateOptions& options, Tally& tally) {
  const int nc = static_cast<int>(found.rows.size(1)) - 5;
  const auto labels = ground_truth_of(batch);
  std::vector<std::vector<Judged>> judged(labels.size());
  parallel_for(batch.size, [&](std::int64_t image) {
    const auto i = static_cast<std::size_t>(image);
    judged[i] = judge(found.of(i), nc, labels[i], batch.shapes[i], options);
  });
  for (std::size_t i = 0; i < judged.size(); ++i) {
    tally.detections.insert(tally.detections.end(), judged[i].begin(), judged[i].end());
    for (const auto& label : labels[i])
      ++tally.labels_per_class[static_cast<std::size_t>(label.cls)];
  }
}

Validation summary(const Tally& tally, std::size_t batches) {
  const Stopwatch watch;
  Validation out{.classes = score_classes(tally.detections, tally.labels_per_class),
                 .detections = static_cast<int>(tally.detections.size()),
                 .images = tally.images,
                 .inference_seconds = tally.inference_seconds,
                 .nms_seconds = tally.nms_seconds};
  out.ap_seconds = watch.elapsed();
  const auto n = static_cast<double>(out.classes.size());
  for (const ClassScore& score : out.classes) {
    out.metrics.precision += score.precision / n;
    out.metrics.recall += score.recall / n;
    out.metrics.map50 += score.ap50() / n;
    out.metrics.map50_95 += score.ap50_95() / n;
  }
  const auto mean = [&](double sum) {
    return batches > 0 ? sum / static_cast<double>(batches) : 0;
  };
  out.metrics.box_loss = mean(tally.losses[0]);
  out.metrics.obj_loss = mean(tally.losses[1]);
  out.metrics.cls_loss = mean(tally.losses[2]);
  return out;
}

Load make_batch(const data::ValidationSet& images, std::size_t index, const Detector& detector,
                const Loss* loss, const ValidateOptions& options) {
  const data::BatchPlan& plan = images.batches[index];
  const auto ahead = index + static_cast<std::size_t>(options.workers) + 1;
  if (images.dataset.on_disk && options.stored.empty() && ahead < images.batches.size())
    data::read_ahead(images.dataset, images.batches[ahead].images);
  auto batch = options.stored.empty() ? data::validation_batch(images.dataset, plan)
                                      : data::validation_labels(images.dataset, plan);
  Matches matches;
  if (loss != nullptr) {
    const MapSize size{batch.height, batch.width};
    matches = loss->matches(batch.targets, batch.size, map_sizes(detector.config(), size));
  }
  HostBatch made{.batch = std::move(batch), .matches = std::move(matches)};
  if (!options.stored.empty()) made.stored = options.stored[index];
  return staged({std::move(made)}, detector.anchors().device());
}

}  // namespace

Validation validate(Detector& detector, const data::ValidationSet& images, const Loss* loss,
                    const ValidateOptions& options) {
  const torch::NoGradGuard no_grad;
  const bool was_training = detector.is_training();
  detector.eval();
  const torch::Device device = detector.anchors().device();
  Tally tally;
  tally.labels_per_class.resize(static_cast<std::size_t>(detector.config().nc));
  data::BatchStream stream(static_cast<int>(images.batches.size()), options.workers, [&](int i) {
    return make_batch(images, static_cast<std::size_t>(i), detector, loss, options);
  });
  CandidateReader reader(options.nms.conf);
  std::vector<torch::Tensor> losses;
  while (auto made = stream.next()) {
    Stopwatch watch;
    const Load load = sent(std::move(*made), device);
    const auto& batch = load.batches[0].batch;
    const auto [inputs, matches] = on_device(load);
    const auto maps = forward_in(options.precision, detector, inputs, options.beat);
    if (loss != nullptr) losses.push_back((*loss)(maps, matches).items);
    const auto boxes = reader.read(detector.decode(maps));
    tally.inference_seconds += watch.lap();
    judge_batch(boxes, batch, options, tally);
    tally.images += batch.size;
    tally.nms_seconds += watch.lap();
    options.beat();
  }
  if (!losses.empty()) add_losses(torch::stack(losses).cpu(), tally);
  detector.train(was_training);
  return summary(tally, images.batches.size());
}

}  // namespace evolve::trainer
