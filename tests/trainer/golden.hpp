// The reference numbers as torch tensors.
#pragma once

#include <torch/types.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/golden.hpp"

namespace evolve::test {

/// One case, see `Case`.
struct Golden {
  std::string name;
  nlohmann::json scalars;
  std::map<std::string, torch::Tensor> tensors;

  /// The tensor called `name`; throws with the case's name when there is none.
  const torch::Tensor& operator[](const std::string& tensor) const;
};

Golden load_golden(const std::filesystem::path& folder);

/// All cases whose names begin with `prefix`, in order.
std::vector<Golden> goldens(const std::string& prefix);

/// ‖a − b‖ / ‖b‖ in double precision (‖a‖ where b is zero).
double relative_error(const torch::Tensor& a, const torch::Tensor& b);

}  // namespace evolve::test

/// As CASES_OR_SKIP.
#define GOLDENS_OR_SKIP(variable, prefix) \
  CASES_READ_OR_SKIP(variable, prefix, ::evolve::test::goldens)
