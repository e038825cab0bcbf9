#include "trainer/data/counts.hpp"

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string_view>

#include "core/number.hpp"
#include "trainer/checksum.hpp"

namespace evolve::data {
namespace {

using Json = nlohmann::ordered_json;

Json counts(std::size_t images, const std::vector<int>& per_class, std::uint32_t contents) {
  return {{"images", images},
          {"labels", std::accumulate(per_class.begin(), per_class.end(), 0)},
          {"per_class", per_class},
          {"contents", contents}};
}

template <class T>
std::string_view bytes_of(const T* values, std::size_t count) {
  static_assert(sizeof(Label) == 5 * sizeof(float), "bytes between its members may be anything");
  return {reinterpret_cast<const char*>(values), count * sizeof(T)};
}

/// The classes are those of the data YAML, so they differ in all splits.
std::string difference_per_class(const std::string& split, const Json& before, const Json& now,
                                 const char* began) {
  if (before.size() != now.size())
    return fmt::format("{}, {} {}", core::counted(std::ssize(now), "class"), began, before.size());
  std::size_t cls = 0;
  while (before[cls] == now[cls]) ++cls;
  return fmt::format("{} {} labels of class {}, {} {}", now[cls].dump(), split, cls, began,
                     before[cls].dump());
}

}  // namespace

std::uint32_t contents_of(ImageSize size, const std::vector<Label>& labels) {
  const std::array<std::int32_t, 2> sides = {size.width, size.height};
  return trainer::checksum_of(bytes_of(labels.data(), labels.size()),
                              trainer::checksum_of(bytes_of(sides.data(), sides.size())));
}

Json counts_of(const DatasetStats& stats) {
  return counts(static_cast<std::size_t>(stats.images), stats.per_class, stats.contents);
}

Json counts_of(const Dataset& dataset) {
  std::vector<int> per_class(dataset.names.size());
  std::uint32_t contents = 0;
  for (const auto& image : dataset.images) {
    for (const auto& label : image.labels) ++per_class[static_cast<std::size_t>(label.cls)];
    contents += contents_of({image.original_width, image.original_height}, image.labels);
  }
  return counts(dataset.images.size(), per_class, contents);
}

std::optional<std::string> difference(const Json& before, const Json& now, const char* began) {
  for (const auto& [split, there] : now.items()) {
    const auto then = before.find(split);
    if (then == before.end() || !there.is_object()) continue;
    const auto& images = then->at("images");
    const auto& labels = then->at("labels");
    if (images != there["images"] || labels != there["labels"])
      return fmt::format("{} {} images with {} labels, {} {} with {}", there["images"].dump(),
                         split, there["labels"].dump(), began, images.dump(), labels.dump());
    if (const auto classes = then->find("per_class");
        classes != then->end() && *classes != there["per_class"])
      return difference_per_class(split, *classes, there["per_class"], began);
    if (const auto contents = then->find("contents");
        contents != then->end() && *contents != there["contents"])
      return fmt::format("{} labels or sizes of images other than those that {}", split, began);
  }
  return {};
}

}  // namespace evolve::data
