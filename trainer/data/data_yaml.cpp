#include "trainer/data/data_yaml.hpp"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <optional>

#include "core/error.hpp"
#include "trainer/data/image_file.hpp"
#include "trainer/data/embedded/shapes.hpp"

namespace evolve::data {
namespace fs = std::filesystem;
namespace {

Where at(const std::string& file, const YAML::Node& node) {
  return {file, node.Mark().line + 1};
}

std::string text_of(const std::string& file, const YAML::Node& node, const std::string& key) {
  if (!node.IsScalar()) throw bad_input(at(file, node), key + " is no text", "write one path");
  return node.Scalar();
}

/// The integer that a scalar spells, or nothing.
std::optional<int> integer_of(const YAML::Node& node) {
  int value = 0;
  if (!node.IsScalar() || !YAML::convert<int>::decode(node, value)) return std::nullopt;
  return value;
}

std::vector<std::string> names_in_list(const std::string& file, const YAML::Node& node) {
  std::vector<std::string> names;
  for (const YAML::Node& name : node) {
    if (!name.IsScalar())
      throw bad_input(at(file, name), "a class name is no text", "write names: [a, b]");
    names.push_back(name.Scalar());
  }
  return names;
}

std::vector<std::string> names_in_map(const std::string& file, const YAML::Node& node) {
  std::vector<std::optional<std::string>> names(node.size());
  for (const auto& entry : node) {
    const YAML::Node &key = entry.first, &name = entry.second;
    const auto index = integer_of(key);
    const bool fits = index && *index >= 0 && *index < static_cast<int>(names.size());
    if (!fits || names[static_cast<std::size_t>(*index)]) {
      throw bad_input(
          at(file, key), "the keys of names do not count 0, 1, 2, …",
          fmt::format("number the {} classes from 0 to {}", names.size(), names.size() - 1));
    }
    if (!name.IsScalar())
      throw bad_input(at(file, key), "a class name is no text", "write 0: name");
    names[static_cast<std::size_t>(*index)] = name.Scalar();
  }
  std::vector<std::string> result;
  for (auto& name : names) result.push_back(*std::move(name));
  return result;
}

std::vector<std::string> read_names(const std::string& file, const YAML::Node& root) {
  const YAML::Node node = root["names"];
  if (!node) throw bad_input({file}, "there are no names", "list the classes: names: [cat, dog]");
  if (!node.IsSequence() && !node.IsMap()) {
    throw bad_input(at(file, node), "names is neither a list nor a map", "write names: [cat, dog]");
  }
  auto names = node.IsSequence() ? names_in_list(file, node) : names_in_map(file, node);
  if (names.empty())
    throw bad_input(at(file, node), "names is empty", "list the classes: names: [cat, dog]");
  if (const YAML::Node nc = root["nc"]) {
    const auto count = integer_of(nc);
    if (!count || *count != static_cast<int>(names.size())) {
      throw bad_input(at(file, nc),
                      fmt::format("nc does not agree with the {} names", names.size()),
                      fmt::format("write nc: {} or leave it out", names.size()));
    }
  }
  return names;
}

/// What the splits are relative to: `path`, beside the YAML file if it is there, else from the
/// current folder.
fs::path root_folder(const std::string& file, const YAML::Node& root) {
  const fs::path beside = fs::path(file).parent_path();
  const YAML::Node node = root["path"];
  if (!node || node.IsNull()) return beside;
  const fs::path path = text_of(file, node, "path");
  if (fs::exists(beside / path)) return beside / path;
  if (fs::exists(path)) return path;
  throw bad_input(at(file, node), fmt::format("path '{}' does not exist", path.string()),
                  "write a folder, relative to this file or to the current folder");
}

/// Images in a folder and below, without the hidden ones, as a recursive glob of *.* finds them.
std::vector<std::string> images_below(const fs::path& folder) {
  std::vector<std::string> found;
  const auto options = fs::directory_options::follow_directory_symlink |
                       fs::directory_options::skip_permission_denied;
  for (auto it = fs::recursive_directory_iterator(folder, options); it != fs::end(it); ++it) {
    const bool hidden = it->path().filename().string().starts_with('.');
    if (hidden && it->is_directory()) it.disable_recursion_pending();
    if (!hidden && is_image_name(it->path().string()) && !it->is_directory()) {
      found.push_back(it->path().string());
    }
  }
  return found;
}

/// Images that a text file lists: "./" is the file's own folder, other relative paths start from
/// the current folder, or from the text file's when they only exist there.
std::vector<std::string> images_listed(const fs::path& list) {
  std::ifstream stream(list);
  std::vector<std::string> found;
  std::string line;
  for (int number = 1; std::getline(stream, line); ++number) {
    line.erase(line.find_last_not_of(" \t\r") + 1);
    line.erase(0, line.find_first_not_of(" \t"));
    if (line.empty() || !is_image_name(line)) continue;
    fs::path image = line;
    if (line.starts_with("./") || !fs::exists(image)) image = list.parent_path() / image;
    if (!fs::exists(image)) {
      throw bad_input({list.string(), number}, fmt::format("there is no image '{}'", line),
                      "list images that exist, './…' from this file's folder");
    }
    found.push_back(image.lexically_normal().string());
  }
  return found;
}

/// Resolved, so that labels are looked for where the images really are. Exports of labelling
/// services write
/// "../train/images" for a folder that is beside the YAML file; YOLOv5 forgives them.
fs::path resolved(const fs::path& root, const std::string& split) {
  fs::path path = root / split;
  if (!fs::exists(path) && split.starts_with("../")) path = root / split.substr(3);
  return fs::weakly_canonical(path);
}

void add_images(const std::string& file, const YAML::Node& node, const std::string& split,
                  const fs::path& root, std::vector<std::string>& images) {
  const std::string text = text_of(file, node, split);
  const fs::path path = resolved(root, text);
  if (!fs::exists(path)) {
    throw bad_input(at(file, node), fmt::format("{} '{}' does not exist", split, path.string()),
                    "write a folder of images or a text file that lists them");
  }
  const auto found = fs::is_directory(path) ? images_below(path) : images_listed(path);
  if (found.empty()) {
    throw bad_input(at(file, node), fmt::format("{} '{}' holds no images", split, path.string()),
                    "put .jpg or .png files there");
  }
  images.insert(images.end(), found.begin(), found.end());
}

std::vector<std::string> read_split(const std::string& file, const YAML::Node& root, Split split,
                                    const fs::path& folder) {
  const std::string& name = name_of(split);
  const YAML::Node node = root[name];
  if (!node || node.IsNull()) {
    if (split == Split::test) return {};
    throw bad_input({file}, "there is no " + name, "write " + name + ": and a folder of images");
  }
  std::vector<std::string> images;
  if (node.IsSequence()) {
    for (const YAML::Node& part : node) add_images(file, part, name, folder, images);
  } else {
    add_images(file, node, name, folder, images);
  }
  std::sort(images.begin(), images.end());
  return images;
}

YAML::Node parsed(const std::string& file) {
  if (!fs::is_regular_file(file)) {
    throw bad_input({file}, "there is no such file",
                    "give a data YAML, or 'shapes' for the embedded data set");
  }
  try {
    const YAML::Node root = YAML::LoadFile(file);
    if (root.IsMap()) return root;
  } catch (const YAML::BadFile&) {
    throw bad_input({file}, "cannot be read", "check its permissions");
  } catch (const YAML::Exception& error) {
    throw bad_input({file, error.mark.line + 1}, "broken YAML (" + error.msg + ")",
                    "mend this line");
  }
  throw bad_input({file}, "is no data YAML", "write path:, train:, val: and names:");
}

}  // namespace

const std::string& name_of(Split split) {
  static const std::array<std::string, 3> names = {"train", "val", "test"};
  return names[static_cast<std::size_t>(split)];
}

DataConfig read_data_yaml(const std::string& path) {
  if (is_embedded(path)) return embedded_config(path);
  const YAML::Node root = parsed(path);
  try {
    DataConfig config{
        .file = path, .names = read_names(path, root), .train = {}, .val = {}, .test = {}};
    const fs::path folder = root_folder(path, root);
    config.train = read_split(path, root, Split::train, folder);
    config.val = read_split(path, root, Split::val, folder);
    config.test = read_split(path, root, Split::test, folder);
    return config;
  } catch (const YAML::Exception& error) {
    throw bad_input({path, error.mark.line + 1}, "broken YAML (" + error.msg + ")",
                    "mend this line");
  } catch (const fs::filesystem_error& error) {
    throw bad_input({path}, error.what(), "check the paths and their permissions");
  }
}

std::string label_file_of(const std::string& image_file) {
  std::string file = image_file;
  if (const auto place = file.rfind("/images/"); place != std::string::npos) {
    file.replace(place, 8, "/labels/");
  }
  const auto dot = file.rfind('.');
  return file.substr(0, dot) + ".txt";
}

}  // namespace evolve::data
