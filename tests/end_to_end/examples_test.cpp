// The documentation's examples of --trainer-exec, word for word, with stand-ins for the trainers.

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <unistd.h>

#include <set>

#include "process.hpp"

namespace evolve::test {
namespace {

const std::string source = EVOLVE_SOURCE_DIR;

/// The first line of a document that begins with "    evolve " and has `word`, without the blanks.
std::string example_in(const std::string& document, const std::string& word) {
  for (const auto& line : lines_of(read_file(source + "/" + document)))
    if (line.starts_with("    evolve ") && line.find(word) != line.npos) return line.substr(4);
  ADD_FAILURE() << document << " has no example with " << word;
  return "";
}

/// The YAML file of a document that begins with `word`.
std::string yaml_in(const std::string& document, const std::string& word) {
  const auto text = read_file(source + "/" + document);
  const std::string fence = "```yaml\n";
  const auto begin = text.find(fence + word);
  if (begin == text.npos) {
    ADD_FAILURE() << document << " has no YAML that begins with " << word;
    return "";
  }
  const auto first = begin + fence.size();
  return text.substr(first, text.find("```", first) - first);
}

/// Runs a line of the documentation in a shell, four trials of it, on two GPUs that are not there.
Ended run(const Folder& folder, const std::string& line) {
  namespace fs = std::filesystem;
  fs::create_directories(folder / "bin");
  fs::create_symlink(EVOLVE_BINARY, folder / "bin/evolve");
  fs::create_symlink("/usr/bin/python3", folder / "bin/python");
  fs::copy(source + "/tests/end_to_end/stand_ins/yolo", folder / "bin/yolo");
  fs::copy(source + "/tests/end_to_end/stand_ins/yolov5_train.py", folder / "train.py",
           fs::copy_options::skip_existing);  // D-FINE has one too
  return Process({"/usr/bin/env", "-u", "CUDA_VISIBLE_DEVICES", "LD_LIBRARY_PATH=" FAKE_NVML_FOLDER,
                  "FAKE_GPUS=name=A,uuid=GPU-11aa,bus=1;name=B,uuid=GPU-22bb,bus=2",
                  "PATH=" + (folder / "bin").string() + ":/usr/bin:/bin", "sh", "-c",
                  line + " --trials 4 --output run"},
                 folder.path())
      .wait();
}

void expect_four_trials(const Folder& folder, const Ended& ended) {
  ASSERT_EQ(ended.code, 0) << ended.out << ended.err;
  const auto events = journal(folder / "run");
  EXPECT_EQ(events[0]["slots"], (std::vector<std::string>{"cuda:0", "cuda:1"}));
  EXPECT_EQ(events[0]["options"]["epochs"], 10);
  EXPECT_EQ(count(events, "completed"), 4);
  EXPECT_EQ(count(events, "failed"), 0);
}

TEST(Examples, OfYolov5Run) {
  const auto line = example_in("README.md", "train.py --hyp");
  EXPECT_EQ(line, example_in("docs/trainers.md", "train.py --hyp"));
  Folder folder;
  expect_four_trials(folder, run(folder, line));
}

TEST(Examples, OfUltralyticsRun) {
  const std::string document = "docs/trainers.md";
  Folder folder;
  write_file(folder / "space.yaml", yaml_in(document, "lr0:             {"));
  write_file(folder / "start.yaml", yaml_in(document, "lr0: 0.001\n"));
  expect_four_trials(folder, run(folder, example_in(document, "yolo cfg=")));
  // It starts at the values of start.yaml: 0.5 / (1 + |7.5 - 6|).
  for (const auto& event : journal(folder / "run")) {
    if (event["event"] != "completed" || event["trial"] != 0) continue;
    EXPECT_EQ(event["metrics"]["metrics/mAP_0.5"], 0.2);
    EXPECT_EQ(event["metrics"]["val/obj_loss"], 0.2);
  }
}

/// The metrics of the start, which trial 0 trains.
nlohmann::json metrics_of_the_start(const Folder& folder) {
  for (const auto& event : journal(folder / "run"))
    if (event["event"] == "completed" && event["trial"] == 0) return event["metrics"];
  return {};
}

/// The names of a trial's checkpoints.
std::set<std::string> checkpoints_of(const std::filesystem::path& trial) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(trial))
    if (entry.path().extension() == ".pth" || entry.path().extension() == ".ckpt")
      names.insert(entry.path().filename());
  return names;
}

/// Starts a recipe's script for a third trial, when the first one has been stopped and the second
/// one goes on; both have these checkpoints.
void train_after_a_stop(const Folder& folder, const std::vector<std::string>& command,
                        const std::set<std::string>& checkpoints) {
  for (const auto* trial : {"0", "1", "2"}) {
    std::filesystem::create_directories(folder / "trials" / trial);
    if (trial == std::string("2")) continue;
    write_file(folder / "trials" / trial / "results.csv", "");
    for (const auto& name : checkpoints) write_file(folder / "trials" / trial / name, "weights");
  }
  const auto held = open((folder / "trials/1/results.csv").c_str(), O_RDWR);
  ASSERT_EQ(flock(held, LOCK_EX | LOCK_NB), 0);
  const auto ended = Process(command, folder.path()).wait();
  close(held);
  EXPECT_EQ(ended.code, 0) << ended.err;
}

