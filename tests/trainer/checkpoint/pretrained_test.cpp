#include "trainer/checkpoint/pretrained.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include "tests/refusal.hpp"
#include "tests/trainer/formula.hpp"

namespace evolve::trainer {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// A checkpoint of a fresh yolov5p of 3 classes whose anchors are those of no table.
Checkpoint checkpoint() {
  auto detector = test::make("yolov5p.yaml");
  detector.set_anchors(torch::arange(1.F, 19.F).view({3, 3, 2}) * 8);
  auto table = to_json(read_model_table("yolov5p.yaml"));
  return {.state = state_dict(detector), .about = {{"yaml", table}, {"nc", 3}}};
}

std::string refused(const Checkpoint& checkpoint) {
  return test::refusal([&] { detector_of(checkpoint, "x.pt"); });
}

TEST(Pretrained, DetectorIsThatOfTheFile) {
  const Checkpoint file = checkpoint();
  const auto state = state_dict(*detector_of(file, "x.pt"));
  ASSERT_EQ(state.size(), file.state.size());
  for (std::size_t i = 0; i < state.size(); ++i) {
    EXPECT_EQ(state[i].first, file.state[i].first);
    EXPECT_TRUE(torch::equal(state[i].second, file.state[i].second)) << state[i].first;
  }
}

TEST(Pretrained, ConfigHasTheAnchorsOfTheFileInPixels) {
  const ModelConfig config = config_of(checkpoint(), "x.pt");
  EXPECT_EQ(config.nc, 3);
  EXPECT_FALSE(config.anchors_unknown);
  EXPECT_THAT(config.anchors,
              ElementsAre(ElementsAre(8, 16, 24, 32, 40, 48), ElementsAre(56, 64, 72, 80, 88, 96),
                          ElementsAre(104, 112, 120, 128, 136, 144)));
}

TEST(Pretrained, ConfigTakesClassesAndAnchorsOfTheTraining) {
  const ModelConfig config = config_of(checkpoint(), "x.pt", 7, 5);
  EXPECT_EQ(config.nc, 7);
  EXPECT_TRUE(config.anchors_unknown);
  EXPECT_EQ(config.anchors_per_level(), 5);
}

TEST(Pretrained, DetectorOfAFileWithoutATableHasTheOneThatIsNamed) {
  Checkpoint file = checkpoint();
  file.about = nlohmann::ordered_json::object();
  const auto table = read_model_table("yolov5p.yaml");
  const auto state = state_dict(*detector_of(config_of(table, file, "x.pt", 3), file, "x.pt"));
  for (std::size_t i = 0; i < state.size(); ++i)
    EXPECT_TRUE(torch::equal(state[i].second, file.state[i].second)) << state[i].first;
}

/// "anchors: 4" in the hyperparameters leaves but the number in the table.
TEST(Pretrained, ConfigOfATableThatOnlyCountsAnchors) {
  Checkpoint file = checkpoint();
  file.about["yaml"]["anchors"] = 3;
  EXPECT_EQ(config_of(file, "x.pt").anchors, config_of(checkpoint(), "x.pt").anchors);
  file.about["yaml"]["anchors"] = 4;
  EXPECT_THAT(refused(file), HasSubstr("its model.24.anchors are not the 3 x 4 of its table"));
}

// AutoAnchor keeps them where every box is near enough to one of them.
TEST(Pretrained, AnchorsThatAreButPlaceholdersAreReadBack) {
  auto detector = test::make("yolov5p.yaml");
  detector.set_anchors(torch::arange(0.F, 6.F).view({1, 3, 2}).repeat({3, 1, 1}));
  const Checkpoint file = checkpoint_of(detector, {"a", "b", "c"});
  EXPECT_EQ(file.about["yaml"]["anchors"], 3);
  EXPECT_THAT(config_of(file, "x.pt").anchors, Each(ElementsAre(0, 1, 2, 3, 4, 5)));
  EXPECT_TRUE(
      torch::equal(detector_of(file, "x.pt")->anchors_in_pixels(), detector.anchors_in_pixels()));
}

TEST(Pretrained, RefusesAFileWithoutATable) {
  Checkpoint file = checkpoint();
  file.about = nullptr;
  EXPECT_THAT(refused(file), HasSubstr("x.pt: the file does not tell its model table; add --cfg"));
}

TEST(Pretrained, RefusesATableThatTheWeightsDoNotFill) {
  Checkpoint file = checkpoint();
  file.state.erase(file.state.begin());
  EXPECT_THAT(refused(file), HasSubstr("1 of the 349 tensors of its model are missing"));
}

/// Building such a model would take terabytes.
TEST(Pretrained, RefusesATableOfMoreWeightsThanTheFileHas) {
  Checkpoint file = checkpoint();
  file.about["yaml"]["width_multiple"] = 50;
  EXPECT_THAT(refused(file), HasSubstr("x.pt: its table has "));
  file = checkpoint();
  file.about["nc"] = 100000;
  EXPECT_THAT(refused(file), HasSubstr("x.pt: its table has "));
  // A hundred names for the same numbers are no more numbers.
  const auto shared = file.state.front().second;
  for (int i = 0; i < 100000; ++i) file.state.emplace_back(std::to_string(i), shared);
  EXPECT_THAT(refused(file), HasSubstr("x.pt: its table has "));
}

TEST(Pretrained, CountsTheParametersOfAModel) {
  for (const auto* table : {"yolov5p.yaml", "yolov5n.yaml"}) {
    const auto detector = test::make(table);
    double count = 0;
    for (const auto& parameter : detector.parameters()) count += double(parameter.numel());
    EXPECT_EQ(count_parameters(detector.config()), count) << table;
  }
}

}  // namespace
}  // namespace evolve::trainer
