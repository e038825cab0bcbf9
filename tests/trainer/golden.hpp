// Reference numbers made by YOLOv5 itself, for the parity tests. They live outside the repository;
// the folders are EVOLVE_GOLDEN, EVOLVE_CHECKPOINTS and EVOLVE_DATA, read when a test runs.
#pragma once

#include <torch/types.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace evolve::test {

std::filesystem::path golden_folder();
std::filesystem::path checkpoints_folder();
std::filesystem::path data_folder();

/// What --cfg gets for a table that a case names: the name of a built-in one, else a file in cfg/
/// beside the cases or the checkpoints.
std::string table_path(const std::string& name);

/// One case: a folder with scalars.json and, mostly, tensors.bin with its index.json.
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
