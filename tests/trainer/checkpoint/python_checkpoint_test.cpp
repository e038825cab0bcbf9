// What Python makes of the weights that evolve writes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cstdio>

#include "tests/temporary_folder.hpp"
#include "trainer/checkpoint/checkpoint.hpp"

namespace evolve::trainer {
namespace {

using nlohmann::ordered_json;

std::string output_of(const std::string& command) {
  std::string output;
  FILE* pipe = ::popen(command.c_str(), "r");
  char buffer[4096];
  while (const auto count = std::fread(buffer, 1, sizeof buffer, pipe))
    output.append(buffer, count);
  EXPECT_EQ(::pclose(pipe), 0) << command;
  return output;
}

TEST(PythonCheckpoint, ReadsADictOfTensorsOnly) {
  if (std::system("python3 -c '' 2>/dev/null") != 0) GTEST_SKIP() << "there is no python3";
  const test::TemporaryFolder folder;
  const auto path = folder / "weights.pt";
  write_checkpoint(path, {.state = {{"model.0.weight", torch::arange(6.F).view({1, 2, 3})},
                                    {"half", torch::tensor({0.5, -2.}, torch::kHalf)},
                                    {"batches", torch::tensor(7, torch::kLong)},
                                    {"empty", torch::empty({0, 4})},
                                    {"flags", torch::tensor({true, false})}},
                          .about = {{"epoch", 3}},
                          .training = {{"momentum", torch::ones(5)}}});
  const auto read =
      ordered_json::parse(output_of("python3 '" EVOLVE_READ_WEIGHTS "' '" + path.string() + "'"));
  EXPECT_EQ(read, ordered_json::parse(R"({
    "model.0.weight": {"type": "Float", "size": [1, 2, 3], "values": [0, 1, 2, 3, 4, 5]},
    "half": {"type": "Half", "size": [2], "values": [0.5, -2]},
    "batches": {"type": "Long", "size": [], "values": [7]},
    "empty": {"type": "Float", "size": [0, 4], "values": []},
    "flags": {"type": "Bool", "size": [2], "values": [true, false]}})"));
}

}  // namespace
}  // namespace evolve::trainer
