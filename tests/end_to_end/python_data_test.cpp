// What the trainers in Python train on stays what the run began with.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "python_trainer.hpp"

namespace evolve::test {
namespace {

using testing::HasSubstr;

/// Data sets with two images.
void write_images(const Folder& folder) {
  write_data(folder);
  for (const auto* name :
       {"images/a.png", "images/b.png", "classes/val/a.png", "classes/val/b.png"})
    write_file(folder / name, "pixels");
}

std::string fault(const std::string& images) {
  return images +
         " images, the run began with 2; bring them back, or begin a new run that learns from this "
         "one: evolve --from RUN";
}

/// Trains one trial of `model`, adds an image, and expects not to go on until it has gone.
void expect_no_other_images(const std::string& trainer, const std::string& model,
                            const std::string& added, const std::string& split) {
  Folder folder;
  write_images(folder);
  const auto ended = Process(command_of(trainer, trials(model)), folder.path()).wait();
  ASSERT_EQ(ended.code, 0) << ended.err;
  write_file(folder / added, "pixels");
  const auto others = resumed(folder, {"--trials", "2"});
  EXPECT_EQ(others.code, 2);
  EXPECT_THAT(others.err, HasSubstr(fault("3 " + split)));
  std::filesystem::remove(folder / added);
  EXPECT_EQ(resumed(folder, {"--trials", "2"}).code, 0);
  EXPECT_EQ(count(journal(folder / "run"), "completed"), 2);
}

/// Removes a file or folder while a run goes on, and expects that no trial is trained on the images
/// that are left, or lost.
void expect_an_end(const std::string& trainer, const std::string& model, const std::string& removed,
                   const std::string& left) {
  Folder folder;
  write_images(folder);
  Process process(command_of(trainer, trials(model, 5000)), folder.path());
  ASSERT_TRUE(eventually([&] { return completed(folder / "run").size() >= 2; }));
  std::filesystem::rename(folder / removed, folder / "away");
  const auto ended = process.wait();
  EXPECT_EQ(ended.code, 1);
  EXPECT_THAT(ended.err, HasSubstr(fault(left)));
  for (const auto& event : journal(folder / "run"))
    if (event["event"] == "failed") {
      EXPECT_EQ(event["kind"], "data");
      EXPECT_EQ(event["final"], false);
    }
}

TEST(PythonData, AreNotGoneOnWithOnceTheyAreOthers) {
  expect_no_other_images("ultralytics", "yolo11n.yaml", "images/c.png", "train");
  expect_no_other_images("ultralytics", "yolo11n-cls.pt", "classes/val/c.png", "val");
  expect_no_other_images("yolov5", "yolov5n.yaml", "images/c.png", "train");
}

// What its YAML says of a download holds only where they are not here.
TEST(PythonData, ThatCouldBeFetchedAreComparedAsOthersAre) {
  for (const std::string trainer : {"ultralytics", "yolov5"}) {
    Folder folder;
    write_images(folder);
    write_file(folder / "my.yaml", "train: images\ndownload: a URL\n");
    const auto* model = trainer == "yolov5" ? "yolov5n.yaml" : "yolo11n.yaml";
    ASSERT_EQ(Process(command_of(trainer, trials(model)), folder.path()).wait().code, 0);
    std::filesystem::remove(folder / "images/b.png");
    EXPECT_THAT(resumed(folder, {"--trials", "2"}).err, HasSubstr(fault("1 train"))) << trainer;
  }
}

TEST(PythonData, ThatChangeWhileARunGoesOnEndIt) {
  for (const std::string removed : {"images/b.png", "images"}) {
    const auto left = removed == "images" ? "0 train" : "1 train";
    expect_an_end("ultralytics", "yolo11n.yaml", removed, left);
    expect_an_end("yolov5", "yolov5n.yaml", removed, left);
  }
}

}  // namespace
}  // namespace evolve::test
