#include "trainer/data/batch.hpp"

#include <algorithm>
#include <boost/random/mersenne_twister.hpp>
#include <boost/random/uniform_01.hpp>
#include <boost/random/uniform_int_distribution.hpp>
#include <cmath>
#include <numeric>
#include <utility>

#include "trainer/data/argsort.hpp"
#include "trainer/data/boxes.hpp"
#include "trainer/data/letterbox.hpp"
#include "trainer/data/pixels.hpp"

namespace evolve::data {
namespace {

std::vector<int> all_images(const Dataset& dataset) {
  std::vector<int> order(dataset.images.size());
  std::iota(order.begin(), order.end(), 0);
  return order;
}

const Image& image_at(const Dataset& dataset, int index) {
  return dataset.images[static_cast<std::size_t>(index)];
}

/// Orders use a place that no sample has, so that their numbers are independent.
boost::random::mt19937_64 order_engine(std::uint64_t seed, int epoch) {
  return boost::random::mt19937_64(sample_seed(seed, epoch, -1));
}

/// Height over width, of the images as they were before resizing.
double aspect_ratio(const Image& image) {
  return static_cast<double>(image.original_height) / image.original_width;
}

int whole_strides(double side, int imgsz, int stride, double pad) {
  return static_cast<int>(std::ceil(side * imgsz / stride + pad)) * stride;
}

Batch batch_without_images(const BatchPlan& plan) {
  Batch batch;
  batch.size = static_cast<int>(plan.images.size());
  batch.height = plan.height;
  batch.width = plan.width;
  batch.images = plan.images;
  return batch;
}

std::size_t bytes_of_an_image(const Batch& batch) {
  return 3 * static_cast<std::size_t>(batch.height * batch.width);
}

/// Puts image `place` of the batch where it belongs.
void add_pixels(Batch& batch, int place, const cv::Mat& pixels) {
  const std::size_t bytes = bytes_of_an_image(batch);
  batch.pixels.resize(bytes * static_cast<std::size_t>(batch.size));
  write_planes(pixels, batch.pixels.data() + static_cast<std::size_t>(place) * bytes);
}

void add_labels(Batch& batch, int place, const std::vector<Label>& labels) {
  for (const Label& label : labels) {
    batch.targets.push_back({static_cast<float>(place), static_cast<float>(label.cls), label.x,
                             label.y, label.w, label.h});
  }
}

}  // namespace

std::vector<BatchPlan> square_batches(const Dataset& dataset, const std::vector<int>& order,
                                      int batch_size) {
  std::vector<BatchPlan> batches;
  for (auto it = order.begin(); it != order.end();) {
    const auto end = it + std::min<std::ptrdiff_t>(batch_size, order.end() - it);
    const auto first = static_cast<int>(it - order.begin());
    batches.push_back({{it, end}, dataset.imgsz, dataset.imgsz, first});
    it = end;
  }
  return batches;
}

std::vector<BatchPlan> rect_batches(const Dataset& dataset, int batch_size, int stride,
                                    double pad) {
  std::vector<double> ratios;
  for (const Image& image : dataset.images) ratios.push_back(aspect_ratio(image));
  auto batches = square_batches(dataset, argsort(ratios), batch_size);
  for (BatchPlan& batch : batches) {
    const auto ratio = [&](int i) { return ratios[static_cast<std::size_t>(i)]; };
    const double least = ratio(batch.images.front()), greatest = ratio(batch.images.back());
    const double height = greatest < 1 ? greatest : 1;
    const double width = least > 1 ? 1 / least : 1;
    batch.height = whole_strides(height, dataset.imgsz, stride, pad);
    batch.width = whole_strides(width, dataset.imgsz, stride, pad);
  }
  return batches;
}

std::vector<int> epoch_order(int images, std::uint64_t seed, int epoch) {
  std::vector<int> order(static_cast<std::size_t>(images));
  std::iota(order.begin(), order.end(), 0);
  auto engine = order_engine(seed, epoch);
  for (int i = images - 1; i > 0; --i) {
    const int other = boost::random::uniform_int_distribution<int>(0, i)(engine);
    std::swap(order[static_cast<std::size_t>(i)], order[static_cast<std::size_t>(other)]);
  }
  return order;
}

std::vector<int> weighted_order(const std::vector<double>& weights, std::uint64_t seed, int epoch) {
  std::vector<double> sums(weights.size());
  std::partial_sum(weights.begin(), weights.end(), sums.begin());
  auto engine = order_engine(seed, epoch);
  std::vector<int> order(weights.size());
  for (int& index : order) {
    const double place = boost::random::uniform_01<double>()(engine) * sums.back();
    const auto found = std::upper_bound(sums.begin(), sums.end() - 1, place);
    index = static_cast<int>(found - sums.begin());
  }
  return order;
}

EpochPlan plan_epoch(const Dataset& dataset, std::vector<int> order, int batch_size,
                     std::uint64_t seed, int epoch) {
  auto batches = square_batches(dataset, order, batch_size);
  return {seed, epoch, {std::move(order), true}, std::move(batches)};
}

EpochPlan plan_rect_epoch(const Dataset& dataset, int batch_size, int stride, std::uint64_t seed,
                          int epoch) {
  return {seed, epoch, {all_images(dataset), false}, rect_batches(dataset, batch_size, stride, 0)};
}

BatchPlan share_of(const BatchPlan& batch, int rank, int count) {
  const int images = static_cast<int>(batch.images.size());
  const auto begin = [&](int r) { return r * (images / count) + std::min(r, images % count); };
  BatchPlan share{.height = batch.height, .width = batch.width, .first = batch.first + begin(rank)};
  share.images.assign(batch.images.begin() + begin(rank), batch.images.begin() + begin(rank + 1));
  return share;
}

std::vector<Recipe> draw_recipes(const Dataset& dataset, const EpochPlan& plan, int index,
                                 const Augmentation& augmentation) {
  const BatchPlan& batch = plan.batches[static_cast<std::size_t>(index)];
  int place = batch.first;
  std::vector<Recipe> recipes;
  for (const int image : batch.images) {
    const auto rng = seeded_random_source(sample_seed(plan.seed, plan.epoch, place++));
    recipes.push_back(draw_recipe(dataset, image, {batch.width, batch.height}, plan.composition,
                                  augmentation, *rng));
  }
  return recipes;
}

Batch batch_of(const BatchPlan& plan, const std::vector<Recipe>& recipes) {
  Batch batch = batch_without_images(plan);
  for (int i = 0; i < batch.size; ++i)
    add_labels(batch, i, recipes[static_cast<std::size_t>(i)].labels);
  return batch;
}

Batch train_batch(const Dataset& dataset, const EpochPlan& plan, int index,
                  const Augmentation& augmentation) {
  const auto recipes = draw_recipes(dataset, plan, index, augmentation);
  Batch batch = batch_of(plan.batches[static_cast<std::size_t>(index)], recipes);
  Sample sample;
  for (int i = 0; i < batch.size; ++i) {
    render(dataset, recipes[static_cast<std::size_t>(i)], sample);
    add_pixels(batch, i, sample.pixels);
  }
  return batch;
}

Batch validation_labels(const Dataset& dataset, const BatchPlan& plan) {
  Batch batch = batch_without_images(plan);
  for (int i = 0; i < batch.size; ++i) {
    const int index = batch.images[static_cast<std::size_t>(i)];
    const Image& image = image_at(dataset, index);
    const cv::Size size = size_of(dataset, index);
    const Letterbox letterboxed = place_letterbox(size, {batch.width, batch.height}, false);
    std::vector<Label> labels;
    for (const Label& label : image.labels)
      labels.push_back(to_label(to_pixels(label, size, letterboxed), batch.width, batch.height));
    add_labels(batch, i, labels);
    batch.shapes.push_back({image.original_height, image.original_width,
                            static_cast<double>(size.height) / image.original_height,
                            letterboxed.pad_x, letterboxed.pad_y});
  }
  return batch;
}

Batch validation_batch(const Dataset& dataset, const BatchPlan& plan) {
  Batch batch = validation_labels(dataset, plan);
  cv::Mat boxed;
  for (int i = 0; i < batch.size; ++i) {
    const int index = batch.images[static_cast<std::size_t>(i)];
    letterbox(pixels_of(dataset, index), {batch.width, batch.height}, false, boxed);
    add_pixels(batch, i, boxed);
  }
  return batch;
}

ValidationSet validation_set(Dataset dataset, int batch_size, int stride, bool rect) {
  auto batches = rect ? rect_batches(dataset, batch_size, stride, 0.5)
                      : square_batches(dataset, all_images(dataset), batch_size);
  return {std::move(dataset), std::move(batches)};
}

}  // namespace evolve::data
