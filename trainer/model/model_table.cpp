#include "trainer/model/model_table.hpp"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "core/error.hpp"

namespace evolve::trainer {
namespace {

namespace fs = std::filesystem;

/// The one architecture of YOLOv5 v6; its sizes differ in the multiples only.
constexpr const char* yolov5_v6 = R"(
nc: 80
anchors:
  - [10, 13, 16, 30, 33, 23]       # P3/8
  - [30, 61, 62, 45, 59, 119]      # P4/16
  - [116, 90, 156, 198, 373, 326]  # P5/32
backbone:
  - [-1, 1, Conv, [64, 6, 2, 2]]   # 0: P1/2
  - [-1, 1, Conv, [128, 3, 2]]     # 1: P2/4
  - [-1, 3, C3, [128]]
  - [-1, 1, Conv, [256, 3, 2]]     # 3: P3/8
  - [-1, 6, C3, [256]]
  - [-1, 1, Conv, [512, 3, 2]]     # 5: P4/16
  - [-1, 9, C3, [512]]
  - [-1, 1, Conv, [1024, 3, 2]]    # 7: P5/32
  - [-1, 3, C3, [1024]]
  - [-1, 1, SPPF, [1024, 5]]
head:
  - [-1, 1, Conv, [512, 1, 1]]     # 10
  - [-1, 1, nn.Upsample, [None, 2, nearest]]
  - [[-1, 6], 1, Concat, [1]]
  - [-1, 3, C3, [512, false]]
  - [-1, 1, Conv, [256, 1, 1]]     # 14
  - [-1, 1, nn.Upsample, [None, 2, nearest]]
  - [[-1, 4], 1, Concat, [1]]
  - [-1, 3, C3, [256, false]]      # 17: small objects
  - [-1, 1, Conv, [256, 3, 2]]
  - [[-1, 14], 1, Concat, [1]]
  - [-1, 3, C3, [512, false]]      # 20: middling ones
  - [-1, 1, Conv, [512, 3, 2]]
  - [[-1, 10], 1, Concat, [1]]
  - [-1, 3, C3, [1024, false]]     # 23: large ones
  - [[17, 20, 23], 1, Detect, [nc, anchors]]
)";

// Far beyond any detector.
constexpr int most_classes = 100000;
constexpr int most_anchors = 1000;
constexpr std::size_t most_rows = 1000;
constexpr std::size_t longest_table = std::size_t{1} << 18;

struct Size {
  const char* name;
  double depth;
  double width;
};
constexpr std::array<Size, 6> sizes{{{"yolov5n", 0.33, 0.25},
                                     {"yolov5s", 0.33, 0.50},
                                     {"yolov5m", 0.67, 0.75},
                                     {"yolov5l", 1.0, 1.0},
                                     {"yolov5x", 1.33, 1.25},
                                     {"yolov5p", 0.33, 0.125}}};

/// Reads nodes of one file; every error says the node's line.
class Reader {
 public:
  explicit Reader(std::string file) : file_(std::move(file)) {}

  Error error(const YAML::Node& node, const std::string& what, const std::string& remedy) const {
    return bad_input({file_, line(node)}, what, remedy);
  }
  static int line(const YAML::Node& node) { return node.Mark().line + 1; }

  template <class T>
  T scalar(const YAML::Node& node, const std::string& name, const std::string& expected) const {
    try {
      return node.as<T>();
    } catch (const YAML::Exception&) {
      const std::string said = node.IsScalar() ? "'" + node.Scalar() + "'" : "no single value";
      throw error(node, name + " is " + said, "write " + expected);
    }
  }

  /// A whole number in 1..limit.
  int count(const YAML::Node& node, const std::string& name, int limit) const {
    const int value = scalar<int>(node, name, "a whole number");
    if (value >= 1 && value <= limit) return value;
    throw error(node, name + " is " + node.Scalar(), "write 1 to " + std::to_string(limit));
  }

