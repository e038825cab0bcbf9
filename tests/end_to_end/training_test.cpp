// The main job with the built-in trainer: real trainings, as short as they can be.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "process.hpp"
#include "tests/golden.hpp"

namespace evolve::test {
namespace {

using testing::HasSubstr;

TEST(Training, OneSlotOnOneCoreAndTwoSlotsGiveTheSameRows) {
  // One thread per trial in both: arithmetic on another number of threads rounds differently.
  Folder folder;
  std::vector<std::vector<std::string>> rows;
  for (const std::string devices : {"cpu:0", "cpu:0,cpu:1"}) {
    auto command =
        evolve_command({"--epochs", "1", "--imgsz", "64", "--trials", "4", "--population", "2",
                        "--lag", "2", "--devices", devices, "--output", devices});
    if (devices == "cpu:0")
      command.insert(command.begin(), {"/usr/bin/taskset", "-c", some_core()});
    const auto ended = Process(command, folder.path()).wait();
    ASSERT_EQ(ended.code, 0) << ended.err << ended.out;
    rows.push_back(lines_of(read_file(folder / (devices + "/evolve.csv"))));
    std::sort(rows.back().begin(), rows.back().end());
    EXPECT_EQ(rows.back().size(), 5u);
  }
  EXPECT_EQ(rows[0], rows[1]);
}

TEST(Training, IsNotGoneOnWithOnOtherDataOrFromOtherWeights) {
  Folder folder;
  ASSERT_EQ(evolve(folder.path(), {"dataset", "shapes", "shapes"}).code, 0);
  const auto weights = folder / "w.pt";
  const std::filesystem::path base = EVOLVE_SOURCE_DIR "/trainer/checkpoint/shapes_base.pt";
  std::filesystem::copy_file(base, weights);
  ASSERT_EQ(
      evolve(folder.path(), {"--data", "shapes/shapes.yaml", "--cfg", "yolov5p.yaml", "--weights",
                             "w.pt", "--imgsz", "64", "--epochs", "1", "--fraction", "0.1",
                             "--trials", "1", "--devices", "cpu:0", "--output", "run"})
          .code,
      0);
  const auto go_on = [&] { return evolve(folder.path(), {"--resume", "run", "--trials", "2"}); };
  const std::string remedy =
      "; bring them back, or begin a new run that learns from this one: evolve --from RUN\n";

  const std::string program =
      "import zipfile; archive = zipfile.ZipFile('w.pt', 'a'); "
      "archive.writestr(archive.namelist()[0].split('/')[0] + '/more', '')";
  ASSERT_EQ(Process({"/usr/bin/env", "python3", "-c", program}, folder.path()).wait().code, 0);
  auto ended = go_on();
  EXPECT_EQ(ended.code, 2);
  EXPECT_EQ(ended.err, "evolve: " + weights.string() +
                           ": these are other weights than the run began with" + remedy);
  std::filesystem::copy_file(base, weights, std::filesystem::copy_options::overwrite_existing);

  const auto label = folder / "shapes/labels/val/0000.txt";
  const auto labels = read_file(label);
  write_file(label, labels + "0 0.5 0.5 0.25 0.125\n");
  ended = go_on();
  EXPECT_EQ(ended.code, 2);
  EXPECT_EQ(ended.err, "evolve: " + (folder / "shapes/shapes.yaml").string() +
                           ": 100 val images with 434 labels, the run began with 100 with 433" +
                           remedy);
  write_file(label, labels);

  const auto yaml = folder / "shapes/shapes.yaml";
  const auto names = read_file(yaml);
  write_file(yaml, names + "  3: star\n");
  ended = go_on();
  EXPECT_EQ(ended.code, 2);
  EXPECT_EQ(ended.err, "evolve: " + yaml.string() + ": 4 classes, the run began with 3" + remedy);
  write_file(yaml, names);
  EXPECT_EQ(go_on().code, 0);
}

TEST(Training, GoesOnWhereItsFilesWereMovedTo) {
  Folder folder;
  std::filesystem::create_directory(folder / "old");
  ASSERT_EQ(evolve(folder / "old", {"dataset", "shapes", "shapes"}).code, 0);
  std::filesystem::copy_file(EVOLVE_SOURCE_DIR "/trainer/checkpoint/shapes_base.pt",
                             folder / "old/w.pt");
  ASSERT_EQ(
      evolve(folder / "old", {"--data", "shapes/shapes.yaml", "--cfg", "yolov5p.yaml", "--weights",
                              "w.pt", "--imgsz", "64", "--epochs", "1", "--fraction", "0.1",
                              "--trials", "1", "--devices", "cpu:0", "--output", "run"})
          .code,
      0);
  std::filesystem::rename(folder / "old", folder / "new");
  auto yaml = read_file(folder / "new/shapes/shapes.yaml");
  yaml.replace(yaml.find("/old/"), 5, "/new/");  // its absolute path
  write_file(folder / "new/shapes/shapes.yaml", yaml);
  const auto go_on = [&](const std::string& data) {
    return evolve(folder / "new",
                  {"--resume", "run", "--trials", "2", "--data", data, "--weights", "w.pt"});
  };
  const auto unnamed = evolve(folder / "new", {"--resume", "run", "--trials", "2"});
  EXPECT_EQ(unnamed.code, 2);
  EXPECT_EQ(unnamed.err, "evolve: " + (folder / "old/shapes/shapes.yaml").string() +
                             ": No such file or directory; restore it, or say with its option "
                             "where it is now\n");
  write_file(folder / "new/other.yaml",
             "train: shapes/images/val\nval: shapes/images/val\nnames: [a, b, c]\n");
  EXPECT_EQ(go_on("other.yaml").code, 2);
  const auto ended = go_on("shapes/shapes.yaml");
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(count(journal(folder / "new/run"), "completed"), 2);

  const auto options = read_file(folder / "new/run/opt.yaml");
  const auto said = evolve(folder / "new", {"--resume", "run", "--data", "other.yaml"});
  EXPECT_EQ(said.code, 2) << "though nothing is left to train: " << said.out;
  EXPECT_EQ(read_file(folder / "new/run/opt.yaml"), options);
}

TEST(Training, ThatDivergesFailsOnceAndIsNoRow) {
  Folder folder;
  write_file(folder / "space.yaml", "lr0: {low: 1.0e+20, high: 1.0e+30}\n");
  const auto ended = evolve(
      folder.path(), {"--space", "space.yaml", "--epochs", "1", "--imgsz", "64", "--optimizer",
                      "SGD", "--trials", "1", "--devices", "cpu:0", "--output", "run"});
  EXPECT_EQ(ended.code, 1) << ended.out;
  const auto events = journal(folder / "run");
  ASSERT_EQ(count(events, "failed"), 1);
  EXPECT_EQ(events.back()["kind"], "diverged");
  EXPECT_EQ(events.back()["final"], true);
  EXPECT_EQ(count(events, "completed"), 0);
}

/// What the built-in worker answers to these lines, and their end.
std::vector<nlohmann::json> answers(const std::filesystem::path& folder,
                                    const std::vector<nlohmann::json>& lines) {
  std::string input;
  for (const auto& line : lines) input += line.dump() + "\n";
  write_file(folder / "input", input);
  const auto ended =
      Process(
          {"/bin/sh", "-c", "exec taskset -c " + some_core() + " " EVOLVE_BINARY "-worker < input"},
          folder)
          .wait();
  EXPECT_EQ(ended.code, 0) << ended.err;
  std::vector<nlohmann::json> answers;
  for (const auto& line : lines_of(ended.out)) {
    auto message = nlohmann::json::parse(line);
    // How many signs of life there are depends on the machine.
    if (message["type"] != "alive") answers.push_back(std::move(message));
  }
  return answers;
}

TEST(Training, WaitsAtItsRungsAndDoesAsItIsTold) {
  Folder folder;
  finish_trials(folder, 1);
  nlohmann::json train = {{"type", "train"},
                          {"trial", 7},
                          {"hyp", journal(folder / "run")[1]["hyp"]},
                          {"epochs", 3},
                          {"device", "cpu:0"},
                          {"seed", 1},
                          {"dir", folder.path().string()},
                          {"rungs", nlohmann::json::array()},
                          {"options", {{"cfg", "yolov5p.yaml"}, {"imgsz", 64}}}};
  const nlohmann::json go_on = {{"type", "continue"}, {"trial", 7}};
  const nlohmann::json stop = {{"type", "stop"}, {"trial", 7}};

  const auto whole = answers(folder.path(), {train});
  train["rungs"] = {1, 2};
  const auto continued = answers(folder.path(), {train, go_on, go_on});
  const auto stopped = answers(folder.path(), {train, go_on, stop});
  const auto left_alone = answers(folder.path(), {train});

  ASSERT_EQ(whole.size(), 5u);  // ready, three epochs, the result
  ASSERT_EQ(continued.size(), 5u);
  EXPECT_EQ(continued[4], whole[4]);
  ASSERT_EQ(stopped.size(), 4u);
  EXPECT_EQ(stopped[2], continued[2]);
  EXPECT_EQ(stopped[3], (nlohmann::json{{"type", "result"},
                                        {"trial", 7},
                                        {"metrics", continued[2]["metrics"]},
                                        {"stopped", true}}));
  ASSERT_EQ(left_alone.size(), 2u);  // the end of its input ended it at the first rung
  EXPECT_EQ(left_alone[1], continued[1]);
}

TEST(Training, GoesOnFromTheGivenStateDictOnRealImages) {
  const auto weights = checkpoints_folder() / "bccd_p64_adam_s0_best.state_dict.pt";
  const auto data = data_folder() / "bccd.yaml";
  if (!std::filesystem::exists(weights) || !std::filesystem::exists(data)) {
    GTEST_SKIP() << "needs " << weights << " and " << data;
  }
  Folder folder;
  const auto ended = evolve(
      folder.path(), {"--data", data.string(), "--cfg", "yolov5p.yaml", "--weights",
                      weights.string(), "--imgsz", "64", "--epochs", "1", "--optimizer", "Adam",
                      "--trials", "2", "--devices", "cpu:0,cpu:1", "--output", "run"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("train: 205 images"));
  EXPECT_THAT(read_file(folder / "run/trials/000000/log"), HasSubstr("Transferred 348/349 items"));
  EXPECT_EQ(count(journal(folder / "run"), "completed"), 2);
}

}  // namespace
}  // namespace evolve::test
