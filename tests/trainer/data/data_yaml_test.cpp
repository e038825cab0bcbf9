#include "trainer/data/data_yaml.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <random>

#include "tests/refusal.hpp"
#include "tests/trainer/data/files.hpp"
#include "trainer/data/check.hpp"

namespace evolve::data {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// A folder with two training images, one of validation, and the YAML that a test writes.
struct DataYaml : testing::Test {
  TemporaryFolder folder;

  DataYaml() {
    for (const char* name : {"images/train/b.jpg", "images/train/deep/a.PNG", "images/val/c.bmp"}) {
      write_file(folder / name, "");
    }
    write_file(folder / "images/train/.hidden.jpg", "");
    write_file(folder / "images/train/lost+found/a.jpg", "");  // of the file system's own
    write_file(folder / "images/train/notes.txt", "");
  }

  DataConfig read(const std::string& text) {
    return read_data_yaml(write_file(folder / "d.yaml", text));
  }
  /// Of a file in another folder, read while this one is the current folder.
  DataConfig read_from(const std::string& current, const std::string& text) {
    const auto before = std::filesystem::current_path();
    std::filesystem::current_path(folder / current);
    const DataConfig config = read_data_yaml(write_file(folder / "elsewhere/d.yaml", text));
    std::filesystem::current_path(before);
    return config;
  }
  /// What is refused, without the folder's name.
  std::string refused(const std::string& text) {
    std::string line = test::refusal([&] { read(text); });
    const std::string prefix = folder / "";
    for (auto at = line.find(prefix); at != std::string::npos; at = line.find(prefix))
      line.erase(at, prefix.size());
    return line;
  }
};

TEST(Split, IsNamed) {
  for (const auto split : {Split::train, Split::val, Split::test})
    EXPECT_EQ(split_of(name_of(split)), split);
  EXPECT_EQ(test::refusal([] { split_of("speed"); }), "--task speed; choose train, val or test");
}

TEST_F(DataYaml, FindsTheImagesOfFolders) {
  const DataConfig config =
      read("path: .\ntrain: images/train\nval: images/val\nnames: [cat, dog]\n");
  EXPECT_THAT(config.names, ElementsAre("cat", "dog"));
  EXPECT_THAT(config.train,
              ElementsAre(folder / "images/train/b.jpg", folder / "images/train/deep/a.PNG"));
  EXPECT_THAT(config.val, ElementsAre(folder / "images/val/c.bmp"));
  EXPECT_TRUE(config.test.empty());
  EXPECT_FALSE(config.embedded);
}

TEST_F(DataYaml, TakesNamesAsAMapInAnyOrder) {
  EXPECT_THAT(read("train: images/train\nval: images/val\nnames: {1: dog, 0: cat}\nnc: 2\n").names,
              ElementsAre("cat", "dog"));
}

TEST_F(DataYaml, NumbersClassesOfWhichOnlyTheNumberIsToldAsYolov5v6Does) {
  const std::string splits = "train: images/train\nval: images/val\n";
  EXPECT_THAT(read(splits + "nc: 2\n").names, ElementsAre("class0", "class1"));
  for (const char* nc : {"0", "1.5", "-1", "1e9", "many", "[2]"}) {
    EXPECT_EQ(refused(splits + "nc: " + nc + "\n"),
              "d.yaml:3: nc is no number of classes; write a whole number from 1 to 100000")
        << nc;
  }
}

TEST_F(DataYaml, FindsAPathFromTheCurrentFolderWhenItIsNotBesideTheFile) {
  const auto config = read_from("images", "path: train\ntrain: deep\nval: ../val\nnames: [a]\n");
  EXPECT_THAT(config.train, ElementsAre(folder / "images/train/deep/a.PNG"));
}

TEST_F(DataYaml, FindsSplitsFromTheCurrentFolderWhereThereIsNoPathAndTheyAreNotBesideTheFile) {
  const auto config = read_from("images", "train: train/deep\nval: ../images/val\nnames: [a]\n");
  EXPECT_THAT(config.train, ElementsAre(folder / "images/train/deep/a.PNG"));
  EXPECT_THAT(config.val, ElementsAre(folder / "images/val/c.bmp"));
}

TEST_F(DataYaml, FindsAPathThatCountsFromTheFolderAboveTheFiles) {
  // As that of YOLOv5's data/coco128.yaml, ../datasets/coco128, does.
  const auto config =
      read("path: " + std::filesystem::path(folder / "").parent_path().filename().string() +
           "/images\ntrain: train/deep\nval: val\nnames: [a]\n");
  EXPECT_THAT(config.val, ElementsAre(folder / "images/val/c.bmp"));
}

TEST_F(DataYaml, LooksForAllSplitsBelowOneOfTheFoldersThatPathMayMean) {
  // In data/ of a checkout, with what it names beside data/; one of the splits is there too.
  std::filesystem::create_directories(folder / "elsewhere/val");
  write_file(folder / "elsewhere/val/other.jpg", "");
  const auto config = read_from("images", "path: .\ntrain: train/deep\nval: val\nnames: [a]\n");
  EXPECT_THAT(config.train, ElementsAre(folder / "images/train/deep/a.PNG"));
  EXPECT_THAT(config.val, ElementsAre(folder / "images/val/c.bmp"));
}

TEST_F(DataYaml, HasAnImageOnceHoweverOftenItIsListed) {
  write_file(folder / "list.txt", "./images/val/c.bmp\n./images/val/c.bmp\n");
  const auto config =
      read("train: [images/train, images/train/deep, images/train]\nval: list.txt\nnames: [a]\n");
  EXPECT_THAT(config.train,
              ElementsAre(folder / "images/train/b.jpg", folder / "images/train/deep/a.PNG"));
  EXPECT_THAT(config.val, ElementsAre(folder / "images/val/c.bmp"));
}

TEST_F(DataYaml, FollowsLinksToFoldersButNotBackToOneThatTheyLieIn) {
  // What `ln -s` leaves that is called twice.
  std::filesystem::create_directory_symlink(folder / "images/val", folder / "images/val/val");
  std::filesystem::create_directory_symlink("../..", folder / "images/train/up");
  std::filesystem::create_directory_symlink("../train/deep", folder / "images/val/deep");
  // Two that lead into each other.
  std::filesystem::create_directory_symlink("../../val", folder / "images/train/deep/val");
  const auto config = read("train: images/train\nval: images/val\nnames: [a]\n");
  EXPECT_THAT(config.train,
              ElementsAre(folder / "images/train/b.jpg", folder / "images/train/deep/a.PNG",
                          folder / "images/train/deep/val/c.bmp"));
  EXPECT_THAT(config.val,
              ElementsAre(folder / "images/val/c.bmp", folder / "images/val/deep/a.PNG"));
}

TEST_F(DataYaml, TakesNoFolderOrListThatCannotBeReadForAnEmptyOne) {
  using std::filesystem::perms;
  write_file(folder / "list.txt", "images/val/c.bmp\n");
  const std::string val = "val: images/val\nnames: [a]\n";
  std::filesystem::permissions(folder / "", perms::all);
  write_file(folder / "d.yaml", "");
  std::filesystem::permissions(folder / "d.yaml", perms::all);
  const bool is_root = geteuid() == 0;  // who may read everything: it is tried as nobody
  for (const std::string name : {"images/train/deep", "list.txt"}) {
    std::filesystem::permissions(folder / name, perms::none);
    const auto split = name == "list.txt" ? name : "images/train";
    ASSERT_EQ(is_root ? seteuid(65534) : 0, 0);
    const auto said = refused("train: " + std::string(split) + "\n" + val);
    ASSERT_EQ(is_root ? seteuid(0) : 0, 0);
    std::filesystem::permissions(folder / name, perms::owner_all);
    EXPECT_THAT(said, HasSubstr(name));
    EXPECT_THAT(said, HasSubstr("permissions"));
  }
}

TEST_F(DataYaml, TakesListsOfFoldersAndOfImages) {
  write_file(folder / "list.txt",
             "./images/val/c.bmp\n\n" + (folder / "images/train/b.jpg") + "\r\nreadme.md\n");
  const DataConfig config =
      read("train: [images/train/deep, images/val]\nval: list.txt\nnames: [a]\n");
  EXPECT_THAT(config.train,
              ElementsAre(folder / "images/train/deep/a.PNG", folder / "images/val/c.bmp"));
  EXPECT_THAT(config.val, ElementsAre(folder / "images/train/b.jpg", folder / "images/val/c.bmp"));
}

TEST_F(DataYaml, TakesAListThatBeginsWithAByteOrderMark) {
  write_file(folder / "list.txt", "\xEF\xBB\xBF./images/val/c.bmp\n./images/train/b.jpg\n");
  EXPECT_THAT(read("train: images/train\nval: list.txt\nnames: [a]\n").val,
              ElementsAre(folder / "images/train/b.jpg", folder / "images/val/c.bmp"));
}

TEST_F(DataYaml, FindsTheLabelsOfAListThatIsReadFromItsOwnFolder) {
  write_file(folder / "elsewhere/images/d.jpg", "");
  write_file(folder / "elsewhere/list.txt", "images/d.jpg\n");
  const std::string text = "train: list.txt\nval: ../images/val\nnames: [a]\n";
  for (const std::string current : {"elsewhere", "images"}) {
    const auto config = read_from(current, text);
    ASSERT_THAT(config.train, ElementsAre(folder / "elsewhere/images/d.jpg")) << current;
    EXPECT_EQ(label_file_of(config.train[0]), folder / "elsewhere/labels/d.txt");
  }
}

TEST_F(DataYaml, ForgivesAParentFolderThatIsNotThere) {
  EXPECT_THAT(read("train: ../images/train\nval: ../images/val\nnames: [a]\n").val,
              ElementsAre(folder / "images/val/c.bmp"));
}

TEST_F(DataYaml, RefusesWithFileAndLine) {
  const std::string splits = "train: images/train\nval: images/val\n";
  EXPECT_EQ(refused(splits), "d.yaml: there are no names; list the classes: names: [cat, dog]");
  EXPECT_EQ(refused(splits + "names: cat\n"),
            "d.yaml:3: names is neither a list nor a map; write names: [cat, dog]");
  EXPECT_EQ(refused(splits + "names: []\n"),
            "d.yaml:3: names is empty; list the classes: names: [cat, dog]");
  EXPECT_EQ(refused(splits + "names: [a, b]\nnc: 3\n"),
            "d.yaml:4: nc does not agree with the 2 names; write nc: 2 or leave it out");
  EXPECT_EQ(
      refused(splits + "names:\n  0: a\n  2: b\n"),
      "d.yaml:3: the keys of names do not count 0, 1, 2, …: there is no 1; number the 2 classes "
      "from 0 to 1");
  EXPECT_EQ(refused("train: images/train\nnames: [a]\n"),
            "d.yaml: there is no val; write val: and a folder of images");
  EXPECT_EQ(refused("train: images/nowhere\nval: images/val\nnames: [a]\n"),
            "d.yaml:1: train 'images/nowhere' does not exist; write a folder of images or a text "
            "file that lists them");
  EXPECT_EQ(refused("train: ''\nval: images/val\nnames: [a]\n"),
            "d.yaml:1: train is empty; write a folder of images or a text file that lists them");
  EXPECT_EQ(refused("train: /dev/null\nval: images/val\nnames: [a]\n"),
            "d.yaml:1: train '/dev/null' is no file; write a folder of images or a text file that "
            "lists them");
  EXPECT_EQ(refused("path: nowhere\n" + splits + "names: [a]\n"),
            "d.yaml:1: path 'nowhere' does not exist; write a folder, relative to this file or to "
            "the current folder");
  EXPECT_EQ(
      refused("path: nowhere\ndownload: https://x.org/y.zip\n" + splits + "names: [a]\n"),
      "d.yaml:1: path 'nowhere' does not exist; evolve downloads nothing: fetch the images first");
  EXPECT_EQ(refused(splits + "names: [a]\nkpt_shape: [17, 3]\n"),
            "d.yaml:4: its labels have keypoints, which would be read as outlines; take kpt_shape "
            "out if they are boxes, or train with --trainer ultralytics");
  EXPECT_EQ(refused("train: {a: b}\nval: images/val\nnames: [a]\n"),
            "d.yaml:1: train is no text; write one path");
  EXPECT_THAT(refused(splits + "names: [a\n"), HasSubstr("d.yaml:4: broken YAML"));
  EXPECT_EQ(refused("- a\n"), "d.yaml: is no data YAML; write path:, train:, val: and names:");
  EXPECT_THAT(refused(""), HasSubstr("d.yaml: this is empty"));
  EXPECT_EQ(refused(splits + "names: [a]\nval: images/train\n"),
            "d.yaml:4: val appears twice, first in line 2; keep one of them");
  EXPECT_EQ(test::refusal([] { read_data_yaml("/nowhere/d.yaml"); }),
            "/nowhere/d.yaml: there is no such file; give a data YAML, or 'shapes' for the "
            "embedded data set");
  EXPECT_EQ(test::refusal([] { read_data_yaml("/dev/null"); }),
            "/dev/null: this is no regular file, which each worker could read; copy it to one");
}

TEST_F(DataYaml, RefusesListsAndPathsAsWindowsHasThem) {
  const std::string utf16("\xff\xfe.\0/\0a\0.\0j\0p\0g\0\n\0", 18);
  write_file(folder / "list.txt", utf16);
  EXPECT_EQ(refused("train: list.txt\nval: images/val\nnames: [a]\n"),
            "list.txt: is no text in UTF-8; save it as UTF-8");
  EXPECT_EQ(
      refused("train: images\\train\nval: images/val\nnames: [a]\n"),
      "d.yaml:1: train 'images\\train' does not exist; write the path that it has here, with / "
      "for \\");
  EXPECT_EQ(refused("path: D:\\coco\ntrain: images/train\nval: images/val\nnames: [a]\n"),
            "d.yaml:1: path 'D:\\coco' does not exist; write the path that it has here, with / for "
            "\\");
}

TEST_F(DataYaml, TakesAListWithZerosAtItsEnd) {
  write_file(folder / "list.txt", "./images/val/c.bmp\n" + std::string(64, '\0'));
  EXPECT_THAT(read("train: list.txt\nval: list.txt\nnames: [a]\n").train,
              ElementsAre(folder / "images/val/c.bmp"));
}

TEST_F(DataYaml, RefusesASplitWithoutImages) {
  std::filesystem::create_directories(folder / "images/empty");
  EXPECT_EQ(refused("train: images/empty\nval: images/val\nnames: [a]\n"),
            "d.yaml:1: train 'images/empty' holds no images; put .jpg or .png files there");
  write_file(folder / "list.txt", "images/train\n");
  EXPECT_EQ(refused("train: list.txt\nval: images/val\nnames: [a]\n"),
            "d.yaml:1: train 'list.txt' holds no images; write one on each line, such as "
            "./images/1.jpg");
}

TEST_F(DataYaml, LeavesAListedImageThatIsAbsentToTheCheckOfAllImages) {
  write_file(folder / "list.txt", "./images/val/d.bmp\nimages/val/e.bmp\n");
  const auto config = read("train: list.txt\nval: images/val\nnames: [a]\n");
  EXPECT_THAT(config.train, ElementsAre(folder / "images/val/d.bmp", folder / "images/val/e.bmp"));
  EXPECT_EQ(check(config, Split::train).faults.size(), 2U);
}

TEST_F(DataYaml, ReadsOnlyTheSplitsThatAreAskedFor) {
  const auto file = write_file(folder / "d.yaml",
                               "train: images/train\nval: images/val\ntest: nowhere\nnames: [a]\n");
  const auto config = read_data_yaml(file, {Split::train, Split::val});
  EXPECT_EQ(config.train.size(), 2U);
  EXPECT_EQ(config.val.size(), 1U);
  EXPECT_TRUE(config.test.empty());
  EXPECT_TRUE(with_fraction(read_data_yaml(file, {Split::val}), 0.5).train.empty());
  EXPECT_THAT(test::refusal([&] { read_data_yaml(file, {Split::test}); }),
              HasSubstr("d.yaml:3: test "));
}

TEST_F(DataYaml, RepairsNamesThatAreNotUtf8) {
  EXPECT_THAT(
      read("train: images/train\nval: images/val\nnames: [caf\xe9, 'na\xc3\xafve']\n").names,
      ElementsAre("caf\ufffd", "na\u00efve"));
}

TEST_F(DataYaml, SurvivesGarbage) {
  const std::string start =
      "path: .\ntrain: images/train\nval: [images/val]\nnc: 2\nnames: {0: cat, 1: dog}\n";
  std::mt19937 random(1);
  int read_well = 0;
  for (int i = 0; i < 200; ++i) {
    std::string text = start;
    for (unsigned changes = random() % 4; changes > 0; --changes) {
      text[random() % text.size()] =
          random() % 2 ? static_cast<char>(random()) : "{}[]:&*!|>'\"%@-\n ,#?"[random() % 20];
    }
    try {
      read(text);
      ++read_well;
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr("d.yaml"));
    }
  }
  EXPECT_GT(read_well, 25);
}

TEST(LabelFileOf, ReplacesTheLastImagesFolderAndTheEnding) {
  EXPECT_EQ(label_file_of("/a/images/b/images/c.d.jpg"), "/a/images/b/labels/c.d.txt");
  EXPECT_EQ(label_file_of("/a/photos/c.jpg"), "/a/photos/c.txt");
}

}  // namespace
}  // namespace evolve::data
