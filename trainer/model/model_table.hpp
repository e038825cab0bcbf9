// Model tables: YOLOv5's `[from, number, module, arguments]` rows, as written.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <variant>
#include <vector>

namespace evolve::trainer {

/// For those who name a model of Ultralytics' to the built-in trainer.
inline const std::string hint_of_ultralytics =
    "a model of Ultralytics' is trained with --trainer ultralytics --model";

/// Anchors of each level, finest first: (width, height) pairs in pixels, flattened. Or only how
/// many each level has: they are found from the data later.
using TableAnchors = std::variant<std::vector<std::vector<float>>, int>;

/// One row: which layers it takes (negative counts back from itself), how often its module repeats
/// before `depth_multiple`, the module's name and its arguments as they are spelled.
struct TableRow {
  std::vector<int> from;
  int number = 1;
  std::string module;
  std::vector<std::string> arguments;
  int line = 0;
};

/// An architecture as its author wrote it.
struct ModelTable {
  /// What errors say.
  std::string file;
  int nc = 80;
  double depth_multiple = 1;
  double width_multiple = 1;
  TableAnchors anchors;
  int anchors_line = 0;
  /// Backbone, then head.
  std::vector<TableRow> rows;
  /// How many of them are the backbone's.
  std::size_t backbone_rows = 0;
};

/// Reads the table of `cfg`: a file, else a built-in table of that name (see built_in_table(); with
/// or without ".yaml" and a folder). Throws `Error` with file and line.
ModelTable read_model_table(const std::string& cfg);

/// Reads the table from text; `file` is what errors say.
ModelTable parse_model_table(const std::string& text, const std::string& file);

/// The table as YOLOv5's dict of it: what a checkpoint keeps as "yaml".
nlohmann::ordered_json to_json(const ModelTable& table);

/// Throws `Error` naming the file `weights` where `about` (see `Checkpoint`) tells in "unlike" of a
/// module that computes something else than its like here.
void check_alike(const nlohmann::ordered_json& about, const std::string& weights);

/// The table that a weights file tells in `about`: "yaml", with "nc" where that says another
/// number. Throws `Error` naming the file `weights`, for one without a table it says to add --cfg;
/// and as check_alike() does.
ModelTable model_table_in(const nlohmann::ordered_json& about, const std::string& weights);

/// Whether a file's name is that of a model of Ultralytics' package, not of YOLOv5's: "yolov8n.pt",
/// "yolo11s.yaml".
bool is_of_ultralytics(const std::string& file);

}  // namespace evolve::trainer
