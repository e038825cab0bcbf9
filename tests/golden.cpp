#include "tests/golden.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <type_traits>

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

void read_tensors(const fs::path& folder, Case& to) {
  const auto index = read_json(folder / "index.json");
  std::ifstream stream(folder / "tensors.bin", std::ios::binary);
  for (const auto& entry : index.at("tensors")) {
    Recorded tensor{.shape = entry.at("shape"),
                    .dtype = entry.at("dtype"),
                    .bytes = std::vector<std::uint8_t>(entry.at("nbytes").get<std::size_t>())};
    stream.seekg(entry.at("offset").get<std::streamoff>());
    stream.read(reinterpret_cast<char*>(tensor.bytes.data()),
                static_cast<std::streamsize>(tensor.bytes.size()));
    if (!stream) throw std::runtime_error(to.name + ": tensors.bin ends early");
    to.tensors[entry.at("name")] = std::move(tensor);
  }
}

template <class T>
std::string dtype_of() {
  const char* kind = std::is_floating_point_v<T> ? "f" : std::is_signed_v<T> ? "i" : "u";
  return kind + std::to_string(8 * sizeof(T));
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
  const auto built_in = {"yolov5n.yaml", "yolov5s.yaml", "yolov5m.yaml",
                         "yolov5l.yaml", "yolov5x.yaml", "yolov5p.yaml"};
  if (std::ranges::find(built_in, name) != built_in.end()) return name;
  for (const fs::path& folder : {golden_folder(), checkpoints_folder()}) {
    const fs::path file = folder.lexically_normal() / ".." / "cfg" / name;
    if (fs::exists(file)) return file.lexically_normal();
  }
  return name;
}

template <class T>
std::vector<T> Recorded::as() const {
  if (dtype != dtype_of<T>()) throw std::runtime_error(dtype + " read as " + dtype_of<T>());
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}
template std::vector<float> Recorded::as() const;
template std::vector<double> Recorded::as() const;
template std::vector<std::int64_t> Recorded::as() const;
template std::vector<std::uint8_t> Recorded::as() const;

const Recorded& Case::operator[](const std::string& tensor) const {
  const auto it = tensors.find(tensor);
  if (it == tensors.end()) throw std::runtime_error(name + " has no tensor " + tensor);
  return it->second;
}

Case load_case(const fs::path& folder) {
  Case one{.name = folder.filename(), .scalars = read_json(folder / "scalars.json"), .tensors = {}};
  if (fs::exists(folder / "index.json")) read_tensors(folder, one);
  return one;
}

std::vector<Case> cases(const std::string& prefix) {
  std::vector<Case> found;
  for (const auto& entry : fs::directory_iterator(golden_folder())) {
    if (!entry.is_directory() || !entry.path().filename().string().starts_with(prefix)) continue;
    found.push_back(load_case(entry.path()));
  }
  std::ranges::sort(found, {}, &Case::name);
  return found;
}

}  // namespace evolve::test
