// The runs that come with evolve: the files of this folder, which are in the program as they are.
// scripts/make-known makes them.
#pragma once

#include <string_view>
#include <vector>

namespace evolve::results {

struct KnownTable {
  /// What a person reads: "shapes with Adam".
  std::string_view name;
  /// An evolve.csv with the columns of the evolved hyperparameters.
  std::string_view csv;
};

/// What YOLOv5's 29 hyperparameters gave with Adam and AdamW. None with SGD: so short trainings of
/// so few images hardly learn with it, and what they say of its rates is of no use elsewhere.
std::vector<KnownTable> known_tables();

}  // namespace evolve::results
