// Models and inputs whose numbers follow from a formula, so that two programs can have the same
// ones.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "trainer/loss/loss.hpp"
#include "trainer/model/detector.hpp"

namespace evolve::test {

/// A fresh model of a built-in table or of one of the reference cases.
trainer::Detector make(const std::string& table, std::optional<int> nc = 3, std::uint64_t seed = 0);

/// The reference cases' formula for the weights of a model.
void set_formula_weights(trainer::Detector& detector, std::uint64_t seed);

/// From now on it sees the same in whatever it is shown: in every cell of its last map a box of
/// `side` pixels around the cell's centre, of this class and confidence, and nothing in the others.
void see_boxes_everywhere(trainer::Detector& detector, double side, int cls,
                          double confidence = 0.9);

/// The reference cases' formula for images in 0..1.
torch::Tensor formula_input(const std::vector<std::int64_t>& shape, std::uint64_t seed);

/// The model that a case describes as "formula weights yolov5p nc3 seed 1011".
trainer::Detector formula_model(const std::string& description);

/// Rows of [n, 6].
std::vector<trainer::Target> targets_of(const torch::Tensor& rows);

/// A case's hyperparameters; its gains are scaled already.
trainer::LossOptions options_of(const nlohmann::json& hyp);

}  // namespace evolve::test
