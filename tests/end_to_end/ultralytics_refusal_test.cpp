// What --trainer ultralytics refuses, with a stand-in for Ultralytics' package.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "python_trainer.hpp"

namespace evolve::test {
namespace {

using testing::HasSubstr;

std::vector<std::string> command(const std::vector<std::string>& arguments,
                                 const std::vector<std::string>& environment = {}) {
  return command_of("ultralytics", arguments, environment);
}

/// What evolve says of a run that cannot start, before anything is written.
std::string said_of(const Folder& folder, const std::vector<std::string>& arguments) {
  return refusal_with("ultralytics", folder, arguments);
}

/// The same of one that starts at this hyp.
std::string said_of_start(const std::string& hyp) {
  Folder folder;
  write_file(folder / "hyp.yaml", hyp);
  return said_of(folder, trials("yolo11n.yaml", 1, {"--hyp", "hyp.yaml"}));
}

/// The same of one with this data YAML.
std::string said_of_data(const std::string& yaml) {
  Folder folder;
  write_data(folder);
  write_file(folder / "data.yaml", yaml);
  return said_of(folder, trials("yolo11n.yaml", 1, {"--data", "data.yaml"}));
}

TEST(Ultralytics, IsToldWhatAClassifiersFolderLacks) {
  const auto said_of_folder = [](const std::string& data) {
    Folder folder;
    std::filesystem::create_directories(folder / "flat/cats");
    std::filesystem::create_directories(folder / "no_val/train/cats");
    return said_of(folder, trials("yolo11n-cls.pt", 1, {"--data", data}));
  };
  // Two trials at a time would split it into one folder.
  EXPECT_THAT(said_of_folder("flat"), HasSubstr("/flat' has no folder 'train'; split it once, with "
                                                "split_classify_dataset of ultralytics.data.split, "
                                                "and name "));
  EXPECT_THAT(said_of_folder("flat"), HasSubstr("/flat_split\n"));
  EXPECT_THAT(said_of_folder("no_val"), HasSubstr("/no_val' has no folder 'val'\n"));
  EXPECT_THAT(
      said_of_folder("my.yaml"),
      HasSubstr("/my.yaml': a classifier's data set is a folder that has train/ and val/\n"));
}

TEST(Ultralytics, IsToldThatAModelCannotBeTrained) {
  const auto said_of_model = [](const std::string& model) {
    Folder folder;
    write_file(folder / model, "");
    return said_of(folder, trials(model));
  };
  EXPECT_THAT(said_of_model("mine.onnx"), HasSubstr("/mine.onnx' cannot be trained; name weights "
                                                    "(.pt) or a model's table (.yaml)\n"));
  EXPECT_THAT(said_of_model("no_table.yaml"),
              HasSubstr("/no_table.yaml' is no model's table: it has no 'backbone'\n"));
}

TEST(Ultralytics, IsToldWhatAPoseModelsDataLack) {
  Folder folder;
  write_file(folder / "boxes.yaml", "train: images\n");
  EXPECT_THAT(said_of(folder, trials("yolo11n-pose.pt", 1, {"--data", "boxes.yaml"})),
              HasSubstr("/boxes.yaml': a pose model needs 'kpt_shape:', such as [17, 3]\n"));
}

TEST(Ultralytics, IsToldThatItsModelIsAClassifierThatIsNotCalledOne) {
  Folder folder;
  EXPECT_THAT(
      said_of(folder, trials("classifier.pt", 1, {"--data", "classes"})),
      HasSubstr("classifier.pt' is a classifier, and evolve knows one by its name: give it, "
                "or a link to it, a name that ends with -cls, or name --space, --hyp and "
                "--imgsz\n"));
  write_file(folder / "space.yaml", "lr0: [0.001, 0.1]\nfliplr: [0.0, 1.0]\n");
  const auto ended =
      run_with("ultralytics", folder,
               trials("classifier.pt", 1, {"--data", "classes", "--space", "space.yaml"}));
  EXPECT_EQ(ended.code, 0) << ended.err;
}

TEST(Ultralytics, IsToldOfAVersionThatIsTooOld) {
  setenv("ULTRALYTICS_VERSION", "8.2.103", 1);
  Folder folder;
  const auto said = said_of(folder, trials("yolo11n.yaml"));
  unsetenv("ULTRALYTICS_VERSION");
  EXPECT_THAT(said, HasSubstr("ultralytics 8.2.103 is too old, evolve needs 8.3 or later"));
}

TEST(Ultralytics, IsToldByNameWhichHyperparameterItDoesNotKnow) {
  EXPECT_THAT(said_of_start("anchor_t: 4.0\n"),
              HasSubstr("hyp.yaml:1: 'anchor_t' means nothing to this version of Ultralytics"));
}

TEST(Ultralytics, IsToldByNameWhichSettingIsNoHyperparameter) {
  for (const std::string name : {"patience", "epochs", "save_period", "time", "resume"})
    EXPECT_THAT(said_of_start("lr0: 0.001\n" + name + ": 5\n"),
                HasSubstr("hyp.yaml:2: '" + name +
                          "' is for evolve to set; leave it out of --hyp and --space"));
}

TEST(Ultralytics, IsToldWhichValueItDoesNotTakeThoughNoTrialStartsThere) {
  Folder folder;
  write_file(folder / "space.yaml", "fliplr: [0.0, 3.5]\n");
  EXPECT_THAT(said_of(folder, trials("yolo11n.yaml", 1, {"--space", "space.yaml"})),
              HasSubstr("space.yaml:1: ValueError: 'fliplr=3.5' is an invalid value"));
}

TEST(Ultralytics, IsRefusedAGeneThatWouldMoveBetweenTheValuesItCanHave) {
  Folder folder;
  for (const auto& [gene, fault] :
       {std::pair("close_mosaic: [0, 10]",
                  "'close_mosaic' is a whole number for Ultralytics, not "
                  "3.1831; in --space write type: int\n"),
        {"freeze: [0, 12]",
         "'freeze' is a whole number for Ultralytics, not 3.81972; in --space write type: int\n"},
        {"model: {choices: [a.pt, b.pt]}",
         "'model' is for evolve to set; leave it out of --hyp and --space\n"},
        {"cos_lr: [0, 1]",
         "'cos_lr' is yes or no for Ultralytics, not 0.5; in --space write "
         "choices: [True, False]\n"}}) {
    write_file(folder / "space.yaml", "box: [4.0, 8.0]\n" + std::string(gene) + "\n");
    write_file(folder / "hyp.yaml", "box: 6.0\n");
    EXPECT_THAT(
        said_of(folder, trials("yolo11n.yaml", 1, {"--space", "space.yaml", "--hyp", "hyp.yaml"})),
        HasSubstr("space.yaml:2: " + std::string(fault)));
  }
}

TEST(Ultralytics, IsToldOfAFixedValueBetweenTwoThatItCanHaveNothingAboutASpace) {
  Folder folder;
  write_file(folder / "space.yaml", "box: [4.0, 8.0]\n");
  write_file(folder / "hyp.yaml", "box: 6.0\nclose_mosaic: 9.5\n");
  EXPECT_THAT(
      said_of(folder, trials("yolo11n.yaml", 1, {"--space", "space.yaml", "--hyp", "hyp.yaml"})),
      HasSubstr("hyp.yaml:2: 'close_mosaic' is a whole number for Ultralytics, not 9.5\n"));
}

TEST(Ultralytics, GoesOnWithASpaceThatAnEarlierVersionTook) {
  Folder folder;
  write_file(folder / "space.yaml", "close_mosaic: {low: 0, high: 10, type: int}\n");
  ASSERT_EQ(
      run_with("ultralytics", folder, trials("yolo11n.yaml", 1, {"--space", "space.yaml"})).code,
      0);
  const auto file = folder / "run/journal.jsonl";
  auto text = read_file(file);
  const std::string kind = "\"type\":\"int\",";
  ASSERT_NE(text.find(kind), std::string::npos) << text;
  text.erase(text.find(kind), kind.size());
  // Nor is it held against it that somebody mended the journal.
  const std::string version = "\"ultralytics 8.4.190, torch 2.4.1\"";
  text.replace(text.find(version), version.size(), "8");
  write_file(file, text);
  const auto ended = resumed(folder, {"--trials", "8"});
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(count(journal(folder / "run"), "completed"), 8);
}

TEST(Ultralytics, IsRefusedBeforeItTrainsWhatItDoesNotFind) {
  Folder folder;
  EXPECT_THAT(said_of(folder, trials("no_weights.yaml")),
              HasSubstr("FileNotFoundError: 'no_weights.yaml' does not exist"));
  EXPECT_THAT(said_of(folder, trials("yolo11n-sem.yaml")),
              HasSubstr("its task has no precision, recall and mAP"));
  EXPECT_THAT(said_of(folder, trials("yolo11n.yaml", 1, {"--optimizer", "Foo"})),
              HasSubstr("Optimizer 'Foo' not found in list of available optimizers."));
  write_file(folder / "space.yaml", "optimizer: {choices: [SGD, Foo]}\n");
  EXPECT_THAT(said_of(folder, trials("yolo11n.yaml", 1, {"--space", "space.yaml"})),
              HasSubstr("space.yaml:1: Optimizer 'Foo' not found"));
  Folder without;
  EXPECT_THAT(said_of(without, trials("yolo11n.yaml", 1, {"--data", "nowhere.yaml"})),
              HasSubstr("FileNotFoundError: 'nowhere.yaml' does not exist"));
  EXPECT_THAT(said_of_data("names: [a]\n"), HasSubstr("'train:' key missing"));
  EXPECT_THAT(said_of_data("path: nowhere\ntrain: images\n"),
              HasSubstr("images not found, missing path 'nowhere/images'"));
  EXPECT_THAT(said_of_data("train: nowhere\n"),
              HasSubstr("data.yaml': 'train:' images not found, missing path '"));
  EXPECT_THAT(said_of_data("path: nowhere\ntrain: images\ndownload:  # none\nnames: [a]\n"),
              HasSubstr("images not found, missing path 'nowhere/images'"));
}

TEST(Ultralytics, IsNotRefusedDataThatItFetches) {
  for (const auto* name : {"data.yaml", "data"}) {
    Folder folder;
    write_file(folder / "data.yaml", "path: nowhere\ntrain: images\ndownload: https://x.zip\n");
    const auto ended = run_with("ultralytics", folder, trials("yolo11n.yaml", 1, {"--data", name}));
    EXPECT_THAT(ended.err, HasSubstr("nothing could be trained"));
  }
}

TEST(Ultralytics, SaysWhatToDoWithAWholeConfiguration) {
  Folder folder;
  write_file(folder / "hyp.yaml", "# all of it\ntask: detect\nmode: train\nmodel:\nlr0: 0.01\n");
  EXPECT_THAT(said_of(folder, trials("yolo11n.yaml", 1, {"--hyp", "hyp.yaml"})),
              HasSubstr("hyp.yaml: this is a whole configuration of Ultralytics'; keep only its "
                        "hyperparameters, lr0 to copy_paste and close_mosaic"));
}

TEST(Ultralytics, IsRefusedWithoutWhatItNeeds) {
  expect_refusal(
      command({"--model", "yolo11n.pt"}),
      "--trainer ultralytics needs a data set; name one with --data, such as coco8.yaml");
  expect_refusal(command({"--data", "my.yaml"}),
                 "--trainer ultralytics needs a model; name one with --model, such as yolo11n.pt");
  expect_refusal(command(trials("yolo11n.pt", 1, {"--label-smoothing", "0.1"})),
                 "--label-smoothing: ultralytics has no such option; leave it out");
  expect_refusal(command(trials("yolo11n.pt", 1, {"--optimizer", "Auto"})),
                 "--optimizer Auto: Ultralytics would choose lr0 and momentum itself; name one, "
                 "such as AdamW");
  expect_refusal(command(trials("yolo11n.pt", 1, {"--trainer-command", "true"})),
                 "--trainer and --trainer-command: a run has one trainer; leave one of them out");
  expect_refusal({EVOLVE_BINARY, "--trainer", "magic", "--output", "run"},
                 "--trainer magic: there is no such trainer; choose among built-in, ultralytics, "
                 "yolov5, or name your own with --trainer-command or --trainer-exec");
}

TEST(Ultralytics, IsRefusedASetThatWouldLeaveItTheRates) {
  Folder folder;
  write_file(folder / "hyp.yaml", "box: 6.0\noptimizer: auto\n");
  write_file(folder / "space.yaml", "optimizer: {choices: [SGD, auto]}\n");
  for (const std::string file : {"hyp", "space"}) {
    const auto ended =
        run_with("ultralytics", folder, trials("yolo11n.pt", 1, {"--" + file, file + ".yaml"}));
    EXPECT_EQ(ended.code, 2);
    EXPECT_THAT(ended.err, HasSubstr("Ultralytics would choose lr0 and momentum itself"));
  }
}

TEST(Ultralytics, IsNotToBeInstalledForAPythonThatItsDistributionManages) {
  Folder usr;
  const auto python = (usr / "bin/python3").string();
  std::filesystem::create_directories(usr / "bin");
  std::filesystem::create_directories(usr / "lib/python3.11");
  write_file(usr / "lib/python3.11/EXTERNALLY-MANAGED", "[externally-managed]\n");
  make_bare_python(python);
  expect_refusal(command(trials("yolo11n.pt"), {"EVOLVE_PYTHON=" + python}),
                 "--trainer ultralytics: " + python +
                     " has no package 'ultralytics'; make a Python that has it, and name that in "
                     "EVOLVE_PYTHON: " +
                     python +
                     " -m venv venv (Debian's package python3-venv), venv/bin/pip install "
                     "ultralytics, export EVOLVE_PYTHON=venv/bin/python3");
}

TEST(PythonTrainers, AreRefusedABatchOfNoImages) {
  for (const std::string trainer : {"ultralytics", "yolov5"})
    for (const std::string batch : {"0", "-2"}) {
      Folder folder;
      const auto ended =
          evolve(folder.path(), {"--trainer", trainer, "--data", "my.yaml", "--model", "n.yaml",
                                 "--batch-size", batch, "--trials", "1"});
      EXPECT_EQ(refusal_of(ended), "evolve: --batch-size " + batch +
                                       ": too few; write 1 or more, or -1 for AutoBatch\n");
    }
}

TEST(Ultralytics, IsRefusedWhereItIsNotInstalled) {
  Folder bin;
  const auto python = (bin / "python").string();
  make_bare_python(python);
  expect_refusal(command(trials("yolo11n.pt"), {"EVOLVE_PYTHON=" + python}),
                 "--trainer ultralytics: " + python +
                     " has no package 'ultralytics'; install it: " + python +
                     " -m pip install ultralytics; or name another Python in EVOLVE_PYTHON");
  expect_refusal(command(trials("yolo11n.pt"), {"EVOLVE_PYTHON=/usr"}),
                 "--trainer ultralytics: EVOLVE_PYTHON: /usr is a folder; name its bin/python3");
  expect_refusal(command(trials("yolo11n.pt"), {"EVOLVE_PYTHON=/nowhere/python"}),
                 "--trainer ultralytics: '/nowhere/python' cannot be started (No such file or "
                 "directory); install Python 3, or name one in EVOLVE_PYTHON");
}

}  // namespace
}  // namespace evolve::test
