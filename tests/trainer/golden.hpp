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

/// Skips where the reference numbers are absent, runs otherwise; a folder without such a case is a
/// failure.
#define GOLDENS_OR_SKIP(cases, prefix)                                             \
  if (!std::filesystem::is_directory(::evolve::test::golden_folder()))             \
    GTEST_SKIP() << "no reference numbers in " << ::evolve::test::golden_folder(); \
  const auto cases = ::evolve::test::goldens(prefix);                              \
  ASSERT_FALSE(cases.empty()) << "no case " << (prefix) << "* in "                 \
                              << ::evolve::test::golden_folder()
