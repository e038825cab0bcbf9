#include "trainer/model/model_table.hpp"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <limits>

#include "core/error.hpp"
#include "core/text_file.hpp"
#include "core/yaml.hpp"
#include "trainer/model/built_in_tables.hpp"
#include "trainer/options.hpp"

namespace evolve::trainer {
namespace {

namespace fs = std::filesystem;

// Far beyond any detector.
constexpr int most_classes = 100000;
constexpr std::size_t most_rows = 1000;
constexpr std::size_t longest_table = std::size_t{1} << 18;

using core::Yaml, core::yaml_value;

/// Reads nodes of one file; every error says the node's line.
class Reader {
 public:
  explicit Reader(std::string file) : file_(std::move(file)) {}

  Error error(const Yaml& node, const std::string& what, const std::string& remedy) const {
    return bad_input({file_, node.line}, what, remedy);
  }

  /// A whole number in 1..limit.
  int count(const Yaml& node, const std::string& name, int limit) const {
    const int value = whole(node, name, "a whole number");
    if (value >= 1 && value <= limit) return value;
    throw error(node, name + " is " + node.text, "write 1 to " + std::to_string(limit));
  }

  double multiple(const Yaml* node, const std::string& name) const {
    if (!node) return 1;
    const double value = number(*node, name, "a positive number");
    if (!(value > 0 && value < 100)) {
      throw error(*node, name + " is " + node->text, "write a positive number such as 0.33");
    }
    return value;
  }

  TableAnchors anchors(const Yaml& node) const {
    if (node.kind == Yaml::Kind::scalar) return count(node, "anchors", most_anchors);
    if (node.kind != Yaml::Kind::list) {
      throw error(node, "anchors is neither a count nor a list", "write a list per level");
    }
    std::vector<std::vector<float>> levels;
    for (const Yaml& level : node.items) {
      if (level.kind != Yaml::Kind::list)
        throw wrong(level, "anchors", "a list of numbers per level");
      auto& pairs = levels.emplace_back();
      for (const Yaml& side : level.items) {
        pairs.push_back(pixels(side));
      }
      if (pairs.empty() || pairs.size() % 2 != 0 || pairs.size() != levels.front().size()) {
        throw error(level, "a level has " + std::to_string(pairs.size()) + " numbers of anchors",
                    "write as many width, height pairs for every level");
      }
    }
    if (levels.empty()) throw error(node, "anchors is empty", "write a count or a list per level");
    return levels;
  }

  /// That of every Conv: YOLOv5 takes any of torch's, here there is one.
  void check_activation(const Yaml& node) const {
    if (node.kind == Yaml::Kind::null) return;
    const auto activation = text(node, "activation", "nn.SiLU(), or leave it out");
    if (activation.empty() || activation == "nn.SiLU()") return;
    throw error(node, "activation is '" + activation + "'",
                "leave it out: evolve trains with nn.SiLU() only");
  }

  TableRow row(const Yaml& node) const {
    if (node.kind != Yaml::Kind::list || node.items.size() != 4 ||
        node.items[3].kind != Yaml::Kind::list) {
      throw error(node, "a row is not [from, number, module, [arguments]]",
                  "write for instance [-1, 1, Conv, [64, 6, 2, 2]]");
    }
    const Yaml &from = node.items[0], &number = node.items[1], &module = node.items[2];
    TableRow row{.from = {}, .line = node.line};
    if (from.kind == Yaml::Kind::list) {
      for (const Yaml& layer : from.items)
        row.from.push_back(whole(layer, "from", "whole numbers"));
    } else {
      row.from = {whole(from, "from", "a whole number or a list of them")};
    }
    if (row.from.empty() || row.from.size() > most_rows) {
      throw error(node, "a row takes " + std::to_string(row.from.size()) + " layers",
                  "write from as -1 or for instance [-1, 6]");
    }
    row.number = whole(number, "number", "a whole number");
    row.module = text(module, "module", "a module's name");
    for (const Yaml& argument : node.items[3].items) row.arguments.push_back(spelled(argument));
    return row;
  }

 private:
  /// A side of an anchor.
  float pixels(const Yaml& node) const {
    const std::string expected = "a list of positive numbers per level";
    const double value = number(node, "anchors", expected);
    if (!(value > 0 && value < 1e6)) throw wrong(node, "anchors", expected);
    return static_cast<float>(value);
  }

  Error wrong(const Yaml& node, const std::string& name, const std::string& expected) const {
    const bool single = node.kind == Yaml::Kind::scalar;
    return error(node, name + " is " + (single ? "'" + node.text + "'" : "not a single value"),
                 "write " + expected);
  }

