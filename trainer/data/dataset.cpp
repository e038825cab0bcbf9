#include "trainer/data/dataset.hpp"

#include <atomic>
#include <cmath>
#include <opencv2/imgproc.hpp>

#include "hyp/error.hpp"
#include "trainer/data/parallel.hpp"
#include "trainer/data/picture_file.hpp"
#include "trainer/data/shapes.hpp"

namespace evolve::data {
namespace {

Picture resized_picture(const std::string& file, const cv::Mat& decoded, LabelFile found,
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

std::vector<Picture> draw_pictures(const DataConfig& config, Split split,
                                   const LoadOptions& options) {
  std::vector<Picture> pictures;
  for (Drawing& drawing : embedded_pictures(config.file, split)) {
    LabelFile found{std::move(drawing.labels), {}, 0};
    for (Label& label : found.labels) label.cls = options.single_cls ? 0 : label.cls;
    pictures.push_back(resized_picture(drawing.name, drawing.pixels, std::move(found), options));
  }
  return pictures;
}

}  // namespace

Dataset load(const DataConfig& config, Split split, const LoadOptions& options) {
  Dataset dataset;
  dataset.names = options.single_cls ? std::vector<std::string>{"item"} : config.names;
  dataset.imgsz = options.imgsz;
  dataset.training = options.training;
  if (config.embedded) {
    dataset.pictures = draw_pictures(config, split, options);
    return dataset;
  }
  const auto& files = config.pictures(split);
  const int classes = static_cast<int>(config.names.size());
  std::atomic<std::size_t> used = 0;
  dataset.pictures.resize(files.size());
  for_each_index(static_cast<int>(files.size()), options.threads, [&](int i) {
    const std::string& file = files[static_cast<std::size_t>(i)];
    Picture& picture = dataset.pictures[static_cast<std::size_t>(i)];
    picture = resized_picture(file, decoded_or_refused(file),
                              read_labels(file, classes, options.single_cls), options);
    const std::size_t bytes = picture.pixels.total() * picture.pixels.elemSize();
    if (used.fetch_add(bytes) + bytes > options.memory_bytes) picture.pixels.release();
  });
  return dataset;
}

cv::Mat pixels_of(const Dataset& dataset, int index) {
  const Picture& picture = dataset.pictures[static_cast<std::size_t>(index)];
  if (!picture.pixels.empty()) return picture.pixels;
  return resized(decoded_or_refused(picture.file), dataset.imgsz, dataset.training);
}

cv::Mat resized(const cv::Mat& picture, int imgsz, bool training) {
  const double ratio = static_cast<double>(imgsz) / std::max(picture.rows, picture.cols);
  if (ratio == 1) return picture;
  const cv::Size size(static_cast<int>(std::ceil(picture.cols * ratio)),
                      static_cast<int>(std::ceil(picture.rows * ratio)));
  cv::Mat result;
  cv::resize(picture, result, size, 0, 0,
             training || ratio > 1 ? cv::INTER_LINEAR : cv::INTER_AREA);
  return result;
}

}  // namespace evolve::data
