#include "tests/trainer/golden.hpp"

#include <torch/torch.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <regex>
#include <stdexcept>

namespace evolve::test {
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

torch::ScalarType scalar_type(const std::string& name) {
  static const std::map<std::string, torch::ScalarType> types{
      {"f32", torch::kFloat}, {"f64", torch::kDouble}, {"f16", torch::kHalf}, {"i64", torch::kLong},
      {"i32", torch::kInt},   {"u8", torch::kByte},    {"bool", torch::kBool}};
  return types.at(name);
}

void read_tensors(const fs::path& folder, Golden& golden) {
  auto index = read_json(folder / "index.json");
  if (index.is_object()) index = index.at("tensors");
  std::ifstream stream(folder / "tensors.bin", std::ios::binary);
  for (const auto& entry : index) {
    auto tensor = torch::empty(entry.at("shape").get<std::vector<std::int64_t>>(),
                               scalar_type(entry.at("dtype")));
    const auto bytes = entry.at("nbytes").get<std::int64_t>();
    if (bytes != static_cast<std::int64_t>(tensor.nbytes())) {
      throw std::runtime_error(golden.name + ": sizes disagree");
    }
    stream.seekg(entry.at("offset").get<std::int64_t>());
    stream.read(static_cast<char*>(tensor.data_ptr()), bytes);
    if (!stream) throw std::runtime_error(golden.name + ": tensors.bin ends early");
    golden.tensors[entry.at("name")] = tensor;
  }
}

}  // namespace

fs::path golden_folder() {
  return folder("EVOLVE_GOLDEN", "oracle/golden");
}
fs::path checkpoints_folder() {
  return folder("EVOLVE_CHECKPOINTS", "oracle/ckpt");
}
fs::path data_folder() {
  return folder("EVOLVE_DATA", "data");
}

std::string table_path(const std::string& name) {
  static const std::regex built_in("yolov5[nsmlxp]\\.yaml");
  if (std::regex_match(name, built_in)) return name;
  for (const fs::path& folder : {golden_folder(), checkpoints_folder()}) {
    const fs::path file = folder.lexically_normal() / ".." / "cfg" / name;
    if (fs::exists(file)) return file.lexically_normal();
  }
  return name;
}

const torch::Tensor& Golden::operator[](const std::string& tensor) const {
  const auto it = tensors.find(tensor);
  if (it == tensors.end()) throw std::runtime_error(name + " has no tensor " + tensor);
  return it->second;
}

Golden load_golden(const fs::path& folder) {
  Golden golden;
  golden.name = folder.filename();
  golden.scalars = read_json(folder / "scalars.json");
  if (fs::exists(folder / "index.json")) read_tensors(folder, golden);
  return golden;
}

std::vector<Golden> goldens(const std::string& prefix) {
  std::vector<fs::path> folders;
  for (const auto& entry : fs::directory_iterator(golden_folder())) {
    if (entry.is_directory() && entry.path().filename().string().starts_with(prefix)) {
      folders.push_back(entry.path());
    }
  }
  std::sort(folders.begin(), folders.end());
  std::vector<Golden> cases;
  for (const auto& path : folders) cases.push_back(load_golden(path));
  return cases;
}

double relative_error(const torch::Tensor& a, const torch::Tensor& b) {
  const auto reference = b.detach().to(torch::kDouble);
  const double norm = reference.norm().item<double>();
  const double difference = (a.detach().to(torch::kDouble) - reference).norm().item<double>();
  return norm > 0 ? difference / norm : difference;
}

}  // namespace evolve::test
