// How a gene's values are named and laid out along an axis.
#pragma once

#include <string>

#include "hyp/space.hpp"
#include "results/ticks.hpp"

namespace evolve::results {

/// "0.01234", or the name of a choice. A gene that is not known (nullptr) has plain numbers.
std::string value_name(double value, const hyp::Gene* gene);

/// The x axis for values from `low` to `high` with room for so many characters: logarithmic where
/// the gene is, with ticks at whole numbers or choices where it has such.
Axis axis_of(const hyp::Gene* gene, double low, double high, int room);

}  // namespace evolve::results
