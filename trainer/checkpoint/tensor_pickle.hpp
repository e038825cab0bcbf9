// Tensors in pickles, as torch.save writes them.
#pragma once

#include <torch/types.h>

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "trainer/checkpoint/pickle.hpp"
#include "trainer/checkpoint/state_dict.hpp"

namespace evolve::trainer {

/// The bytes of a storage, which an archive keeps under "data/KEY".
using ReadStorage = std::function<std::string_view(const std::string& key)>;

/// Rebuilds the tensors of a pickle; a storage that several share is read once.
class TensorUnpickler {
 public:
  explicit TensorUnpickler(ReadStorage read) : read_(std::move(read)) {}

  /// The tensor or parameter that a value describes, an undefined one when it describes something
  /// else. Throws std::runtime_error when the description makes no sense.
  torch::Tensor tensor(pickle::Ref value);

 private:
  torch::Tensor rebuild(const pickle::Tuple& arguments);
  torch::Tensor storage(pickle::Ref value);

  ReadStorage read_;
  std::map<std::string, torch::Tensor> storages_;
};

/// The pickle (protocol 2) of a dict from names to tensors whose storages are called 0, 1, 2, …
/// Tensors must be contiguous.
std::string pickle_of(const StateDict& state);

}  // namespace evolve::trainer
