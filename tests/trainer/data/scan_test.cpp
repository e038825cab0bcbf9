#include "trainer/data/scan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/trainer/data/files.hpp"
#include "trainer/data/cache_file.hpp"
#include "trainer/data/check.hpp"

namespace evolve::data {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;

struct ScanTest : testing::Test {
  TemporaryFolder folder;
  DataConfig config{
      .file = folder / "d.yaml", .names = {"cat", "dog"}, .train = {}, .val = {}, .test = {}};
  int looked_at = 0;

  ScanTest() {
    for (const char* name : {"a", "b", "c"}) {
      config.train.push_back(write_image(folder / (std::string("images/") + name + ".png")));
      write_file(label_file_of(config.train.back()), "1 0.5 0.5 0.5 0.25\n");
    }
    write_file(label_file_of(config.train[1]), "0 0.1 0.1 0.5 0.1 0.5 0.5\n");
  }

  std::string cache_of(std::size_t classes) const {
    return cache_file(folder / "cache", "labels",
                      {config.file, name_of(Split::train), std::to_string(classes), "", "",
                       cv::getVersionString()});
  }

  std::vector<ScannedImage> scanned(bool single_cls = false) {
    looked_at = 0;
    return scan(config, Split::train,
                {.single_cls = single_cls,
                 .cache_folder = folder / "cache",
                 .threads = 1,
                 .beat = [this](int done, int) { looked_at += done > 0; }});
  }
};

/// Other bytes in a file of the same size and time.
void change_unseen(const std::string& file, char byte) {
  const auto time = std::filesystem::last_write_time(file);
  write_file(file, std::string(read_file(file).size(), byte));
  std::filesystem::last_write_time(file, time);
}

TEST_F(ScanTest, RemembersWhatItFound) {
  const auto first = scanned();
  EXPECT_EQ(looked_at, 3);
  for (const auto& file : config.train) change_unseen(file, '?');
  const auto second = scanned();
  EXPECT_EQ(looked_at, 0);
  ASSERT_THAT(second, SizeIs(3));
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(second[i].file, config.train[i]);
    EXPECT_EQ(second[i].fault, "");
    EXPECT_EQ(second[i].size.width, 20);
    EXPECT_EQ(second[i].size.height, 16);
    EXPECT_EQ(second[i].found.labels, first[i].found.labels);
    EXPECT_EQ(second[i].found.segments, first[i].found.segments);
  }
  EXPECT_THAT(second[1].found.segments, ElementsAre(SizeIs(3)));
}

TEST_F(ScanTest, LooksAgainAtWhatHasChanged) {
  scanned();
  write_file(config.train[0], "no image");
  write_file(label_file_of(config.train[1]), "5 0.5 0.5 0.5 0.5\n");
  std::filesystem::remove(label_file_of(config.train[2]));
  const auto images = scanned();
  EXPECT_THAT(images[0].fault, StartsWith(config.train[0] + ": is truncated"));
  EXPECT_THAT(images[1].fault, StartsWith(label_file_of(config.train[1]) + ":1: '5' is no class"));
  EXPECT_EQ(images[2].fault, "");
  EXPECT_THAT(images[2].found.labels, IsEmpty());
}

TEST_F(ScanTest, SaysWhereItHasNoFolderThatNothingIsRemembered) {
  std::vector<std::string> notes;
  scan(config, Split::train,
       {.threads = 1, .note = [&](const std::string& note) { notes.push_back(note); }});
  EXPECT_THAT(
      notes,
      ElementsAre("neither XDG_CACHE_HOME (an absolute path) nor HOME is set: the check is not "
                  "remembered"));
}

TEST_F(ScanTest, LooksAgainWhereACacheEndsEarly) {
  scanned();
  const std::string kind = "evolve labels 4";
  const auto bytes = read_file(cache_of(2));
  const std::string records(read_records(kind, bytes).value());
  write_file(cache_of(2), with_head(kind, records.substr(0, records.size() - 8)));
  EXPECT_THAT(scanned(), SizeIs(3));
  EXPECT_EQ(looked_at, 3);
}

