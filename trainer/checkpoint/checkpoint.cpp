#include "trainer/checkpoint/checkpoint.hpp"

#include <caffe2/serialize/inline_container.h>
#include <torch/torch.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <map>
#include <new>
#include <stdexcept>

#include "core/durable_file.hpp"
#include "core/error.hpp"
#include "core/file_descriptor.hpp"
#include "core/split.hpp"
#include "trainer/checkpoint/embedded_weights.hpp"
#include "trainer/checkpoint/tensor_pickle.hpp"
#include "trainer/checkpoint/weights_file.hpp"
#include "trainer/checksum.hpp"
#include "trainer/options.hpp"

namespace evolve::trainer {
namespace {

namespace fs = std::filesystem;

/// The tensors of a model whose storages' records begin with `folder`.
StateDict tensors_of(const PickledModel& pickled, const Archive& archive,
                     const std::string& folder) {
  TensorUnpickler unpickler([&](const std::string& key) { return archive.record(folder + key); });
  StateDict state;
  for (const auto& [name, value] : pickled.model.tensors) {
    const auto tensor = unpickler.tensor(value);
    if (!tensor.defined()) throw std::runtime_error("'" + name + "' is not a tensor");
    state.emplace_back(name, tensor);
  }
  return state;
}

Checkpoint unpack(std::string_view bytes) {
  WeightsFile file = open_weights(bytes);
  return {.state = tensors_of(file.weights, file.archive, weights_storages),
          .about = std::move(file.about),
          .training = tensors_of(file.training, file.archive, training_storages)};
}

/// As a table has them: level by level, or where there are none but the placeholders that
/// AutoAnchor kept, which are no sizes, their count.
TableAnchors anchors_of(const Detector& detector) {
  const auto pixels = detector.anchors_in_pixels().to(torch::kCPU).flatten(1).contiguous();
  if (pixels.min().item<float>() <= 0) return detector.config().anchors_per_level();
  std::vector<std::vector<float>> levels;
  for (std::int64_t level = 0; level < pixels.size(0); ++level) {
    const float* first = pixels[level].data_ptr<float>();
    levels.emplace_back(first, first + pixels.size(1));
  }
  return levels;
}

}  // namespace

Checkpoint read_checkpoint(const std::string& path) {
  try {
    if (path == embedded_weights) return unpack(shapes_base_weights());
    const std::string bytes = read_weights(path);
    auto checkpoint = unpack(bytes);
    checkpoint.checksum = checksum_of(bytes);
    return checkpoint;
  } catch (const Error&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const c10::Error& error) {
    throw not_weights(path, core::first_line(error.what_without_backtrace()));
  } catch (const std::exception& error) {
    throw not_weights(path, error.what());
  }
}

namespace {

/// A state dict ready for an archive: tensors on the CPU, contiguous, and their pickle.
struct Pickled {
  explicit Pickled(const StateDict& state) {
    for (const auto& [name, tensor] : state) {
      tensors.emplace_back(name, tensor.detach().to(torch::kCPU).contiguous());
    }
    pickle = pickle_of(tensors);
  }

  StateDict tensors;
  std::string pickle;
};

using ArchiveWriter = caffe2::serialize::PyTorchStreamWriter;

void write_record(ArchiveWriter& archive, const std::string& name, const std::string& bytes) {
  archive.writeRecord(name, bytes.data(), bytes.size());
}

void write_model(ArchiveWriter& archive, const Pickled& model, const std::string& name,
                 const std::string& folder) {
  write_record(archive, name, model.pickle);
  for (std::size_t i = 0; i < model.tensors.size(); ++i) {
    const auto& tensor = model.tensors[i].second;
    archive.writeRecord(folder + std::to_string(i), tensor.data_ptr(), tensor.nbytes());
  }
}

/// Returns 0, or the errno of the first failure.
int write_archive(int descriptor, const Checkpoint& checkpoint) {
  const Pickled state(checkpoint.state);
  const Pickled training(checkpoint.training);
  const std::string about = checkpoint.about.dump();
  if (about.size() > largest_about ||
      std::max(state.pickle.size(), training.pickle.size()) > largest_pickle) {
    throw std::runtime_error("there is more to write than weights need");
  }
  // Torch's writer ends the program when its destructor cannot write: it never learns of failures.
  int error = 0;
  ArchiveWriter archive([&error, descriptor](const void* bytes, std::size_t count) {
    if (!error) error = core::write_all(descriptor, {static_cast<const char*>(bytes), count});
    return count;
  });
  write_model(archive, state, "data.pkl", weights_storages);
  if (!checkpoint.about.is_null()) write_record(archive, about_record, about);
  if (!training.tensors.empty()) write_model(archive, training, training_record, training_storages);
  archive.writeEndOfFile();
  return error;
}

}  // namespace

void write_checkpoint(const std::string& path, const Checkpoint& checkpoint) {
  const auto failed = [&](const std::string& why) {
    return run_failed(path + ": the weights cannot be written (" + why + ")",
                      "check the folder and the space left");
  };
  int error = 0;
  try {
    error = core::replace_file(path, core::temporary_of(path), [&](int descriptor) {
      return write_archive(descriptor, checkpoint);
    });
  } catch (const std::exception& wrong) {
    throw failed(core::first_line(wrong.what()));
  }
  if (error) throw failed(std::strerror(error));
  core::sync_folder(fs::path(path).parent_path());
}

Checkpoint checkpoint_of(const Detector& detector, const std::vector<std::string>& names) {
  Checkpoint checkpoint{.state = state_dict(detector)};
  for (auto& [name, tensor] : checkpoint.state) {
    // Anchors stay exact: a training that goes on needs them so.
    if (tensor.is_floating_point() && !name.ends_with(".anchors")) tensor = tensor.to(torch::kHalf);
  }
  ModelTable table = detector.config().table;
  table.anchors = anchors_of(detector);
  checkpoint.about = {{"yaml", to_json(table)}, {"nc", table.nc}, {"names", names}};
  return checkpoint;
}

Transfer transfer(const StateDict& state, Detector& detector, bool keep_anchors,
                  const std::string& path) {
  torch::NoGradGuard no_grad;
  const StateDict own = state_dict(detector);
  const std::map<std::string, torch::Tensor> targets(own.begin(), own.end());
  Transfer transfer{0, static_cast<int>(own.size())};
  for (const auto& [name, tensor] : state) {
    const auto target = targets.find(name);
    if (target == targets.end() || target->second.sizes() != tensor.sizes()) continue;
    if (keep_anchors && name.find("anchor") != std::string::npos) continue;
    torch::Tensor(target->second).copy_(tensor);
    ++transfer.transferred;
  }
  if (transfer.transferred == 0) throw none_fits(path, state.size());
  return transfer;
}

}  // namespace evolve::trainer
