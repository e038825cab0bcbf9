#include "trainer/data/image_file.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <opencv2/imgcodecs.hpp>
#include <optional>
#include <string_view>
#include <vector>

#include "core/error.hpp"

namespace evolve::data {
namespace {

/// Random access to a file; beyond its end there are zeros, which no header accepts.
class Bytes {
 public:
  explicit Bytes(const std::string& file) : stream_(file, std::ios::binary | std::ios::ate) {
    size_ = stream_ ? static_cast<std::int64_t>(stream_.tellg()) : -1;
  }

  /// -1 when the file cannot be opened.
  std::int64_t size() const { return size_; }

  /// Headers are read a few bytes at a time, so the file is read a page at a time.
  std::string at(std::int64_t offset, std::size_t count) {
    const auto end = offset + static_cast<std::int64_t>(count);
    if (offset < begin_ || end > begin_ + static_cast<std::int64_t>(window_.size())) {
      begin_ = offset;
      window_.assign(std::max<std::size_t>(count, 4096), '\0');
      stream_.clear();
      stream_.seekg(offset);
      stream_.read(window_.data(), static_cast<std::streamsize>(window_.size()));
    }
    return window_.substr(static_cast<std::size_t>(offset - begin_), count);
  }

  std::uint32_t big(std::int64_t offset, std::size_t count) { return number(at(offset, count)); }

  std::uint32_t little(std::int64_t offset, std::size_t count) {
    std::string bytes = at(offset, count);
    std::reverse(bytes.begin(), bytes.end());
    return number(bytes);
  }

 private:
  static std::uint32_t number(const std::string& bytes) {
    std::uint32_t value = 0;
    for (const char byte : bytes) value = value << 8 | static_cast<unsigned char>(byte);
    return value;
  }

