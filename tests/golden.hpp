// Reference numbers made by YOLOv5 itself, for the parity tests. They live outside the repository;
// the folders are EVOLVE_GOLDEN, EVOLVE_CHECKPOINTS and EVOLVE_DATA, read when a test runs.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace evolve::test {

/// From the environment, or their places beside the source tree.
std::filesystem::path golden_folder();
std::filesystem::path checkpoints_folder();
std::filesystem::path data_folder();

/// What --cfg gets for a table that a case names: the name of a built-in one, else a file in cfg/
/// beside the cases or the checkpoints.
std::string table_path(const std::string& name);

/// A recorded tensor, row by row.
struct Recorded {
  std::vector<std::int64_t> shape;
  /// "f32", "f64", "i64", "u8" … as index.json says.
  std::string dtype;
  std::vector<std::uint8_t> bytes;

  /// The numbers as T (float, double, std::int64_t, std::uint8_t); throws std::runtime_error when T
  /// is not the recorded type.
  template <class T>
  std::vector<T> as() const;
};

/// One case: a folder with scalars.json and, mostly, tensors.bin with its index.json.
struct Case {
  std::string name;
  nlohmann::json scalars;
  std::map<std::string, Recorded> tensors;

  bool has(const std::string& tensor) const { return tensors.contains(tensor); }
  /// Throws std::runtime_error with the case's name when there is no such tensor.
  const Recorded& operator[](const std::string& tensor) const;
};

Case load_case(const std::filesystem::path& folder);

/// All cases whose names begin with `prefix`, in order.
std::vector<Case> cases(const std::string& prefix);

}  // namespace evolve::test

/// Skips where the reference numbers are absent, runs otherwise; a folder without such a case is a
/// failure. `read` is cases(), or reads them as something else.
#define CASES_OR_SKIP(variable, prefix) CASES_READ_OR_SKIP(variable, prefix, ::evolve::test::cases)
#define CASES_READ_OR_SKIP(variable, prefix, read)                                 \
  if (!std::filesystem::is_directory(::evolve::test::golden_folder()))             \
    GTEST_SKIP() << "no reference numbers in " << ::evolve::test::golden_folder(); \
  const auto variable = read(prefix);                                              \
  ASSERT_FALSE(variable.empty()) << "no case " << (prefix) << "* in "              \
                                 << ::evolve::test::golden_folder()