TEST_F(ScanTest, TakesNoClassThatTheDataSetDoesNotNameFromACache) {
  scanned();
  config.names = {"cat"};
  std::filesystem::copy_file(cache_of(2), cache_of(1));
  const auto images = scanned();
  EXPECT_THAT(images[0].fault, StartsWith(label_file_of(config.train[0]) + ":1: "));
  EXPECT_EQ(images[1].fault, "");
}

TEST_F(ScanTest, RemembersNoFault) {
  write_file(config.train[0], "no image");
  EXPECT_NE(scanned()[0].fault, "");
  const auto time = std::filesystem::last_write_time(config.train[0]);
  std::filesystem::remove(config.train[0]);
  const auto png = read_file(write_image(folder / "other.png"));
  write_file(config.train[0], png);
  std::filesystem::last_write_time(config.train[0], time);
  EXPECT_EQ(scanned()[0].fault, "");
}

TEST_F(ScanTest, TakesNoLabelsThatCannotBeReadForNone) {
  const auto labels = label_file_of(config.train[1]);
  std::filesystem::remove(labels);
  EXPECT_EQ(scanned()[1].fault, "");
  std::filesystem::create_symlink("b.txt", labels);
  const auto images = scanned();
  EXPECT_EQ(looked_at, 3);
  EXPECT_EQ(images[0].fault, "");
  EXPECT_THAT(images[1].fault, StartsWith(labels + ": cannot be read ("));
  EXPECT_THAT(images[2].found.labels, SizeIs(1));
}

TEST_F(ScanTest, LooksAgainWhenTheClassesAreOthers) {
  config.names = {"cat"};
  EXPECT_NE(scanned()[0].fault, "");
  config.names = {"cat", "dog"};
  EXPECT_EQ(scanned()[0].fault, "");
  config.names = {"cat"};
  EXPECT_NE(scanned()[0].fault, "");
}

TEST_F(ScanTest, RemembersLabelsOfOneClassApartFromThoseOfTheirOwn) {
  EXPECT_EQ(scanned(true)[0].found.labels[0].cls, 0);
  EXPECT_EQ(scanned(false)[0].found.labels[0].cls, 1);
  EXPECT_EQ(looked_at, 3);
  EXPECT_EQ(scanned(true)[0].found.labels[0].cls, 0);
  EXPECT_EQ(looked_at, 0);
}

TEST_F(ScanTest, DoesWithoutAFolderThatCannotBeWritten) {
  write_file(folder / "cache", "no folder");
  std::vector<std::string> notes;
  const auto stats =
      check(config, Split::train,
            {.cache_folder = folder / "cache", .note = [&](auto& line) { notes.push_back(line); }});
  EXPECT_EQ(stats.images, 3);
  EXPECT_THAT(notes, ElementsAre((folder / "cache") +
                                 ": cannot be written (Not a directory): the check is not "
                                 "remembered"));
}

TEST_F(ScanTest, OfAShareTakesTheFirstImages) {
  EXPECT_THAT(with_fraction(config, 0.5).train, ElementsAre(config.train[0], config.train[1]));
  EXPECT_THAT(with_fraction(config, 0.01).train, ElementsAre(config.train[0]));
  config.train.resize(1);
  config.train.resize(5, "x");
  EXPECT_THAT(with_fraction(config, 0.5).train,
              SizeIs(2));  // 2.5: Python rounds to the even number
  EXPECT_THAT(with_fraction(config, 1).train, SizeIs(5));
}

TEST_F(ScanTest, RemembersAnImageAsOftenAsItIsListed) {
  config.train.push_back(config.train[1]);
  const auto first = scanned();
  const auto second = scanned();
  EXPECT_EQ(looked_at, 0);
  ASSERT_THAT(second, SizeIs(4));
  for (const auto place : {1U, 3U}) {
    EXPECT_EQ(second[place].file, config.train[1]);
    EXPECT_THAT(second[place].found.labels, SizeIs(1));
    EXPECT_EQ(second[place].found.segments, first[place].found.segments);
  }
}

}  // namespace
}  // namespace evolve::data
