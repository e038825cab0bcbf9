#include "trainer/data/counts.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <numeric>
#include <vector>

namespace evolve::data {
namespace {

using Json = nlohmann::ordered_json;

Json counts(std::size_t images, const std::vector<int>& per_class) {
  return {{"images", images},
          {"labels", std::accumulate(per_class.begin(), per_class.end(), 0)},
          {"per_class", per_class}};
}

/// The classes are those of the data YAML, so they differ in all splits.
std::string difference_per_class(const std::string& split, const Json& before, const Json& now,
                                 const char* who) {
  if (before.size() != now.size())
    return fmt::format("{} classes, {} began with {}", now.size(), who, before.size());
  std::size_t cls = 0;
  while (before[cls] == now[cls]) ++cls;
  return fmt::format("{} {} labels of class {}, {} began with {}", now[cls].dump(), split, cls, who,
                     before[cls].dump());
}

}  // namespace

Json counts_of(const DatasetStats& stats) {
  return counts(static_cast<std::size_t>(stats.images), stats.per_class);
}

Json counts_of(const Dataset& dataset) {
  std::vector<int> per_class(dataset.names.size());
  for (const auto& image : dataset.images)
    for (const auto& label : image.labels) ++per_class[static_cast<std::size_t>(label.cls)];
  return counts(dataset.images.size(), per_class);
}

std::optional<std::string> difference(const Json& before, const Json& now, const char* who) {
  for (const auto& [split, there] : now.items()) {
    const auto then = before.find(split);
    if (then == before.end()) continue;
    const auto& images = then->at("images");
    const auto& labels = then->at("labels");
    if (images != there["images"] || labels != there["labels"])
      return fmt::format("{} {} images with {} labels, {} began with {} with {}",
                         there["images"].dump(), split, there["labels"].dump(), who, images.dump(),
                         labels.dump());
    if (const auto classes = then->find("per_class");
        classes != then->end() && *classes != there["per_class"])
      return difference_per_class(split, *classes, there["per_class"], who);
  }
  return {};
}

}  // namespace evolve::data
