// The decoded images of a split in one file, which every worker of a machine maps.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <opencv2/core/mat.hpp>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "trainer/data/cache_file.hpp"
#include "trainer/data/threads.hpp"

namespace evolve::data {

/// An image that is looked for in such a file: the size is that of its pixels there.
struct WantedImage {
  std::string file;
  FileStamp stamp;
  cv::Size size;
};

/// How many bytes its pixels take there.
std::uint64_t stored_bytes(const WantedImage& image);

/// A mapped file of decoded images. It can be read only: who writes to the pixels dies.
class ImageCache {
 public:
  /// Nothing where there is no such file, or it is not whole.
  static std::shared_ptr<const ImageCache> open(const std::string& file);
  ~ImageCache();
  ImageCache(const ImageCache&) = delete;
  ImageCache& operator=(const ImageCache&) = delete;

  /// BGR, 8 bit, in the wanted size; empty where the image is not there, or has changed since. They
  /// live as long as the cache.
  cv::Mat find(const WantedImage& image) const;
  /// Whether the cache has the image as it was before a change.
  bool has_older(const WantedImage& image) const;
  /// Not all that were wanted have found room.
  bool cut() const { return cut_; }
  /// Of the whole file.
  std::uint64_t bytes() const { return bytes_.size(); }

  /// Reads the first `bytes` of it into memory.
  void read_in(std::uint64_t bytes, const Threads& threads, const Beat& beat) const;

 private:
  struct Place {
    FileStamp stamp;
    cv::Size size;
    std::uint64_t begin = 0;
  };
  explicit ImageCache(std::string_view bytes) : bytes_(bytes) {}
  bool read_table();

  std::string_view bytes_;
  std::unordered_map<std::string_view, Place> places_;
  bool cut_ = false;
};

/// What is free on the disk of a file, but for a twentieth of the disk.
std::uint64_t room_on_disk(const std::string& file);

using DiskRoom = std::function<std::uint64_t(const std::string& file)>;

struct ImageCacheOptions {
  /// How many bytes it may have.
  std::uint64_t budget = 0;
  /// Has as many images as the disk allows; else there is none where the disk, not the budget,
  /// would cut it.
  bool cut_to_disk = false;
  /// How many bytes the disk has room for.
  DiskRoom room = room_on_disk;
  Threads threads = {};
  Beat beat = [](int, int) {};
};

/// What came of asking for a cache.
struct OpenedCache {
  /// Null where there was none and the budget has no room for a single image.
  std::shared_ptr<const ImageCache> cache;
  /// How many images were decoded for it, by this process.
  int decoded = 0;
};

/// The cache `file` with as many of the wanted images, from the first on, as the options allow.
/// Where some are missing it is made again, from what it has and what `decode` gives
/// (`wanted[i]` in its size; called from several threads), by one process of the machine, and the
/// others wait. Throws std::system_error where it cannot be written or the disk has no room for it,
/// and what `decode` throws.
OpenedCache open_image_cache(const std::string& file, const std::vector<WantedImage>& wanted,
                             const std::function<cv::Mat(int)>& decode,
                             const ImageCacheOptions& options);

/// Tells the system that these pixels of a mapped file will be read soon. Returns at once.
void will_need(const cv::Mat& pixels);
/// Tells the system that a whole file will be read soon. Returns at once.
void will_need(const std::string& file);

}  // namespace evolve::data
