// Weights on disk: the .pt files of torch.save.
#pragma once

#include <string>

#include "trainer/detector.hpp"
#include "trainer/state.hpp"

namespace evolve::trainer {

/// Reads a state dict (a dict or OrderedDict of tensors, of any precision, by torch.save since
/// torch 1.6). Nothing in the file is executed. Throws `Error` naming the file for anything else, a
/// truncated file among them. "shapes-base" is the embedded one.
StateDict read_state_dict(const std::string& path);

/// Writes a state dict that Python's torch.load() reads as a dict of tensors, its weights_only mode
/// included. The file appears whole or not at all. Throws `Error` when it cannot be written.
void write_state_dict(const std::string& path, const StateDict& state);

/// How many of a model's tensors got their values.
struct Transfer {
  int transferred = 0;
  int total = 0;
};

/// Copies every tensor whose name and shape the model has, as YOLOv5 does, whatever the precision.
/// `keep_anchors` leaves the model its own anchors. Throws `Error` naming `path` when none fits.
Transfer transfer(const StateDict& state, Detector& detector, bool keep_anchors,
                  const std::string& path);

}  // namespace evolve::trainer
