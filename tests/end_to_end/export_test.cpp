// evolve export, as far as it needs none of the packages; scripts/test-export has the rest, and
// scripts/test-real yolov5.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "python_trainer.hpp"

namespace evolve::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::StartsWith;

/// What the exporters are given of a run whose journal has these lines after its first one.
json whole_run(const std::vector<json>& events, const std::string& torn = "") {
  Folder folder;
  std::string journal =
      R"({"event":"run","options":{"epochs":9},"space":{"lr0":{"low":0,"high":1},"nbs":{"choices":["16","64","auto","true","1_000"]}}})"
      "\n";
  for (const auto& event : events) journal += event.dump() + "\n";
  write_file(folder / "journal.jsonl", journal + torn);
  const auto program =
      "import dataclasses, json; from evolve.export.run import read_run; run = read_run('.'); "
      "print(json.dumps({**dataclasses.asdict(run), 'figures': [trial.figures() for trial in "
      "run.trials]}))";
  const auto ended = Process({"/usr/bin/env", "PYTHONPATH=" EVOLVE_SOURCE_DIR "/python",
                              "PYTHONDONTWRITEBYTECODE=1", "python3", "-c", program},
                             folder.path())
                         .wait();
  EXPECT_EQ(ended.code, 0) << ended.err;
  return json::parse(ended.out);
}

/// Its trials.
json read_run(const std::vector<json>& events, const std::string& torn = "") {
  return whole_run(events, torn)["trials"];
}

json started(int trial, int second, const json& more = json::object()) {
  json event = {{"event", "started"},
                {"trial", trial},
                {"hyp", {{"lr0", 0.1}, {"optimizer", "SGD"}}},
                {"time", "2026-11-20T20:12:0" + std::to_string(second) + ".500Z"}};
  event.update(more);
  return event;
}

json outcome(const std::string& kind, int trial, double fitness, int second,
             const json& more = json::object()) {
  json event = {{"event", kind},
                {"trial", trial},
                {"metrics", {{"metrics/recall", fitness / 2}}},
                {"fitness", fitness},
                {"device", "cpu:0"},
                {"time", "2026-11-20T20:12:0" + std::to_string(second) + ".250Z"}};
  event.update(more);
  return event;
}

/// {epoch: fitness}
json fitness_by_epoch(const json& trial) {
  json found = json::object();
  for (const auto& [epoch, values] : trial["epochs"].items()) {
    found[epoch] = values[1];
    EXPECT_EQ(values[0]["metrics/recall"], values[1].get<double>() / 2);
  }
  return found;
}

// As a power cut leaves it whose pages came to the disk in another order.
TEST(Export, LeavesOutALastLineThatIsNone) {
  const std::vector events = {started(0, 1), outcome("completed", 0, 0.3, 3)};
  for (const std::string& torn : {std::string("{\"event\":\"star"),
                                  std::string("{\"event\":\"star\n"), std::string(3, '\0') + "\n"})
    EXPECT_EQ(read_run(events, torn).size(), 1U) << torn;
}

TEST(Export, HasEachTrialAsItEnded) {
  const auto trials = read_run({started(0, 1),
                                outcome("rung", 0, 0.1, 2, {{"epoch", 3}}),
                                started(1, 2),
                                outcome("completed", 0, 0.3, 3),
                                outcome("stopped", 1, 0.2, 4, {{"epoch", 3}}),
                                started(2, 5),
                                {{"event", "failed"},
                                 {"trial", 2},
                                 {"kind", "crash"},
                                 {"message", "killed by signal 9"},
                                 {"device", "cpu:0"},
                                 {"final", true},
                                 {"time", "2026-11-20T20:12:06.000Z"}}});
  ASSERT_EQ(trials.size(), 3u);
  EXPECT_EQ(trials[0]["state"], "completed");
  EXPECT_EQ(trials[0]["hyp"], (json{{"lr0", 0.1}, {"optimizer", "SGD"}}));
  EXPECT_EQ(fitness_by_epoch(trials[0]), (json{{"3", 0.1}, {"9", 0.3}}));
  EXPECT_EQ(trials[0]["fitness"], 0.3);
  EXPECT_EQ(trials[0]["begun"], 1795205521.5);
  EXPECT_EQ(trials[0]["ended"], 1795205523.25);
  EXPECT_EQ(trials[1]["state"], "stopped");
  EXPECT_EQ(fitness_by_epoch(trials[1]), (json{{"3", 0.2}}));
  EXPECT_EQ(trials[2]["state"], "failed");
  EXPECT_EQ(trials[2]["message"], "crash: killed by signal 9");
  EXPECT_EQ(trials[2]["fitness"], nullptr);
}

