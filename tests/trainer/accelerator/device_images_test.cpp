// Images and boxes on the card against those on the host.

#include "trainer/device/device_images.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <opencv2/core.hpp>

#include "tests/trainer/accelerator/simulated_accelerator.hpp"
#include "trainer/evaluation/candidate_rows.hpp"
#include "trainer/evaluation/nms.hpp"
#include "workers/protocol/text.hpp"

namespace evolve::trainer {
namespace {

using test::simulated_card;

/// Four images of 64 x 64, as both sets.
struct Sets {
  Sets() {
    for (int i = 0; i < 4; ++i) {
      data::Image image;
      image.pixels = cv::Mat(64, 64, CV_8UC3, cv::Scalar::all(i));
      image.original_width = image.original_height = 64;
      training.images.push_back(image);
    }
    validation = data::validation_set(training, 2, 32, /*rect=*/false);
  }
  DeviceImages on_card(std::int64_t budget) const {
    return device_images(training, validation, simulated_card, budget, [] {});
  }

  data::Dataset training{.names = {"a"}, .imgsz = 64, .images = {}};
  data::ValidationSet validation;
};

TEST(DeviceImages, StayOnTheHostWhereTheyDoNotFit) {
  const Sets sets;
  constexpr std::int64_t training = 3 * (4 * 64 * 64 + 1), validation = 3 * 4 * 64 * 64;
  const auto both = sets.on_card(training + validation);
  EXPECT_TRUE(both.training.has_value());
  ASSERT_EQ(both.validation.size(), 2U);
  EXPECT_EQ(both.validation[1].sizes(), (std::vector<std::int64_t>{2, 3, 64, 64}));
  EXPECT_TRUE((both.validation[1].cpu()[0] == 2).all().item<bool>());

  testing::internal::CaptureStderr();
  const auto one = sets.on_card(training + validation - 1);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "validation images stay on the host: they are 49152 bytes, " + simulated_card.str() +
                " has room for 49151\n");
  EXPECT_TRUE(one.training.has_value());
  EXPECT_TRUE(one.validation.empty());

  testing::internal::CaptureStderr();
  EXPECT_FALSE(sets.on_card(training - 1).training.has_value());
  testing::internal::GetCapturedStderr();
}

TEST(DeviceImages, StayOnTheHostInWordsThatNoFailureHasWhereTheCardIsFullerThanItSaid) {
  const Sets sets;
  const test::NothingLargerThan small_pieces(20'000);  // batches of the validation have 24,576
  testing::internal::CaptureStderr();
  const auto none = sets.on_card(1 << 30);
  const auto said = testing::internal::GetCapturedStderr();
  EXPECT_EQ(said, "training images stay on the host: " + simulated_card.str() +
                      " has no room for them any more\nvalidation images stay on the host: " +
                      simulated_card.str() + " has no room for them any more\n");
  EXPECT_EQ(workers::kind_in(said, hyp::FailureKind::crash), hyp::FailureKind::crash);
  EXPECT_FALSE(none.training.has_value());
  EXPECT_TRUE(none.validation.empty());
}

TEST(DeviceImages, FillNoTensorOf4GibOnAnXpu) {
  data::Dataset many{.names = {"a"}, .imgsz = 2048, .images = {}};
  data::Image image;
  image.pixels.create(2048, 2048, CV_8UC3);  // shared by all of them
  image.original_width = image.original_height = 2048;
  many.images.assign(300, image);
  constexpr std::int64_t bytes = 3 * (300LL * 2048 * 2048 + 1), gib = 1 << 30;
  testing::internal::CaptureStderr();
  EXPECT_FALSE(device_images(many, {}, simulated_card, 8 * gib, [] {}).training.has_value());
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            fmt::format("training images stay on the host: they are {} bytes, {} has room for {}\n",
                        bytes, simulated_card.str(), 7 * gib / 2));
}

/// Boxes of two images whose confidences often are equal, `kept` of a hundred of them above the
/// threshold.
torch::Tensor boxes(int kept) {
  torch::manual_seed(kept);
  auto boxes = torch::rand({2, 3000, 8});
  boxes.slice(2, 0, 4).mul_(60);
  boxes.slice(2, 4).mul_(20).ceil_().div_(20);
  boxes.select(2, 4).mul_(torch::rand({2, 3000}) * 100 < kept);
  boxes[1][7][4] = std::nanf("");
  boxes[1][8][6] = std::nanf("");
  return boxes;
}

TEST(CandidateReader, LetsNmsFindTheSameInTheSameOrder) {
  CandidateReader reader(0.1);
  for (const int kept : {10, 5, 90, 0, 100}) {  // twice it has to look again
    const auto all = boxes(kept);
    const auto some = reader.read(all.to(simulated_card));
    EXPECT_LE(some.rows.size(0), 60 * kept + 600);
    const auto everything = CandidateReader(0.1).read(all);
    for (std::size_t image = 0; image < 2; ++image) {
      const auto found = non_max_suppression(some.of(image), 3, {.conf = 0.1});
      EXPECT_EQ(found, non_max_suppression(everything.of(image), 3, {.conf = 0.1}));
      EXPECT_EQ(found.empty(), kept == 0);
    }
  }
}

TEST(CandidateReader, CopiesOnceAndWaitsOnceWhereBatchesAreAlike) {
  CandidateReader reader(0.1);
  const auto first = boxes(10).to(simulated_card), second = boxes(11).to(simulated_card);
  reader.read(first);
  const auto before = test::card_counts();
  reader.read(second);
  const auto asked = test::card_counts() - before;
  EXPECT_EQ(asked.waits, 1);
  EXPECT_EQ(asked.downloads, 1);
  EXPECT_LT(asked.downloaded_bytes, 2 * 3000 * 8 * 4 / 3);
}

}  // namespace
}  // namespace evolve::trainer
