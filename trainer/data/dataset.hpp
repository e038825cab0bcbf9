// YOLO-format data sets in memory.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <opencv2/core/mat.hpp>
#include <span>
#include <string>
#include <vector>

#include "trainer/data/data_yaml.hpp"
#include "trainer/data/image_cache.hpp"
#include "trainer/data/label_file.hpp"
#include "trainer/data/note.hpp"
#include "trainer/data/threads.hpp"

namespace evolve::data {

/// An image with its labels, decoded and resized once.
struct Image {
  std::string file;
  /// BGR, 8 bit, height x width x 3; the longer side is the data set's imgsz. Never written to: it
  /// may be the cache's. Empty when it is decoded again at each use; take it from `pixels_of`.
  cv::Mat pixels;
  /// Size before resizing.
  int original_height = 0, original_width = 0;
  std::vector<Label> labels;
  /// As many as labels, or none where the label file has boxes only.
  std::vector<Segment> segments;
};

struct Dataset {
  std::vector<std::string> names;
  int imgsz = 0;
  /// Loaded for training; see LoadOptions.
  bool training = true;
  std::vector<Image> images;
  /// What the pixels are part of, where they are not the images' own.
  std::shared_ptr<const ImageCache> cache = nullptr;
  /// Some images are not in memory: it pays to say early which will be needed (`read_ahead`).
  bool on_disk = false;
};

/// Where decoded and resized images are kept, in YOLOv5's words.
enum class Keep {
  /// In memory, as many as leave a quarter of the machine's free: one file in the cache folder that
  /// all workers of the machine map, read in at once; where that cannot be written, or the disk has
  /// less room than memory, in each worker's own memory.
  ram,
  /// One file in the cache folder as with `ram`, as large as the disk allows. The system keeps in
  /// memory what it finds room for.
  disk,
  /// Nowhere: an image is decoded each time it is needed.
  none,
};

/// "ram", "disk" or "none"; empty is "ram". Throws `Error` for another word.
Keep keep_of(const std::string& cache);

/// What is available of the machine's memory (core::host_memory), but for a quarter of all of it.
std::uint64_t memory_budget();

struct LoadOptions {
  /// Pixels of the longer side after resizing.
  int imgsz = 640;
  /// For training, images shrink by linear interpolation; for validation by area, as YOLOv5's
  /// load_image does.
  bool training = true;
  /// All classes become class 0, called "item".
  bool single_cls = false;
  /// Goes on without the images that `check` finds fault with.
  bool skip_bad = false;
  Keep keep = Keep::ram;
  /// Where decoded images and labels are kept from run to run; empty: nowhere.
  std::string cache_folder = {};
  Threads threads = 1;
  /// How many bytes more may be taken of the machine's memory at this moment.
  std::function<std::uint64_t()> memory_budget = data::memory_budget;
  DiskRoom disk_room = room_on_disk;
  /// Called while images are looked at, and again while they are decoded.
  Beat beat = [](int, int) {};
  /// Is told, in one line, where the images are and how many had to be decoded.
  Note note = [](const std::string&) {};
};

/// The images of a split, decoded (as cv::imread does: BGR, turned by its EXIF orientation) and
/// resized as far as they are kept. What is trained does not depend on where they are. Throws
/// `Error` with what `check` finds fault with, or that names the image which cannot be decoded.
Dataset load(const DataConfig& config, Split split, const LoadOptions& options);

/// What is wrong with an image that was replaced since the data set was loaded.
inline constexpr const char* was_resized = "has another size than at the start";

/// The pixels of image `index`, decoded and resized if they are not kept. Throws `Error` when its
/// file has gone or has got another size. Safe to call from several threads.
cv::Mat pixels_of(const Dataset& dataset, int index);

/// Tells the system that these images will be needed soon. Returns at once.
void read_ahead(const Dataset& dataset, std::span<const int> images);

/// The width and height of what pixels_of() gives, without decoding anything.
cv::Size size_of(const Dataset& dataset, int index);

/// The size of an image whose longer side is scaled to `imgsz`, the other rounded up. Where the
/// ratio rounds up, the longer side gets a pixel too many, as it does in YOLOv5: 533 to 641.
cv::Size resized(cv::Size image, int imgsz);
/// The image in that size; the image itself when it fits.
cv::Mat resized(const cv::Mat& image, int imgsz, bool training);

}  // namespace evolve::data
