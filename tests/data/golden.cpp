#include "tests/data/golden.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <stdexcept>

namespace evolve::data {
namespace {

namespace fs = std::filesystem;

fs::path folder(const char* variable, const char* fallback) {
  const char* value = std::getenv(variable);
  return value && *value ? fs::path(value)
                         : fs::path(EVOLVE_SOURCE_DIR) / ".." / "shared" / fallback;
}

nlohmann::json read_json(const fs::path& file) {
  std::ifstream stream(file);
  return nlohmann::json::parse(stream);
}

void read_tensors(const fs::path& folder, Golden& golden) {
  std::ifstream stream(folder / "tensors.bin", std::ios::binary);
  const nlohmann::json index = read_json(folder / "index.json");
  for (const auto& entry : index.at("tensors")) {
    Tensor tensor{entry.at("shape"), entry.at("dtype"),
                  std::vector<std::uint8_t>(entry.at("nbytes").get<std::size_t>())};
    stream.seekg(entry.at("offset").get<std::streamoff>());
    stream.read(reinterpret_cast<char*>(tensor.bytes.data()),
                static_cast<std::streamsize>(tensor.bytes.size()));
    if (!stream) throw std::runtime_error(golden.name + ": tensors.bin ends early");
    golden.tensors[entry.at("name")] = std::move(tensor);
  }
}

template <class Number>
double number_at(const std::vector<std::uint8_t>& bytes, std::size_t place) {
  Number number;
  std::memcpy(&number, bytes.data() + place * sizeof number, sizeof number);
  return number;
}

}  // namespace

fs::path golden_folder() {
  return folder("EVOLVE_GOLDEN", "oracle/golden");
}
fs::path data_folder() {
  return folder("EVOLVE_DATA", "data");
}

double Tensor::at(int row, int column) const {
  const auto place = static_cast<std::size_t>(row * shape.at(1) + column);
  return type == "f64" ? number_at<double>(bytes, place) : number_at<float>(bytes, place);
}

cv::Mat Tensor::picture() const {
  return cv::Mat(shape.at(0), shape.at(1), CV_8UC3, const_cast<std::uint8_t*>(bytes.data()))
      .clone();
}

const Tensor& Golden::operator[](const std::string& tensor) const {
  const auto it = tensors.find(tensor);
  if (it == tensors.end()) throw std::runtime_error(name + " has no tensor " + tensor);
  return it->second;
}

std::vector<Golden> goldens(const std::string& prefix) {
  std::vector<fs::path> folders;
  for (const auto& entry : fs::directory_iterator(golden_folder())) {
    const bool wanted = entry.path().filename().string().starts_with(prefix);
    if (wanted && entry.is_directory()) folders.push_back(entry.path());
  }
  std::sort(folders.begin(), folders.end());
  std::vector<Golden> cases;
  for (const auto& path : folders) {
    Golden golden{path.filename(), read_json(path / "scalars.json"), {}};
    if (fs::exists(path / "index.json")) read_tensors(path, golden);
    cases.push_back(std::move(golden));
  }
  return cases;
}

}  // namespace evolve::data