  double multiple(const YAML::Node& node, const std::string& name) const {
    if (!node) return 1;
    const double value = scalar<double>(node, name, "a positive number");
    if (!(value > 0 && value < 100)) {
      throw error(node, name + " is " + node.Scalar(), "write a positive number such as 0.33");
    }
    return value;
  }

  TableAnchors anchors(const YAML::Node& node) const {
    if (node.IsScalar()) return count(node, "anchors", most_anchors);
    if (!node.IsSequence()) {
      throw error(node, "anchors is neither a count nor a list", "write a list per level");
    }
    std::vector<std::vector<float>> levels;
    for (const auto& level : node) {
      levels.push_back(scalar<std::vector<float>>(level, "anchors", "a list of numbers per level"));
      const auto& pairs = levels.back();
      if (pairs.empty() || pairs.size() % 2 != 0 || pairs.size() != levels.front().size()) {
        throw error(level, "a level has " + std::to_string(pairs.size()) + " numbers of anchors",
                    "write as many width, height pairs for every level");
      }
    }
    if (levels.empty()) throw error(node, "anchors is empty", "write a count or a list per level");
    return levels;
  }

  TableRow row(const YAML::Node& node) const {
    if (!node.IsSequence() || node.size() != 4 || !node[3].IsSequence()) {
      throw error(node, "a row is not [from, number, module, [arguments]]",
                  "write for instance [-1, 1, Conv, [64, 6, 2, 2]]");
    }
    TableRow row;
    row.line = line(node);
    if (node[0].IsSequence()) {
      row.from = scalar<std::vector<int>>(node[0], "from", "whole numbers");
    } else {
      row.from = {scalar<int>(node[0], "from", "a whole number or a list of them")};
    }
    if (row.from.empty() || row.from.size() > most_rows) {
      throw error(node, "a row takes " + std::to_string(row.from.size()) + " layers",
                  "write from as -1 or for instance [-1, 6]");
    }
    row.number = scalar<int>(node[1], "number", "a whole number");
    row.module = scalar<std::string>(node[2], "module", "a module's name");
    for (const auto& argument : node[3]) {
      row.arguments.push_back(argument.IsNull()
                                  ? "None"
                                  : scalar<std::string>(argument, "an argument", "a single value"));
    }
    return row;
  }

 private:
  std::string file_;
};

void read_rows(const Reader& reader, const YAML::Node& root, const char* part, ModelTable& table) {
  const YAML::Node rows = root[part];
  if (!rows || !rows.IsSequence() || rows.size() == 0) {
    throw bad_input({table.file}, std::string("there is no list '") + part + "'",
                    "write the rows of a YOLOv5 model table");
  }
  if (rows.size() > most_rows) {
    throw reader.error(rows, std::string(part) + " has " + std::to_string(rows.size()) + " rows",
                       "write at most " + std::to_string(most_rows));
  }
  for (const auto& row : rows) table.rows.push_back(reader.row(row));
}

YAML::Node load_yaml(const std::string& text, const std::string& file) {
  try {
    return YAML::Load(text);
  } catch (const YAML::Exception& error) {
    throw bad_input({file, error.mark.line + 1}, "this is no YAML (" + error.msg + ")",
                    "write a YOLOv5 model table");
  }
}

}  // namespace

ModelTable parse_model_table(const std::string& text, const std::string& file) {
  const YAML::Node root = load_yaml(text, file);
  if (!root.IsMap()) {
    throw bad_input({file, 1}, "this is no model table", "write nc, anchors, backbone and head");
  }
  const Reader reader(file);
  ModelTable table;
  table.file = file;
  if (root["nc"]) table.nc = reader.count(root["nc"], "nc", most_classes);
  table.depth_multiple = reader.multiple(root["depth_multiple"], "depth_multiple");
  table.width_multiple = reader.multiple(root["width_multiple"], "width_multiple");
  if (!root["anchors"]) {
    throw bad_input({file}, "there are no anchors", "write a list per level or a count");
  }
  table.anchors = reader.anchors(root["anchors"]);
  table.anchors_line = Reader::line(root["anchors"]);
  read_rows(reader, root, "backbone", table);
  table.backbone_rows = table.rows.size();
  read_rows(reader, root, "head", table);
  return table;
}

