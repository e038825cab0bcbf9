#include "trainer/data/label_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "tests/refusal.hpp"
#include "tests/trainer/data/files.hpp"
#include "trainer/data/data_yaml.hpp"

namespace evolve::data {
namespace {

LabelFile parse(const std::string& text) {
  return parse_labels(text, "a.txt", 3, false);
}

std::string refused(const std::string& text) {
  return test::refusal([&] { parse(text); });
}

TEST(LabelFile, ReadsBoxes) {
  const LabelFile file = parse("0 0.5 0.25 0.125 1\n2\t1e-1 .5 0.0 0.75\r\n");
  EXPECT_EQ(file.labels,
            (std::vector<Label>{{0, 0.5F, 0.25F, 0.125F, 1}, {2, 0.1F, 0.5F, 0, 0.75F}}));
  EXPECT_TRUE(file.segments.empty());
}

TEST(LabelFile, SkipsEmptyLines) {
  EXPECT_EQ(parse("\n  \n1 0.5 0.5 0.5 0.5\n\n").labels.size(), 1U);
  EXPECT_TRUE(parse("").labels.empty());
}

TEST(LabelFile, TakesAWholeNumberWrittenAsAFloat) {
  EXPECT_EQ(parse("1.0 0.5 0.5 0.5 0.5").labels[0].cls, 1);
}

TEST(LabelFile, ReadsANumberThatIsTooSmallAsZero) {
  EXPECT_EQ(parse("0 0.5 1e-400 0.5 0.5").labels[0].y, 0);
}

TEST(LabelFile, ComparesCoordinatesAsFloatsAsYolov5Does) {
  for (const char* one : {"1.0000000000000002", "1.00000001"})
    EXPECT_EQ(parse("0 0.5 0.5 " + std::string(one) + " 0.5").labels[0].w, 1);
  EXPECT_EQ(refused("0 0.5 0.5 1.0000001 0.5"),
            "a.txt:1: coordinate 1.0000001 is outside 0..1; write shares of the image's width and "
            "height, and cut the box off at its edges");
  EXPECT_EQ(refused("0 -1e-9 0.5 0.5 0.5"),
            "a.txt:1: coordinate -1e-9 is outside 0..1; write shares of the image's width and "
            "height, and cut the box off at its edges");
}

TEST(LabelFile, EndsLinesAsPythonDoes) {
  const std::vector<Label> both = {{0, 0.5F, 0.5F, 0.5F, 0.5F}, {1, 0.25F, 0.5F, 0.5F, 0.5F}};
  for (const std::string end : {"\n", "\r\n", "\r"}) {
    const auto file = parse("0 0.5 0.5 0.5 0.5" + end + "1 0.25 0.5 0.5 0.5" + end);
    EXPECT_EQ(file.labels, both);
    EXPECT_TRUE(file.segments.empty());
    EXPECT_EQ(refused(end + "5 0.5 0.5 0.5 0.5"),
              "a.txt:2: '5' is no class; write an integer from 0 to 2");
  }
}

TEST(LabelFile, TakesANoBreakSpaceForABlank) {
  EXPECT_EQ(parse("0 0.5\u00a00.5 0.5 0.25\u00a0\n").labels,
            (std::vector<Label>{{0, 0.5F, 0.5F, 0.5F, 0.25F}}));
}

TEST(LabelFile, MayBeginWithAByteOrderMark) {
  EXPECT_EQ(parse("\xEF\xBB\xBF"
                  "0 0.5 0.5 0.5 0.25\n")
                .labels,
            (std::vector<Label>{{0, 0.5F, 0.5F, 0.5F, 0.25F}}));
}

TEST(LabelFile, LetsPointsOfAnOutlineLeaveTheImageButNotItsBox) {
  EXPECT_EQ(parse("0 -0.25 0.5 0.75 0.5 0.5 1").labels,
            (std::vector<Label>{{0, 0.25F, 0.75F, 1, 0.5F}}));
  EXPECT_EQ(refused("0 -0.25 0.5 1.25 0.5 0.5 1"),
            "a.txt:1: coordinate -0.25 is outside 0..1; write shares of the image's width and "
            "height, and cut the box off at its edges");
  EXPECT_EQ(refused("0 0.25 0.5 nan 0.5 0.5 1"),
            "a.txt:1: coordinate nan is outside 0..1; write shares of the image's width and "
            "height, and cut the box off at its edges");
}

TEST(LabelFile, BoxesAnOutlineByItsExtremes) {
  const LabelFile file = parse("1 0.25 0.5 0.75 0.5 0.5 1");
  EXPECT_EQ(file.labels, (std::vector<Label>{{1, 0.5F, 0.75F, 0.5F, 0.5F}}));
  EXPECT_EQ(file.segments, (std::vector<Segment>{{{0.25F, 0.5F}, {0.75F, 0.5F}, {0.5F, 1}}}));
}

TEST(LabelFile, GivesABoxAmongOutlinesItsRectangle) {
  const LabelFile file = parse("1 0.25 0.5 0.75 0.5 0.5 1\n0 0.5 0.5 0.5 0.25");
  EXPECT_EQ(file.labels[1], (Label{0, 0.5F, 0.5F, 0.5F, 0.25F}));
  EXPECT_EQ(file.segments[1],
            (Segment{{0.25F, 0.375F}, {0.75F, 0.375F}, {0.75F, 0.625F}, {0.25F, 0.625F}}));
}

TEST(LabelFile, DropsDuplicateRowsAndThenSortsAsNumpyDoes) {
  const LabelFile file =
      parse("2 0.5 0.5 0.5 0.5\n0 0.75 0.5 0.5 0.5\n2 0.5 0.5 0.5 0.5\n0 0.25 0.5 0.5 0.5\n");
  EXPECT_EQ(file.labels, (std::vector<Label>{{0, 0.25F, 0.5F, 0.5F, 0.5F},
                                             {0, 0.75F, 0.5F, 0.5F, 0.5F},
                                             {2, 0.5F, 0.5F, 0.5F, 0.5F}}));
  EXPECT_EQ(file.duplicates, 1);
}

TEST(LabelFile, KeepsTheOrderOfDistinctRows) {
  EXPECT_EQ(parse("2 0.5 0.5 0.5 0.5\n0 0.5 0.5 0.5 0.5\n").labels[0].cls, 2);
}

TEST(LabelFile, RefusesWithFileAndLine) {
  EXPECT_EQ(refused("0 0.5 0.5 0.5 0.5\n0 0.5 1.5 0.5 0.5"),
            "a.txt:2: coordinate 1.5 is outside 0..1; write shares of the image's width and "
            "height, and cut the box off at its edges");
  EXPECT_EQ(refused("0 0.5 -0.1 0.5 0.5"),
            "a.txt:1: coordinate -0.1 is outside 0..1; write shares of the image's width and "
            "height, and cut the box off at its edges");
  EXPECT_EQ(refused("3 0.5 0.5 0.5 0.5"), "a.txt:1: '3' is no class; write an integer from 0 to 2");
  EXPECT_EQ(refused("-1 0.5 0.5 0.5 0.5"),
            "a.txt:1: '-1' is no class; write an integer from 0 to 2");
  EXPECT_EQ(refused("0.5 0.5 0.5 0.5 0.5"),
            "a.txt:1: '0.5' is no class; write an integer from 0 to 2");
  EXPECT_EQ(refused("0 0.5 half 0.5 0.5"),
            "a.txt:1: 'half' is no number; write class and coordinates as numbers");
  EXPECT_EQ(refused("0 nan 0.5 0.5 0.5"),
            "a.txt:1: coordinate nan is outside 0..1; write shares of the image's width and "
            "height, and cut the box off at its edges");
  EXPECT_EQ(refused("0 0.5 1e400 0.5 0.5"),
            "a.txt:1: coordinate 1e400 is outside 0..1; write shares of the image's width and "
            "height, and cut the box off at its edges");
  EXPECT_EQ(refused("1e400 0.5 0.5 0.5 0.5"),
            "a.txt:1: '1e400' is no class; write an integer from 0 to 2");
  EXPECT_THAT(refused("0"), testing::StartsWith("a.txt:1: 1 column; write 'class x y width "));
  for (const char* line : {"0 0.5 0.5 0.5", "0 0.5 0.5 0.5 0.5 0.5", "0 0 0 0 0 0 0 0"}) {
    EXPECT_NE(refused(line).find(" columns; write 'class x y width height'"), std::string::npos)
        << line;
  }
}

TEST(LabelFile, IsRefusedWithTheFirstOfItsFaultsAndTheirNumber) {
  EXPECT_EQ(refused("0 0.5 0.5 0.5 0.5\n3 0.5 0.5 0.5 0.5\n\n0 0.5\n0 0.5 0.5 0.5 0.5\n0 2 0 0 0"),
            "a.txt:2: '3' is no class; write an integer from 0 to 2 (and 2 more of its lines)");
}

TEST(LabelFile, MakesEveryClassZeroInASingleClassDataSet) {
  const LabelFile file = parse_labels("7 0.5 0.5 0.5 0.5\n2 0.5 0.5 0.5 0.25", "a.txt", 1, true);
  EXPECT_EQ(file.labels[0].cls, 0);
  EXPECT_EQ(file.labels[1].cls, 0);
}

TEST(LabelFile, RefusesANegativeClassInASingleClassDataSetToo) {
  for (const std::string cls : {"-1", "nan"})
    EXPECT_EQ(test::refusal([&] { parse_labels(cls + " 0.5 0.5 0.5 0.5", "a.txt", 1, true); }),
              "a.txt:1: '" + cls + "' is no class; write an integer from 0 to 0");
}

TEST(LabelFile, KeepsEqualBoxesOfTwoClassesInASingleClassDataSet) {
  const LabelFile file = parse_labels(
      "2 0.5 0.5 0.5 0.5\n1 0.5 0.5 0.5 0.5\n1e30 0.5 0.5 0.5 0.5\n2 0.5 0.5 0.5 0.5\n", "a.txt", 1,
      true);
  EXPECT_EQ(file.duplicates, 1);
  ASSERT_EQ(file.labels.size(), 3u);
  for (const Label& label : file.labels) EXPECT_EQ(label.cls, 0);
}

TEST(LabelFile, HasNoLabelsWhereThereIsNoFile) {
  EXPECT_TRUE(read_labels("/nowhere/images/a.jpg", 3, false).labels.empty());
}

/// An image's label file that is a link to another one in its folder.
struct LinkedLabelFile : testing::Test {
  void link_to(const std::string& target) const {
    std::filesystem::create_directories(std::filesystem::path(labels).parent_path());
    std::filesystem::create_symlink(target, labels);
  }
  std::string refused() const {
    return test::refusal([&] { read_labels(image, 1, false); });
  }

