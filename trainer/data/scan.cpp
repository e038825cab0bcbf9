#include "trainer/data/scan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <opencv2/core/utility.hpp>
#include <optional>
#include <string_view>
#include <system_error>
#include <unordered_map>

#include "core/error.hpp"
#include "core/path.hpp"
#include "trainer/data/parallel.hpp"
#include "trainer/data/records.hpp"

namespace evolve::data {
namespace {

constexpr std::string_view label_records = "evolve labels 4";

/// What was found, by the image's file.
using Memory = std::unordered_map<std::string, ScannedImage>;

/// Only what training can use: a fault may go without any change that a stamp shows (chmod).
std::string bytes_of(const std::vector<ScannedImage>& images) {
  RecordWriter writer;
  writer.value(static_cast<std::uint64_t>(
      std::ranges::count_if(images, [](const auto& image) { return image.fault.empty(); })));
  for (const auto& image : images) {
    if (!image.fault.empty()) continue;
    writer.text(image.file);
    writer.value(image.image_stamp);
    writer.value(image.label_stamp);
    writer.value(image.size);
    writer.value(image.found.duplicates);
    writer.values(image.found.labels);
    writer.value(std::uint64_t{image.found.segments.size()});
    for (const auto& segment : image.found.segments) writer.values(segment);
  }
  return with_head(label_records, writer.bytes());
}

ScannedImage read_image(RecordReader& reader) {
  ScannedImage image;
  image.file = reader.text();
  image.image_stamp = reader.value<FileStamp>();
  image.label_stamp = reader.value<FileStamp>();
  image.size = reader.value<ImageSize>();
  image.found.duplicates = reader.value<int>();
  image.found.labels = reader.values<Label>();
  for (auto left = reader.value<std::uint64_t>(); left > 0; --left)
    image.found.segments.push_back(reader.values<cv::Point2f>());
  return image;
}

Memory remembered(const std::string& file) try {
  std::ifstream stream(file, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(stream), {}};
  const auto records = read_records(label_records, bytes);
  Memory memory;
  if (!records) return memory;
  RecordReader reader(*records);
  const auto count = reader.value<std::uint64_t>();
  memory.reserve(count);
  for (std::uint64_t i = 0; i < count; ++i) {
    auto image = read_image(reader);
    const auto name = image.file;
    memory.emplace(name, std::move(image));
  }
  return memory;
} catch (const std::exception&) {  // of a disk, or records that nobody here has written
  return {};
}

/// Decodes an image whose header says this size. Throws `Error` where that fails or says another.
void check_decoded(const std::string& file, ImageSize said) {
  const cv::Mat pixels = decode(file);
  if (pixels.empty()) throw cannot_be_decoded(file);
  if (pixels.cols == said.width && pixels.rows == said.height) return;
  throw other_than_its_header(file, said, {pixels.cols, pixels.rows});
}

/// One look at an image and its labels.
void look_at(ScannedImage& image, int classes, const ScanOptions& options) {
  try {
    image.size = check_image(image.file);
    if (options.decode) check_decoded(image.file, image.size);
    image.found = read_labels(image.file, classes, options.single_cls);
  } catch (const Error& error) {
    image.fault = error.what();
  }
}

/// The images of a split: files and stamps at first.
class Scan {
 public:
  Scan(const DataConfig& config, Split split, const ScanOptions& options)
      : options_(options),
        classes_(static_cast<int>(config.names.size())),
        images_(config.images(split).size()),
        known_(images_.size()) {
    const auto& files = config.images(split);
    for_each_index(count(), options_.threads, [&](int i) {
      options_.beat(0, 0);  // a file server may take a while for each
      const auto& file = files[static_cast<std::size_t>(i)];
      images_[static_cast<std::size_t>(i)] = {.file = file,
                                              .image_stamp = stamp_of(file),
                                              .label_stamp = stamp_of(label_file_of(file)),
                                              .size = {},
                                              .found = {},
                                              .fault = {}};
    });
  }

  /// Takes what was found earlier in files that have not changed since; whether that is all.
  bool recall(const Memory& memory) {
    std::size_t found = 0;
    for (std::size_t i = 0; i < images_.size(); ++i) {
      const auto it = memory.find(images_[i].file);
      known_[i] = it != memory.end() && it->second.image_stamp == images_[i].image_stamp &&
                  it->second.label_stamp == images_[i].label_stamp && may_be(it->second);
      if (!known_[i]) continue;
      images_[i] = it->second;
      ++found;
    }
    return found == images_.size();
  }

  /// Looks at the others; whether training can use any of them.
  bool look() {
    std::atomic<bool> useful = false;
    std::atomic<int> done = 0;
    for_each_index(count(), options_.threads, [&](int n) {
      const auto i = static_cast<std::size_t>(n);
      if (!known_[i]) {
        look_at(images_[i], classes_, options_);
        if (images_[i].fault.empty()) useful = true;
      }
      options_.beat(++done, count());
    });
    return useful;
  }

  std::vector<ScannedImage> take() { return std::move(images_); }
  const std::vector<ScannedImage>& images() const { return images_; }

 private:
  int count() const { return static_cast<int>(images_.size()); }
  /// Somebody else may have written the cache.
  bool may_be(const ScannedImage& image) const {
    const auto& [labels, segments, _] = image.found;
    const int classes = options_.single_cls ? 1 : classes_;
    return (segments.empty() || segments.size() == labels.size()) &&
           std::ranges::all_of(
               labels, [&](const Label& label) { return label.cls >= 0 && label.cls < classes; });
  }

  const ScanOptions& options_;
  int classes_;
  std::vector<ScannedImage> images_;
  /// Not a vector<bool>: threads read it while another place is written.
  std::vector<char> known_;
};

void note_unwritable(const ScanOptions& options, const std::system_error& error) {
  options.note(fmt::format("{}: cannot be written ({}): the check is not remembered",
                           options.cache_folder, error.code().message()));
}

void remember(const std::string& file, const std::vector<ScannedImage>& images,
              const ScanOptions& options) try {
  const auto bytes = bytes_of(images);
  NewFile kept(file, bytes.size(), options.beat);
  kept.write(0, bytes);
  kept.replace();
} catch (const std::system_error& error) {
  note_unwritable(options, error);
}

}  // namespace

std::vector<ScannedImage> scan(const DataConfig& config, Split split, const ScanOptions& options) {
  Scan scan(config, split, options);
  if (options.cache_folder.empty()) {
    options.note(std::string(no_cache_folder) + ": the check is not remembered");
    scan.look();
    return scan.take();
  }
  const auto file =
      cache_file(options.cache_folder, "labels",
                 {core::without_dots(std::filesystem::absolute(config.file)).string(),
                  name_of(split), std::to_string(config.names.size()),
                  options.single_cls ? "single" : "", options.decode ? "decoded" : "",
                  cv::getVersionString()});  // another one turns or decodes other images
  if (scan.recall(remembered(file))) return scan.take();
  std::optional<MakerLock> lock;
  try {
    lock.emplace(file, options.beat);
  } catch (const std::system_error& error) {
    note_unwritable(options, error);
  }
  if (lock && scan.recall(remembered(file))) return scan.take();  // somebody else's work meanwhile
  const bool useful = scan.look();
  if (lock && useful) remember(file, scan.images(), options);
  return scan.take();
}

std::vector<std::string> faults_of(const std::vector<ScannedImage>& images) {
  std::vector<std::string> lines;
  for (const auto& image : images)
    if (!image.fault.empty()) lines.push_back(image.fault);
  return lines;
}

}  // namespace evolve::data