ModelTable model_table_in(const nlohmann::ordered_json& about, const std::string& weights) {
  const auto yaml = about.find("yaml");
  if (yaml == about.end() || !yaml->is_object()) {
    throw bad_input({weights}, "the file does not tell its model table",
                    "add --cfg, for instance --cfg yolov5s.yaml");
  }
  auto whole = *yaml;
  if (about.contains("nc")) whole["nc"] = about["nc"];
  const std::string text = whole.dump();
  if (text.size() > longest_table) {
    throw bad_input({weights}, "its model table has " + std::to_string(text.size()) + " characters",
                    "add --cfg with a shorter one");
  }
  ModelTable table = parse_model_table(text, weights);
  // The file has no lines.
  table.anchors_line = 0;
  for (TableRow& row : table.rows) row.line = 0;
  return table;
}

ModelTable read_model_table(const std::string& cfg) {
  if (fs::is_regular_file(cfg)) {
    std::ifstream stream(cfg);
    std::stringstream text;
    text << stream.rdbuf();
    return parse_model_table(text.str(), cfg);
  }
  const std::string name = fs::path(cfg).stem();
  const auto size = std::find_if(sizes.begin(), sizes.end(),
                                 [&](const Size& candidate) { return candidate.name == name; });
  if (size == sizes.end()) {
    throw bad_argument("--cfg " + cfg + ": there is no such model table",
                       "name a file, or yolov5n, s, m, l, x or p.yaml");
  }
  ModelTable table = parse_model_table(yolov5_v6, cfg);
  table.depth_multiple = size->depth;
  table.width_multiple = size->width;
  return table;
}

namespace {

using nlohmann::ordered_json;

/// An argument as YAML reads it: a number, a flag or a text.
ordered_json argument_json(const std::string& spelled) {
  if (spelled == "True" || spelled == "true") return true;
  if (spelled == "False" || spelled == "false") return false;
  const auto number = ordered_json::parse(spelled, nullptr, /*allow_exceptions=*/false);
  return number.is_number() ? number : ordered_json(spelled);
}

ordered_json row_json(const TableRow& row) {
  auto arguments = ordered_json::array();
  for (const std::string& spelled : row.arguments) arguments.push_back(argument_json(spelled));
  const bool takes_several = row.module == "Concat" || row.module == "Detect";
  const ordered_json from = takes_several ? ordered_json(row.from) : ordered_json(row.from.front());
  return ordered_json::array({from, row.number, row.module, arguments});
}

/// 10 rather than 10.0, 12.3 rather than the nearest double to the nearest float.
ordered_json anchors_json(const TableAnchors& anchors) {
  if (const int* count = std::get_if<int>(&anchors)) return *count;
  auto levels = ordered_json::array();
  for (const auto& level : std::get<0>(anchors)) {
    auto& numbers = levels.emplace_back(ordered_json::array());
    for (const float number : level) numbers.push_back(argument_json(fmt::format("{}", number)));
  }
  return levels;
}

}  // namespace

ordered_json to_json(const ModelTable& table) {
  const auto head = table.rows.begin() + static_cast<std::ptrdiff_t>(table.backbone_rows);
  ordered_json json{{"nc", table.nc},
                    {"depth_multiple", table.depth_multiple},
                    {"width_multiple", table.width_multiple},
                    {"anchors", anchors_json(table.anchors)},
                    {"backbone", ordered_json::array()},
                    {"head", ordered_json::array()}};
  for (auto row = table.rows.begin(); row != head; ++row)
    json["backbone"].push_back(row_json(*row));
  for (auto row = head; row != table.rows.end(); ++row) json["head"].push_back(row_json(*row));
  return json;
}

}  // namespace evolve::trainer
