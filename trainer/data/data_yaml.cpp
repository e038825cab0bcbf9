#include "trainer/data/data_yaml.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>

#include "core/error.hpp"
#include "core/path.hpp"
#include "core/split.hpp"
#include "core/text_file.hpp"
#include "core/utf8.hpp"
#include "core/yaml.hpp"
#include "trainer/data/embedded/shapes.hpp"
#include "trainer/data/image_file.hpp"

namespace evolve::data {
namespace fs = std::filesystem;
using core::Yaml;
namespace {

/// A data YAML while it is read: what errors say, and its nodes.
struct Source {
  const std::string& file;
  Yaml root;

  const Yaml* value(const std::string& key) const {
    const Yaml* node = core::yaml_value(root, key);
    return node && node->kind != Yaml::Kind::null ? node : nullptr;
  }
  Error refusal(const Yaml& node, const std::string& what, const std::string& remedy) const {
    return bad_input({file, node.line}, what, remedy);
  }
};

std::string text_of(const Source& source, const Yaml& node, const std::string& key,
                    const std::string& remedy) {
  if (node.kind != Yaml::Kind::scalar) throw source.refusal(node, key + " is no text", remedy);
  return node.text;
}

/// It becomes JSON in weights and in messages.
std::string class_name(const Source& source, const Yaml& node, const std::string& remedy) {
  return core::valid_utf8(text_of(source, node, "a class name", remedy));
}

/// The names of a map whose keys count 0, 1, 2, … in any order.
std::vector<std::string> names_in_map(const Source& source, const Yaml& node) {
  const auto count = node.keys.size();
  std::vector<std::string> names;
  for (std::size_t i = 0; i < count; ++i) {
    const Yaml* name = core::yaml_value(node, std::to_string(i));
    if (!name) {
      throw source.refusal(
          node, fmt::format("the keys of names do not count 0, 1, 2, …: there is no {}", i),
          fmt::format("number the {} classes from 0 to {}", count, count - 1));
    }
    names.push_back(class_name(source, *name, "write 0: name"));
  }
  return names;
}

/// What YOLOv5 v6 calls classes of which only the number is told.
std::vector<std::string> numbered_names(const Source& source, const Yaml& nc) {
  constexpr double most = 100'000;
  const double count = core::yaml_number(nc).value_or(0);
  if (!(count >= 1 && count <= most) || count != std::floor(count)) {
    throw source.refusal(nc, "nc is no number of classes",
                         fmt::format("write a whole number from 1 to {}", most));
  }
  std::vector<std::string> names;
  for (int i = 0; i < count; ++i) names.push_back(fmt::format("class{}", i));
  return names;
}

std::vector<std::string> read_names(const Source& source) {
  const Yaml* node = source.value("names");
  const Yaml* nc = source.value("nc");
  const std::string remedy = "list the classes: names: [cat, dog]";
  if (!node && nc) return numbered_names(source, *nc);
  if (!node) throw bad_input({source.file}, "there are no names", remedy);
  if (node->kind == Yaml::Kind::scalar) {
    throw source.refusal(*node, "names is neither a list nor a map", "write names: [cat, dog]");
  }
  if (node->items.empty()) throw source.refusal(*node, "names is empty", remedy);
  std::vector<std::string> names;
  if (node->kind == Yaml::Kind::map) {
    names = names_in_map(source, *node);
  } else {
    for (const Yaml& name : node->items)
      names.push_back(class_name(source, name, "write names: [a, b]"));
  }
  if (nc && core::yaml_number(*nc) != static_cast<double>(names.size())) {
    throw source.refusal(*nc, fmt::format("nc does not agree with the {} names", names.size()),
                         fmt::format("write nc: {} or leave it out", names.size()));
  }
  return names;
}

/// Resolved, so that labels are looked for where the images really are. Exports of labelling
/// services write "../train/images" for a folder that is beside the YAML file; YOLOv5 forgives
/// them.
fs::path resolved(const std::vector<fs::path>& roots, const std::string& split) {
  for (const fs::path& root : roots) {
    if (fs::exists(root / split)) return fs::weakly_canonical(root / split);
    if (split.starts_with("../") && fs::exists(root / split.substr(3)))
      return fs::weakly_canonical(root / split.substr(3));
  }
  return fs::weakly_canonical(roots[0] / split);
}

/// The items of a split: one path, or a list of such.
std::vector<Yaml> parts_of(const Yaml& node) {
  return node.kind == Yaml::Kind::list ? node.items : std::vector{node};
}

/// Whether all these splits are found below a folder, as far as there are such.
bool holds(const fs::path& root, const Source& source, const std::vector<Split>& splits) {
  const auto is_there = [&](const std::string& split, const Yaml& part) {
    return fs::exists(resolved({root}, text_of(source, part, split, "write one path")));
  };
  return std::ranges::all_of(splits, [&](Split split) {
    const Yaml* node = source.value(name_of(split));
    return !node || std::ranges::all_of(parts_of(*node), [&](const Yaml& part) {
      return is_there(name_of(split), part);
    });
  });
}

/// What mends a path that is not there; one of Windows' is no path here, whatever it is.
std::string for_path(const std::string& path, const std::string& remedy) {
  return path.find('\\') == path.npos ? remedy : "write the path that it has here, with / for \\";
}

/// What the splits are relative to: `path` beside the YAML file, from `folder`, or from the folder
/// above the YAML file's (YOLOv5's own files lie in data/ of its repository and count from there),
/// the first below which all are found, since one data set lies in one folder; without it the YAML
/// file's folder, else `folder`.
std::vector<fs::path> root_folders(const Source& source, const std::vector<Split>& splits,
                                   const fs::path& folder) {
  const fs::path beside = fs::path(source.file).parent_path();
  const Yaml* node = source.value("path");
  if (!node) return {beside, folder};
  const fs::path path = text_of(source, *node, "path", "write one path");
  std::vector<fs::path> roots = {beside / path, folder / path, beside / ".." / path};
  std::erase_if(roots, [](const fs::path& root) { return !fs::exists(root); });
  if (roots.empty())
    throw source.refusal(*node, fmt::format("path '{}' does not exist", path.string()),
                         source.value("download")
                             ? "evolve downloads nothing: fetch the images first"
                             : for_path(path.string(),
                                        "write a folder, relative to this file or to the current "
                                        "folder"));
  const auto whole = std::ranges::find_if(
      roots, [&](const fs::path& root) { return holds(root, source, splits); });
  return {whole == roots.end() ? roots.front() : *whole};
}

/// Whether a folder is one of those, or holds one: as a link below them it leads back, and what is
/// below it comes again and again.
bool leads_back(const fs::path& folder, const std::vector<fs::path>& way) {
  return std::ranges::any_of(way, [&](const fs::path& on_it) {
    return *on_it.lexically_relative(folder).begin() != "..";
  });
}

/// Adds the images in the last folder of a way and below, without the hidden ones, as a recursive
/// glob of *.* finds them. A folder that cannot be read is no empty one. `way`: where its folders
/// really are.
void add_images_below(const fs::path& folder, std::vector<fs::path>& way,
                      std::vector<std::string>& found) {
  for (const auto& entry : fs::directory_iterator(folder)) {
    const auto name = entry.path().filename().string();
    // What a file system keeps for itself at its root only root may read.
    if (name.starts_with('.') || name == "lost+found") continue;
    std::error_code unknown;  // of an image: the look at all images says it
    if (!entry.is_directory(unknown)) {
      if (is_image_name(name)) found.push_back(entry.path().string());
      continue;
    }
    const bool is_link = entry.is_symlink();
    const auto there = is_link ? fs::canonical(entry.path()) : way.back() / name;
    if (is_link && leads_back(there, way)) continue;
    way.push_back(there);
    add_images_below(entry.path(), way, found);
    way.pop_back();
  }
}

/// Images that a text file lists: "./" is the file's own folder, other relative paths start from
/// `base`, or from the text file's when they do not exist there. One that is nowhere is
/// found by the look at all images, with whatever else is at fault.
std::vector<std::string> images_listed(const fs::path& list, const fs::path& base) {
  std::ifstream stream(list);
  if (!stream) throw bad_input({list.string()}, "cannot be read", "check its permissions");
  std::vector<std::string> found;
  std::map<fs::path, fs::path> folders;
  std::string line;
  while (std::getline(stream, line)) {
    if (found.empty()) line = core::without_byte_order_mark(line);
    if (found.empty() && (line.starts_with("\xff\xfe") || line.starts_with("\xfe\xff")))
      throw bad_input({list.string()}, "is no text in UTF-8", "save it as UTF-8");
    line = std::string(core::trimmed(line));
    if (line.empty() || !is_image_name(line)) continue;
    fs::path image = line;
    const bool beside = line.starts_with("./") || !fs::exists(base / image);
    image = (beside ? list.parent_path() : base) / image;
    const auto [folder, is_new] = folders.try_emplace(image.parent_path());
    if (is_new) folder->second = core::without_dots(fs::absolute(folder->first / "."));
    found.push_back((folder->second / image.filename()).string());
  }
  if (stream.bad()) throw bad_input({list.string()}, "cannot be read to its end", "check the disk");
  return found;
}

void add_images(const Source& source, const Yaml& node, const std::string& split,
                const std::vector<fs::path>& roots, const fs::path& folder,
                std::vector<std::string>& images) {
  const std::string remedy = "write a folder of images or a text file that lists them";
  const auto& written = text_of(source, node, split, "write one path");
  // Below every root there is "": all splits would be the same images.
  if (written.empty()) throw source.refusal(node, split + " is empty", remedy);
  const fs::path path = resolved(roots, written);
  if (!fs::exists(path)) {
    throw source.refusal(node, fmt::format("{} '{}' does not exist", split, path.string()),
                         for_path(written, remedy));
  }
  std::vector<std::string> found;
  const bool is_folder = fs::is_directory(path);
  // A pipe would be waited for, a device be read for ever.
  if (!is_folder && !fs::is_regular_file(path))
    throw source.refusal(node, fmt::format("{} '{}' is no file", split, path.string()), remedy);
  if (is_folder) {
    std::vector<fs::path> way = {fs::canonical(path)};
    add_images_below(path, way, found);
  } else {
    found = images_listed(path, folder);
  }
  if (found.empty()) {
    throw source.refusal(node, fmt::format("{} '{}' holds no images", split, path.string()),
                         is_folder ? "put .jpg or .png files there"
                                   : "write one on each line, such as ./images/1.jpg");
  }
  images.insert(images.end(), found.begin(), found.end());
}

std::vector<std::string> read_split(const Source& source, Split split,
                                    const std::vector<fs::path>& roots, const fs::path& folder) {
  const std::string& name = name_of(split);
  const Yaml* node = source.value(name);
  if (!node) {
    if (split == Split::test) return {};
    throw bad_input({source.file}, "there is no " + name,
                    "write " + name + ": and a folder of images");
  }
  std::vector<std::string> images;
  for (const Yaml& part : parts_of(*node)) add_images(source, part, name, roots, folder, images);
  std::sort(images.begin(), images.end());
  // One that is listed twice is one image, as in YOLOv5, which keeps them by their paths.
  images.erase(std::unique(images.begin(), images.end()), images.end());
  return images;
}

Source parsed(const std::string& file) {
  if (fs::is_directory(file))
    throw bad_input({file}, "this is a folder", "name the data YAML in it");
  if (!fs::exists(file)) {
    throw bad_input({file}, "there is no such file",
                    "give a data YAML, or 'shapes' for the embedded data set");
  }
  if (!fs::is_regular_file(file)) throw core::no_regular_file(file);
  Source source{file, core::parse_yaml(core::read_text_file(file), file)};
  if (source.root.kind != Yaml::Kind::map)
    throw bad_input({file}, "is no data YAML", "write path:, train:, val: and names:");
  if (const Yaml* shape = source.value("kpt_shape")) {
    throw source.refusal(
        *shape, "its labels have keypoints, which would be read as outlines",
        "take kpt_shape out if they are boxes, or train with --trainer ultralytics");
  }
  return source;
}

}  // namespace

const std::string& name_of(Split split) {
  static const std::array<std::string, 3> names = {"train", "val", "test"};
  return names[static_cast<std::size_t>(split)];
}

Split split_of(const std::string& name) {
  for (const auto split : {Split::train, Split::val, Split::test})
    if (name_of(split) == name) return split;
  throw bad_argument("--task " + name, "choose train, val or test");
}

DataConfig read_data_yaml(const std::string& path, const std::vector<Split>& splits,
                          const std::string& folder) {
  if (is_embedded(path)) return embedded_config(path);
  try {
    const Source source = parsed(path);
    const auto roots = root_folders(source, splits, folder);
    const auto images = [&](Split split) {
      const bool wanted = std::ranges::count(splits, split) > 0;
      return wanted ? read_split(source, split, roots, folder) : std::vector<std::string>();
    };
    return {.file = path,
            .names = read_names(source),
            .train = images(Split::train),
            .val = images(Split::val),
            .test = images(Split::test)};
  } catch (const fs::filesystem_error& error) {
    throw bad_input({path}, error.what(), "check the paths and their permissions");
  }
}

DataConfig with_fraction(DataConfig config, double share) {
  if (config.train.empty()) return config;
  const auto count = std::nearbyint(static_cast<double>(config.train.size()) * share);
  config.train.resize(std::max<std::size_t>(1, static_cast<std::size_t>(count)));
  return config;
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
