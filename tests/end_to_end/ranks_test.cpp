// One training over two devices of a slot, by real processes.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <optional>

#include "devices/machine.hpp"
#include "process.hpp"

namespace evolve::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

const std::string group = "cpu:0+cpu:1";

/// Of a process, from /proc; nothing when it is gone.
std::optional<int> parent_of(int pid) {
  const auto stat = read_file("/proc/" + std::to_string(pid) + "/stat");
  const auto name_end = stat.rfind(") ");
  if (name_end == std::string::npos) return {};
  return std::stoi(stat.substr(name_end + 4));
}

std::string command_of(int pid) {
  auto text = read_file("/proc/" + std::to_string(pid) + "/cmdline");
  std::ranges::replace(text, '\0', ' ');
  return text;
}

/// The descendants of a process whose command line ends so.
std::vector<int> descendants(int ancestor, const std::string& ending) {
  std::vector<int> found;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const auto name = entry.path().filename().string();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    const int pid = std::stoi(name);
    if (!command_of(pid).ends_with(ending)) continue;
    for (auto above = parent_of(pid); above && *above > 1; above = parent_of(*above))
      if (*above == ancestor) found.push_back(pid);
  }
  return found;
}

std::vector<int> second_ranks(const Process& evolve) {
  return descendants(evolve.pid(), "evolve-worker --rank 1 ");
}

std::vector<int> first_ranks(const Process& evolve) {
  return descendants(evolve.pid(), "/evolve-worker ");
}

class TwoDevices : public testing::Test {
 protected:
  void SetUp() override {
    if (devices::this_machine().usable_cores < 2) GTEST_SKIP() << "one core only";
  }

  static std::vector<std::string> trials(int count, int epochs) {
    return evolve_command({"--devices", group, "--imgsz", "64", "--epochs", std::to_string(epochs),
                           "--trials", std::to_string(count), "--population", "2",
                           "--no-early-stop", "--output", "run"});
  }
  static std::vector<std::string> training(const std::string& output) {
    return {"train", "--device", group, "--imgsz",  "64",  "--seed",
            "4",     "--epochs", "3",   "--output", output};
  }

  Folder folder;
};

TEST_F(TwoDevices, EvolveAsOneSlot) {
  const auto ended = Process(trials(2, 1), folder.path()).wait();
  ASSERT_EQ(ended.code, 0) << ended.err << ended.out;
  EXPECT_EQ(lines_of(read_file(folder / "run/evolve.csv")).size(), 3u);
  const auto events = journal(folder / "run");
  EXPECT_EQ(count(events, "failed"), 0);
  EXPECT_EQ(events[0]["slots"], nlohmann::json({group}));
  for (const auto& event : events) EXPECT_EQ(event.value("device", group), group);
  EXPECT_THAT(read_file(folder / "run/devices"), HasSubstr("\n" + group + "\n"));
  EXPECT_THAT(ended.out, HasSubstr(group));
  const auto said = lines_of(read_file(folder / "run/trials/000000/log"));
  const auto is_of_weights = [](const auto& line) { return line.starts_with("Transferred "); };
  EXPECT_EQ(std::ranges::count_if(said, is_of_weights), 1) << "which each rank reads";
}

TEST_F(TwoDevices, GiveTheSameTrialAgain) {
  std::vector<std::string> rows;
  for (const std::string output : {"one", "two"}) {
    auto command = trials(1, 1);
    command.back() = output;
    ASSERT_EQ(Process(command, folder.path()).wait().code, 0);
    rows.push_back(read_file(folder / (output + "/evolve.csv")));
  }
  EXPECT_EQ(rows[0], rows[1]);
}

TEST_F(TwoDevices, LoseTheAttemptAndNothingElseWhenARankIsKilled) {
  Process evolve(trials(2, 3), folder.path());
  const auto in_trial_1 = [&] {
    const auto events = journal(folder / "run");
    return count(events, "completed") == 1 && count(events, "started") == 2;
  };
  ASSERT_TRUE(eventually(in_trial_1));
  const auto ranks = second_ranks(evolve);
  ASSERT_EQ(ranks.size(), 1u);
  ::kill(ranks[0], SIGKILL);
  const auto ended = evolve.wait();
  ASSERT_EQ(ended.code, 0) << ended.err << ended.out;
  const auto events = journal(folder / "run");
  EXPECT_EQ(count(events, "completed"), 2);
  ASSERT_EQ(count(events, "failed"), 1);
  const auto failed = std::ranges::find(events, "failed", [](const auto& event) {
    return event["event"].template get<std::string>();
  });
  EXPECT_EQ((*failed)["kind"], "crash");
  EXPECT_EQ((*failed)["message"], "rank 1 (cpu:1) died: killed by signal 9 (SIGKILL)");
  EXPECT_EQ((*failed)["final"], false);
}

