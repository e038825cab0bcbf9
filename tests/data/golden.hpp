// Reference numbers made by YOLOv5 itself, as pictures and tables. They live outside the
// repository; the folders are EVOLVE_GOLDEN and EVOLVE_DATA, read when a test runs.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <opencv2/core/mat.hpp>
#include <string>
#include <vector>

namespace evolve::data {

std::filesystem::path golden_folder();
std::filesystem::path data_folder();

/// An array of a case, in C order.
struct Tensor {
  std::vector<int> shape;
  std::string type;
  std::vector<std::uint8_t> bytes;

  int rows() const { return shape.at(0); }
  /// A number of a 2-d tensor of type f32 or f64.
  double at(int row, int column) const;
  /// A [height, width, 3] tensor of bytes as an 8-bit picture.
  cv::Mat picture() const;
};

/// One case: a folder with scalars.json and, mostly, tensors.bin with its index.json.
struct Golden {
  std::string name;
  nlohmann::json scalars;
  std::map<std::string, Tensor> tensors;

  const Tensor& operator[](const std::string& tensor) const;
};

/// All cases whose names begin with `prefix`, in order.
std::vector<Golden> goldens(const std::string& prefix);

}  // namespace evolve::data

/// Skips where the reference numbers are absent; a folder without such a case is a failure.
#define GOLDENS_OR_SKIP(cases, prefix)                             \
  if (!std::filesystem::is_directory(golden_folder()))             \
    GTEST_SKIP() << "no reference numbers in " << golden_folder(); \
  const auto cases = goldens(prefix);                              \
  ASSERT_FALSE(cases.empty()) << "no case " << (prefix) << "* in " << golden_folder()
