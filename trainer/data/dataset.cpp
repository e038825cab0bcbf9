#include "trainer/data/dataset.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <filesystem>
#include <opencv2/core/utility.hpp>
#include <opencv2/imgproc.hpp>
#include <system_error>

#include "core/error.hpp"
#include "core/host_memory.hpp"
#include "core/path.hpp"
#include "trainer/data/cache_file.hpp"
#include "trainer/data/check.hpp"
#include "trainer/data/embedded/shapes.hpp"
#include "trainer/data/image_file.hpp"
#include "trainer/data/parallel.hpp"
#include "trainer/data/scan.hpp"

namespace evolve::data {
namespace {

/// The embedded images are small and no files: each process draws its own.
std::vector<Image> draw_images(const DataConfig& config, Split split, const LoadOptions& options) {
  auto drawings = embedded_images(config.file, split, options.single_cls, options.threads.count);
  drawings.resize(config.images(split).size());
  std::vector<Image> images;
  for (Drawing& drawing : drawings) {
    images.push_back({.file = drawing.name,
                      .pixels = resized(drawing.pixels, options.imgsz, options.training),
                      .original_height = drawing.pixels.rows,
                      .original_width = drawing.pixels.cols,
                      .labels = std::move(drawing.labels),
                      .segments = {}});
    options.beat(0, 0);
  }
  return images;
}

/// Decoded in the size in which it was looked at.
cv::Mat decoded(const Image& image, int imgsz, bool training) {
  const cv::Mat pixels = decode(image.file);
  if (pixels.empty()) {
    check_image(image.file);  // it may be gone by now, or be cut off
    throw cannot_be_decoded(image.file);
  }
  if (pixels.cols != image.original_width || pixels.rows != image.original_height) {
    const auto said = check_image(image.file);
    if (said.width == image.original_width && said.height == image.original_height)
      throw other_than_its_header(image.file, said, {pixels.cols, pixels.rows});
    throw bad_input({image.file}, was_resized, "bring it back as it was");
  }
  return resized(pixels, imgsz, training);
}

/// A data set whose images have been looked at and not been decoded yet.
class Loading {
 public:
  Loading(const DataConfig& config, Split split, std::vector<ScannedImage> scanned,
          Dataset& dataset, const LoadOptions& options)
      : config_(config), split_(split), dataset_(dataset), options_(options) {
    for (auto& image : scanned) {
      const cv::Size size(image.size.width, image.size.height);
      dataset.images.push_back({.file = image.file,
                                .pixels = {},
                                .original_height = size.height,
                                .original_width = size.width,
                                .labels = std::move(image.found.labels),
                                .segments = std::move(image.found.segments)});
      wanted_.push_back({image.file, image.image_stamp, resized(size, options.imgsz)});
    }
  }

  /// In the cache of the machine, or where there can be none as is said then.
  void keep() try {
    if (options_.cache_folder.empty()) throw std::system_error(ENOENT, std::generic_category());
    const auto file = cache_file();
    const auto opened =
        open_image_cache(file, wanted_, [this](int i) { return decode_one(i); },
                         {.budget = options_.keep == Keep::ram ? options_.memory_budget() : ~0ULL,
                          .cut_to_disk = options_.keep == Keep::disk,
                          .room = options_.disk_room,
                          .threads = options_.threads,
                          .beat = options_.beat});
    if (opened.cache) take(*opened.cache);
    dataset_.cache = opened.cache;
    note_where(file, opened.decoded);
  } catch (const std::system_error& error) {
    const auto before = options_.cache_folder.empty() ? nullptr : ImageCache::open(cache_file());
    if (before) take(*before);
    dataset_.cache = before;
    const bool own = options_.keep == Keep::ram;
    const auto* missing = before ? "images that the old one lacks" : "images";
    const auto where =
        options_.cache_folder.empty()
            ? fmt::format("as {}", no_cache_folder)
            : fmt::format("in '{}' ({})", options_.cache_folder, error.code().message());
    options_.note(
        fmt::format("{}: no {}cache {}: {}", name_of(split_), before ? "new " : "", where,
                    own ? fmt::format("this process keeps its own copy of the {}", missing)
                        : fmt::format("{} are decoded at each use", missing)));
    if (own) keep_own();
  }

 private:
  int count() const { return static_cast<int>(wanted_.size()); }