TEST_F(TwoDevices, AreNotAddedToARunOnASingleImage) {
  ASSERT_EQ(test::evolve(folder.path(), {"dataset", "shapes", "shapes"}).code, 0);
  const fs::path images = folder / "shapes/images/train";
  write_file(folder / "one.txt", fs::directory_iterator(images)->path().string() + "\n");
  write_file(folder / "one.yaml",
             "train: one.txt\nval: one.txt\nnames: [circle, square, triangle]\n");
  Process evolve(evolve_command({"--data", "one.yaml", "--devices", "cpu:0", "--imgsz", "64",
                                 "--epochs", "1", "--trials", "20", "--output", "run"}),
                 folder.path());
  ASSERT_TRUE(eventually([&] { return fs::exists(folder / "run/devices"); }));
  write_file(folder / "run/devices", group + "\n");
  const auto ended = evolve.wait();
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(
      ended.out,
      HasSubstr("run/devices: nothing changes: " + (folder / "one.yaml").string() +
                ": 1 training image for "
                "the 2 devices of cpu:0+cpu:1, which train together; name fewer devices\n"));
}

TEST_F(TwoDevices, LeaveNoProcessBehindWhoeverIsKilled) {
  for (const bool coordinator : {false, true}) {
    auto command = trials(1, 100000);  // which nothing waits for
    command.back() = coordinator ? "killed" : "abandoned";
    command.insert(command.end(), {"--retries", "0"});
    Process evolve(command, folder.path());
    ASSERT_TRUE(eventually([&] { return second_ranks(evolve).size() == 1; }));
    const auto first = first_ranks(evolve), second = second_ranks(evolve);
    ASSERT_EQ(first.size(), 1u);
    ::kill(coordinator ? evolve.pid() : first[0], SIGKILL);
    EXPECT_TRUE(eventually([&] { return !alive(first[0]) && !alive(second[0]); }, 30));
    if (!coordinator) evolve.signal(SIGTERM);
    evolve.wait();
  }
}

TEST_F(TwoDevices, AreGoneBeforeTheNextOrderWhereOneIsKilledBetweenTwo) {
  const auto worker = fs::path(EVOLVE_BINARY).parent_path() / "evolve-worker";
  Process shell(
      {"/bin/sh", "-c", "sleep 60 | EVOLVE_DEVICE=" + group + " '" + worker.string() + "' >said"},
      folder.path());
  ASSERT_TRUE(eventually(
      [&] { return read_file(folder / "said").find("\"ready\"") != std::string::npos; }));
  const auto first = descendants(shell.pid(), "/evolve-worker ");
  const auto second = descendants(shell.pid(), "evolve-worker --rank 1 ");
  ASSERT_EQ(first.size(), 1u);
  ASSERT_EQ(second.size(), 1u);
  ::kill(second[0], SIGKILL);
  EXPECT_TRUE(eventually([&] { return !alive(first[0]); }, 30));
  for (const pid_t sleep : descendants(shell.pid(), "sleep 60")) ::kill(sleep, SIGKILL);
  shell.wait();
}

TEST_F(TwoDevices, TrainAndGoOnAsIfTheyHadNotBeenCutOff) {
  const auto whole = evolve(folder.path(), training("whole"));
  ASSERT_EQ(whole.code, 0) << whole.err << whole.out;
  EXPECT_THAT(whole.out, HasSubstr(", on " + group + "\n"));
  {
    Process cut(evolve_command(training("cut")), folder.path());
    ASSERT_TRUE(
        eventually([&] { return lines_of(read_file(folder / "cut/results.csv")).size() > 1; }));
    cut.signal(SIGKILL);
    ASSERT_EQ(cut.wait().code, 128 + SIGKILL);
  }
  ASSERT_LT(lines_of(read_file(folder / "cut/results.csv")).size(), 4u);
  const auto resumed = evolve(folder.path(), {"train", "--resume", "cut"});
  ASSERT_EQ(resumed.code, 0) << resumed.err << resumed.out;
  for (const std::string file : {"results.csv", "weights/best.pt"})
    EXPECT_EQ(read_file(folder / ("cut/" + file)), read_file(folder / ("whole/" + file))) << file;
}

TEST_F(TwoDevices, AreRefusedWhereTheyCannotTrain) {
  const auto refusal = [&](const std::vector<std::string>& arguments) {
    return refusal_of(evolve(folder.path(), arguments));
  };
  const auto small =
      "--batch-size 1: each of the 2 devices of cpu:0+cpu:1 trains a part of a "
      "batch; give 2 at least, or name fewer devices";
  EXPECT_THAT(refusal({"--devices", group, "--batch-size", "1", "--dry-run"}), HasSubstr(small));
  EXPECT_THAT(refusal({"train", "--device", group, "--batch-size", "1"}), HasSubstr(small));
  EXPECT_THAT(refusal({"--devices", "cpu:0+xpu:0", "--dry-run"}),
              HasSubstr("the devices of a group are of one kind; choose among cpu, cpu:0, cpu:1"));
  EXPECT_THAT(refusal({"val", "--weights", "shapes-base", "--device", group}),
              HasSubstr("--device cpu:0+cpu:1: a validation has one device; name one of them"));
}

}  // namespace
}  // namespace evolve::test
