#include "trainer/checkpoint.hpp"

#include <caffe2/serialize/inline_container.h>
#include <torch/torch.h>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <sstream>
#include <stdexcept>

#include "hyp/error.hpp"
#include "trainer/embedded_weights.hpp"
#include "trainer/options.hpp"
#include "trainer/pickle.hpp"
#include "trainer/tensor_pickle.hpp"

namespace evolve::trainer {
namespace {

namespace fs = std::filesystem;
using caffe2::serialize::PyTorchStreamReader;
using caffe2::serialize::PyTorchStreamWriter;

Error not_weights(const std::string& path, const std::string& what) {
  return bad_input({path}, what, "give a state dict saved by torch.save (torch 1.6 or later)");
}

std::string record(PyTorchStreamReader& archive, const std::string& name) {
  if (!archive.hasRecord(name)) throw std::runtime_error("the archive has no record " + name);
  const auto [data, size] = archive.getRecord(name);
  return {static_cast<const char*>(data.get()), size};
}

StateDict unpickle(PyTorchStreamReader& archive) {
  const auto document = pickle::read(record(archive, "data.pkl"));
  const auto* items = pickle::entries(document.root);
  if (!items) throw std::runtime_error("the file holds no dict");
  TensorUnpickler unpickler(
      [&archive](const std::string& key) { return record(archive, "data/" + key); });
  StateDict state;
  for (const auto& [key, value] : *items) {
    const auto* name = key->as<std::string>();
    const auto tensor = unpickler.tensor(value);
    if (!name || !tensor.defined()) {
      throw std::runtime_error((name ? "'" + *name + "'" : "an entry") + " is no tensor");
    }
    state.emplace_back(*name, tensor);
  }
  return state;
}

/// The first line of what torch says; the rest is a stack trace.
std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

}  // namespace

StateDict read_state_dict(const std::string& path) {
  try {
    if (path == embedded_weights) {
      std::istringstream bytes{std::string(shapes_base_weights())};
      PyTorchStreamReader archive(&bytes);
      return unpickle(archive);
    }
    if (!fs::is_regular_file(path)) {
      throw bad_input({path}, "there is no such file", "name a .pt file");
    }
    PyTorchStreamReader archive(path);
    return unpickle(archive);
  } catch (const Error&) {
    throw;
  } catch (const c10::Error& error) {
    throw not_weights(
        path, "this archive cannot be read (" + first_line(error.what_without_backtrace()) + ")");
  } catch (const std::exception& error) {
    throw not_weights(path, error.what());
  }
}

void write_state_dict(const std::string& path, const StateDict& state) {
  StateDict plain;
  for (const auto& [name, tensor] : state) {
    plain.emplace_back(name, tensor.detach().to(torch::kCPU).contiguous());
  }
  const std::string temporary = path + "." + std::to_string(::getpid()) + ".tmp";
  try {
    PyTorchStreamWriter archive(temporary);
    const std::string pickled = pickle_of(plain);
    archive.writeRecord("data.pkl", pickled.data(), pickled.size());
    for (std::size_t i = 0; i < plain.size(); ++i) {
      const auto& tensor = plain[i].second;
      archive.writeRecord("data/" + std::to_string(i), tensor.data_ptr(), tensor.nbytes());
    }
    archive.writeEndOfFile();
    fs::rename(temporary, path);
  } catch (const std::exception& error) {
    std::error_code ignored;
    fs::remove(temporary, ignored);
    throw run_failed(path + ": the weights cannot be written (" + first_line(error.what()) + ")",
                     "check the folder and the space left");
  }
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
