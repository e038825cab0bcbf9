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

Json counts(std::size_t images, const std::vector<int>& per_class, std::uint32_t checksum) {
  return {{"images", images},
          {"labels", std::accumulate(per_class.begin(), per_class.end(), 0)},
          {"per_class", per_class},
          {"checksum", checksum}};
}

template <class T>
std::string_view bytes_of(const T* values, std::size_t count) {
  static_assert(sizeof(Label) == 5 * sizeof(float) && sizeof(cv::Point2f) == 2 * sizeof(float),
                "bytes between its members may be anything");
  return {reinterpret_cast<const char*>(values), count * sizeof(T)};
}

/// The classes are those of the data YAML, so they differ in all splits.
std::string difference_per_class(const std::string& split, const Json& before, const Json& now,
                                 const char* began) {
  if (before.size() != now.size())
    return fmt::format("{}, {} {}", core::counted(std::ssize(now), "class"), began, before.size());
  std::size_t cls = 0;
  while (before[cls] == now[cls]) ++cls;
  return fmt::format("{} of class {}, {} {}",
                     core::counted(now[cls].get<std::int64_t>(), split + " label"), cls, began,
                     before[cls].dump());
}

}  // namespace

std::uint32_t image_checksum(const std::string& file, ImageSize size,
                             const std::vector<Label>& labels,
                             const std::vector<Segment>& segments) {
  const std::array<std::int32_t, 2> sides = {size.width, size.height};
  auto checksum = trainer::checksum_of(std::string_view(file).substr(file.rfind('/') + 1));
  checksum = trainer::checksum_of(bytes_of(sides.data(), sides.size()), checksum);
  checksum = trainer::checksum_of(bytes_of(labels.data(), labels.size()), checksum);
  for (const auto& segment : segments)
    checksum = trainer::checksum_of(bytes_of(segment.data(), segment.size()), checksum);
  return checksum;
}

Json counts_of(const DatasetStats& stats) {
  return counts(static_cast<std::size_t>(stats.images), stats.per_class, stats.checksum);
}

Json counts_of(const Dataset& dataset) {
  std::vector<int> per_class(dataset.names.size());
  std::uint32_t checksum = 0;
  for (const auto& image : dataset.images) {
    for (const auto& label : image.labels) ++per_class[static_cast<std::size_t>(label.cls)];
    checksum += image_checksum(image.file, {image.original_width, image.original_height},
                               image.labels, image.segments);
  }
  return counts(dataset.images.size(), per_class, checksum);
}

std::optional<std::string> difference(const Json& before, const Json& now, const char* began) {
  for (const auto& [split, there] : now.items()) {
    const auto then = before.find(split);
    if (then == before.end() || !there.is_object()) continue;
    const auto& images = then->at("images");
    const auto& labels = then->at("labels");
    if (images != there["images"] || labels != there["labels"])
      return fmt::format("{} with {}, {} {} with {}",
                         core::counted(there["images"].get<std::int64_t>(), split + " image"),
                         core::counted(there["labels"].get<std::int64_t>(), "label"), began,
                         images.dump(), labels.dump());
    if (const auto classes = then->find("per_class");
        classes != then->end() && *classes != there["per_class"])
      return difference_per_class(split, *classes, there["per_class"], began);
    if (const auto checksum = then->find("checksum");
        checksum != then->end() && *checksum != there["checksum"])
      return fmt::format("{} labels, or names or sizes of images, other than those that {}", split,
                         began);
  }
  return {};
}

}  // namespace evolve::data
