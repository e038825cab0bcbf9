#include "trainer/render/image_store.hpp"

#include <torch/torch.h>

#include <opencv2/imgproc.hpp>

#include "trainer/data/letterbox.hpp"

namespace evolve::trainer {
namespace {

using Place = ImageStore::Place;

/// The places of all images, and the number of pixels that they end at.
struct Plan {
  std::vector<Place> images, letterboxed;
  std::int64_t end = 1;
};

Plan plan_of(const data::Dataset& dataset) {
  Plan plan;
  const auto next = [&](cv::Size size) {
    const Place place{size, plan.end};
    plan.end += size.area();
    return place;
  };
  const cv::Size square(dataset.imgsz, dataset.imgsz);
  for (int i = 0; i < static_cast<int>(dataset.images.size()); ++i) {
    const cv::Size size = data::size_of(dataset, i);
    plan.images.push_back(next(size));
    const cv::Size inner = data::place_letterbox(size, square, true).inner.size();
    plan.letterboxed.push_back(inner == size ? plan.images.back() : next(inner));
  }
  return plan;
}

void copy(const cv::Mat& bgr, const Place& place, const torch::Tensor& to) {
  cv::Mat rgb;
  cv::cvtColor(bgr, rgb, cv::COLOR_BGR2RGB);
  const auto pixels = torch::from_blob(rgb.data, {place.size.area(), 3}, torch::kByte);
  to.narrow(0, place.begin, pixels.size(0)).copy_(pixels);
}

}  // namespace

std::optional<std::int64_t> ImageStore::begin_of(const data::Piece& piece) const {
  const auto index = static_cast<std::size_t>(piece.image);
  for (const auto* places : {&images, &letterboxed}) {
    if ((*places)[index].size == piece.size) return (*places)[index].begin;
  }
  return {};
}

std::int64_t store_bytes(const data::Dataset& dataset) {
  return 3 * plan_of(dataset).end;
}

ImageStore store_images(const data::Dataset& dataset, const torch::Device& device,
                        const std::function<void()>& beat) {
  Plan plan = plan_of(dataset);
  ImageStore store{.imgsz = dataset.imgsz,
                   .images = std::move(plan.images),
                   .letterboxed = std::move(plan.letterboxed)};
  store.pixels = torch::empty({plan.end, 3}, torch::TensorOptions(torch::kByte).device(device));
  store.pixels[0].fill_(static_cast<int>(data::padding_grey[0]));
  for (std::size_t i = 0; i < store.images.size(); ++i) {
    const auto& [image, shrunk] = std::pair(store.images[i], store.letterboxed[i]);
    const int index = static_cast<int>(i);
    copy(data::pixels_of(dataset, index), image, store.pixels);
    if (shrunk.begin != image.begin)
      copy(data::shown_pixels(dataset, {.image = index, .size = shrunk.size}), shrunk,
           store.pixels);
    beat();
  }
  return store;
}

}  // namespace evolve::trainer
