#include "trainer/checkpoint.hpp"

#include <caffe2/serialize/inline_container.h>
#include <fcntl.h>
#include <torch/torch.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <new>
#include <stdexcept>

#include "hyp/error.hpp"
#include "trainer/archive.hpp"
#include "trainer/embedded_weights.hpp"
#include "trainer/options.hpp"
#include "trainer/pickle.hpp"
#include "trainer/saved_model.hpp"
#include "trainer/tensor_pickle.hpp"

namespace evolve::trainer {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

// Records of ours, which torch.load() never asks for.
constexpr const char* about_record = "evolve/about.json";
constexpr const char* training_record = "evolve/training.pkl";
constexpr const char* training_storages = "evolve/training/";

// As values, a pickle and a JSON text take many times the memory of their bytes. Those of YOLOv5's
// largest model have 0.6 MB and a few kB.
constexpr std::size_t largest_pickle = std::size_t{4} << 20;
constexpr std::size_t largest_about = std::size_t{1} << 20;
constexpr int most_keys = 10000;
constexpr int deepest = 64;

/// Files of torch before 1.6 begin with this number, pickled.
constexpr std::string_view legacy_magic("\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20", 10);

/// The first line without control characters: texts of a file, or torch's with its stack trace.
std::string one_line(std::string text) {
  constexpr std::size_t longest = 300;
  text.resize(std::min({text.size(), text.find('\n'), longest}));
  std::ranges::replace_if(
      text, [](unsigned char c) { return c < ' ' || c == 0x7f; }, '?');
  return text;
}

Error not_weights(const std::string& path, const std::string& what) {
  return bad_input({path}, one_line(what), "give a .pt file of YOLOv5, or a state dict");
}

std::string read_file(const std::string& path) {
  if (!fs::is_regular_file(path)) {
    throw bad_input({path}, "there is no such file", "name a .pt file");
  }
  std::ifstream stream(path, std::ios::binary);
  std::string bytes(fs::file_size(path), '\0');
  if (!stream.read(bytes.data(), static_cast<std::streamsize>(bytes.size()))) {
    throw std::runtime_error("the file cannot be read");
  }
  return bytes;
}

std::string_view small_record(const Archive& archive, const char* name, std::size_t largest) {
  const auto bytes = archive.record(name);
  if (bytes.size() <= largest) return bytes;
  throw std::runtime_error(std::string("record ") + name + " has " + std::to_string(bytes.size()) +
                           " bytes, more than weights need");
}

ordered_json parse_about(std::string_view text) {
  int keys = 0;
  const auto limit = [&keys](int depth, ordered_json::parse_event_t event, const ordered_json&) {
    if (event == ordered_json::parse_event_t::key) ++keys;
    if (keys > most_keys || depth > deepest)
      throw std::runtime_error("the description is too long");
    return true;
  };
  return ordered_json::parse(text, limit);
}

/// The model in a pickle whose storages' records begin with `folder`.
Checkpoint unpickle(const Archive& archive, const char* name, const std::string& folder) {
  const auto document = pickle::read(small_record(archive, name, largest_pickle));
  SavedModel model = find_model(document);
  TensorUnpickler unpickler([&](const std::string& key) { return archive.record(folder + key); });
  Checkpoint checkpoint{.about = std::move(model.about)};
  for (const auto& [tensor_name, value] : model.tensors) {
    const auto tensor = unpickler.tensor(value);
    if (!tensor.defined()) throw std::runtime_error("'" + tensor_name + "' is no tensor");
    checkpoint.state.emplace_back(tensor_name, tensor);
  }
  return checkpoint;
}

Checkpoint unpack(std::string_view bytes) {
  if (bytes.starts_with(legacy_magic)) {
    throw std::runtime_error("torch before 1.6 saved this file; load and save it with a newer one");
  }
  const Archive archive(bytes);
  if (archive.has("byteorder") && archive.record("byteorder") != "little") {
    throw std::runtime_error("its numbers are big-endian");
  }
  Checkpoint checkpoint = unpickle(archive, "data.pkl", "data/");
  if (archive.has(about_record)) {
    checkpoint.about = parse_about(small_record(archive, about_record, largest_about));
  }
  if (archive.has(training_record)) {
    checkpoint.training = unpickle(archive, training_record, training_storages).state;
  }
  return checkpoint;
}

/// Level by level, as a table has them.
std::vector<std::vector<float>> anchors_in_pixels(const Detector& detector) {
  const auto pixels = detector.anchors_in_pixels().to(torch::kCPU).flatten(1).contiguous();
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
    return path == embedded_weights ? unpack(shapes_base_weights()) : unpack(read_file(path));
  } catch (const Error&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const c10::Error& error) {
    throw not_weights(path, error.what_without_backtrace());
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

void write_archive(std::ostream& stream, const Checkpoint& checkpoint) {
  const Pickled state(checkpoint.state);
  const Pickled training(checkpoint.training);
  const std::string about = checkpoint.about.dump();
  // Torch's writer ends the program when its destructor cannot write: it never learns of failures,
  // the stream remembers them.
  ArchiveWriter archive([&stream](const void* bytes, std::size_t count) {
    stream.write(static_cast<const char*>(bytes), static_cast<std::streamsize>(count));
    return count;
  });
  write_model(archive, state, "data.pkl", "data/");
  if (!checkpoint.about.is_null()) write_record(archive, about_record, about);
  if (!training.tensors.empty()) write_model(archive, training, training_record, training_storages);
  archive.writeEndOfFile();
}

/// Waits until the disk has a file's content, or a folder's names. Returns 0 or errno.
int sync(const fs::path& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return errno;
  const int error = ::fsync(descriptor) == 0 ? 0 : errno;
  ::close(descriptor);
  return error;
}

/// Throws std::runtime_error.
void write_durably(const std::string& path, const Checkpoint& checkpoint) {
  std::ofstream stream(path, std::ios::binary | std::ios::trunc);
  if (stream) write_archive(stream, checkpoint);
  stream.close();
  const int error = stream ? sync(path) : errno;
  if (!stream || error != 0) throw std::runtime_error(std::strerror(error));
}

}  // namespace

void write_checkpoint(const std::string& path, const Checkpoint& checkpoint) {
  const std::string temporary = path + "." + std::to_string(::getpid()) + ".tmp";
  try {
    write_durably(temporary, checkpoint);
    fs::rename(temporary, path);
    sync(fs::absolute(path).parent_path());  // some file systems cannot; the file is whole anyway
  } catch (const std::exception& error) {
    std::error_code ignored;
    fs::remove(temporary, ignored);
    throw run_failed(path + ": the weights cannot be written (" + one_line(error.what()) + ")",
                     "check the folder and the space left");
  }
}

Checkpoint checkpoint_of(const Detector& detector, const std::vector<std::string>& names) {
  Checkpoint checkpoint{.state = state_dict(detector)};
  for (auto& [name, tensor] : checkpoint.state) {
    // Anchors stay exact: a training that goes on needs them so.
    if (tensor.is_floating_point() && !name.ends_with(".anchors")) tensor = tensor.to(torch::kHalf);
  }
  ModelTable table = detector.config().table;
  table.anchors = anchors_in_pixels(detector);
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
  if (transfer.transferred == 0) {
    throw bad_input({path},
                    "none of its " + std::to_string(state.size()) + " tensors fits the model",
                    "choose the --cfg that the weights were trained with");
  }
  return transfer;
}

}  // namespace evolve::trainer
