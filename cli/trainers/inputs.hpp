// The files that trainings need: of the built-in trainer looked over before anything is written or
// trained, of others as far as evolve knows them; and what has become of them where a run goes on,
// or a trial fails.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/screen/screen.hpp"
#include "cli/trainers/trainer.hpp"
#include "trainer/data/check.hpp"
#include "trainer/options.hpp"

namespace evolve::cli {

/// What a look at the model found.
struct ModelInspection {
  /// Image sizes are multiples of it, in pixels.
  int stride = 0;
  /// The weights bring a table of their own.
  bool has_table = false;
  /// For the user: that the weights are hardly those of this model.
  std::optional<std::string> note;
};

/// Of all bytes of a file, which may be larger than memory should be; nothing of one that cannot be
/// read to its end.
std::optional<std::uint32_t> checksum_of_file(const std::string& path);

/// Throws `Error` unless the weights can be read and a model can be built from its table: --cfg, or
/// without that the one that the weights bring, a tensor of theirs may be of one of its layers, and
/// the image size is so many of its strides or more, whole ones.
ModelInspection check_model(const trainer::TrainOptions& options,
                            int least_strides = trainer::least_training_strides);

/// What a training trains on and is validated with.
inline const std::vector<data::Split> training_splits = {data::Split::train, data::Split::val};

/// What a look at the splits of a data set found.
struct Inspection {
  /// One per split.
  std::vector<data::DatasetStats> splits;
  /// For the user: images and labels of each split, backgrounds, empty classes.
  std::vector<std::string> notes;
};

/// Looks over every image and label of these splits, as far as these options have them train.
/// Throws `Error` for whatever is wrong, a line with file and line for each of the first images at
/// fault, unless options.skip_bad leaves them out; a split without images is always wrong. `began`:
/// of a run that has begun with them. `screen`: where it is told how far that is.
Inspection inspect(const trainer::TrainOptions& options, const std::vector<data::Split>& splits,
                   bool began = false, Screen* screen = nullptr);

/// What trials train on, as far as their fitness depends on it: the counts of each of their splits,
/// of which `found` tells, and the checksums of the weights that they start from and of their
/// model's table, where these are files. See trainer::TrainOptions::inputs.
nlohmann::ordered_json trained_on(const Inspection& found, const trainer::TrainOptions& options);

/// Throws `Error` where a run that began with `before` would go on with `now`: the fitness of its
/// trials could not be compared. `before` is null in runs that did not keep it.
void check_same(const nlohmann::ordered_json& before, const nlohmann::ordered_json& now,
                const trainer::TrainOptions& options);

/// What trials train on with a trainer that evolve does not look into: checksums of the files that
/// these options name, and of a data YAML's all but where its images lie, which may be mended.
/// Throws `Error` for one that cannot be read.
nlohmann::ordered_json files_trained_on(const trainer::TrainOptions& options);

/// Throws `Error` where these are others than a run began with.
void check_same_files(const nlohmann::ordered_json& before, const nlohmann::ordered_json& now,
                      const trainer::TrainOptions& options);

/// A file that only the trainer reads, and that has gone.
struct MissingInput {
  /// "data", "weights" or "cfg".
  std::string option;
  /// "/data/my.yaml: No such file or directory"
  std::string what;
};

/// What to do about one of which nobody can tell whether another is the same.
inline constexpr const char* restore_or_link = "restore it, a link will do";

/// The first of these; nothing: none has gone.
std::optional<MissingInput> missing_input(const trainer::TrainOptions& train);

/// See engine::FailurePolicy::find_change: whether the files that these options name are those of
/// which `inputs` has checksums. Looks into them again only when their size or time is another than
/// it was, and the same in two looks: half of a file says nothing, nor does one that cannot be
/// read. That one has gone is for who needs it to notice. Empty where there is no checksum.
std::function<std::optional<std::string>()> change_finder(const trainer::TrainOptions& options,
                                                          const nlohmann::ordered_json& inputs);

/// See engine::FailurePolicy::find_fault. The built-in trainer's looks over its data and its model
/// again, and whether they are what the run trains on (`inputs`); that of another sees whether its
/// files are there, of a command for each trial also its program and its script, believes a trainer
/// in Python that its data set is another, and is empty where there is nothing to be seen.
std::function<std::optional<std::string>(const std::string& said)> fault_finder(
    const Trainer& trainer, const trainer::TrainOptions& train,
    const nlohmann::ordered_json& inputs);

}  // namespace evolve::cli
