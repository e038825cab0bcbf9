#include "results/yaml_files.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "hyp/hyp_file.hpp"
#include "tests/results/folder.hpp"

namespace evolve::results {
namespace {

TEST(HypEvolved, HasYolov5sBytes) {
  const Folder folder;
  const auto file = folder / "hyp_evolved.yaml";
  write_file(file, "an older and much longer file\n");
  const Recommended best{
      .hyp = {{"lr0", 1e-5}, {"anchors", 3.0}, {"weight_decay", 0.0005}, {"optimizer", "Adam"}},
      .metrics = {.precision = 0.123456789,
                  .recall = 1e-05,
                  .map50 = 0,
                  .map50_95 = 1,
                  .box_loss = 123456,
                  .obj_loss = 0.05,
                  .cls_loss = 2.5},
      .row = 4};
  write_hyp_evolved(file, best, 12);
  EXPECT_EQ(
      read_file(file),
      "# YOLOv5 Hyperparameter Evolution Results\n"
      "# Best generation: 4\n"
      "# Last generation: 11\n"
      "#    metrics/precision,       metrics/recall,      metrics/mAP_0.5, metrics/mAP_0.5:0.95,"
      "         val/box_loss,         val/obj_loss,         val/cls_loss\n"
      "#              0.12346,                1e-05,                    0,                    1,"
      "           1.2346e+05,                 0.05,                  2.5\n"
      "\n"
      "lr0: 1.0e-05\n"
      "anchors: 3.0\n"
      "weight_decay: 0.0005\n"
      "optimizer: Adam\n");
  EXPECT_EQ(hyp::read_hyp_file(file.string()).hyp, best.hyp);
}

TEST(HypEvolved, KeepsItsOldContentOnAFullDisk) {
  const Folder folder;
  const auto file = folder / "hyp_evolved.yaml";
  write_file(file, "old\n");
  {
    const FullDisk disk(100);
    EXPECT_NE(run_failure([&] { write_hyp_evolved(file, {}, 1); }), "accepted");
  }
  EXPECT_EQ(read_file(file), "old\n");
}

TEST(Population, IsWrittenAsPyYamlDoes) {
  const Folder folder;
  const auto file = folder / "evolve_population.yaml";
  write_population(file, 3, {{{"lr0", 1e-5}, {"hsv_h", 0.015}}, {{"lr0", 1.0}, {"hsv_h", 0.0}}});
  EXPECT_EQ(read_file(file),
            "gen3number0:\n  lr0: 1.0e-05\n  hsv_h: 0.015\n"
            "gen3number1:\n  lr0: 1.0\n  hsv_h: 0.0\n");
}

std::vector<hyp::Hyperparameters> sets(const std::vector<hyp::HypFile>& files) {
  std::vector<hyp::Hyperparameters> all;
  for (const auto& file : files) all.push_back(file.hyp);
  return all;
}

TEST(Population, IsReadBackInTheOrderOfItsNumbers) {
  const Folder folder;
  const auto file = folder / "evolve_population.yaml";
  std::vector<hyp::Hyperparameters> population;
  for (int i = 0; i < 12; ++i) population.push_back({{"lr0", 0.1 * i}, {"optimizer", "Adam"}});
  write_population(file, 0, population);
  EXPECT_EQ(sets(read_population(file)), population);
  // PyYAML sorts its keys as texts; of several generations the last one counts.
  write_file(file,
             "gen2number10: {a: 3.0}\ngen2number2: {a: 2.0}\ngen10number1:\n  b: 5.0\n  a: "
             "1.0e-05\ngen10number0: {a: 4.0}\n");
  EXPECT_EQ(sets(read_population(file)),
            (std::vector<hyp::Hyperparameters>{{{"a", 4.0}}, {{"b", 5.0}, {"a", 1e-5}}}));
}

TEST(Population, IsRefusedWithFileAndLine) {
  const Folder folder;
  const auto file = folder / "evolve_population.yaml";
  const auto refused = [&](const std::string& text) {
    write_file(file, text);
    return refusal([&] { read_population(file); }).substr(file.string().size());
  };
  const std::string remedy = "; name an evolve_population.yaml: gen0number0: {lr0: 0.01, …}";
  EXPECT_EQ(refused("lr0: 0.01\n"), ":1: 'lr0' is no individual" + remedy);
  for (const char* key : {"gen0", "gen0number", "gen0numberx", "gennumber0", "gen-1number0",
                          "gen0number0x", "gen99999999999number0"}) {
    EXPECT_EQ(refused("gen0number0: {a: 1}\n" + std::string(key) + ": {a: 1}\n"),
              ":2: '" + std::string(key) + "' is no individual" + remedy);
  }
  EXPECT_EQ(refused("- 1\n"), ":1: this is no population" + remedy);
  EXPECT_EQ(
      refused("gen0number0: 3\n"),
      ":1: this is no list of hyperparameters; write lines of name: number, such as lr0: 0.01");
  EXPECT_EQ(refused("gen0number0:\n  a: [1]\n"), ":2: a is a list; write one number, such as 0.01");
  EXPECT_EQ(refused("gen0number0: {a: 1}\ngen0number0: {a: 2}\n"),
            ":2: gen0number0 appears twice, first in line 1; keep one of them");
  EXPECT_EQ(refused(""), ": this is empty; write name: value lines");
}

TEST(HypFolder, IsReadByName) {
  const Folder folder;
  write_file(folder / "b.yaml", "lr0: 2\n");
  write_file(folder / "a.yml", "lr0: 1\n");
  write_file(folder / "c.txt", "no hyp\n");
  EXPECT_EQ(sets(read_hyp_folder(folder.path())),
            (std::vector<hyp::Hyperparameters>{{{"lr0", 1.0}}, {{"lr0", 2.0}}}));
}

TEST(HypFolder, IsRefusedWhereThereIsNone) {
  const Folder folder;
  EXPECT_EQ(refusal([&] { read_hyp_folder(folder.path()); }),
            folder.path().string() + ": there is no hyp file (*.yaml); name a folder of hyp files");
  EXPECT_EQ(refusal([&] { read_hyp_folder("/no/such"); }),
            "/no/such: No such file or directory; name a folder of hyp files");
  write_file(folder / "a.yaml", "lr0: [1]\n");
  EXPECT_EQ(refusal([&] { read_hyp_folder(folder / "a.yaml"); }),
            (folder / "a.yaml").string() + ": Not a directory; name a folder of hyp files");
  EXPECT_EQ(refusal([&] { read_hyp_folder(folder.path()); }),
            (folder / "a.yaml").string() + ":1: lr0 is a list; write one number, such as 0.01");
}

TEST(Options, AreFlatYaml) {
  const Folder folder;
  const auto file = folder / "opt.yaml";
  write_options(file, {{"population", 6},
                       {"seed", 0},
                       {"lr", 1e-5},
                       {"lag", nullptr},
                       {"cos_lr", true},
                       {"search", "classic"},
                       {"hyp", ""},
                       {"fitness", "0.1*mAP50 + 0.9*mAP50_95"},
                       {"slots", {"cpu:0", "cpu:1"}}});
  EXPECT_EQ(
      read_file(file),
      "population: 6\nseed: 0\nlr: 1.0e-05\nlag: null\ncos_lr: true\nsearch: classic\nhyp: \"\"\n"
      "fitness: \"0.1*mAP50 + 0.9*mAP50_95\"\nslots: [\"cpu:0\",\"cpu:1\"]\n");
}

TEST(Options, AreReadBackAsTheyWere) {
  const Folder folder;
  const auto file = folder / "opt.yaml";
  const nlohmann::ordered_json options = {{"seed", 18446744073709551615U},
                                          {"epochs", 3},
                                          {"lr", 1e-5},
                                          {"whole", 1.0},
                                          {"lag", nullptr},
                                          {"cos_lr", true},
                                          {"data", "/a b/c.yaml"},
                                          {"name", "007"},
                                          {"answer", "yes"},
                                          {"freeze", {0, 1, 10}},
                                          {"hyp", ""}};
  write_options(file, options);
  EXPECT_EQ(read_options(file).dump(), options.dump());
}

TEST(Options, AreRefusedWithFileAndLine) {
  const Folder folder;
  const auto file = folder / "opt.yaml";
  const auto refused = [&](const std::string& text) {
    write_file(file, text);
    return refusal([&] { read_options(file); }).substr(file.string().size());
  };
  EXPECT_EQ(refused("a: 1\nb: {c: 1}\n"), ":2: this is a map; write one value, or a list");
  EXPECT_EQ(refused("- 1\n"), ":1: these are no options; write lines of name: value");
}

TEST(HypFile, OfATrainingIsReadBackExactly) {
  const Folder folder;
  const hyp::Hyperparameters hyp = {{"lr0", 1e-5}, {"anchors", 3.0}, {"optimizer", "Adam"}};
  write_hyp(folder / "hyp.yaml", hyp);
  EXPECT_EQ(read_file(folder / "hyp.yaml"), "lr0: 1.0e-05\nanchors: 3.0\noptimizer: Adam\n");
  EXPECT_EQ(hyp::read_hyp_file((folder / "hyp.yaml").string()).hyp, hyp);
}

}  // namespace
}  // namespace evolve::results
