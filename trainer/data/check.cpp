#include "trainer/data/check.hpp"

#include <fmt/format.h>

#include <mutex>

#include "core/error.hpp"
#include "trainer/data/embedded/shapes.hpp"
#include "trainer/data/image_file.hpp"
#include "trainer/data/label_file.hpp"
#include "trainer/data/parallel.hpp"

namespace evolve::data {
namespace {

void count(const std::vector<Label>& labels, int duplicates, DatasetStats& stats) {
  ++stats.images;
  stats.without_labels += labels.empty();
  stats.labels += static_cast<int>(labels.size());
  stats.duplicates += duplicates;
  for (const Label& label : labels) ++stats.per_class[static_cast<std::size_t>(label.cls)];
}

}  // namespace

DatasetStats check(const DataConfig& config, Split split, bool single_cls) {
  const int classes = static_cast<int>(config.names.size());
  DatasetStats stats;
  stats.per_class.resize(single_cls ? 1 : config.names.size());
  if (config.embedded) {
    for (const Drawing& drawing : embedded_images(config.file, split, single_cls, all_threads))
      count(drawing.labels, 0, stats);
    return stats;
  }
  const auto& files = config.images(split);
  std::mutex mutex;
  for_each_index(static_cast<int>(files.size()), all_threads, [&](int i) {
    const std::string& file = files[static_cast<std::size_t>(i)];
    check_image(file);
    const LabelFile found = read_labels(file, classes, single_cls);
    const std::lock_guard lock(mutex);
    count(found.labels, found.duplicates, stats);
  });
  if (split == Split::train && stats.labels == 0) {
    throw bad_input({config.file},
                    fmt::format("none of the {} training images has a label", stats.images),
                    fmt::format("put label files like {}", label_file_of(config.train.front())));
  }
  return stats;
}

std::vector<std::string> notes(const DatasetStats& stats, const DataConfig& config, Split split) {
  const std::string& name = name_of(split);
  std::vector<std::string> lines;
  lines.push_back(fmt::format("{}: {} images, {} labels", name, stats.images, stats.labels));
  if (stats.without_labels > 0) {
    lines.push_back(fmt::format("{}: {} images without labels count as background", name,
                                stats.without_labels));
  }
  if (stats.duplicates > 0) {
    lines.push_back(
        fmt::format("{}: {} labels occur twice and are left out", name, stats.duplicates));
  }
  for (std::size_t i = 0; i < stats.per_class.size(); ++i) {
    if (stats.per_class[i] == 0) {
      lines.push_back(fmt::format("{}: no label of class {} ({})", name, i, config.names[i]));
    }
  }
  return lines;
}

}  // namespace evolve::data
