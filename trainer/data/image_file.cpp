#include "trainer/data/image_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <opencv2/core/utils/logger.hpp>
#include <opencv2/imgcodecs.hpp>
#include <optional>
#include <string_view>

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

  /// A big-endian number.
  std::uint32_t number(std::int64_t offset, std::size_t count) {
    std::uint32_t value = 0;
    for (const char byte : at(offset, count)) value = value << 8 | static_cast<unsigned char>(byte);
    return value;
  }

 private:
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

/// Whether `mark` comes after `start`, looked for from the end: some cameras append bytes after an
/// image, phones a whole film.
bool ends_with(Bytes& bytes, std::int64_t start, std::string_view mark) {
  for (const std::int64_t tail : {std::int64_t{64}, std::int64_t{65536}, bytes.size()}) {
    const std::int64_t from = std::max(start, bytes.size() - tail);
    if (from >= bytes.size()) return false;
    const auto count = static_cast<std::size_t>(bytes.size() - from);
    if (bytes.at(from, count).rfind(mark) != std::string::npos) return true;
  }
  return false;
}

/// How many bytes OpenCV reads where an Exif entry of this tag points to; 0 where it does not.
std::uint32_t bytes_elsewhere(std::uint32_t tag, std::uint32_t count) {
  switch (tag) {
    case 0x10e:  // texts: description, make, model, software, time, copyright
    case 0x10f:
    case 0x110:
    case 0x131:
    case 0x132:
    case 0x8298:
      return count > 4 ? count : 0;
    case 0x11a:  // fractions: resolutions, white point, coefficients, chromaticities, black and
                 // white
    case 0x11b:
      return 8;
    case 0x13e:
      return 16;
    case 0x211:
      return 24;
    case 0x13f:
    case 0x214:
      return 48;
    default:
      return 0;
  }
}

/// Whether an Exif segment of a JPEG, whose TIFF part lies in begin..end, turns the image by a
/// quarter: tag 0x112 of the first directory is 5, 6, 7 or 8. As OpenCV does, it reads no further
/// than to the first entry that points out of the segment.
bool turned(Bytes& bytes, std::int64_t begin, std::int64_t end) {
  const auto order = bytes.at(begin, 2);
  const bool little = order == "II";
  const auto number = [&](std::int64_t offset, std::size_t count) {
    std::uint32_t value = bytes.number(offset, count);
    if (!little) return value;
    return count == 2 ? std::uint32_t{__builtin_bswap16(static_cast<std::uint16_t>(value))}
                      : __builtin_bswap32(value);
  };
  if ((!little && order != "MM") || number(begin + 2, 2) != 42) return false;
  const auto directory = begin + number(begin + 4, 4);
  const auto entries = directory + 2 <= end ? number(directory, 2) : 0;
  for (std::uint32_t i = 0; i < entries; ++i) {
    const auto entry = directory + 2 + 12 * std::int64_t{i};
    if (entry + 12 > end) return false;
    const auto tag = number(entry, 2), value = number(entry + 8, 4);
    if (tag == 0x112) return number(entry + 8, 2) >= 5 && number(entry + 8, 2) <= 8;
    const auto elsewhere = bytes_elsewhere(tag, number(entry + 4, 4));
    if (elsewhere > 0 && begin + value + std::int64_t{elsewhere} > end) return false;
  }
  return false;
}

std::optional<ImageHeader> header_by_decoding(const std::string& file) {
  const cv::Mat image = decode(file);
  if (image.empty()) return std::nullopt;
  return ImageHeader{{image.cols, image.rows}, true};
}

/// ITU T.81: segments up to the start of scan; inside the scan an FF byte is never followed by D9
/// but at its end. OpenCV would decode a truncated JPEG, and leave the rest grey.
std::optional<ImageHeader> jpeg_header(Bytes& bytes, const std::string& file) {
  ImageHeader header;
  std::optional<bool> quarter_turn;
  std::int64_t place = 2;
  while (place + 4 <= bytes.size()) {
    if (bytes.number(place, 1) != 0xff) {  // libjpeg passes over what is between two segments
      auto decoded = header_by_decoding(file);
      if (decoded) decoded->complete = ends_with(bytes, place, "\xff\xd9");
      return decoded;
    }
    const std::uint32_t marker = bytes.number(place + 1, 1);
    if (marker == 0xff) {  // fill byte
      ++place;
      continue;
    }
    const bool frame =
        marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc;
    if (frame) {
      header.size = {static_cast<int>(bytes.number(place + 7, 2)),
                     static_cast<int>(bytes.number(place + 5, 2))};
    }
    const auto next = place + 2 + bytes.number(place + 2, 2);
    // Only in the first one, whatever that holds (it may be XMP), does OpenCV look for Exif.
    if (marker == 0xe1 && !quarter_turn) quarter_turn = turned(bytes, place + 10, next);
    place = next;
    if (marker == 0xda) {
      if (quarter_turn.value_or(false)) std::swap(header.size.width, header.size.height);
      header.complete = ends_with(bytes, place, "\xff\xd9");
      return header;
    }
  }
  return header;
}

