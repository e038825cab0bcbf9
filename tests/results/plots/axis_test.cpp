#include "results/plots/axis.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <limits>

#include "hyp/space_file.hpp"

namespace evolve::results {
namespace {

std::string labels(const Axis& axis) {
  std::string text;
  for (const auto& [value, name] : axis.ticks)
    text += (name.empty() ? fmt::format("{:g}", value) : name) + " ";
  return text;
}

hyp::Gene gene(const std::string& text) {
  return hyp::parse_space("g: " + text, "s").genes[0];
}

/// Pixels of one of five panels beside each other.
constexpr double panel = 270;

std::string gene_labels(const std::string& text, double low, double high, double width = panel) {
  const auto one = gene(text);
  return labels(gene_axis(&one, low, high, width));
}

TEST(Axis, HasFewRoundTicks) {
  EXPECT_EQ(labels(linear_axis(0, 1, 5)), "0 0.5 1 ");
  EXPECT_EQ(labels(linear_axis(0, 1, 6)), "0 0.2 0.4 0.6 0.8 1 ");
  EXPECT_EQ(labels(linear_axis(0, 0.001, 6)), "0 0.0002 0.0004 0.0006 0.0008 0.001 ");
  EXPECT_EQ(labels(linear_axis(-45, 45, 6)), "-40 -20 0 20 40 ");
}

TEST(Axis, ReachesALittleBeyondItsData) {
  const Axis axis = linear_axis(0, 1, 5);
  EXPECT_DOUBLE_EQ(axis.low, -0.06);
  EXPECT_DOUBLE_EQ(axis.high, 1.06);
  EXPECT_DOUBLE_EQ(axis.place(0.5), 0.5);
}

TEST(Axis, OfOneValueHasItInTheMiddle) {
  for (const double value : {0.0, 0.3, -7.0, 1e-5}) {
    const Axis axis = linear_axis(value, value, 5);
    EXPECT_LT(axis.low, value);
    EXPECT_NEAR(axis.place(value), 0.5, 1e-12);
    ASSERT_EQ(axis.ticks.size(), 1u);
    EXPECT_EQ(axis.ticks[0].first, value);
  }
}

TEST(Axis, HasTicksForExtremeRanges) {
  for (const auto& [low, high] : {std::pair(0.0, 1e-300), std::pair(-1e300, 1e300),
                                  std::pair(1.0, 1.0 + 1e-12), std::pair(1.0, 1.0 + 3e-16)}) {
    EXPECT_LE(linear_axis(low, high, 5).ticks.size(), 6u);
  }
}

TEST(Axis, OfCountsHasWholeNumbersOnly) {
  const Axis axis = counting_axis(0, 3, 16);
  EXPECT_EQ(labels(axis), "0 1 2 3 ");
  EXPECT_EQ(axis.low, -0.03);
  EXPECT_EQ(axis.high, 3.03);
  EXPECT_EQ(labels(counting_axis(0, 299, 16)), labels(counting_axis(0, 290, 16)) + "300 ");
  EXPECT_EQ(labels(counting_axis(7, 7, 16)), "7 ");
}

TEST(GeneAxis, IsLogarithmicWhereTheGeneIs) {
  const std::string log = "{low: 1.0e-5, high: 0.1, scale: log}";
  const auto lr0 = gene(log);
  const Axis axis = gene_axis(&lr0, 1e-5, 0.1, panel);
  EXPECT_TRUE(axis.log);
  EXPECT_NEAR(axis.place(1e-3), 0.5, 1e-12);
  EXPECT_EQ(labels(axis), "0.0001 0.01 ");
  EXPECT_EQ(gene_labels(log, 1e-9, 0.1), "1e-09 1e-06 0.001 ");
  EXPECT_EQ(gene_labels(log, 0.0002, 0.0018), "0.0003 0.001 ");
  EXPECT_EQ(gene_labels(log, 0.02, 0.05), "0.02 0.03 0.04 0.05 ");
  EXPECT_LT(gene_axis(&lr0, 0.02, 0.02, panel).low, 0.02);
}

TEST(GeneAxis, HasWholeNumbersWhereTheGeneHas) {
  EXPECT_EQ(gene_labels("{low: 2, high: 10, type: int}", 2, 3), "2 3 ");
  EXPECT_EQ(gene_labels("{low: 2, high: 10, type: int}", 2, 10), "2 3 4 5 6 7 8 9 10 ");
  EXPECT_EQ(gene_labels("{low: 2, high: 50, type: int}", 2, 50), "0 10 20 30 40 50 ");
}

TEST(GeneAxis, GivesEachOfFewWholeValuesAPlaceOfItsOwn) {
  for (const std::string text : {"{low: 2, high: 10, type: int}", "{choices: [a, b, c, d]}"}) {
    const auto few = gene(text);
    const Axis axis = gene_axis(&few, 2, 3, panel);
    EXPECT_EQ(axis.low, 1.5) << text;
    EXPECT_EQ(axis.high, 3.5) << text;
  }
}

TEST(GeneAxis, ShortensChoicesThatBeginAlikeFromTheirBeginning) {
  EXPECT_EQ(gene_labels("{choices: [augment_with_magnitude_9, augment_with_magnitude_5]}", 0, 1),
            "…agnitude_9 …agnitude_5 ");
}

TEST(GeneAxis, ShortensNoneOfTheOthersFromItsBeginning) {
  EXPECT_EQ(
      gene_labels("{choices: [cosine_with_warm_restarts, cosine_with_warm_starts, linear]}", 0, 2),
      "…starts …starts linear ");
}

TEST(GeneAxis, NamesNotEachOfManyChoices) {
  EXPECT_EQ(gene_labels("{choices: [a, b, c, d, e, f, g, h, i, j, k, l]}", 0, 11), "a d g j ");
}

TEST(GeneAxis, ShortensChoicesThatWouldTouch) {
  EXPECT_EQ(gene_labels("{choices: [SGD, Adam_with_decoupled_decay]}", 0, 1), "SGD Adam_with_… ");
}

TEST(GeneAxis, HasFewerTicksWhereLongNumbersWouldTouch) {
  EXPECT_EQ(labels(gene_axis(nullptr, 0, 0.85, panel)), "0 0.2 0.4 0.6 0.8 ");
  EXPECT_EQ(labels(gene_axis(nullptr, 0, 0.00085, panel)), "0 0.0005 ");
  EXPECT_EQ(labels(gene_axis(nullptr, 0.00005, 0.0008, panel)), "0.0002 0.0004 0.0006 0.0008 ");
}

TEST(GeneAxis, HasNoLabelThatRunsIntoTheNextPanel) {
  EXPECT_EQ(labels(gene_axis(nullptr, 0.00005, 0.0008, 200)), "0.0005 ");
  EXPECT_EQ(gene_labels("{low: 2, high: 1000000, type: int}", 2, 1e6, 172), "0 500000 ");
  EXPECT_EQ(gene_labels("{low: 1.0e-6, high: 0.01, scale: log}", 1e-6, 0.01, 172), "0.0001 0.01 ");
}

TEST(GeneAxis, OfAnUnknownGeneHasPlainNumbers) {
  EXPECT_FALSE(gene_axis(nullptr, 1e-5, 0.1, panel).log);
}

TEST(ValueName, HasAllDigitsOfAWholeNumber) {
  const auto whole = gene("{low: 2, high: 1000000, type: int}"), real = gene("{low: 0, high: 1}");
  EXPECT_EQ(value_name(708044, &whole), "708044");
  EXPECT_EQ(value_name(5.7541, &whole), "5.754") << "as YOLOv5's evolve.csv has it";
  EXPECT_EQ(value_name(0.123456, &real), "0.1235");
  const auto decay = gene("{low: 0.9, high: 0.999999}");
  EXPECT_EQ(value_name(0.999998, &decay), "0.999998") << "1 is out of bounds";
}

TEST(Axis, OfAllNumbersThatADoubleHoldsEnds) {
  const hyp::Gene wide{
      .name = "wide", .scale = hyp::Gene::Scale::log, .low = 1e-300, .high = 1e300};
  const Axis axis = gene_axis(&wide, 1e-308, 1e308, panel);
  EXPECT_GT(axis.low, 0);
  EXPECT_LT(axis.high, std::numeric_limits<double>::infinity());
  EXPECT_LE(axis.ticks.size(), 8U);
}

}  // namespace
}  // namespace evolve::results