  const TemporaryFolder folder;
  const std::string image = folder / "images/a.png";
  const std::string labels = label_file_of(image);
};

TEST_F(LinkedLabelFile, IsRefusedWhereNobodyCanTellWhetherItIsThere) {
  link_to("a.txt");
  EXPECT_EQ(refused(),
            labels + ": cannot be read (Too many levels of symbolic links); check its permissions");
}

TEST_F(LinkedLabelFile, IsRefusedWhereItLeadsToNothingOrIsNoFile) {
  link_to("moved.txt");
  const std::string remedy = "; mend it, or remove it if the image has no objects";
  EXPECT_EQ(refused(), labels + ": is a link to nothing" + remedy);
  std::filesystem::remove(labels);
  std::filesystem::create_directory(labels);
  EXPECT_EQ(refused(), labels + ": is no file" + remedy);
}

TEST(LabelFile, WritesWhatItReads) {
  const std::vector<Label> labels = {{0, 0.123456F, 1.0F / 3, 0.1F, 1},
                                     {2, 1e-6F, 0.5F, 0.25F, 0.999999F}};
  EXPECT_EQ(parse(label_lines(labels)).labels, labels);
}

TEST(LabelFile, SurvivesGarbage) {
  const std::string start = "0 0.5 0.25 0.125 1\n1 0.25 0.5 0.75 0.5 0.5 1e-3\n";
  std::mt19937 random(1);
  int parsed = 0;
  for (int i = 0; i < 5000; ++i) {
    std::string text = start;
    for (unsigned changes = random() % 6; changes > 0; --changes) {
      text[random() % text.size()] =
          random() % 2 ? static_cast<char>(random()) : "0123456789.e+-\n \t"[random() % 17];
    }
    try {
      parse(text);
      ++parsed;
    } catch (const Error& error) {
      EXPECT_EQ(std::string(error.what()).rfind("a.txt:", 0), 0U);
    }
  }
  EXPECT_GT(parsed, 500);
}

}  // namespace
}  // namespace evolve::data
