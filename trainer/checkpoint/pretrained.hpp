// Models from weights files: their tables and anchors are those of the file.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "trainer/checkpoint/checkpoint.hpp"
#include "trainer/model/detector.hpp"

namespace evolve::trainer {

/// The model in a checkpoint: its table, its number of classes, its own anchors (those of a model
/// trained with other anchors than its table's are in its weights alone). `nc` replaces the number
/// of classes, `anchors_per_level` the anchors, as in resolve(). Throws `Error` naming `path`: one
/// that says to add --cfg where the file does not tell its table, and one for a table of more
/// weights than the file has.
ModelConfig config_of(const Checkpoint& checkpoint, const std::string& path,
                      std::optional<int> nc = {}, std::optional<int> anchors_per_level = {});
/// The model of `table` in a checkpoint that does not tell its table, or in spite of it; else as
/// the other config_of().
ModelConfig config_of(const ModelTable& table, const Checkpoint& checkpoint,
                      const std::string& path, std::optional<int> nc = {},
                      std::optional<int> anchors_per_level = {});

/// How many classes the weights of a model of this table tell apart; nothing where they have no
/// such model's last layer.
std::optional<int> classes_in(const Checkpoint& checkpoint, const ModelTable& table);

/// The detector in a checkpoint, on the CPU in single precision, every tensor from the file. Throws
/// `Error` naming `path` where one is missing, and as config_of() does.
std::unique_ptr<Detector> detector_of(const Checkpoint& checkpoint, const std::string& path);
/// The detector in a checkpoint, of a model that is not the one that the file tells of; else as the
/// other detector_of().
std::unique_ptr<Detector> detector_of(const ModelConfig& config, const Checkpoint& checkpoint,
                                      const std::string& path);

}  // namespace evolve::trainer