  std::string cache_file() const {
    return data::cache_file(options_.cache_folder, "images",
                            {core::without_dots(std::filesystem::absolute(config_.file)).string(),
                             name_of(split_), std::to_string(options_.imgsz),
                             options_.training ? "linear" : "area", cv::getVersionString()});
  }

  cv::Mat decode_one(int i) const {
    return decoded(dataset_.images[static_cast<std::size_t>(i)], options_.imgsz, options_.training);
  }

  void take(const ImageCache& cache) {
    for (std::size_t i = 0; i < wanted_.size(); ++i)
      dataset_.images[i].pixels = cache.find(wanted_[i]);
    const auto budget = options_.memory_budget();
    dataset_.on_disk = cache.bytes() > budget;
    if (options_.keep == Keep::ram) cache.read_in(budget, options_.threads, options_.beat);
  }

  /// In this process' memory, one by one as long as there is room.
  void keep_own() {
    std::atomic<int> decoded = 0, done = 0;
    for_each_index(count(), options_.threads, [&](int n) {
      const auto i = static_cast<std::size_t>(n);
      auto& pixels = dataset_.images[i].pixels;
      if (pixels.empty() && stored_bytes(wanted_[i]) <= options_.memory_budget()) {
        pixels = decode_one(n);
        ++decoded;
      }
      options_.beat(++done, count());
    });
    note_where(dataset_.cache ? "the old cache and this process' memory" : "this process' memory",
               decoded);
  }

  void note_where(const std::string& where, int decoded) const {
    const auto kept = std::ranges::count_if(
        dataset_.images, [](const Image& image) { return !image.pixels.empty(); });
    options_.note(fmt::format("{}: {} of {} images in {}, {} decoded now", name_of(split_), kept,
                              count(), where, decoded));
  }

  const DataConfig& config_;
  Split split_;
  Dataset& dataset_;
  const LoadOptions& options_;
  std::vector<WantedImage> wanted_;
};

}  // namespace

Keep keep_of(const std::string& cache) {
  if (cache.empty() || cache == "ram") return Keep::ram;
  if (cache == "disk") return Keep::disk;
  if (cache == "none") return Keep::none;
  throw bad_argument("--cache " + cache, "choose among ram, disk, none");
}

std::uint64_t memory_budget() {
  const auto memory = core::host_memory();
  return static_cast<std::uint64_t>(std::max<std::int64_t>(0, memory.available - memory.total / 4));
}

Dataset load(const DataConfig& config, Split split, const LoadOptions& options) {
  Dataset dataset;
  const bool renamed = options.single_cls && config.names.size() != 1;  // as YOLOv5 has it
  dataset.names = renamed ? std::vector<std::string>{"item"} : config.names;
  dataset.imgsz = options.imgsz;
  dataset.training = options.training;
  if (config.embedded) {
    dataset.images = draw_images(config, split, options);
    return dataset;
  }
  const auto look = [&](bool decode) {
    return scan(config, split,
                {.single_cls = options.single_cls,
                 .decode = decode,
                 .cache_folder = options.cache_folder,
                 .threads = options.threads,
                 .beat = options.beat});
  };
  auto scanned = look(options.skip_bad);
  const auto faults = faults_of(scanned);
  if (!faults.empty() && !options.skip_bad) throw bad_images(faults);
  std::erase_if(scanned, [](const ScannedImage& image) { return !image.fault.empty(); });
  Loading loading(config, split, std::move(scanned), dataset, options);
  if (options.keep != Keep::none) {
    try {
      loading.keep();
    } catch (const Error&) {
      if (options.skip_bad) throw;  // each was decoded a moment ago
      // Where one image cannot be decoded others may be like it: all are named.
      const auto undecodable = faults_of(look(true));
      if (!undecodable.empty()) throw bad_images(undecodable);
      throw;
    }
  }
  for (const Image& image : dataset.images) dataset.on_disk |= image.pixels.empty();
  return dataset;
}

cv::Mat pixels_of(const Dataset& dataset, int index) {
  const Image& image = dataset.images[static_cast<std::size_t>(index)];
  if (!image.pixels.empty()) return image.pixels;
  return decoded(image, dataset.imgsz, dataset.training);
}

void read_ahead(const Dataset& dataset, std::span<const int> images) {
  for (const int index : images) {
    const Image& image = dataset.images[static_cast<std::size_t>(index)];
    if (image.pixels.empty()) {
      will_need(image.file);
    } else {
      will_need(image.pixels);
    }
  }
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