TEST(Export, LeavesOutAFitnessThatWasNotFinite) {
  auto rung = outcome("rung", 0, 0.1, 2, {{"epoch", 3}});
  rung["fitness"] = nullptr;
  const auto run = whole_run({started(0, 1), rung, outcome("completed", 0, 0.3, 3)});
  EXPECT_EQ(run["figures"][0], json::parse(R"([[3, {"metrics/recall": 0.05}],
                                               [9, {"fitness": 0.3, "metrics/recall": 0.15}]])"));
}

TEST(Export, HasChoicesAsTheyAreInATrial) {
  const auto run = whole_run({started(0, 1), outcome("completed", 0, 0.3, 2)});
  EXPECT_EQ(run["space"]["nbs"]["choices"], (json{16.0, 64.0, "auto", true, "1_000"}));
  EXPECT_EQ(run["space"]["lr0"], (json{{"low", 0}, {"high", 1}}));
}

TEST(Export, HasAPausedTrialOnceWithAllOfItsEpochs) {
  const std::vector<json> paused = {started(0, 1), outcome("paused", 0, 0.1, 2, {{"epoch", 3}})};
  EXPECT_EQ(read_run(paused)[0]["state"], "paused");
  auto gone_on = paused;
  gone_on.push_back(started(0, 3, {{"start_epoch", 3}}));
  EXPECT_EQ(read_run(gone_on), json::array());
  gone_on.push_back(outcome("completed", 0, 0.4, 4));
  const auto trials = read_run(gone_on);
  ASSERT_EQ(trials.size(), 1u);
  EXPECT_EQ(trials[0]["state"], "completed");
  EXPECT_EQ(fitness_by_epoch(trials[0]), (json{{"3", 0.1}, {"9", 0.4}}));
}

TEST(Export, LeavesOutWhatIsUnderWayAndATornLine) {
  const auto trials = read_run({started(0, 1), started(1, 1), outcome("completed", 1, 0.3, 2)},
                               R"({"event":"completed","trial":0)");
  ASSERT_EQ(trials.size(), 1u);
  EXPECT_EQ(trials[0]["number"], 1);
}

TEST(Export, ForgetsAnAttemptThatFailed) {
  const auto trials = read_run({started(0, 1),
                                outcome("rung", 0, 0.1, 2, {{"epoch", 3}}),
                                {{"event", "failed"}, {"trial", 0}, {"final", false}},
                                started(0, 3),
                                outcome("completed", 0, 0.3, 4)});
  EXPECT_EQ(fitness_by_epoch(trials[0]), (json{{"9", 0.3}}));
}

TEST(Export, SaysThatWhatItPrintsCannotBeWritten) {
  Folder folder;
  write_file(folder / "journal.jsonl", R"({"event":"run","options":{"epochs":9},"space":{}})"
                                       "\n" +
                                           started(0, 1).dump() + "\n" +
                                           outcome("completed", 0, 0.5, 2).dump() + "\n");
  write_file(folder / "say.py",
             "import sys, types\n"
             "said = sys.modules['evolve.export.said'] = types.ModuleType('said')\n"
             "said.export = lambda run: 'all of it'\n"
             "sys.argv[1:] = ['said', '.']\n"
             "from evolve.export.__main__ import main\n"
             "main()\n");
  const auto ended = Process({"/bin/sh", "-c",
                              "PYTHONPATH=" EVOLVE_SOURCE_DIR "/python PYTHONDONTWRITEBYTECODE=1 "
                              "PYTHONUNBUFFERED= exec python3 say.py >/dev/full"},
                             folder.path())
                         .wait();
  EXPECT_EQ(ended.code, 1);
  EXPECT_EQ(ended.err, "evolve: export said: OSError: [Errno 28] No space left on device\n");
}

TEST(Export, SaysInALineWhatIsWrongWithAJournal) {
  const auto said = [](const std::string& journal) {
    Folder folder;
    write_file(folder / "journal.jsonl", journal);
    const auto ended =
        Process({"/usr/bin/env", "PYTHONPATH=" EVOLVE_SOURCE_DIR "/python",
                 "PYTHONDONTWRITEBYTECODE=1", "python3", "-m", "evolve.export", "optuna", "."},
                folder.path())
            .wait();
    EXPECT_EQ(ended.code, 2) << ended.err;
    EXPECT_EQ(lines_of(ended.err).size(), 1u) << ended.err;
    return ended.err;
  };
  EXPECT_THAT(said("{\"event\":\"ru"),
              HasSubstr("journal.jsonl: the run has not begun; export it "));
  EXPECT_THAT(said("{\"event\":\"run\"}\n{\"ev\n{}\n"), HasSubstr("journal.jsonl:2: "));
  EXPECT_THAT(said("3\n"), HasSubstr("journal.jsonl:1: no event; bring back a copy of the file"));
}

