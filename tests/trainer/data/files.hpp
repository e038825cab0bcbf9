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

}  // namespace evolve::data
