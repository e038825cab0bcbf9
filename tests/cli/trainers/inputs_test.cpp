#include "cli/trainers/inputs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/json.hpp"
#include "tests/refusal.hpp"
#include "tests/trainer/data/files.hpp"

namespace evolve::cli {
namespace {

using testing::Optional;
using testing::StartsWith;

/// A data set of three images, and what is said from outside when a worker says something of one.
struct FaultFinderOfTheBuiltInTrainer : testing::Test {
  data::TemporaryFolder folder;
  trainer::TrainOptions options;
  /// What the run trains on; null: nobody knows.
  nlohmann::ordered_json inputs;

  FaultFinderOfTheBuiltInTrainer() {
    for (const std::string name : {"a", "b", "c"}) {
      data::write_image(folder / ("images/" + name + ".jpg"), 40, 20);
      data::write_file(folder / ("labels/" + name + ".txt"), "0 0.5 0.5 0.5 0.5\n");
    }
    options.data = data::write_file(folder / "d.yaml", "train: images\nval: images\nnames: [a]\n");
    options.cfg = "yolov5p.yaml";
  }

  std::optional<std::string> found(const std::string& said) {
    // As it comes from a worker: as JSON.
    const auto told = nlohmann::json::parse(core::json_text(nlohmann::json(said)));
    return fault_finder(BuiltIn{}, options, inputs)(told);
  }
};

TEST_F(FaultFinderOfTheBuiltInTrainer, SeesThatAnImageHasAnotherSizeThanItsHeaderSays) {
  const auto image = folder / "images/b.jpg";
  data::turn_by_exif(image, "XX");
  const auto said = image + ": its header says 40 x 20 pixels, OpenCV decodes 20 x 40; mend it";
  EXPECT_THAT(found(said), Optional(said));
}

TEST_F(FaultFinderOfTheBuiltInTrainer, SeesThatAnImageWhoseNameIsNotUtf8CannotBeDecoded) {
  auto bytes = data::read_file(data::write_image(folder / "images/d.png"));
  bytes[bytes.find("IDAT") + 6] ^= 0x55;
  std::filesystem::remove(folder / "images/d.png");
  const auto image = data::write_file(folder / "images/\xe9.png", bytes);
  EXPECT_THAT(found(image + ": cannot be decoded; remove it"),
              Optional(StartsWith((folder / "images/") + "\ufffd.png: cannot")));
}

TEST_F(FaultFinderOfTheBuiltInTrainer, BelievesThatWeightsAreOfATrainingThatDiverged) {
  const std::string said =
      "w.pt: its model.0 holds NaN: the training had diverged; begin anew with others";
  EXPECT_THAT(found(said), Optional(said));
}

TEST_F(FaultFinderOfTheBuiltInTrainer, SeesNothingWrongWithAnImageThatIsInOrder) {
  EXPECT_EQ(found((folder / "images/b.jpg") + ": cannot be decoded; remove it"), std::nullopt);
  EXPECT_EQ(found("something else"), std::nullopt);
}

TEST_F(FaultFinderOfTheBuiltInTrainer, SeesThatTheDataSetIsNotWhatTheRunBeganWith) {
  inputs = trained_on(inspect(options, training_splits), options);
  EXPECT_EQ(found("anything"), std::nullopt);
  std::filesystem::remove(folder / "images/c.jpg");
  EXPECT_THAT(found("anything"),
              Optional(StartsWith(options.data + ": 2 train images with 2 labels, the run began "
                                                 "with 3 with 3; bring them back")));
}

TEST_F(FaultFinderOfTheBuiltInTrainer, SeesThatTheModelIsNotWhatTheRunBeganWith) {
  const std::string table =
      "backbone: [[-1, 1, Conv, [8, 6, 2, 2]]]\nhead: [[[0], 1, Detect, [nc, anchors]]]\n"
      "anchors: 3\nnc: 1\n";
  options.cfg = data::write_file(folder / "model.yaml", table);
  inputs = trained_on(inspect(options, training_splits), options);
  EXPECT_EQ(found("anything"), std::nullopt);
  data::write_file(folder / "model.yaml", table + "depth_multiple: 0.5\n");
  EXPECT_THAT(
      found("anything"),
      Optional(StartsWith(options.cfg + ": this is another model than the run began with")));
}

TEST_F(FaultFinderOfTheBuiltInTrainer, BelievesThatAnImageWasReplaced) {
  const auto said = (folder / "images/b.jpg") +
                    ": has another size than at the start; bring it "
                    "back as it was";
  EXPECT_THAT(found(said), Optional(said));
}

TEST(ChangeFinder, FindsWeightsThatWereReplacedAndNoneThatAreAwayForAMoment) {
  const data::TemporaryFolder folder;
  const trainer::TrainOptions options{.data = data::write_file(folder / "d.yaml", "names: [a]\n"),
                                      .weights = data::write_file(folder / "w.pt", "weights")};
  const auto finder = change_finder(options, files_trained_on(options));
  const auto change = [&] {
    finder();  // half of a file says nothing
    return finder();
  };
  EXPECT_EQ(change(), std::nullopt);
  std::filesystem::remove(options.weights);
  EXPECT_EQ(change(), std::nullopt);
  data::write_file(options.weights, "weights");
  EXPECT_EQ(change(), std::nullopt);
  data::write_file(options.weights, "other weights");
  EXPECT_EQ(finder(), std::nullopt) << "it may still be written";
  EXPECT_THAT(change(), Optional(StartsWith(options.weights + ": these are other weights than")));
  data::write_file(options.weights, "weights");
  EXPECT_EQ(change(), std::nullopt);
  data::write_file(options.data, "names: [a, b]\n");
  EXPECT_THAT(change(), Optional(StartsWith(options.data + ": its images or classes are not")));
  EXPECT_FALSE(change_finder(options, {{"folder", "/"}})) << "it has no checksum";
}

// As on a file server that fails.
TEST(FilesTrainedOn, MustBeReadable) {
  EXPECT_EQ(test::refusal([] { files_trained_on({.weights = "/proc/self/mem"}); }),
            "/proc/self/mem: cannot be read; check its permissions and its disk");
}

// Between the checksums and the first look Ultralytics has been imported, for instance.
TEST(ChangeFinder, FindsWeightsThatWereReplacedBeforeItsFirstLook) {
  const data::TemporaryFolder folder;
  const trainer::TrainOptions options{.weights = data::write_file(folder / "w.pt", "weights")};
  const auto inputs = files_trained_on(options);
  data::write_file(options.weights, "other weights");
  const auto finder = change_finder(options, inputs);
  EXPECT_THAT(finder(), Optional(StartsWith(options.weights + ": these are other weights than")));
}

}  // namespace
}  // namespace evolve::cli