TEST(Export, IsRefusedWithoutThePackageOrARun) {
  Folder folder;
  std::filesystem::create_directory(folder / "run");
  write_file(folder / "run/journal.jsonl", "{}\n");
  const auto python = (folder / "python").string();
  make_bare_python(python);
  const auto refused = [&](const std::string& target, const std::string& run) {
    const auto ended =
        Process({"/usr/bin/env", "EVOLVE_PYTHON=" + python, EVOLVE_BINARY, "export", target, run},
                folder.path())
            .wait();
    EXPECT_EQ(ended.code, 2);
    return ended.err;
  };
  EXPECT_EQ(refused("mlflow", "run"),
            "evolve: evolve export mlflow: " + python + " has no package 'mlflow'; install it: " +
                python + " -m pip install mlflow; or name another Python in EVOLVE_PYTHON\n");
  EXPECT_THAT(refused("mlflow", "nothing"), HasSubstr("name the folder of a run"));
  EXPECT_THAT(refused("excel", "run"),
              HasSubstr("excel not in {tensorboard,mlflow,wandb,optuna,yolov5}"));
}

/// Weights as evolve writes them: tensors, and a record of what they are.
void write_trained_weights(const Folder& folder, const std::string& file) {
  std::filesystem::copy_file(EVOLVE_SOURCE_DIR "/trainer/checkpoint/shapes_base.pt", folder / file);
  const std::string program =
      "import sys, zipfile; archive = zipfile.ZipFile(sys.argv[1], 'a'); "
      "root = archive.namelist()[0].split('/')[0]; "
      R"(archive.writestr(root + '/evolve/about.json', '{"yaml":{"nc":2},"names":["cat","dog"]}'))";
  ASSERT_EQ(Process({"/usr/bin/env", "python3", "-c", program, file}, folder.path()).wait().code,
            0);
}

/// `evolve export yolov5` with arguments, and with a stand-in for YOLOv5's package.
Ended exported(const Folder& folder, std::vector<std::string> arguments) {
  std::vector<std::string> words = {
      "/usr/bin/env",           "-u",          "EVOLVE_PYTHON", "-u",    "EVOLVE_YOLOV5",
      "PYTHONPATH=" + packages, EVOLVE_BINARY, "export",        "yolov5"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return Process(words, folder.path()).wait();
}

TEST(ExportOfWeights, IsAModelOfYOLOv5sUnderTheNamesThatItsRepositoryHas) {
  Folder folder;
  std::filesystem::create_directories(folder / "exp/weights");
  write_trained_weights(folder, "exp/weights/best.pt");
  const auto ended = exported(folder, {"exp"});
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.out, StartsWith("exp/weights/best_yolov5.pt  for YOLOv5's detect.py"));
  EXPECT_EQ(read_file(folder / "exp/weights/best_yolov5.pt"),
            "{'epoch': -1, 'best_fitness': None, 'model': ['models.yolo.DetectionModel', "
            "'models.common.Conv'] {'nc': 2} {'model.0.conv.weight': 'single precision'} 2 "
            "{0: 'cat', 1: 'dog'} False, 'ema': None, 'updates': None, 'optimizer': None}");
  EXPECT_EQ(exported(folder, {"exp/weights/best.pt", "-o", "other.pt"}).code, 0);
  EXPECT_EQ(read_file(folder / "other.pt"), read_file(folder / "exp/weights/best_yolov5.pt"));
}

TEST(ExportOfWeights, IsRefusedForWhatEvolveHasNotTrained) {
  Folder folder;
  EXPECT_EQ(exported(folder, {"mine.pt"}).err,
            "evolve: mine.pt: there is no such training; name its folder, or weights of evolve "
            "train\n");
  const std::string others = EVOLVE_SOURCE_DIR "/trainer/checkpoint/shapes_base.pt";
  EXPECT_THAT(exported(folder, {others, "-o", "nowhere/x.pt"}).err,
              StartsWith("evolve: nowhere/x.pt: there is no folder "));
  const auto ended = exported(folder, {others});
  EXPECT_EQ(ended.code, 2);
  EXPECT_EQ(ended.err, "evolve: " + others +
                           ": evolve has not trained these weights; name a best.pt or last.pt of "
                           "evolve train, or the folder of the training\n");
}

TEST(ExportOfARun, HasNoFileToName) {
  Folder folder;
  const auto ended =
      Process({EVOLVE_BINARY, "export", "mlflow", "run", "-o", "x"}, folder.path()).wait();
  EXPECT_EQ(ended.code, 2);
  EXPECT_EQ(ended.err, "evolve: -o: a run is written where mlflow looks for it; leave it out\n");
}

}  // namespace
}  // namespace evolve::test