  /// No module here takes a list; those of YOLOv5 that do are refused by their name.
  std::string spelled(const Yaml& argument) const {
    if (argument.kind == Yaml::Kind::null) return "None";
    if (argument.kind != Yaml::Kind::list) return text(argument, "an argument", "a single value");
    std::string list;
    for (const Yaml& item : argument.items) list += (list.empty() ? "" : ", ") + item.text;
    return "[" + list + "]";
  }

  std::string text(const Yaml& node, const std::string& name, const std::string& expected) const {
    if (node.kind != Yaml::Kind::scalar) throw wrong(node, name, expected);
    return node.text;
  }

  double number(const Yaml& node, const std::string& name, const std::string& expected) const {
    const auto value = yaml_number(node);
    if (!value) throw wrong(node, name, expected);
    return *value;
  }

  int whole(const Yaml& node, const std::string& name, const std::string& expected) const {
    const double value = number(node, name, expected);
    constexpr double most = std::numeric_limits<int>::max();
    if (value != std::trunc(value) || std::abs(value) > most) throw wrong(node, name, expected);
    return static_cast<int>(value);
  }

  std::string file_;
};

void read_rows(const Reader& reader, const Yaml& root, const char* part, ModelTable& table) {
  const Yaml* rows = yaml_value(root, part);
  if (!rows || rows->kind != Yaml::Kind::list || rows->items.empty()) {
    throw bad_input({table.file}, std::string("there is no list '") + part + "'",
                    "write the rows of a YOLOv5 model table");
  }
  if (rows->items.size() > most_rows) {
    throw reader.error(*rows,
                       std::string(part) + " has " + std::to_string(rows->items.size()) + " rows",
                       "write at most " + std::to_string(most_rows));
  }
  for (const Yaml& row : rows->items) table.rows.push_back(reader.row(row));
}

}  // namespace

ModelTable parse_model_table(const std::string& text, const std::string& file) {
  const Yaml root = core::parse_yaml(text, file);
  if (root.kind != Yaml::Kind::map) {
    throw bad_input({file, 1}, "this is not a model table", "write nc, anchors, backbone and head");
  }
  const Reader reader(file);
  ModelTable table;
  table.file = file;
  if (const Yaml* nc = yaml_value(root, "nc")) table.nc = reader.count(*nc, "nc", most_classes);
  table.depth_multiple = reader.multiple(yaml_value(root, "depth_multiple"), "depth_multiple");
  table.width_multiple = reader.multiple(yaml_value(root, "width_multiple"), "width_multiple");
  if (const Yaml* activation = yaml_value(root, "activation")) reader.check_activation(*activation);
  const Yaml* anchors = yaml_value(root, "anchors");
  if (!anchors)
    throw bad_input({file}, "there are no anchors",
                    "write a list per level or a count; " + hint_of_ultralytics);
  table.anchors = reader.anchors(*anchors);
  table.anchors_line = anchors->line;
  read_rows(reader, root, "backbone", table);
  table.backbone_rows = table.rows.size();
  read_rows(reader, root, "head", table);
  return table;
}

void check_alike(const nlohmann::ordered_json& about, const std::string& weights) {
  const auto unlike = about.find("unlike");
  if (unlike == about.end() || !unlike->is_string()) return;
  throw bad_input(
      {weights}, unlike->get<std::string>(),
      "give weights of a model with SiLU and YOLOv5's batch norm, or start a training from "
      "these with --cfg");
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
  if (!yaml->contains("anchors"))
    throw bad_input({weights}, "its model has no anchors, so it is none of YOLOv5's",
                    hint_of_ultralytics + ", and validated with yolo val");
  check_alike(about, weights);
  ModelTable table = parse_model_table(text, weights);
  // The file has no lines.
  table.anchors_line = 0;
  for (TableRow& row : table.rows) row.line = 0;
  return table;
}

bool is_of_ultralytics(const std::string& file) {
  const std::string name = fs::path(file).stem();
  return name.starts_with("rtdetr") || (name.starts_with("yolo") && !name.starts_with("yolov5"));
}

ModelTable read_model_table(const std::string& cfg) {
  std::error_code error;
  const auto status = fs::status(cfg, error);
  if (fs::is_regular_file(status)) return parse_model_table(core::read_text_file(cfg), cfg);
  if (!fs::status_known(status))
    throw bad_input({cfg}, error.message(), "check the path and its permissions");
  const auto built_in = built_in_table(fs::path(cfg).stem());
  if (!built_in && fs::exists(status) && !fs::is_directory(status))
    throw core::no_regular_file(cfg);
  if (!built_in) {
    throw bad_argument(
        "--cfg " + cfg + ": there is no such model table",
        is_of_ultralytics(cfg)
            ? hint_of_ultralytics
            : "name a file, or yolov5n, s, m, l, x or p.yaml, or n6, s6, m6, l6 or x6");
  }
  ModelTable table = parse_model_table(built_in->rows, cfg);
  table.depth_multiple = built_in->depth_multiple;
  table.width_multiple = built_in->width_multiple;
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
