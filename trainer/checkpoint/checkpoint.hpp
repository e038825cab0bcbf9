// Checkpoints: weights on disk, the .pt files of torch.save, YOLOv5's among them.
//
// `read_checkpoint()` takes a file apart without executing anything in it: a zip archive
// (archive.hpp) holds a pickle (pickle.hpp), in which saved_model.hpp finds the model, and
// weights_file.hpp joins these. So far nothing needs torch; tensor_pickle.hpp makes tensors of it
// and writes them again. `transfer()` copies what fits into a model, pretrained.hpp builds the
// model that a file describes, embedded_weights.hpp is the checkpoint inside the program.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "trainer/checkpoint/state_dict.hpp"
#include "trainer/model/detector.hpp"

namespace evolve::trainer {

/// A weights file.
struct Checkpoint {
  /// The weights under YOLOv5's names: "model.0.conv.weight", …, "model.24.anchors".
  StateDict state;
  /// What the file says besides, null for bare weights: "yaml" (the model table as YOLOv5's dict of
  /// it), "names" (a list), "nc", "epoch", ….
  nlohmann::ordered_json about;
  /// What a training needs to go on; empty in finished files.
  StateDict training;
  /// Of all bytes of the file that it was read from; 0: of none.
  std::uint32_t checksum = 0;
};

/// Reads a file of torch.save (since torch 1.6), of any precision: YOLOv5's checkpoints (of "ema"
/// and "model" the former, as YOLOv5 evaluates), pickled models, state dicts, dicts with one under
/// "model" or "state_dict"; and what write_checkpoint() wrote, exactly. Nothing in the file is
/// executed, and memory is a small multiple of the file's size. Throws `Error` naming the file for
/// anything else, a truncated or damaged file among them. "shapes-base" is the embedded one.
Checkpoint read_checkpoint(const std::string& path);

/// Writes a file that Python's torch.load() reads as a dict of the tensors in `state`, its
/// weights_only mode included; `about` (texts in UTF-8, numbers finite) and `training` lie beside
/// it in the same archive. A power cut leaves the old file or the new one. Throws `Error` when it
/// cannot be written; the old file is then untouched.
void write_checkpoint(const std::string& path, const Checkpoint& checkpoint);

/// The weights of a detector, in half precision as YOLOv5 keeps them, and what they are: its table,
/// the number of classes and their names.
Checkpoint checkpoint_of(const Detector& detector, const std::vector<std::string>& names);

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
