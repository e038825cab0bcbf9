#include "python_trainer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <cstdio>

namespace evolve::test {

const std::string packages = EVOLVE_SOURCE_DIR "/tests/end_to_end/stand_ins/packages";

void write_data(const Folder& folder) {
  std::filesystem::create_directory(folder / "images");
  write_file(folder / "my.yaml", "train: images\n");
}

std::vector<std::string> command_of(const std::string& trainer, std::vector<std::string> arguments,
                                    const std::vector<std::string>& environment) {
  std::vector<std::string> words = {
      "/usr/bin/env", "-u", "EVOLVE_PYTHON", "-u", "EVOLVE_YOLOV5", "PYTHONPATH=" + packages};
  words.insert(words.end(), environment.begin(), environment.end());
  words.insert(words.end(), {EVOLVE_BINARY, "--trainer", trainer, "--output", "run"});
  words.insert(words.end(), arguments.begin(), arguments.end());
  return words;
}

std::vector<std::string> trials(const std::string& model, int count,
                                std::vector<std::string> more) {
  more.insert(more.end(), {"--model", model, "--data", "my.yaml"});
  const std::vector<std::pair<std::string, std::string>> defaults = {
      {"--devices", "cpu:0"}, {"--epochs", "2"}, {"--trials", std::to_string(count)}};
  for (const auto& [name, value] : defaults)
    if (std::ranges::find(more, name) == more.end()) more.insert(more.end(), {name, value});
  return more;
}

Ended resumed(const Folder& folder, const std::vector<std::string>& more) {
  std::vector<std::string> words = {"/usr/bin/env", "PYTHONPATH=" + packages, EVOLVE_BINARY,
                                    "--resume", "run"};
  words.insert(words.end(), more.begin(), more.end());
  return Process(words, folder.path()).wait();
}

nlohmann::json event(const Folder& folder, const std::string& kind) {
  for (const auto& e : journal(folder / "run"))
    if (e["event"] == kind) return e;
  ADD_FAILURE() << "there is no event " << kind;
  return {};
}

std::filesystem::path trial_folder(const Folder& folder, int trial) {
  char name[32];
  std::snprintf(name, sizeof name, "%06d", trial);
  return folder / "run/trials" / name;
}

void expect_refusal(const std::vector<std::string>& words, const std::string& line) {
  Folder folder;
  write_data(folder);
  const auto ended = Process(words, folder.path()).wait();
  EXPECT_EQ(ended.code, 2) << ended.out;
  EXPECT_EQ(ended.err, "evolve: " + line + "\n");
  EXPECT_FALSE(std::filesystem::exists(folder / "run"));
}

void expect_a_stop_at_a_rung(const std::string& trainer, const std::string& model) {
  Folder folder;
  write_data(folder);
  const auto words =
      command_of(trainer, trials(model, 60,
                                 {"--search", "classic", "--epochs", "9", "--population", "10",
                                  "--lag", "2", "--seed", "1"}));
  const auto ended = Process(words, folder.path()).wait();
  ASSERT_EQ(ended.code, 0) << ended.err;
  const auto stopped = event(folder, "stopped");
  const auto rows = lines_of(read_file(trial_folder(folder, stopped["trial"]) / "results.csv"));
  EXPECT_EQ(rows.size(), 1 + stopped["epoch"].get<std::size_t>());
  EXPECT_LT(stopped["epoch"], 9);
}

void expect_no_other_device(const std::string& trainer, const std::string& model) {
  const auto on = [&](const std::string& device, std::vector<std::string> environment) {
    environment.insert(environment.end(),
                       {"LD_LIBRARY_PATH=" FAKE_NVML_FOLDER, "FAKE_GPUS=name=A,uuid=GPU-11aa,bus=1",
                        "HIP_VISIBLE_DEVICES=0", "EVOLVE_PYTHON=/usr/bin/python3"});
    Folder folder;
    write_data(folder);
    return Process(command_of(trainer, trials(model, 1, {"--devices", device}), environment),
                   folder.path())
        .wait();
  };
  for (const auto* device : {"cuda:0", "hip:0"}) {
    const auto refused = on(device, {});
    EXPECT_EQ(refused.code, 1) << refused.out;
    EXPECT_THAT(refused.err, testing::HasSubstr(
                                 std::string("worker never became ready: exit code 1: ") + device +
                                 ": PyTorch 2.4.1 of /usr/bin/python3 finds no CUDA "
                                 "device; install one that was built for it, or name "
                                 "another Python in EVOLVE_PYTHON"));
    const auto trained = on(device, {"TORCH_HAS_CUDA=1"});
    EXPECT_EQ(trained.code, 0) << trained.err;
  }
}

void expect_a_training_without_weights(const std::string& trainer) {
  Folder folder;
  write_data(folder);
  const auto ended = Process(command_of(trainer, trials("full.yaml")), folder.path()).wait();
  ASSERT_EQ(ended.code, 0) << ended.err;
  const auto weights = trial_folder(folder, 0) / "weights/last.pt";
  EXPECT_THAT(read_file(trial_folder(folder, 0) / "log"),
              testing::HasSubstr("evolve: the weights are lost: " + weights.string() +
                                 ": No space left on device\n"));
  EXPECT_FALSE(std::filesystem::exists(weights));
}

void expect_the_same_rows_after_a_kill(const std::string& trainer, const std::string& model,
                                       const Folder& folder) {
  write_data(folder);
  const auto words = command_of(trainer, trials(model, 40, {"--lag", "1"}));
  {
    Process process(words, folder.path());
    ASSERT_TRUE(eventually([&] {
      return std::filesystem::exists(folder / "run/journal.jsonl") &&
             count(journal(folder / "run"), "completed") > 3;
    }));
    process.signal(SIGKILL);
    ASSERT_EQ(process.wait().code, 128 + SIGKILL);
  }
  const auto ended = resumed(folder);
  ASSERT_EQ(ended.code, 0) << ended.err;
  Folder quiet;
  write_data(quiet);
  ASSERT_EQ(Process(words, quiet.path()).wait().code, 0);
  EXPECT_EQ(read_file(folder / "run/evolve.csv"), read_file(quiet / "run/evolve.csv"));
}

}  // namespace evolve::test
