// A weights file as plain data: what it says and where its tensors are. Torch-free; Checkpoint has
// the tensors themselves.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.hpp"
#include "trainer/checkpoint/archive.hpp"
#include "trainer/checkpoint/pickle.hpp"
#include "trainer/checkpoint/saved_model.hpp"

namespace evolve::trainer {

/// Records beside those of torch.save, which torch.load() never asks for.
constexpr const char* about_record = "evolve/about.json";
constexpr const char* training_record = "evolve/training.pkl";
/// Their storages' names begin with these.
constexpr const char* weights_storages = "data/";
constexpr const char* training_storages = "evolve/training/";

/// Bytes at most: as values, a pickle and a JSON text take many times their memory. The pickle of
/// YOLOv5's largest model has 0.6 MB, the description of a training 0.7 kB per epoch.
constexpr std::size_t largest_pickle = std::size_t{4} << 20;
constexpr std::size_t largest_about = std::size_t{16} << 20;

/// A pickle and the tensors in it.
struct PickledModel {
  pickle::Document document;
  SavedModel model;
};

struct WeightsFile {
  Archive archive;
  PickledModel weights;
  /// No tensors where a training has left nothing.
  PickledModel training;
  /// What the file says besides, see `Checkpoint`.
  nlohmann::ordered_json about;
};

/// Reads the bytes of a file, which must outlive the result. Memory and time are a small multiple
/// of those that reading the bytes takes, whatever they claim. Throws std::runtime_error with what
/// is wrong.
WeightsFile open_weights(std::string_view bytes);

/// The bytes of a file. Throws `Error`.
std::string read_weights(const std::string& path);

/// The error for a file that open_weights() refuses for the reason `what`.
Error not_weights(const std::string& path, const std::string& what);

/// The error for a file of so many tensors of which a model has none.
Error none_fits(const std::string& path, std::size_t tensors);

struct WeightsSummary {
  /// What the file says besides its weights, see `Checkpoint`.
  nlohmann::ordered_json about;
  /// Whether evolve wrote it with what it says.
  bool is_ours = false;
  /// Names of its tensors.
  std::vector<std::string> tensors;
};

/// Looks at a file without its tensors. Throws `Error` naming it, as read_checkpoint() does.
WeightsSummary read_summary(const std::string& path);

/// Where these weights are put for YOLOv5 unless somebody says otherwise: best_yolov5.pt beside
/// best.pt.
std::filesystem::path exported(const std::filesystem::path& weights);

}  // namespace evolve::trainer