std::optional<ImageHeader> png_header(Bytes& bytes, const std::string& file) {
  if (bytes.at(12, 4) != "IHDR") return std::nullopt;
  for (std::int64_t chunk = 8; chunk < bytes.size();
       chunk += 12 + std::int64_t{bytes.number(chunk, 4)}) {
    const auto kind = bytes.at(chunk + 4, 4);
    if (kind == "eXIf") return header_by_decoding(file);  // it may turn the image
    if (kind == "IEND") break;
  }
  return ImageHeader{{static_cast<int>(bytes.number(16, 4)), static_cast<int>(bytes.number(20, 4))},
                     ends_with(bytes, 33, "IEND")};
}

/// Besides JPEG and PNG, and whatever the file's name says: BMP, TIFF (so DNG too) and WebP. OpenCV
/// reads others (PPM, PFM, JPEG 2000), YOLOv5 leaves them out.
bool is_of_a_known_kind(Bytes& bytes) {
  using namespace std::string_view_literals;
  constexpr std::array beginnings = {"BM"sv, "II*\0"sv, "II+\0"sv, "MM\0*"sv, "MM\0+"sv, "RIFF"sv};
  const auto magic = bytes.at(0, 4);
  return std::ranges::any_of(beginnings, [&](auto it) { return magic.starts_with(it); });
}

std::optional<ImageHeader> read_header(Bytes& bytes, const std::string& file) {
  const std::string magic = bytes.at(0, 8);
  if (magic.starts_with("\xff\xd8")) return jpeg_header(bytes, file);
  if (magic == "\x89PNG\r\n\x1a\n") return png_header(bytes, file);
  return is_of_a_known_kind(bytes) ? header_by_decoding(file) : std::nullopt;
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

ImageSize check_image(const std::string& file) {
  std::error_code unknown;
  const auto type = std::filesystem::status(file, unknown).type();
  if (type == std::filesystem::file_type::not_found)
    throw bad_input({file}, "there is no such image",
                    file.find('\\') == file.npos ? "check the path, or take it off its list"
                                                 : "write / for \\ in its list");
  if (type == std::filesystem::file_type::fifo)  // whoever opens it waits for a writer
    throw bad_input({file}, "is no image but a pipe", "remove it");
  Bytes bytes(file);
  if (bytes.size() < 0)
    throw bad_input({file}, "cannot be read", "check the path and its permissions");
  const auto header = read_header(bytes, file);
  if (!header) {
    throw bad_input({file}, "is truncated, or no image of a kind that YOLOv5 reads",
                    "convert it to .jpg or .png, or remove it");
  }
  if (!header->complete) {
    throw bad_input({file}, "is truncated: its end is missing", "copy it again, or remove it");
  }
  if (header->size.width < 10 || header->size.height < 10) {
    throw bad_input({file}, "is smaller than 10 pixels", "remove it");
  }
  return header->size;
}

cv::Mat decode(const std::string& file) {
  // Who needs the image says in one line what is wrong with it.
  [[maybe_unused]] static const auto before =
      cv::utils::logging::setLogLevel(cv::utils::logging::LOG_LEVEL_SILENT);
  try {
    return cv::imread(file);
  } catch (const cv::Exception&) {  // for instance a size that OpenCV finds too large
    return {};
  }
}

Error cannot_be_decoded(const std::string& file) {
  return bad_input({file}, "cannot be decoded",
                   "convert it to .jpg or .png, or begin without it: --skip-bad");
}

Error other_than_its_header(const std::string& file, ImageSize said, ImageSize decoded) {
  return bad_input({file},
                   fmt::format("its header says {} x {} pixels, OpenCV decodes {} x {}", said.width,
                               said.height, decoded.width, decoded.height),
                   "save it again without its Exif part, or begin without it: --skip-bad");
}

}  // namespace evolve::data
