#include "trainer/model/model_table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/files.hpp"
#include "tests/refusal.hpp"
#include "tests/temporary_folder.hpp"

namespace evolve::trainer {
namespace {

using nlohmann::ordered_json;
using ::testing::HasSubstr;

std::string refused(const ordered_json& about) {
  return test::refusal([&] { model_table_in(about, "x.pt"); });
}

TEST(ModelTable, IsYolov5sDictAsJson) {
  ModelTable table = parse_model_table(
      "nc: 3\ndepth_multiple: 0.33\nwidth_multiple: 1\nanchors:\n  - [10, 13.3]\n"
      "backbone:\n  - [-1, 1, Conv, [64, 6, 2, 2]]\n  - [-1, 1, nn.Upsample, [None, 2, nearest]]\n"
      "head:\n  - [[-1, 0], 1, Concat, [1]]\n  - [-1, 3, C3, [8, False]]\n"
      "  - [[3], 1, Detect, [nc, anchors]]\n",
      "m.yaml");
  EXPECT_EQ(to_json(table).dump(),
            R"({"nc":3,"depth_multiple":0.33,"width_multiple":1.0,"anchors":[[10,13.3]],)"
            R"("backbone":[[-1,1,"Conv",[64,6,2,2]],[-1,1,"nn.Upsample",["None",2,"nearest"]]],)"
            R"("head":[[[-1,0],1,"Concat",[1]],[-1,3,"C3",[8,false]],)"
            R"([[3],1,"Detect",["nc","anchors"]]]})");
  table.anchors = 5;
  EXPECT_EQ(to_json(table)["anchors"], 5);
}

TEST(ModelTable, IsTheFileOfThatPathAndElseTheBuiltInOneOfThatName) {
  const test::TemporaryFolder folder;
  const auto path = folder / "yolov5n.yaml";
  EXPECT_EQ(read_model_table(path).nc, 80);
  test::write_file(path,
                   "nc: 7\ndepth_multiple: 1\nwidth_multiple: 1\nanchors: 3\n"
                   "backbone:\n  - [-1, 1, Conv, [8, 3, 2]]\n"
                   "head:\n  - [[0], 1, Detect, [nc, anchors]]\n");
  EXPECT_EQ(read_model_table(path).nc, 7);
}

TEST(ModelTable, ComesBackFromJson) {
  for (const auto* name : {"yolov5n", "yolov5s", "yolov5m", "yolov5l", "yolov5x", "yolov5p"}) {
    const ordered_json json = to_json(read_model_table(name));
    EXPECT_EQ(to_json(model_table_in({{"yaml", json}}, "x.pt")), json);
  }
}

TEST(ModelTable, OfWeightsHasTheirNumberOfClasses) {
  const ordered_json yaml = to_json(read_model_table("yolov5p"));
  EXPECT_EQ(model_table_in({{"yaml", yaml}}, "x.pt").nc, 80);
  EXPECT_EQ(model_table_in({{"yaml", yaml}, {"nc", 3}}, "x.pt").nc, 3);
  EXPECT_THAT(refused({{"yaml", yaml}, {"nc", "many"}}), HasSubstr("nc is 'many'"));
}

TEST(ModelTable, OfWeightsOfUltralyticsSaysWithWhatTheyAreTrained) {
  ordered_json yaml = to_json(read_model_table("yolov5p"));
  yaml.erase("anchors");
  EXPECT_THAT(refused({{"yaml", yaml}}),
              HasSubstr("its model has no anchors, so it is none of YOLOv5's; a model of "
                        "Ultralytics' is trained with --trainer ultralytics --model, and validated "
                        "with yolo val"));
}

TEST(ModelTable, OfWeightsThatDoNotTellItAsksForCfg) {
  for (const auto& about : {ordered_json(), ordered_json{{"nc", 3}}, ordered_json{{"yaml", 1}}}) {
    EXPECT_EQ(refused(about),
              "x.pt: the file does not tell its model table; add --cfg, for instance --cfg "
              "yolov5s.yaml");
  }
}

TEST(ModelTable, HasOneActivation) {
  ordered_json yaml = to_json(read_model_table("yolov5p"));
  for (const ordered_json& fine : {ordered_json("nn.SiLU()"), ordered_json(), ordered_json("")}) {
    yaml["activation"] = fine;
    EXPECT_EQ(refused({{"yaml", yaml}}), "accepted") << fine;
  }
  yaml["activation"] = "nn.LeakyReLU(0.1)";
  EXPECT_THAT(refused({{"yaml", yaml}}),
              HasSubstr("activation is 'nn.LeakyReLU(0.1)'; leave it out: evolve trains with "
                        "nn.SiLU() only"));
}

TEST(ModelTable, OfWeightsWithOtherModulesIsRefused) {
  const ordered_json yaml = to_json(read_model_table("yolov5p"));
  EXPECT_EQ(refused({{"yaml", yaml}, {"unlike", "model.0.act is Hardswish, not SiLU"}}),
            "x.pt: model.0.act is Hardswish, not SiLU; give weights of a model with SiLU and "
            "YOLOv5's batch norm, or start a training from these with --cfg");
  // Of a yolo11n it is worth more to hear whose it is.
  auto of_ultralytics = yaml;
  of_ultralytics.erase("anchors");
  EXPECT_THAT(refused({{"yaml", of_ultralytics}, {"unlike", "model.10.act is Identity, not SiLU"}}),
              HasSubstr("its model has no anchors, so it is none of YOLOv5's"));
}

TEST(ModelTable, OfWeightsIsNotEndless) {
  const ordered_json yaml{{"backbone", std::string(300000, 'x')}};
  EXPECT_THAT(refused({{"yaml", yaml}}), HasSubstr("its model table has 300015 characters"));
}

}  // namespace
}  // namespace evolve::trainer
