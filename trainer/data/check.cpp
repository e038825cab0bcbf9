#include "trainer/data/check.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "core/number.hpp"
#include "trainer/data/counts.hpp"
#include "trainer/data/embedded/shapes.hpp"
#include "trainer/data/parallel.hpp"

namespace evolve::data {
namespace {

void count(const std::string& file, ImageSize size, const LabelFile& found, DatasetStats& stats) {
  ++stats.images;
  stats.without_labels += found.labels.empty();
  stats.labels += static_cast<int>(found.labels.size());
  stats.duplicates += found.duplicates;
  for (const Label& label : found.labels) ++stats.per_class[static_cast<std::size_t>(label.cls)];
  stats.checksum += image_checksum(file, size, found.labels, found.segments);
}

/// Leaves ten of these texts at most, as many as anybody reads; gives how many are left out.
std::size_t keep_first_ten(std::vector<std::string>& texts) {
  const auto all = texts.size();
  texts.resize(std::min(all, std::size_t{10}));
  return all - texts.size();
}

/// One line, though hundreds of a large table's classes may have no label in a small split.
std::string note_on_empty_classes(const DatasetStats& stats, const DataConfig& config) {
  std::vector<std::string> named;
  for (std::size_t i = 0; i < stats.per_class.size(); ++i)
    if (stats.per_class[i] == 0) named.push_back(fmt::format("{} ({})", i, config.names[i]));
  if (named.empty()) return "";
  const auto more = keep_first_ten(named);
  return fmt::format("no label of {} {}{}", named.size() == 1 ? "class" : "classes",
                     fmt::join(named, ", "), more > 0 ? fmt::format(" and {} more", more) : "");
}

/// The greatest class of an image's labels, as far as these are in order but for the classes that
/// the data set names; -1: they are not.
int greatest_class(const ScannedImage& image, bool single_cls) try {
  const auto file = read_labels(image.file, std::numeric_limits<int>::max(), single_cls);
  const auto greatest = std::ranges::max_element(file.labels, {}, &Label::cls);
  return greatest == file.labels.end() ? -1 : greatest->cls;
} catch (const Error&) {
  return -1;
}

/// Where several images have labels of classes that the data set does not name, too short a list of
/// names is what is wrong: one line says so instead of theirs.
std::vector<std::string> faults_in(std::vector<ScannedImage> images, const DataConfig& config,
                                   Split split, bool single_cls) {
  const int classes = static_cast<int>(config.names.size());
  std::vector<int> greatest(images.size(), -1);
  for_each_index(static_cast<int>(images.size()), all_threads, [&](int i) {
    const auto place = static_cast<std::size_t>(i);
    const ScannedImage& image = images[place];
    if (!image.fault.empty() && image.fault.starts_with(label_file_of(image.file) + ":"))
      greatest[place] = greatest_class(image, single_cls);
  });
  std::vector<ScannedImage*> beyond;
  for (std::size_t i = 0; i < images.size(); ++i)
    if (greatest[i] >= classes) beyond.push_back(&images[i]);
  if (beyond.size() < 2) return faults_of(images);
  const auto line = bad_input(
      {config.file},
      fmt::format("it names {}, but labels of {} {} images have classes up to {}, such as {}",
                  core::counted(classes, "class"), beyond.size(), name_of(split),
                  std::ranges::max(greatest), label_file_of(beyond.front()->file)),
      "name all classes, or mend the labels");
  for (auto* image : beyond) image->fault.clear();
  auto faults = faults_of(images);
  faults.insert(faults.begin(), line.what());
  return faults;
}

}  // namespace

DatasetStats check(const DataConfig& config, Split split, const ScanOptions& options) {
  DatasetStats stats;
  stats.per_class.resize(options.single_cls ? 1 : config.names.size());
  if (config.embedded) {
    auto drawings = embedded_images(config.file, split, options.single_cls, all_threads);
    drawings.resize(config.images(split).size());
    for (const Drawing& drawing : drawings)
      count(drawing.name, {drawing.pixels.cols, drawing.pixels.rows}, {.labels = drawing.labels},
            stats);
    return stats;
  }
  auto images = scan(config, split, options);
  for (const ScannedImage& image : images)
    if (image.fault.empty()) count(image.file, image.size, image.found, stats);
  stats.faults = faults_in(std::move(images), config, split, options.single_cls);
  return stats;
}

void check_labels(const DatasetStats& stats, const DataConfig& config, Split split) {
  if (stats.labels > 0) return;
  throw bad_input(
      {config.file},
      fmt::format("none of the {} {} images has a label", stats.images, name_of(split)),
      fmt::format("put label files like {}", label_file_of(config.images(split).front())));
}

Error bad_images(std::vector<std::string> faults, Without without) {
  const auto remedy = [&]() -> std::string {
    switch (without) {
      case Without::another_run:
        return "the run began with all of them: bring them back as they were, or start a new one "
               "with --skip-bad";
      case Without::no_image:
        return "mend them: without them a split would have no image";
      case Without::this_run:
        break;
    }
    return "mend them, or go on without them: --skip-bad";
  };
  const bool one = faults.size() == 1 && without != Without::another_run;
  const auto more = keep_first_ten(faults);
  if (more > 0) faults.push_back(fmt::format("and {} more like these", more));
  if (!one) faults.push_back(remedy());
  return Error(Error::Fault::input, fmt::format("{}", fmt::join(faults, "\n")));
}

std::vector<std::string> notes(const DatasetStats& stats, const DataConfig& config, Split split) {
  const std::string& name = name_of(split);
  std::vector<std::string> lines;
  lines.push_back(fmt::format("{}: {}, {}", name, core::counted(stats.images, "image"),
                              core::counted(stats.labels, "label")));
  if (stats.without_labels > 0) {
    lines.push_back(fmt::format("{}: {} without labels, taken as background", name,
                                core::counted(stats.without_labels, "image")));
  }
  if (stats.duplicates > 0) {
    lines.push_back(fmt::format("{}: {} left out, being there twice", name,
                                core::counted(stats.duplicates, "label")));
  }
  for (const auto& fault : stats.faults)
    lines.push_back(fmt::format("{}: left out: {}", name, fault));
  if (const auto line = note_on_empty_classes(stats, config); !line.empty())
    lines.push_back(name + ": " + line);
  return lines;
}

}  // namespace evolve::data