TEST(Examples, OfRfDetrRun) {
  namespace fs = std::filesystem;
  Folder folder;
  fs::copy(source + "/docs/recipes", folder.path());
  fs::copy(source + "/tests/end_to_end/stand_ins/rfdetr.py", folder / "rfdetr.py");
  expect_four_trials(folder, run(folder, example_in("docs/trainers.md", "rfdetr_trial.py")));
  const auto metrics = metrics_of_the_start(folder);
  EXPECT_EQ(metrics["metrics/mAP_0.5"], 0.25);  // 0.5 / (1 + |1 - 2|)
  EXPECT_EQ(metrics["metrics/mAP_0.5:0.95"], 0.125);
  EXPECT_EQ(metrics["metrics/precision"], 0.3);
  EXPECT_FALSE(fs::exists(folder / "run/trials/000000/last.ckpt"));
  EXPECT_TRUE(fs::exists(folder / "run/trials/000000/checkpoint_best_total.pth"));
}

TEST(Examples, OfRfDetrLeaveNoCheckpointsOfStoppedTrials) {
  namespace fs = std::filesystem;
  Folder folder;
  fs::copy(source + "/docs/recipes", folder.path());
  fs::copy(source + "/tests/end_to_end/stand_ins/rfdetr.py", folder / "rfdetr.py");
  std::string hyp;  // as evolve writes it
  for (const auto& line : lines_of(read_file(folder / "rfdetr.hyp.yaml")))
    if (!line.starts_with("#")) hyp += line + "\n";
  write_file(folder / "hyp.yaml", hyp);
  const std::set<std::string> checkpoints = {"last.ckpt", "last_ema.pth",
                                             "checkpoint_best_ema.pth"};
  train_after_a_stop(
      folder,
      {"/usr/bin/python3", "rfdetr_trial.py", "RFDETRNano", "hyp.yaml",
       (folder / "trials/2").string(), "2", "1", "my_data", "batch_size=8", "lr_scheduler=cosine"},
      checkpoints);
  EXPECT_EQ(checkpoints_of(folder / "trials/0"), std::set<std::string>{});
  EXPECT_EQ(checkpoints_of(folder / "trials/1"), checkpoints);
  EXPECT_EQ(checkpoints_of(folder / "trials/2"),
            std::set<std::string>{"checkpoint_best_total.pth"});
}

/// A folder with the recipes and a stand-in for D-FINE.
class DFine : public testing::Test {
 protected:
  void SetUp() override {
    if (Process({"/usr/bin/python3", "-c", "import yaml"}, source).wait().code != 0)
      GTEST_SKIP() << "D-FINE's configurations need PyYAML (Debian: python3-yaml)";
    std::filesystem::copy(source + "/docs/recipes", folder.path());
    std::filesystem::copy(source + "/tests/end_to_end/stand_ins/dfine", folder.path(),
                          std::filesystem::copy_options::recursive);
  }

  Folder folder;
};

TEST_F(DFine, ExampleRuns) {
  expect_four_trials(folder, run(folder, example_in("docs/trainers.md", "dfine_trial.py")));
  const auto metrics = metrics_of_the_start(folder);
  EXPECT_EQ(metrics["metrics/mAP_0.5"], 0.25);  // 0.5 / (1 + |5 - 6|)
  EXPECT_EQ(metrics["metrics/mAP_0.5:0.95"], 0.125);
  EXPECT_EQ(metrics["metrics/recall"], 0.4);
  // One that came to its end keeps its best checkpoint when others start.
  for (const auto* trial : {"000000", "000003"})
    EXPECT_EQ(checkpoints_of(folder / "run/trials" / trial),
              std::set<std::string>{"best_stg2.pth"});
}

TEST_F(DFine, ExampleLeavesNoCheckpointsOfStoppedTrials) {
  const std::set<std::string> checkpoints = {"last.pth", "best_stg1.pth"};
  train_after_a_stop(
      folder,
      {"/usr/bin/python3", "dfine_trial.py", "configs/dfine/custom/dfine_hgnetv2_s_custom.yml",
       "dfine.hyp.yaml", (folder / "trials/2").string(), "10", "1", "--use-amp", "-t",
       "dfine_s_obj365.pth"},
      checkpoints);
  EXPECT_EQ(checkpoints_of(folder / "trials/0"), std::set<std::string>{});
  EXPECT_EQ(checkpoints_of(folder / "trials/1"), checkpoints);
  EXPECT_EQ(checkpoints_of(folder / "trials/2"), std::set<std::string>{"best_stg2.pth"});
}

}  // namespace
}  // namespace evolve::test
