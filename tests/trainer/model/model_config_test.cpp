#include "trainer/model/model_config.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "tests/refusal.hpp"
#include "tests/temporary_folder.hpp"

namespace evolve::trainer {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

template <class Spec>
const Spec& only(const LayerSpec& layer) {
  EXPECT_EQ(layer.modules.size(), 1u);
  return std::get<Spec>(layer.modules.front());
}

std::string refused(const std::string& text) {
  return test::refusal([&] { resolve(parse_model_table(text, "m.yaml")); });
}

std::string table_with(const std::string& row) {
  return "nc: 3\nanchors: 3\nbackbone:\n  - [-1, 1, Conv, [64, 6, 2, 2]]\n" + row +
         "\nhead:\n  - [[0], 1, Detect, [nc, anchors]]\n";
}

TEST(ModelConfig, TellsTheSizesOfItsMaps) {
  EXPECT_THAT(map_sizes(resolve(read_model_table("yolov5n.yaml")), {64, 96}),
              ElementsAre(MapSize{8, 12}, MapSize{4, 6}, MapSize{2, 3}));
  // A side that is no multiple of the stride ends in part of a cell.
  const auto thirds =
      resolve(parse_model_table("nc: 3\nanchors: 3\nbackbone:\n  - [-1, 1, Conv, [64, 3, 3]]\n"
                                "head:\n  - [[0], 1, Detect, [nc, anchors]]\n",
                                "m.yaml"));
  EXPECT_THAT(map_sizes(thirds, {64, 96}), ElementsAre(MapSize{22, 32}));
}

TEST(ModelConfig, ScalesTheWidthsOfYolov5n) {
  const ModelConfig config = resolve(read_model_table("yolov5n.yaml"));
  ASSERT_EQ(config.layers.size(), 25u);
  EXPECT_EQ(config.nc, 80);
  const auto& first = only<ConvSpec>(config.layers[0]);
  EXPECT_EQ(first.in, 3);
  EXPECT_EQ(first.out, 16);
  EXPECT_EQ(first.kernel, 6);
  EXPECT_EQ(first.stride, 2);
  EXPECT_EQ(first.padding, 2);
  EXPECT_EQ(only<SppfSpec>(config.layers[9]).out, 256);
  EXPECT_THAT(only<DetectSpec>(config.layers[24]).in, ElementsAre(64, 128, 256));
  EXPECT_THAT(config.layers[24].from, ElementsAre(17, 20, 23));
}

TEST(ModelConfig, CountsTheLayersThatAreTheSameInAnotherModel) {
  const auto counts = [](const char* cfg, const char* other) {
    const auto [alike, all] =
        layers_alike(resolve(read_model_table(cfg)), resolve(read_model_table(other), /*nc=*/3));
    return std::pair(alike, all);
  };
  // Of 25 layers two enlarge, four concatenate and one detects.
  EXPECT_EQ(counts("yolov5n", "yolov5n"), std::pair(18, 18));
  EXPECT_EQ(counts("yolov5n", "yolov5s"), std::pair(0, 18));
  EXPECT_EQ(counts("yolov5m", "yolov5l"), std::pair(0, 18));
}

TEST(ModelConfig, TellsWhichTensorsItsLayersCouldHave) {
  const auto config = resolve(read_model_table("yolov5n"));
  for (const std::string its : {"model.0.conv.weight", "model.24.anchors", "model.2.m.0.cv1.x"})
    EXPECT_TRUE(names_layer(config, its)) << its;
  // Layer 11 enlarges, layer 25 is not there.
  for (const std::string other : {"model.11.weight", "model.25.weight", "layer1.0.conv1.weight"})
    EXPECT_FALSE(names_layer(config, other)) << other;
}

TEST(ModelConfig, RoundsRepeatsHalfToEvenAsPythonDoes) {
  ModelTable table = read_model_table("yolov5n.yaml");
  EXPECT_EQ(only<C3Spec>(resolve(table).layers[6]).repeats, 3);  // 9 * 0.33 = 2.97
  table.depth_multiple = 0.5;
  EXPECT_EQ(only<C3Spec>(resolve(table).layers[6]).repeats, 4);  // 4.5
  EXPECT_EQ(only<C3Spec>(resolve(table).layers[2]).repeats, 2);  // 1.5
  table.depth_multiple = 0.01;
  EXPECT_EQ(only<C3Spec>(resolve(table).layers[2]).repeats, 1);
}

TEST(ModelConfig, KnowsThatTheHeadHasNoShortcuts) {
  const ModelConfig config = resolve(read_model_table("yolov5s.yaml"));
  EXPECT_TRUE(only<C3Spec>(config.layers[8]).shortcut);
  EXPECT_FALSE(only<C3Spec>(config.layers[13]).shortcut);
  EXPECT_EQ(only<C3Spec>(config.layers[13]).in, 512);
}

TEST(ModelConfig, FindsEveryBuiltInTableByName) {
  const std::vector<std::pair<std::string, int>> widths{{"yolov5p.yaml", 8},  {"yolov5n", 16},
                                                        {"yolov5s.yaml", 32}, {"yolov5m.yaml", 48},
                                                        {"yolov5l.yaml", 64}, {"yolov5x.yaml", 80}};
  for (const auto& [name, width] : widths) {
    EXPECT_EQ(only<ConvSpec>(resolve(read_model_table(name)).layers[0]).out, width) << name;
  }
}

TEST(ModelConfig, HasFourLevelsInTheTablesWhoseNamesEndIn6) {
  // Parameters in millions, from YOLOv5's README, where batch norms are folded into convolutions.
  const std::vector<std::pair<std::string, double>> published{{"yolov5n6", 3.2},
                                                              {"yolov5s6", 12.6},
                                                              {"yolov5m6", 35.7},
                                                              {"yolov5l6", 76.8},
                                                              {"hub/yolov5x6.yaml", 140.7}};
  for (const auto& [name, millions] : published) {
    const auto config = resolve(read_model_table(name));
    EXPECT_THAT(config.strides, ElementsAre(8, 16, 32, 64)) << name;
    EXPECT_NEAR(count_parameters(config) / 1e6, millions, 0.1) << name;
  }
  EXPECT_THAT(test::refusal([] { read_model_table("yolov5p6"); }), HasSubstr("no such"));
}

TEST(ModelConfig, PrefersAFileOfThatPath) {
  const test::TemporaryFolder folder;
  const std::string path = folder / "yolov5s.yaml";
  std::ofstream(path) << table_with("");
  EXPECT_EQ(resolve(read_model_table(path)).nc, 3);
}

TEST(ModelConfig, TakesClassesFromTheDataAndAnchorsFromTheHyperparameter) {
  const ModelConfig config = resolve(read_model_table("yolov5p.yaml"), 7, 5);
  EXPECT_EQ(config.outputs(), 12);
  EXPECT_EQ(config.levels(), 3);
  EXPECT_EQ(config.anchors_per_level(), 5);
  EXPECT_TRUE(config.anchors_unknown);
  EXPECT_FALSE(resolve(read_model_table("yolov5p.yaml")).anchors_unknown);
}

TEST(ModelConfig, NamesFileAndLineOfAnUnknownModule) {
  EXPECT_EQ(refused(table_with("  - [-1, 3, C9, [64]]")),
            "m.yaml:5: there is no module 'C9'; choose among Conv, C3, SPPF, Bottleneck, "
            "nn.Upsample, Concat, Detect");
}

TEST(ModelConfig, RefusesWhatCannotBeBuilt) {
  EXPECT_THAT(refused(table_with("  - [7, 1, Conv, [64]]")), HasSubstr("m.yaml:5: layer 1"));
  EXPECT_THAT(refused(table_with("  - [-1, 1, Conv, []]")), HasSubstr("no number of channels"));
  EXPECT_THAT(refused(table_with("  - [-1, 1, Conv, [a]]")), HasSubstr("'a'"));
  EXPECT_THAT(refused(table_with("  - [-1, 1, Conv, [65537]]")),
              HasSubstr("channels is '65537'; write a whole number from 1 to 65536"));
  EXPECT_THAT(refused(table_with("  - [-1, 0, Conv, [8]]")), HasSubstr("number is 0"));
  EXPECT_THAT(refused(table_with("  - [-1, 1, Conv]")), HasSubstr("m.yaml:5: a row is not"));
  EXPECT_THAT(refused("anchors: [[1, 2]"), HasSubstr("m.yaml:1: a key is a list or a map"));
  EXPECT_THAT(refused("anchors: {P3: [1, 2]}"),
              HasSubstr("m.yaml:1: anchors is neither a count nor a list"));
  for (const std::string side : {".nan", ".inf", "-3", "0"})
    EXPECT_THAT(refused("anchors: [[10, " + side + "]]"),
                HasSubstr("m.yaml:1: anchors is '" + side +
                          "'; write a list of positive numbers per level"));
  EXPECT_THAT(refused("nc: 3\nanchors: 3\nbackbone:\n  - [-1, 1, Conv, [8]]\nhead:\n"
                      "  - [-1, 1, Conv, [8]]\n"),
              HasSubstr("the last row is not a Detect"));
}

TEST(ModelConfig, RefusesAKeyThatStandsTwice) {
  EXPECT_EQ(refused("nc: 3\nanchors: 3\nnc: 4\n"),
            "m.yaml:3: nc appears twice, first in line 1; keep one of them");
}

/// A detector on what these Convs make of the image.
std::string table_of(const std::vector<std::string>& convs) {
  std::string rows = "nc: 3\nanchors: 3\nbackbone:\n";
  for (const auto& arguments : convs) rows += "  - [-1, 1, Conv, [8, " + arguments + "]]\n";
  const auto last = std::to_string(convs.size() - 1);
  return rows + "head:\n  - [[" + last + "], 1, Detect, [nc, anchors]]\n";
}

TEST(ModelConfig, RefusesMapsThatHaveOtherCellsThanTheirStridesSay) {
  for (const auto& [arguments, wrong] :
       {std::pair<std::string, std::string>("3, 2, 0", "1 cell shorter"),
        {"4, 2", "1 cell longer"},
        {"2", "1 cell longer"},
        {"3, 1, 3", "4 cells longer"},
        {"9, 2, 2", "2 cells shorter"}})
    EXPECT_THAT(refused(table_of({arguments})),
                HasSubstr("m.yaml:6: Detect takes layer 0, whose sides are " + wrong +
                          " than its stride makes them; pad a Conv by (kernel - 1) / 2"))
        << arguments;
  EXPECT_THAT(refused(table_with("  - [0, 1, Conv, [8, 2]]\n  - [[0, 1], 1, Concat, [1]]")),
              HasSubstr("m.yaml:6: Concat takes maps whose sides differ by 1 cell; pad a Conv"));
  EXPECT_THAT(
      refused(table_with("  - [-1, 1, SPPF, [8, 4]]")),
      HasSubstr("SPPF's kernel is 4: it would join maps of different sizes; choose an odd"));
  EXPECT_THAT(refused("nc: 3\ndepth_multiple: 1.0\nwidth_multiple: 1.0\nanchors: 3\nbackbone:\n"
                      "  - [-1, 1, Conv, [16, 6, 2, 2]]\n"
                      "  - [-1, 1, Conv, [16, 3, 3, 1]]\n"
                      "  - [-1, 1, Conv, [24, 3, 2]]\n"
                      "  - [-1, 1, nn.Upsample, [None, 2, nearest]]\n"
                      "  - [[-1, 1], 1, Concat, [1]]\n"
                      "head:\n  - [[4, 2], 1, Detect, [nc, anchors]]\n"),
              HasSubstr("m.yaml:12: nn.Upsample takes a map of stride 12, and the sides of images "
                        "are multiples of 32; let Detect take a map of that stride, too"));
}

TEST(ModelConfig, HasMapsOfAsManyCellsAsTheirStridesSay) {
  using Convs = std::vector<std::string>;
  for (const Convs& convs :
       {Convs{"6, 2, 2"}, Convs{"2, 2, 0"}, Convs{"4, 2, 1"}, Convs{"1, 2"}, Convs{"5, 3"},
        Convs{"3, 2", "2, 1, 1", "2, 1, 0"}, Convs{"3, 1, 0", "3, 1, 2", "3, 2"}}) {
    SCOPED_TRACE(convs.front());
    const auto config = resolve(parse_model_table(table_of(convs), "m.yaml"));
    const int side = 60 * config.strides[0];
    EXPECT_THAT(map_sizes(config, {side, 2 * side}), ElementsAre(MapSize{60, 120}));
  }
}

TEST(ModelConfig, RefusesWhatNoDetectorNeeds) {
  EXPECT_THAT(refused(table_with("  - [[], 1, Concat, [1]]")), HasSubstr("takes 0 layers"));
  EXPECT_THAT(refused(table_with("  - [-1, 101, Conv, [8]]")), HasSubstr("number is 101"));
  EXPECT_THAT(refused("width_multiple: 99\n" + table_with("  - [-1, 1, Conv, [65536]]")),
              HasSubstr("Conv has 6488064 channels"));
  EXPECT_THAT(refused(table_with("  - [-1, 4, Conv, [8, 3, 1000]]")),
              HasSubstr("the stride is above 65536"));
  EXPECT_THAT(refused("anchors: 1001\nbackbone: []"), HasSubstr("anchors is 1001"));
  EXPECT_THAT(refused("nc: 0\nanchors: 3"), HasSubstr("nc is 0"));
}

TEST(ModelConfig, RefusesMoreLevelsThanTheLossHasWeightsFor) {
  const auto table = [](const std::string& levels) {
    return "nc: 3\nanchors: 3\nbackbone:\n  - [-1, 1, Conv, [8]]\nhead:\n  - [[" + levels +
           "], 1, Detect, [nc, anchors]]\n";
  };
  EXPECT_EQ(resolve(parse_model_table(table("0, 0, 0, 0, 0"), "m.yaml")).levels(), 5);
  EXPECT_EQ(refused(table("0, 0, 0, 0, 0, 0")), "m.yaml:6: Detect takes 6 layers; write at most 5");
}

TEST(ModelConfig, LetsTheFirstLayerTakeTheImageOnly) {
  const std::string head = "head:\n  - [-1, 1, Detect, [nc, anchors]]\n";
  const auto config = resolve(
      parse_model_table("anchors: 3\nbackbone:\n  - [[-1, -1], 1, Concat, [1]]\n" + head, "m"));
  EXPECT_THAT(config.strides, ElementsAre(1));
  EXPECT_THAT(only<DetectSpec>(config.layers[1]).in, ElementsAre(6));
}

TEST(ModelConfig, RefusesAnUnknownName) {
  EXPECT_THAT(test::refusal([&] { read_model_table("yolov9z.yaml"); }),
              HasSubstr("--cfg yolov9z.yaml"));
}

}  // namespace
}  // namespace evolve::trainer
