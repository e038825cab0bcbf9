#include "trainer/data/dataset.hpp"

#include <atomic>
#include <cmath>
#include <opencv2/imgproc.hpp>

#include "core/error.hpp"
#include "trainer/data/embedded/shapes.hpp"
#include "trainer/data/image_file.hpp"
#include "trainer/data/parallel.hpp"

namespace evolve::data {
namespace {

Image resized_image(const std::string& file, const cv::Mat& decoded, LabelFile found,
                    const LoadOptions& options) {
  return {.file = file,
          .pixels = resized(decoded, options.imgsz, options.training),
          .original_height = decoded.rows,
          .original_width = decoded.cols,
          .labels = std::move(found.labels),
          .segments = std::move(found.segments)};
}

cv::Mat decoded_or_refused(const std::string& file) {
  cv::Mat decoded = decode(file);
  if (decoded.empty()) {
    throw bad_input({file}, "cannot be decoded", "convert it to .jpg or .png, or remove it");
  }
  return decoded;
}

std::vector<Image> draw_images(const DataConfig& config, Split split, const LoadOptions& options) {
  std::vector<Image> images;
  for (Drawing& drawing :
       embedded_images(config.file, split, options.single_cls, options.threads)) {
    LabelFile found{std::move(drawing.labels), {}, 0};
    images.push_back(resized_image(drawing.name, drawing.pixels, std::move(found), options));
    options.beat();
  }
  return images;
}

}  // namespace

Dataset load(const DataConfig& config, Split split, const LoadOptions& options) {
  Dataset dataset;
  dataset.names = options.single_cls ? std::vector<std::string>{"item"} : config.names;
  dataset.imgsz = options.imgsz;
  dataset.training = options.training;
  if (config.embedded) {
    dataset.images = draw_images(config, split, options);
    return dataset;
  }
  const auto& files = config.images(split);
  const int classes = static_cast<int>(config.names.size());
  std::atomic<std::size_t> used = 0;
  dataset.images.resize(files.size());
  for_each_index(static_cast<int>(files.size()), options.threads, [&](int i) {
    const std::string& file = files[static_cast<std::size_t>(i)];
    Image& image = dataset.images[static_cast<std::size_t>(i)];
    image = resized_image(file, decoded_or_refused(file),
                          read_labels(file, classes, options.single_cls), options);
    const std::size_t bytes = image.pixels.total() * image.pixels.elemSize();
    if (used.fetch_add(bytes) + bytes > options.memory_bytes) image.pixels.release();
    options.beat();
  });
  return dataset;
}

cv::Mat pixels_of(const Dataset& dataset, int index) {
  const Image& image = dataset.images[static_cast<std::size_t>(index)];
  if (!image.pixels.empty()) return image.pixels;
  cv::Mat pixels = resized(decoded_or_refused(image.file), dataset.imgsz, dataset.training);
  if (pixels.size() != size_of(dataset, index)) {
    throw bad_input({image.file}, "has another size than at the start", "start again");
  }
  return pixels;
}

cv::Size size_of(const Dataset& dataset, int index) {
  const Image& image = dataset.images[static_cast<std::size_t>(index)];
  if (!image.pixels.empty()) return image.pixels.size();
  return resized(cv::Size(image.original_width, image.original_height), dataset.imgsz);
}

cv::Size resized(cv::Size image, int imgsz) {
  const double ratio = static_cast<double>(imgsz) / std::max(image.height, image.width);
  return {static_cast<int>(std::ceil(image.width * ratio)),
          static_cast<int>(std::ceil(image.height * ratio))};
}

cv::Mat resized(const cv::Mat& image, int imgsz, bool training) {
  const double ratio = static_cast<double>(imgsz) / std::max(image.rows, image.cols);
  if (ratio == 1) return image;
  cv::Mat result;
  cv::resize(image, result, resized(image.size(), imgsz), 0, 0,
             training || ratio > 1 ? cv::INTER_LINEAR : cv::INTER_AREA);
  return result;
}

}  // namespace evolve::data
