#include "trainer/data/embedded/shapes.hpp"

#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <opencv2/imgcodecs.hpp>

#include "core/error.hpp"
#include "core/text_file.hpp"
#include "core/yaml.hpp"
#include "trainer/data/embedded/shapes_scene.hpp"
#include "trainer/data/parallel.hpp"
#include "trainer/data/random_source.hpp"

namespace evolve::data {
namespace fs = std::filesystem;
namespace {

constexpr std::array<Split, 3> splits = {Split::train, Split::val, Split::test};

/// What tells one embedded data set from the other.
struct Contents {
  std::uint64_t seed = 0;
  std::vector<std::string> names;
  std::vector<Shape> classes;
  /// Images of train, val and test.
  std::array<int, 3> images = {};
};

Contents contents_of(const std::string& name) {
  if (name == "shapes") {
    return {1,
            {"circle", "square", "triangle"},
            {Shape::circle, Shape::square, Shape::triangle},
            {240, 100, 100}};
  }
  return {2,
          {"star", "cross", "ring", "pentagon", "crescent"},
          {Shape::star, Shape::cross, Shape::ring, Shape::pentagon, Shape::crescent},
          {800, 100, 100}};
}

std::string image_name(Split split, int index) {
  return fmt::format("images/{}/{:04}.png", name_of(split), index);
}

std::vector<std::string> image_names(Split split, int count) {
  std::vector<std::string> names;
  for (int i = 0; i < count; ++i) names.push_back(image_name(split, i));
  return names;
}

void write_text(const fs::path& file, const std::string& text) {
  std::ofstream stream(file);
  stream << text;
  stream.close();
  if (!stream)
    throw run_failed("cannot write " + file.string(), "check the disk and its permissions");
}

void make_folder(const fs::path& folder) {
  std::error_code failure;
  fs::create_directories(folder, failure);
  if (failure)
    throw bad_argument("cannot make " + folder.string() + " (" + failure.message() + ")",
                       "name a folder that can be made");
}

/// NAME.yaml, but for its first line, which says where it lies.
std::string yaml_text_of(const std::string& name) {
  std::string text = "train: images/train\nval: images/val\ntest: images/test\n\nnames:\n";
  const auto names = contents_of(name).names;
  for (std::size_t i = 0; i < names.size(); ++i) text += fmt::format("  {}: {}\n", i, names[i]);
  return text;
}

/// Whether what the folder has is this data set, wherever it lay when it was written.
bool holds_embedded(const fs::path& yaml, const std::string& text) {
  if (!fs::is_regular_file(yaml)) return false;
  const auto all = core::read_text_file(yaml);
  return all.starts_with("path: ") && all.substr(all.find('\n') + 1) == text;
}

}  // namespace

bool is_embedded(const std::string& name) {
  return name == "shapes" || name == "shapes-base";
}

DataConfig embedded_config(const std::string& name) {
  const Contents contents = contents_of(name);
  return {.file = name,
          .embedded = true,
          .names = contents.names,
          .train = image_names(Split::train, contents.images[0]),
          .val = image_names(Split::val, contents.images[1]),
          .test = image_names(Split::test, contents.images[2])};
}

std::vector<Drawing> embedded_images(const std::string& name, Split split, bool single_cls,
                                     int threads) {
  const Contents contents = contents_of(name);
  const int split_index = static_cast<int>(split);
  const int count = contents.images[static_cast<std::size_t>(split)];
  std::vector<Drawing> drawings(static_cast<std::size_t>(count));
  for_each_index(count, threads, [&](int i) {
    SceneRandom random(sample_seed(contents.seed, split_index, i));
    Scene scene = draw_scene(contents.classes, random);
    for (Label& label : scene.labels) label.cls = single_cls ? 0 : label.cls;
    drawings[static_cast<std::size_t>(i)] = {image_name(split, i), std::move(scene.pixels),
                                             std::move(scene.labels)};
  });
  return drawings;
}

void write_embedded(const std::string& name, const std::string& folder) {
  const fs::path root = fs::weakly_canonical(fs::absolute(folder));
  const fs::path yaml = root / (name + ".yaml");
  const auto text = yaml_text_of(name);
  if (fs::exists(root) && !fs::is_empty(root) && !holds_embedded(yaml, text))
    throw bad_argument(folder + " holds other files", "name a new or an empty folder");
  for (const Split split : splits) {
    make_folder(root / "images" / name_of(split));
    make_folder(root / "labels" / name_of(split));
    for (const Drawing& drawing : embedded_images(name, split, false, all_threads)) {
      const fs::path image = root / drawing.name;
      if (!cv::imwrite(image.string(), drawing.pixels)) {
        throw run_failed("cannot write " + image.string(), "check the disk and its permissions");
      }
      write_text(label_file_of(image.string()), label_lines(drawing.labels));
    }
  }
  write_text(yaml, fmt::format("path: {}\n{}", core::yaml_text(root.string()), text));
}

}  // namespace evolve::data
