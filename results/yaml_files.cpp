#include "results/yaml_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>

#include "core/number.hpp"
#include "core/text_file.hpp"
#include "core/yaml.hpp"
#include "results/run_file.hpp"

namespace evolve::results {

namespace fs = std::filesystem;

namespace {

/// "gen3number12" taken apart.
struct Key {
  int generation = 0;
  int number = 0;
};

/// Takes `word` and the whole number behind it off the front of `text`.
std::optional<int> take(std::string_view& text, std::string_view word) {
  if (!text.starts_with(word)) return std::nullopt;
  text.remove_prefix(word.size());
  int number = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number < 0) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(rest - text.data()));
  return number;
}

std::optional<Key> parse_key(std::string_view text) {
  const auto generation = take(text, "gen");
  const auto number = take(text, "number");
  if (!generation || !number || !text.empty()) return std::nullopt;
  return Key{*generation, *number};
}

std::string scalar(const nlohmann::ordered_json& value) {
  if (value.is_string()) return core::yaml_text(value.get<std::string>());
  if (value.is_number_float()) return core::yaml_float(value.get<double>());
  return value.dump();  // JSON is YAML's flow style
}

nlohmann::ordered_json value_of(const core::Yaml& node, const std::string& path) {
  if (node.kind == core::Yaml::Kind::null) return nullptr;
  if (node.kind == core::Yaml::Kind::list) {
    auto list = nlohmann::ordered_json::array();
    for (const auto& item : node.items) list.push_back(value_of(item, path));
    return list;
  }
  if (node.kind != core::Yaml::Kind::scalar)
    throw bad_input({path, node.line}, "this is a map", "write one value, or a list");
  if (const auto truth = core::yaml_bool(node)) return *truth;
  const auto number = core::yaml_number(node);
  if (!number) return node.text;
  // JSON tells whole numbers from others, up to 64 bits.
  auto json = nlohmann::ordered_json::parse(node.text, nullptr, false);
  return json.is_number() ? json : nlohmann::ordered_json(*number);
}

}  // namespace

void write_hyp_evolved(const fs::path& file, const Recommended& recommended, int rows) {
  std::string names, values;
  const auto numbers = recommended.metrics.values();
  for (std::size_t i = 0; i < hyp::Metrics::count; ++i) {
    const char* comma = i == 0 ? "" : ", ";
    names += fmt::format("{}{:>20}", comma, hyp::Metrics::names()[i]);
    values += fmt::format("{}{:>20.5g}", comma, numbers[i]);
  }
  write_atomically(
      file, fmt::format("# YOLOv5 Hyperparameter Evolution Results\n"
                        "# Best generation: {}\n"
                        "# Last generation: {}\n"
                        "# {}\n"
                        "# {}\n\n"
                        "{}",
                        recommended.row, rows - 1, names, values, hyp::hyp_lines(recommended.hyp)));
}

void write_population(const fs::path& file, int generation,
                      const std::vector<hyp::Hyperparameters>& population) {
  std::string text;
  for (std::size_t i = 0; i < population.size(); ++i) {
    text += fmt::format("gen{}number{}:\n", generation, i);
    std::istringstream lines(hyp::hyp_lines(population[i]));
    for (std::string line; std::getline(lines, line);) text += "  " + line + "\n";
  }
  write_atomically(file, text);
}

std::vector<hyp::HypFile> read_population(const fs::path& file) {
  const std::string path = file.string();
  const std::string remedy = "name an evolve_population.yaml: gen0number0: {lr0: 0.01, …}";
  const core::Yaml root = core::parse_yaml(core::read_text_file(path), path);
  if (root.kind != core::Yaml::Kind::map || root.keys.empty()) {
    throw bad_input({path, root.line}, "this is no population", remedy);
  }
  std::map<int, std::map<int, hyp::HypFile>> generations;
  for (std::size_t i = 0; i < root.keys.size(); ++i) {
    const auto key = parse_key(root.keys[i]);
    if (!key) {
      throw bad_input({path, root.items[i].line}, "'" + root.keys[i] + "' is no individual",
                      remedy);
    }
    generations[key->generation][key->number] = hyp::hyp_from_yaml(root.items[i], path);
  }
  std::vector<hyp::HypFile> population;
  for (auto& [number, hyp] : generations.rbegin()->second) population.push_back(std::move(hyp));
  return population;
}

std::vector<hyp::HypFile> read_hyp_folder(const fs::path& folder) {
  std::error_code error;
  std::vector<std::string> files;
  for (fs::directory_iterator at(folder, error), none; at != none; at.increment(error)) {
    const auto type = at->path().extension();
    if (type == ".yaml" || type == ".yml") files.push_back(at->path().string());
  }
  if (error) throw bad_input({folder.string()}, error.message(), "name a folder of hyp files");
  if (files.empty()) {
    throw bad_input({folder.string()}, "there is no hyp file (*.yaml)",
                    "name a folder of hyp files");
  }
  std::sort(files.begin(), files.end());
  std::vector<hyp::HypFile> population;
  for (const auto& file : files) population.push_back(hyp::read_hyp_file(file));
  return population;
}

void write_hyp(const fs::path& file, const hyp::Hyperparameters& hyp) {
  write_atomically(file, hyp::hyp_lines(hyp));
}

void write_options(const fs::path& file, const nlohmann::ordered_json& options) {
  std::string text;
  for (const auto& [name, value] : options.items()) {
    text += core::yaml_text(name) + ": " + scalar(value) + "\n";
  }
  write_atomically(file, text);
}

nlohmann::ordered_json read_options(const fs::path& file) {
  const std::string path = file.string();
  const auto root = core::parse_yaml(core::read_text_file(path), path);
  if (root.kind != core::Yaml::Kind::map)
    throw bad_input({path, root.line}, "these are no options", "write lines of name: value");
  nlohmann::ordered_json options;
  for (std::size_t i = 0; i < root.keys.size(); ++i)
    options[root.keys[i]] = value_of(root.items[i], path);
  return options;
}

}  // namespace evolve::results
