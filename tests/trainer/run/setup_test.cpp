#include "trainer/run/setup.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <map>

#include "hyp/space.hpp"
#include "tests/refusal.hpp"
#include "tests/temporary_folder.hpp"
#include "tests/trainer/formula.hpp"
#include "trainer/checkpoint/checkpoint.hpp"

namespace evolve::trainer {
namespace {

using ::testing::HasSubstr;

/// Weights of yolov5p with 3 classes and anchors of 8, 16, 24, … pixels, with their table or bare.
class Setup : public ::testing::Test {
 protected:
  void SetUp() override {
    auto detector = test::make("yolov5p.yaml");
    detector.set_anchors(own_anchors_);
    Checkpoint checkpoint{.state = state_dict(detector)};
    write_checkpoint(bare_, checkpoint);
    checkpoint.about = {{"yaml", to_json(read_model_table("yolov5p.yaml"))}, {"nc", 3}};
    write_checkpoint(whole_, checkpoint);
  }

  torch::Tensor anchors(const TrainOptions& options, const hyp::Hyperparameters& hyp) {
    return make_detector(options, hyp, pretrained_weights(options), 1, data_)->anchors_in_pixels();
  }

  const test::TemporaryFolder folder_;
  const std::string whole_ = folder_ / "whole.pt";
  const std::string bare_ = folder_ / "bare.pt";
  const torch::Tensor own_anchors_ = torch::arange(1.F, 19.F).view({3, 3, 2}) * 8;
  PreparedData data_{{.data = "shapes", .imgsz = 64}, 32, 1};
};

TEST_F(Setup, TakesTableAndAnchorsFromTheWeights) {
  const TrainOptions options{.weights = whole_, .noautoanchor = true};
  EXPECT_TRUE(torch::equal(anchors(options, {}), own_anchors_));
  const auto weights = pretrained_weights(options);
  EXPECT_EQ(model_config(options, {}, weights, {}).nc, 3);
  EXPECT_EQ(model_config(options, {}, weights, 7).nc, 7);
}

TEST_F(Setup, PrefersTheAnchorsOfATableThatIsNamed) {
  const TrainOptions options{.cfg = "yolov5p.yaml", .weights = whole_, .noautoanchor = true};
  EXPECT_EQ(anchors(options, {})[0][0][0].item<float>(), 10);
}

TEST_F(Setup, FitsAsManyAnchorsAsTheHyperparameterSays) {
  for (const auto& [asked, count] : std::map<double, std::int64_t>{{2.0, 2}, {0.7, 1}}) {
    const hyp::Hyperparameters hyp{{"anchors", asked}, {"anchor_t", 4.0}};
    EXPECT_EQ(anchors({.weights = whole_}, hyp).sizes(), (std::vector<std::int64_t>{3, count, 2}));
  }
}

TEST_F(Setup, KeepsTheAnchorsWhereTheHyperparameterIs0) {
  const hyp::Hyperparameters without{{"anchor_t", 4.0}};
  for (const double none : {0.0, 0.3}) {
    const hyp::Hyperparameters zero{{"anchors", none}, {"anchor_t", 4.0}};
    EXPECT_TRUE(anchors({.weights = whole_}, zero).equal(anchors({.weights = whole_}, without)));
  }
}

TEST_F(Setup, TakesEachNumberOfAnchorsBetweenTwoThatItTakes) {
  auto hyp = hyp::start_of(hyp::default_space());
  for (const double count : {0.0, 0.3, 0.52, 0.96, 2.5, 1000.0}) {
    hyp.set("anchors", count);
    EXPECT_NO_THROW(check_hyperparameters(hyp)) << count;
  }
}

TEST_F(Setup, NeedsATableFromSomewhere) {
  const auto refused = [&](const TrainOptions& options) {
    return test::refusal([&] { model_config(options, {}, pretrained_weights(options), {}); });
  };
  EXPECT_THAT(refused({.weights = bare_}), HasSubstr("does not tell its model table; add --cfg"));
  EXPECT_THAT(refused({}), HasSubstr("there is no --cfg"));
}

TEST(PreparedData, ValidatesTwiceTheImagesOfABatchAtOnceInRectangles) {
  const PreparedData data({.data = "shapes", .batch_size = 24, .imgsz = 64}, 32, 1);
  std::vector<std::size_t> sizes;
  for (const auto& batch : data.validation().batches) {
    sizes.push_back(batch.images.size());
    EXPECT_EQ(batch.height, 96);  // 64 and half a stride, in whole ones
    EXPECT_EQ(batch.width, 96);
  }
  EXPECT_THAT(sizes, testing::ElementsAre(48, 48, 4));
}

}  // namespace
}  // namespace evolve::trainer