  std::ifstream stream_;
  std::int64_t size_ = -1;
  /// Bytes from `begin_` on.
  std::string window_;
  std::int64_t begin_ = 0;
};

/// What a header says: the size, and whether the file is all there.
struct ImageHeader {
  ImageSize size;
  bool complete = false;
};

/// Whether `mark` is among the last 64 KiB from `start` on: some cameras append bytes after a
/// image's end.
bool ends_with(Bytes& bytes, std::int64_t start, std::string_view mark) {
  const std::int64_t from = std::max(start, bytes.size() - 65536);
  if (from >= bytes.size()) return false;
  return bytes.at(from, static_cast<std::size_t>(bytes.size() - from)).rfind(mark) !=
         std::string::npos;
}

/// ITU T.81: segments up to the start of scan; inside the scan an FF byte is never followed by D9
/// but at its end.
std::optional<ImageHeader> look_at_jpeg(Bytes& bytes) {
  ImageHeader look;
  std::int64_t place = 2;
  while (place + 4 <= bytes.size()) {
    if (bytes.big(place, 1) != 0xff) return std::nullopt;
    const std::uint32_t marker = bytes.big(place + 1, 1);
    if (marker == 0xff) {  // fill byte
      ++place;
      continue;
    }
    const bool frame =
        marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc;
    if (frame) {
      look.size = {static_cast<int>(bytes.big(place + 7, 2)),
                   static_cast<int>(bytes.big(place + 5, 2))};
    }
    place += 2 + bytes.big(place + 2, 2);
    if (marker == 0xda) {
      look.complete = ends_with(bytes, place, "\xff\xd9");
      return look;
    }
  }
  return look;
}

std::optional<ImageHeader> look_at_png(Bytes& bytes) {
  if (bytes.at(12, 4) != "IHDR") return std::nullopt;
  return ImageHeader{{static_cast<int>(bytes.big(16, 4)), static_cast<int>(bytes.big(20, 4))},
              ends_with(bytes, 33, "IEND")};
}

std::optional<ImageHeader> look_at_bmp(Bytes& bytes) {
  const bool core = bytes.little(14, 4) == 12;
  const int width = static_cast<int>(core ? bytes.little(18, 2) : bytes.little(18, 4));
  const int height = static_cast<int>(core ? bytes.little(20, 2) : bytes.little(22, 4));
  const std::int64_t bits = core ? bytes.little(24, 2) : bytes.little(28, 2);
  const bool packed = !core && bytes.little(30, 4) != 0;
  const std::int64_t rows = std::abs(static_cast<std::int64_t>(height));
  // A header can ask for more than any integer holds.
  const double row_bytes = static_cast<double>((width * bits + 31) / 32) * 4;
  const double end = bytes.little(10, 4) + (packed ? 1 : row_bytes * static_cast<double>(rows));
  return ImageHeader{{width, static_cast<int>(rows)}, end <= static_cast<double>(bytes.size())};
}

/// RIFF container with a lossy (VP8), lossless (VP8L) or extended (VP8X) chunk first.
std::optional<ImageHeader> look_at_webp(Bytes& bytes) {
  const bool complete = static_cast<std::int64_t>(bytes.little(4, 4)) + 8 <= bytes.size();
  const std::string chunk = bytes.at(12, 4);
  if (chunk == "VP8 ") {
    return ImageHeader{{static_cast<int>(bytes.little(26, 2) & 0x3fff),
                 static_cast<int>(bytes.little(28, 2) & 0x3fff)},
                complete};
  }
  if (chunk == "VP8L") {
    const std::uint32_t bits = bytes.little(21, 4);
    return ImageHeader{{static_cast<int>(bits & 0x3fff) + 1, static_cast<int>(bits >> 14 & 0x3fff) + 1},
                complete};
  }
  if (chunk == "VP8X") {
    return ImageHeader{
        {static_cast<int>(bytes.little(24, 3)) + 1, static_cast<int>(bytes.little(27, 3)) + 1},
        complete};
  }
  return std::nullopt;
}

/// The first directory's width (tag 256) and height (tag 257).
std::optional<ImageHeader> look_at_tiff(Bytes& bytes, bool little) {
  const auto read = [&](std::int64_t offset, std::size_t count) {
    return little ? bytes.little(offset, count) : bytes.big(offset, count);
  };
  const std::int64_t directory = read(4, 4);
  const std::uint32_t entries = read(directory, 2);
  ImageHeader look;
  look.complete = directory + 2 + 12 * static_cast<std::int64_t>(entries) <= bytes.size();
  for (std::uint32_t i = 0; i < entries && look.complete; ++i) {
    const std::int64_t entry = directory + 2 + 12 * static_cast<std::int64_t>(i);
    const std::uint32_t tag = read(entry, 2);
    const int value = static_cast<int>(read(entry + 8, read(entry + 2, 2) == 3 ? 2 : 4));
    if (tag == 256) look.size.width = value;
    if (tag == 257) look.size.height = value;
  }
  return look;
}

std::optional<ImageHeader> look_at_any(const std::string& file) {
  const cv::Mat image = decode(file);
  if (image.empty()) return std::nullopt;
  return ImageHeader{{image.cols, image.rows}, true};
}

std::optional<ImageHeader> look(Bytes& bytes, const std::string& file) {
  const std::string magic = bytes.at(0, 16);
  if (magic.starts_with("\xff\xd8")) return look_at_jpeg(bytes);
  if (magic.starts_with("\x89PNG\r\n\x1a\n")) return look_at_png(bytes);
  if (magic.starts_with("BM")) return look_at_bmp(bytes);
  if (magic.starts_with("RIFF") && magic.substr(8, 4) == "WEBP") return look_at_webp(bytes);
  if (magic.starts_with(std::string("II*\0", 4))) return look_at_tiff(bytes, true);
  if (magic.starts_with(std::string("MM\0*", 4))) return look_at_tiff(bytes, false);
  return look_at_any(file);
}

}  // namespace

bool is_image_name(const std::string& file) {
  static constexpr std::array<std::string_view, 10> endings = {
      "bmp", "dng", "jpeg", "jpg", "mpo", "pfm", "png", "tif", "tiff", "webp"};
  const auto dot = file.rfind('.');
  if (dot == std::string::npos) return false;
  std::string ending = file.substr(dot + 1);
  std::transform(ending.begin(), ending.end(), ending.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  return std::find(endings.begin(), endings.end(), ending) != endings.end();
}

ImageSize look_at_image(const std::string& file) {
  Bytes bytes(file);
  if (bytes.size() < 0)
    throw bad_input({file}, "cannot be read", "check the path and its permissions");
  const auto seen = look(bytes, file);
  if (!seen) {
    throw bad_input({file}, "is no image that OpenCV reads",
                    "convert it to .jpg or .png, or remove it");
  }
  if (!seen->complete) {
    throw bad_input({file}, "is truncated: its end is missing", "copy it again, or remove it");
  }
  if (seen->size.width < 10 || seen->size.height < 10) {
    throw bad_input({file}, "is smaller than 10 pixels", "remove it");
  }
  return seen->size;
}

cv::Mat decode(const std::string& file) {
  try {
    return cv::imread(file);
  } catch (const cv::Exception&) {  // for instance a size that OpenCV finds too large
    return {};
  }
}

}  // namespace evolve::data
