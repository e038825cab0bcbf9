#include "python_trainer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>

#include "hyp/trial_folder.hpp"

namespace evolve::test {

const std::string packages = EVOLVE_SOURCE_DIR "/tests/end_to_end/stand_ins/packages";

void write_data(const Folder& folder) {
  std::filesystem::create_directory(folder / "images");
  write_file(folder / "my.yaml", "train: images\nkpt_shape: [17, 3]\n");
  for (const auto* split : {"train", "val"})
    std::filesystem::create_directories(folder / "classes" / split);
}

void make_bare_python(const std::filesystem::path& file) {
  write_file(file, "#!/bin/sh\nexec /usr/bin/python3 -I -S \"$@\"\n");
  std::filesystem::permissions(file, std::filesystem::perms::owner_all);
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
  more.insert(more.end(), {"--model", model});
  const std::vector<std::pair<std::string, std::string>> defaults = {
      {"--data", model.find("-cls.") != model.npos ? "classes" : "my.yaml"},
      {"--devices", "cpu:0"},
      {"--epochs", "2"},
      {"--trials", std::to_string(count)}};
  for (const auto& [name, value] : defaults)
    if (std::ranges::find(more, name) == more.end()) more.insert(more.end(), {name, value});
  return more;
}

Ended run_with(const std::string& trainer, const Folder& folder,
               const std::vector<std::string>& arguments) {
  write_data(folder);
  return Process(command_of(trainer, arguments), folder.path()).wait();
}

Ended resumed(const Folder& folder, const std::vector<std::string>& more) {
  std::vector<std::string> words = {"/usr/bin/env", "PYTHONPATH=" + packages, EVOLVE_BINARY,
                                    "--resume", "run"};
  words.insert(words.end(), more.begin(), more.end());
  return Process(words, folder.path()).wait();
}

std::filesystem::path trial_folder(const Folder& folder, int trial) {
  return folder / "run" / hyp::trial_folder(trial);
}

nlohmann::json settings_of(const Folder& folder, int trial) {
  return nlohmann::json::parse(read_file(trial_folder(folder, trial) / "args.json"));
}

void expect_refusal(const std::vector<std::string>& words, const std::string& line) {
  Folder folder;
  write_data(folder);
  const auto ended = Process(words, folder.path()).wait();
  EXPECT_EQ(ended.code, 2) << ended.out;
  EXPECT_EQ(ended.err, "evolve: " + line + "\n");
  EXPECT_FALSE(std::filesystem::exists(folder / "run"));
}

std::string refusal_with(const std::string& trainer, const Folder& folder,
                         const std::vector<std::string>& arguments) {
  const auto said = refusal_of(run_with(trainer, folder, arguments));
  EXPECT_FALSE(std::filesystem::exists(folder / "run"));
  return said;
}

std::string failure_with(const std::string& trainer, const std::string& model,
                         std::vector<std::string> more) {
  Folder folder;
  more.insert(more.end(), {"--retries", "0"});
  EXPECT_EQ(run_with(trainer, folder, trials(model, 1, std::move(more))).code, 1);
  const auto failed = event(folder, "failed");
  return failed["kind"].get<std::string>() + ": " + failed["message"].get<std::string>();
}

void expect_wrong_data(const std::string& trainer, const std::string& model,
                       const std::string& yaml, const std::string& words) {
  Folder folder;
  write_data(folder);
  write_file(folder / "my.yaml", yaml);
  const auto ended =
      Process(command_of(trainer, trials(model, 1, {"--retries", "0"})), folder.path()).wait();
  EXPECT_EQ(ended.code, 1);
  EXPECT_EQ(event(folder, "failed")["kind"], "data");
  EXPECT_EQ(event(folder, "failed")["final"], false);
  EXPECT_THAT(ended.err, testing::HasSubstr(words));
  write_data(folder);
  const auto mended = resumed(folder);
  EXPECT_EQ(mended.code, 0) << mended.err;
}

void expect_a_stop_at_a_rung(const std::string& trainer, const std::string& model) {
  Folder folder;
  const auto ended = run_with(trainer, folder,
                              trials(model, 60,
                                     {"--search", "classic", "--epochs", "9", "--population", "10",
                                      "--lag", "2", "--seed", "1"}));
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
                                 "device; install a PyTorch that was built for it, or name "
                                 "another Python in EVOLVE_PYTHON"));
    const auto trained = on(device, {"TORCH_HAS_CUDA=1"});
    EXPECT_EQ(trained.code, 0) << trained.err;
    const auto unmasked = on(device, {"TORCH_HAS_CUDA=2"});
    EXPECT_EQ(unmasked.code, 1) << unmasked.out;
    EXPECT_THAT(unmasked.err, testing::HasSubstr(
                                  std::string(device) +
                                  ": PyTorch sees 2 CUDA devices, a slot has one; check what hides "
                                  "the others (evolve devices --json: mask)"));
  }
}

void expect_no_gpu_at_the_start(const std::string& trainer, const std::string& model) {
  Folder folder;
  const auto python = folder / "python";
  write_file(
      python,
      "#!/bin/sh\ncase \"$*\" in *--check*) env > seen ;; esac\nexec /usr/bin/python3 \"$@\"\n");
  std::filesystem::permissions(python, std::filesystem::perms::owner_all);
  write_data(folder);
  const auto ended =
      Process(command_of(trainer, trials(model, 1),
                         {"EVOLVE_PYTHON=" + python.string(), "CUDA_VISIBLE_DEVICES=0",
                          "HIP_VISIBLE_DEVICES=0", "ONEAPI_DEVICE_SELECTOR=level_zero:0"}),
              folder.path())
          .wait();
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(lines_of(read_file(folder / "seen")),
              testing::IsSupersetOf({"CUDA_VISIBLE_DEVICES=-1", "HIP_VISIBLE_DEVICES=-1",
                                     "ONEAPI_DEVICE_SELECTOR=*:cpu"}));
}

void expect_a_training_without_weights(const std::string& trainer) {
  for (const std::string model : {"full.yaml", "full_late.yaml"}) {
    Folder folder;
    const auto ended = run_with(trainer, folder, trials(model));
    ASSERT_EQ(ended.code, 0) << ended.err;
    const auto weights = trial_folder(folder, 0) / "weights/last.pt";
    EXPECT_THAT(read_file(trial_folder(folder, 0) / "log"),
                testing::HasSubstr("evolve: the weights are lost: " + weights.string() +
                                   ": No space left on device\n"));
    EXPECT_FALSE(std::filesystem::exists(weights));
  }
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
