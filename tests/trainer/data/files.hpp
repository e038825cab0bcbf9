// Folders and small files for tests.
#pragma once

#include <filesystem>
#include <opencv2/imgcodecs.hpp>
#include <string>

#include "tests/files.hpp"
#include "tests/temporary_folder.hpp"

namespace evolve::data {

/// A folder that goes away with the test; paths in it are texts.
class TemporaryFolder : public test::TemporaryFolder {
 public:
  std::string operator/(const std::string& name) const { return (path() / name).string(); }
};

using test::read_file;
using test::write_file;

/// Writes an image with a little structure, encoded by its name's ending.
inline std::string write_image(const std::string& file, int width = 20, int height = 16) {
  std::filesystem::create_directories(std::filesystem::path(file).parent_path());
  cv::Mat image(height, width, CV_8UC3);
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      image.at<cv::Vec3b>(y, x) =
          cv::Vec3b(static_cast<std::uint8_t>(10 * x), static_cast<std::uint8_t>(12 * y), 77);
    }
  }
  if (!cv::imwrite(file, image)) throw std::runtime_error("cannot write " + file);
  return file;
}

/// Gives a JPEG the Exif orientation 6, in a TIFF part that begins with `order`.
inline void turn_by_exif(const std::string& file, const std::string& order) {
  const std::string before(
      "\xff\xe1\x00\x22"
      "Exif\0\0",
      10);
  const std::string after("\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0", 24);
  const std::string bytes = read_file(file);
  write_file(file, bytes.substr(0, 2) + before + order + after + bytes.substr(2));
}

}  // namespace evolve::data
