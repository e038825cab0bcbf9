#include "trainer/data/check.hpp"

#include <fmt/format.h>

#include "hyp/error.hpp"
#include "trainer/data/label_file.hpp"
#include "trainer/data/picture_file.hpp"
#include "trainer/data/shapes.hpp"

namespace evolve::data {
namespace {

void count(const std::vector<Label>& labels, int duplicates, Census& census) {
  ++census.pictures;
  census.without_labels += labels.empty();
  census.labels += static_cast<int>(labels.size());
  census.duplicates += duplicates;
  for (const Label& label : labels) ++census.per_class[static_cast<std::size_t>(label.cls)];
}

}  // namespace

Census check(const DataConfig& config, Split split, bool single_cls) {
  const int classes = static_cast<int>(config.names.size());
  Census census;
  census.per_class.resize(single_cls ? 1 : config.names.size());
  if (config.embedded) {
    for (const auto& drawing : embedded_pictures(config.file, split))
      count(drawing.labels, 0, census);
    return census;
  }
  for (const std::string& file : config.pictures(split)) {
    look_at_picture(file);
    const LabelFile found = read_labels(file, classes, single_cls);
    count(found.labels, found.duplicates, census);
  }
  if (split == Split::train && census.labels == 0) {
    throw bad_input({config.file},
                    fmt::format("none of the {} training pictures has a label", census.pictures),
                    fmt::format("put label files like {}", label_file_of(config.train.front())));
  }
  return census;
}

std::vector<std::string> notes(const Census& census, const DataConfig& config, Split split) {
  const std::string& name = name_of(split);
  std::vector<std::string> lines;
  lines.push_back(fmt::format("{}: {} pictures, {} labels", name, census.pictures, census.labels));
  if (census.without_labels > 0) {
    lines.push_back(fmt::format("{}: {} pictures without labels count as background", name,
                                census.without_labels));
  }
  if (census.duplicates > 0) {
    lines.push_back(
        fmt::format("{}: {} labels occur twice and are left out", name, census.duplicates));
  }
  for (std::size_t i = 0; i < census.per_class.size(); ++i) {
    if (census.per_class[i] == 0) {
      lines.push_back(fmt::format("{}: no label of class {} ({})", name, i, config.names[i]));
    }
  }
  return lines;
}

}  // namespace evolve::data
