// YOLOv5's own checkpoints against what YOLOv5 says is in them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <filesystem>
#include <fstream>

#include "tests/golden.hpp"
#include "trainer/checkpoint/checkpoint.hpp"

namespace evolve::trainer {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

/// A checkpoint and what YOLOv5 says of it.
struct Recorded {
  std::string path;
  ordered_json meta;
};

class ParityYolov5Checkpoint : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!fs::is_directory(test::checkpoints_folder())) GTEST_SKIP() << "there are no checkpoints";
    const std::string ending = ".meta.json";
    for (const auto& entry : fs::directory_iterator(test::checkpoints_folder())) {
      const std::string file = entry.path();
      if (!file.ends_with(ending)) continue;
      std::ifstream stream(file);
      recorded_.push_back({.path = file.substr(0, file.size() - ending.size()) + ".pt",
                           .meta = ordered_json::parse(stream)});
    }
    ASSERT_FALSE(recorded_.empty()) << "no checkpoint in " << test::checkpoints_folder();
  }

  std::vector<Recorded> recorded_;
};

void expect_tensor(const torch::Tensor& tensor, const ordered_json& expected) {
  EXPECT_EQ(ordered_json(tensor.sizes().vec()), expected["shape"]);
  const bool half = expected["dtype"] == "float16";
  EXPECT_EQ(tensor.scalar_type(), half ? torch::kHalf : torch::kLong) << expected["dtype"];
  const auto values = tensor.to(torch::kDouble).flatten();
  const double magnitude = expected["abs_sum"];
  EXPECT_NEAR(values.sum().item<double>(), expected["sum"], 1e-12 * magnitude);
  EXPECT_NEAR(values.abs().sum().item<double>(), magnitude, 1e-12 * magnitude);
  for (std::size_t i = 0; i < expected["first3"].size(); ++i) {
    EXPECT_EQ(values[static_cast<std::int64_t>(i)].item<double>(), expected["first3"][i]);
  }
}

TEST_F(ParityYolov5Checkpoint, GivesEveryTensorInTheOrderOfStateDict) {
  for (const auto& [path, meta] : recorded_) {
    SCOPED_TRACE(path);
    const StateDict state = read_checkpoint(path).state;
    ASSERT_EQ(state.size(), meta["tensors"].size());
    std::size_t i = 0;
    for (const auto& [name, expected] : meta["tensors"].items()) {
      SCOPED_TRACE(name);
      EXPECT_EQ(state[i].first, name);
      expect_tensor(state[i++].second, expected);
    }
  }
}

TEST_F(ParityYolov5Checkpoint, GivesTheTensorsOfThePlainStateDictBesideIt) {
  int compared = 0;
  for (const auto& [path, meta] : recorded_) {
    const std::string plain_path = fs::path(path).replace_extension(".state_dict.pt");
    if (!fs::exists(plain_path)) continue;
    SCOPED_TRACE(path);
    const auto state = read_checkpoint(path).state;
    const auto plain = read_checkpoint(plain_path);
    EXPECT_TRUE(plain.about.is_null());
    ASSERT_EQ(state.size(), plain.state.size());
    for (std::size_t i = 0; i < state.size(); ++i) {
      EXPECT_EQ(state[i].first, plain.state[i].first);
      EXPECT_TRUE(torch::equal(state[i].second, plain.state[i].second)) << state[i].first;
    }
    ++compared;
  }
  EXPECT_GT(compared, 0) << "no state dict in " << test::checkpoints_folder();
}

TEST_F(ParityYolov5Checkpoint, TellsTableNamesClassesAndEpoch) {
  for (const auto& [path, meta] : recorded_) {
    SCOPED_TRACE(path);
    const Checkpoint checkpoint = read_checkpoint(path);
    EXPECT_EQ(checkpoint.about["yaml"], meta["yaml"]);
    EXPECT_EQ(checkpoint.about["nc"], meta["nc"]);
    EXPECT_EQ(checkpoint.about["epoch"], meta["epoch"]);
    auto names = ordered_json::array();
    for (const auto& [index, name] : meta["names"].items()) names.push_back(name);
    EXPECT_EQ(checkpoint.about["names"], names);
    EXPECT_TRUE(checkpoint.training.empty());
  }
}

}  // namespace
}  // namespace evolve::trainer
