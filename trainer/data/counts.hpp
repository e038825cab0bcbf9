// What a data set has, as far as trainings on it can be compared.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "trainer/data/check.hpp"
#include "trainer/data/dataset.hpp"
#include "trainer/data/image_file.hpp"

namespace evolve::data {

/// A checksum of an image's name (without its folders), of its size before resizing, and of its
/// labels and their outlines. Those of a split's images add up to what it has, wherever they lie.
std::uint32_t image_checksum(const std::string& file, ImageSize size,
                             const std::vector<Label>& labels,
                             const std::vector<Segment>& segments);

/// Of a split: {"images":24,"labels":72,"per_class":[30,20,22],"checksum":3141592653}.
nlohmann::ordered_json counts_of(const DatasetStats& stats);
nlohmann::ordered_json counts_of(const Dataset& dataset);

/// What is different in the counts of the splits ({"train":…,"val":…}), as in "20 train images with
/// 60 labels, the run began with 24 with 72", where `began` is "the run began with". Nothing where
/// that is the same, as far as `before` has it: earlier versions counted less. What is no split is
/// passed over.
std::optional<std::string> difference(const nlohmann::ordered_json& before,
                                      const nlohmann::ordered_json& now, const char* began);

}  // namespace evolve::data
