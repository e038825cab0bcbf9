// Models and inputs whose numbers follow from a formula, so that two programs can have the same
// ones.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "trainer/detector.hpp"

namespace evolve::test {

/// A fresh model of a built-in table or of one of the reference cases.
trainer::Detector make(const std::string& table, std::optional<int> nc = 3, std::uint64_t seed = 0);

/// The reference cases' formula for the weights of a model.
void set_formula_weights(trainer::Detector& detector, std::uint64_t seed);

/// The reference cases' formula for pictures in 0..1.
torch::Tensor formula_input(const std::vector<std::int64_t>& shape, std::uint64_t seed);

}  // namespace evolve::test
