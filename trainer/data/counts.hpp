// What a data set has, as far as trainings on it can be compared.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "trainer/data/check.hpp"
#include "trainer/data/dataset.hpp"

namespace evolve::data {

/// Of a split: {"images":24,"labels":72,"per_class":[30,20,22]}.
nlohmann::ordered_json counts_of(const DatasetStats& stats);
nlohmann::ordered_json counts_of(const Dataset& dataset);

/// What is different in the counts of the splits ({"train":…,"val":…}) where `who` began with
/// `before`: "20 train images with 60 labels, the run began with 24 with 72". Nothing where that is
/// the same, as far as `before` has it: earlier versions counted less.
std::optional<std::string> difference(const nlohmann::ordered_json& before,
                                      const nlohmann::ordered_json& now, const char* who);

}  // namespace evolve::data
