#include "trainer/checkpoint/weights_file.hpp"

#include <filesystem>
#include <fstream>
#include <new>
#include <stdexcept>
#include <vector>

#include "core/json.hpp"
#include "core/text_file.hpp"
#include "core/utf8.hpp"
#include "hyp/trial_folder.hpp"
#include "trainer/model/model_table.hpp"

namespace evolve::trainer {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

/// Files of torch before 1.6 begin with this number, pickled.
constexpr std::string_view legacy_magic("\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20", 10);

std::string_view small_record(const Archive& archive, const char* name, std::size_t largest) {
  const auto bytes = archive.record(name);
  if (bytes.size() <= largest) return bytes;
  throw std::runtime_error(std::string("record ") + name + " has " + std::to_string(bytes.size()) +
                           " bytes, more than weights need");
}

ordered_json parse_about(std::string_view text) try {
  auto about = core::bounded_json(text);
  if (about.is_object()) return about;
  throw std::runtime_error("the file's description is not a JSON object");
} catch (const std::length_error& error) {
  throw std::runtime_error(std::string("the file's description ") + error.what());
}

PickledModel open_pickle(const Archive& archive, const char* name) {
  PickledModel opened{.document = pickle::read(small_record(archive, name, largest_pickle)),
                      .model = {}};
  opened.model = find_model(opened.document);
  return opened;
}

std::string remedy_for_absent(const std::string& path) {
  if (is_of_ultralytics(path)) return hint_of_ultralytics;
  if (fs::path(path).filename().string().starts_with("yolov5"))
    return "evolve downloads nothing: get it from https://github.com/ultralytics/yolov5/releases";
  return "name a .pt file that is there";
}

}  // namespace

WeightsFile open_weights(std::string_view bytes) {
  if (bytes.starts_with(legacy_magic)) {
    throw std::runtime_error("torch before 1.6 saved this file; load and save it with a newer one");
  }
  WeightsFile file{.archive = Archive(bytes), .weights = {}, .training = {}, .about = {}};
  const Archive& archive = file.archive;
  if (archive.has("byteorder") && archive.record("byteorder") != "little") {
    throw std::runtime_error("its numbers are big-endian");
  }
  file.weights = open_pickle(archive, "data.pkl");
  if (archive.has(training_record)) file.training = open_pickle(archive, training_record);
  file.about = archive.has(about_record)
                   ? parse_about(small_record(archive, about_record, largest_about))
                   : file.weights.model.about;
  return file;
}

std::string read_weights(const std::string& path) {
  const auto best = fs::path(hyp::weights_folder) / hyp::best_weights;
  std::error_code error;
  const auto status = fs::status(path, error);
  if (fs::is_directory(status)) {
    std::error_code ignored;
    throw bad_input({path}, "this is a folder",
                    fs::exists(path / best, ignored)
                        ? "name a .pt file, such as its " + best.string()
                        : "name a .pt file");
  }
  if (status.type() == fs::file_type::not_found)
    throw bad_input({path}, "there is no such file", remedy_for_absent(path));
  if (!fs::status_known(status))
    throw bad_input({path}, error.message(), "check the path and its permissions");
  if (!fs::is_regular_file(status)) throw core::no_regular_file(path);
  const auto size = fs::file_size(path, error);
  std::string bytes(error ? 0 : size, '\0');
  std::ifstream stream(path, std::ios::binary);
  if (error || !stream.read(bytes.data(), static_cast<std::streamsize>(bytes.size()))) {
    throw bad_input({path}, "the file cannot be read", "check its permissions");
  }
  return bytes;
}

Error not_weights(const std::string& path, const std::string& what) {
  // Names that the file gives its records may be in it.
  constexpr std::size_t longest = 300;
  const auto line = core::printable(what.substr(0, longest));
  return bad_input({path}, line, "give a .pt file of YOLOv5, or a state dict");
}

Error none_fits(const std::string& path, std::size_t tensors) {
  return bad_input({path}, "none of its " + std::to_string(tensors) + " tensors fits the model",
                   "choose the --cfg that the weights were trained with");
}

WeightsSummary read_summary(const std::string& path) {
  const std::string bytes = read_weights(path);
  try {
    auto file = open_weights(bytes);
    std::vector<std::string> names;
    for (auto& [name, tensor] : file.weights.model.tensors) names.push_back(std::move(name));
    return {.about = std::move(file.about),
            .is_ours = file.archive.has(about_record),
            .tensors = std::move(names)};
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    throw not_weights(path, error.what());
  }
}

std::filesystem::path exported(const std::filesystem::path& weights) {
  return weights.parent_path() / (weights.stem().string() + "_yolov5.pt");
}

}  // namespace evolve::trainer
