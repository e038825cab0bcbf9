// The file `devices` of a run: devices that come and go while it goes on.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <map>
#include <set>

#include "fake_cards.hpp"

namespace evolve::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using Events = std::vector<nlohmann::json>;

/// 40 trials, on npu:0 and npu:1.
class DeviceFile : public testing::Test {
 protected:
  explicit DeviceFile(const std::string& trainer = "--sleep 100",
                      const std::string& devices = "npu:0,npu:1")
      : process_(evolve_command({"--output", "run", "--search", "classic", "--trials", "40",
                                 "--population", "40", "--devices", devices, "--trainer-command",
                                 fake_trainer(trainer + " --log " + (folder_ / "log").string())}),
                 folder_.path()) {}

  Events events() const { return journal(folder_ / "run"); }
  /// Writes the file once so many trials have completed.
  void write_after(int trials, const std::string& text) {
    ASSERT_TRUE(eventually([&] {
      return std::filesystem::exists(folder_ / "run/journal.jsonl") &&
             count(events(), "completed") >= trials;
    }));
    write_file(folder_ / "run/devices", text);
  }
  /// The devices of the starts after the first change.
  std::set<std::string> started_after_change() const {
    std::set<std::string> devices;
    bool changed = false;
    for (const auto& event : events()) {
      changed = changed || event["event"] == "devices";
      if (changed && event["event"] == "started") devices.insert(event["device"]);
    }
    return devices;
  }
  void expect_all_completed() const {
    std::set<int> trials;
    for (const auto& event : events())
      if (event["event"] == "completed") {
        const int trial = event["trial"];
        EXPECT_TRUE(trials.insert(trial).second);
      }
    EXPECT_EQ(trials.size(), 40U);
  }

  Folder folder_;
  Process process_;
};

/// The first trial, which npu:0 gets, does not end by itself.
class DeviceFileOfARunThatHangs : public DeviceFile {
 protected:
  DeviceFileOfARunThatHangs() : DeviceFile("--sleep 100 --faults 0=hang") {}
};

/// The same, and the first trial has two devices.
class DeviceFileOfAGroupThatHangs : public DeviceFile {
 protected:
  DeviceFileOfAGroupThatHangs() : DeviceFile("--sleep 100 --faults 0=hang", "npu:1+npu:2,npu:0") {}
};

TEST_F(DeviceFile, ListsTheDevicesAndSaysHowToChangeThem) {
  ASSERT_TRUE(eventually([&] { return std::filesystem::exists(folder_ / "run/devices"); }));
  const auto lines = lines_of(read_file(folder_ / "run/devices"));
  ASSERT_EQ(lines.size(), 5U);
  EXPECT_THAT(lines[0], HasSubstr("Edit this while evolve runs"));
  EXPECT_THAT(std::vector(lines.begin() + 3, lines.end()), ElementsAre("npu:0", "npu:1"));
  process_.signal(SIGTERM);
  process_.wait();
}

TEST_F(DeviceFile, ChangesTheDevicesOfARunThatGoesOn) {
  write_after(2, "npu:1\nnpu:2\n");
  const auto ended = process_.wait();
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("2 slots from now on: npu:1, npu:2\n"));
  EXPECT_THAT(started_after_change(), ElementsAre("npu:1", "npu:2"));
  EXPECT_EQ(count(events(), "failed"), 0) << "what npu:0 trained ended there";
  expect_all_completed();
}

TEST_F(DeviceFile, ChangesNothingWhenItAsksForWhatCannotBe) {
  write_after(2, "npu:0\nnpu:x\n");
  const auto ended = process_.wait();
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("run/devices: nothing changes: --devices npu:0,npu:x: "));
  EXPECT_EQ(count(events(), "devices"), 0);
  expect_all_completed();
}

TEST_F(DeviceFile, ChangesNothingInUtf16) {
  write_after(2, std::string("\xFF\xFE"
                             "n\0p\0u\0:\0"
                             "1\0",
                             12));
  const auto ended = process_.wait();
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("run/devices: nothing changes: it is no plain text (UTF-16?); "
                                   "save it as UTF-8\n"));
  expect_all_completed();
}

TEST_F(DeviceFile, LeavesTheRunADevice) {
  write_after(2, "take npu:0\ntake npu:1\n");
  const auto ended = process_.wait();
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("run/devices: nothing changes: no device would be left; leave "
                                   "the run one\n"));
  expect_all_completed();
}

TEST_F(DeviceFile, TakesNothingThatIsNoDeviceOfTheRun) {
  write_after(2, "npu:1\ntake npu:7\n");
  const auto ended = process_.wait();
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.out,
              HasSubstr("run/devices: nothing changes: take npu:7: npu:7 is no device of "
                        "the run; name one of npu:0, npu:1\n"));
  EXPECT_EQ(count(events(), "devices"), 0);
  expect_all_completed();
}

TEST_F(DeviceFile, TakesNothingThatAnotherLineHas) {
  write_after(2, "npu:0\nnpu:1\ntake npu:1\n");
  const auto ended = process_.wait();
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.out,
              HasSubstr("run/devices: nothing changes: take npu:1: another line has it as a device "
                        "of the run; leave one of the two\n"));
  EXPECT_EQ(count(events(), "failed"), 0);
  EXPECT_EQ(count(events(), "devices"), 0);
  expect_all_completed();
}

TEST_F(DeviceFileOfARunThatHangs, MayTakeAwayADeviceThatWasToEndItsTrialFirst) {
  write_after(2, "npu:1\n");
  ASSERT_TRUE(eventually([&] { return count(events(), "devices") == 1; }));
  write_file(folder_ / "run/devices", "npu:1\ntake NPU\n");
  EXPECT_TRUE(eventually([&] { return count(events(), "failed") == 1; }));
  ASSERT_TRUE(eventually([&] { return count(events(), "devices") == 2; }));
  write_file(folder_ / "run/devices", "npu:1,npu:2\ntake NPU\n");
  EXPECT_TRUE(eventually([&] { return count(events(), "devices") == 3; }))
      << "the line may stay there";
  process_.signal(SIGTERM);
  process_.wait();
}

TEST_F(DeviceFileOfARunThatHangs, MayTakeADeviceAwayAtOnce) {
  write_after(2, "npu:1\ntake npu:0\n");
  const auto of_trial_0 = [&](const std::string& kind) {
    std::vector<std::string> devices;
    for (const auto& event : events())
      if (event["event"] == kind && event["trial"] == 0) devices.push_back(event["device"]);
    return devices;
  };
  EXPECT_TRUE(eventually([&] { return of_trial_0("started").size() == 2; }));
  EXPECT_THAT(of_trial_0("started"), ElementsAre("npu:0", "npu:1"));
  EXPECT_THAT(of_trial_0("failed"), ElementsAre("npu:0"));
  for (const auto& event : events()) {
    if (event["event"] != "failed") continue;
    EXPECT_EQ(event["message"], "it was taken away");
    EXPECT_EQ(event["final"], false);
  }
  EXPECT_EQ(count(events(), "blamed"), 0);
  process_.signal(SIGTERM);
  process_.wait();
}

TEST_F(DeviceFileOfAGroupThatHangs, MayTakeOneOfItsDevicesAway) {
  write_after(2, "npu:0\ntake npu:2\n");
  EXPECT_TRUE(eventually([&] { return count(events(), "failed") == 1; }));
  const auto failed = event(folder_, "failed");
  EXPECT_EQ(failed["device"], "npu:1+npu:2");
  EXPECT_EQ(failed["message"], "it was taken away");
  process_.signal(SIGTERM);
  process_.wait();
}

TEST_F(DeviceFileOfAGroupThatHangs, TakesNoDeviceAwayThatTheGroupIsToKeep) {
  write_after(2, "npu:0\nnpu:1+npu:2\ntake npu:2\n");
  ASSERT_TRUE(eventually([&] { return completed(folder_ / "run").size() > 30; }));
  process_.signal(SIGTERM);
  EXPECT_THAT(process_.wait().out,
              HasSubstr("run/devices: nothing changes: take npu:2: another line has it as a device "
                        "of the run; leave one of the two\n"));
}

TEST_F(DeviceFileOfARunThatHangs, MayTakeDevicesAwayForAGroup) {
  write_after(2, "npu:0+npu:1\ntake npu:0\ntake npu:1\n");
  const auto starts_in_a_group = [&] {
    const auto all = events();
    return std::ranges::any_of(all, [](const auto& event) {
      return event["event"] == "started" && event["device"] == "npu:0+npu:1";
    });
  };
  EXPECT_TRUE(eventually(starts_in_a_group));
  process_.signal(SIGTERM);
  process_.wait();
}

/// A run on these cards, three trials a fifth of a second, whose trainers leave what they see in
/// the file "seen".
Process begin_on(const Folder& folder, const Variables& cards, const std::string& devices,
                 const std::string& trials = "60", const std::string& trainer = "") {
  return Process(
      command_with(cards, {"--output", "run", "--search", "classic", "--trials", trials,
                           "--population", trials, "--devices", devices, "--trainer-command",
                           fake_trainer("--sleep 200 --seen " + (folder / "seen").string() + " " +
                                        trainer)}),
      folder.path());
}

/// The masks that trainers of XPUs were shown, by device, each as long as it was the same.
std::map<std::string, std::vector<std::string>> masks_seen(const Folder& folder) {
  std::map<std::string, std::vector<std::string>> masks;
  for (const auto& trial : seen(folder)) {
    auto& of_device = masks[trial["device"]];
    const std::string mask = trial["environment"]["ZE_AFFINITY_MASK"];
    if (of_device.empty() || of_device.back() != mask) of_device.push_back(mask);
  }
  return masks;
}

// The first of three GPUs goes, and the driver numbers the others anew.
TEST(DeviceFileOfGpus, KeepsTheNamesOfTheirDevices) {
  Folder folder;
  const std::string others = "name=B,uuid=GPU-22bb,bus=2;name=C,uuid=GPU-33cc,bus=3\n";
  write_file(folder / "gpus", "name=A,uuid=GPU-11aa,bus=1;" + others);
  auto process = begin_on(folder, {nvidia, "FAKE_GPUS=@gpus"}, "cuda:0,cuda:1,cuda:2");
  const auto changes = [&] {
    std::vector<nlohmann::json> all;
    if (std::filesystem::exists(folder / "run/journal.jsonl"))
      for (const auto& event : journal(folder / "run"))
        if (event["event"] == "devices") all.push_back(event["slots"]);
    return all;
  };
  ASSERT_TRUE(eventually([&] { return lines_of(read_file(folder / "seen")).size() >= 3; }));
  write_file(folder / "gpus", others);
  write_file(folder / "run/devices", "cuda:1\ncuda:2\n");
  ASSERT_TRUE(eventually([&] { return changes().size() == 1; }));
  write_file(folder / "run/devices", "cuda:0\ncuda:1\ncuda:2\n");
  const auto ended = process.wait();
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(changes(), ElementsAre(nlohmann::json({"cuda:1", "cuda:2"})));
  EXPECT_THAT(ended.out, HasSubstr("run/devices: nothing changes: --devices cuda:0,cuda:1,cuda:2: "
                                   "there is no cuda:0 here (the driver has renumbered its "
                                   "devices; the run keeps its own numbers); choose among cpu, "));
  const std::map<std::string, std::string> uuids = {
      {"cuda:0", "GPU-11aa"}, {"cuda:1", "GPU-22bb"}, {"cuda:2", "GPU-33cc"}};
  for (const auto& trial : seen(folder))
    EXPECT_EQ(trial["environment"]["CUDA_VISIBLE_DEVICES"], uuids.at(trial["device"]));
}

TEST(DeviceFileOfGpus, OfARunThatGoesOnWithOtherCardsAreInItsJournal) {
  Folder folder;
  const auto run = [&](const std::string& gpus, const std::vector<std::string>& more) {
    const auto ended = evolve_with(folder, {nvidia, "FAKE_GPUS=" + gpus}, more);
    EXPECT_EQ(ended.code, 0) << ended.err;
    return ended.out;
  };
  const std::string a = "name=A,uuid=GPU-11aa,bus=1", b = "name=B,uuid=GPU-22bb,bus=2";
  run(a + ";" + b, {"--output", "run", "--trials", "4", "--devices", "cuda:0,cuda:1",
                    "--trainer-command", fake_trainer()});
  EXPECT_EQ(journal(folder / "run").front()["identities"],
            nlohmann::json({"GPU-11aa", "GPU-22bb"}));
  run(a + ";" + b, {"--resume", "run", "--trials", "6"});
  EXPECT_EQ(count(journal(folder / "run"), "devices"), 0) << "the same";
  const auto screen = run(b, {"--resume", "run", "--trials", "8", "--devices", "cuda:0"});
  EXPECT_THAT(screen, HasSubstr("1 slot from now on: cuda:0\n"));
  EXPECT_THAT(screen, HasSubstr("cuda:0 is another device than before (GPU-11aa)\n"));
  const auto events = journal(folder / "run");
  const auto changed =
      std::ranges::find(events, "devices", [](const auto& e) { return e["event"]; });
  ASSERT_NE(changed, events.end());
  EXPECT_EQ((*changed)["slots"], nlohmann::json({"cuda:0"}));
  EXPECT_EQ((*changed)["identities"], nlohmann::json({"GPU-22bb"}));
}

// The one that was taken out has gone, and the driver gives its number to another one.
TEST(DeviceFileOfGpus, PutBackAreTheSameCardsOrNone) {
  Folder folder;
  const std::string a = "name=A,uuid=GPU-11aa,bus=1;", c = "name=C,uuid=GPU-33cc,bus=3\n";
  write_file(folder / "gpus", a + "name=B,uuid=GPU-22bb,bus=2;" + c);
  auto process = begin_on(folder, {nvidia, "FAKE_GPUS=@gpus"}, "cuda:0,cuda:1");
  ASSERT_TRUE(eventually([&] { return lines_of(read_file(folder / "seen")).size() >= 2; }));
  write_file(folder / "run/devices", "cuda:0\n");
  ASSERT_TRUE(eventually([&] { return count(journal(folder / "run"), "devices") == 1; }));
  write_file(folder / "gpus", a + c);
  write_file(folder / "run/devices", "cuda:0\ncuda:1\n");
  const auto ended = process.wait();
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.out,
              HasSubstr("run/devices: nothing changes: --devices cuda:0,cuda:1: there is "
                        "no cuda:1 here (the driver has renumbered its devices"));
}

TEST(DeviceFileOfGpus, WhoseDriverCallsThemOutOfOrderGetNoTrialAndBurnNone) {
  Folder folder;
  write_file(folder / "xpus", "name=A,bus=3;name=B,bus=4\n");
  auto process = begin_on(folder, {intel, "FAKE_XPUS=@xpus"}, "xpu:0,xpu:1", "100000");
  ASSERT_TRUE(eventually([&] { return lines_of(read_file(folder / "seen")).size() >= 4; }));
  write_file(folder / "xpus", "name=A,bus=3,wedged;name=B,bus=4\n");
  EXPECT_TRUE(eventually([&] { return count(journal(folder / "run"), "quarantined") == 1; }, 90));
  process.signal(SIGTERM);
  EXPECT_THAT(process.wait().out,
              HasSubstr("xpu:0 gets no further trial: its driver says: wedged"));
  const auto events = journal(folder / "run");
  const auto is_quarantined = [](const auto& event) { return event["event"] == "quarantined"; };
  for (auto event = std::ranges::find_if(events, is_quarantined); event != events.end(); ++event)
    EXPECT_FALSE((*event)["event"] == "started" && (*event)["device"] == "xpu:0");
}

// The first of three goes, and the mask of the others' numbers is another.
TEST(DeviceFileOfGpus, ShowsTheTrainersOfXpusTheNumbersThatTheseHaveNow) {
  Folder folder;
  const std::string others = "name=B,bus=4;name=C,bus=5\n";
  write_file(folder / "xpus", "name=A,bus=3;" + others);
  auto process = begin_on(folder, {intel, "FAKE_XPUS=@xpus"}, "xpu:0,xpu:1,xpu:2");
  ASSERT_TRUE(eventually([&] { return lines_of(read_file(folder / "seen")).size() >= 3; }));
  write_file(folder / "xpus", others);
  write_file(folder / "run/devices", "xpu:1\nxpu:2\n");
  const auto ended = process.wait();
  EXPECT_EQ(ended.code, 0) << ended.err;
  auto masks = masks_seen(folder);
  EXPECT_THAT(masks["xpu:1"], ElementsAre("1", "0"));
  EXPECT_THAT(masks["xpu:2"], ElementsAre("2", "1"));
}

// Nobody edits the file: the drivers are asked as soon as a trial has lost its device.
TEST(DeviceFileOfGpus, NeedNotBeEditedWhereACardIsLostAndTheDriverNumbersTheOthersAnew) {
  Folder folder;
  const std::string others = "name=B,bus=4;name=C,bus=5\n";
  write_file(folder / "xpus", "name=A,bus=3;" + others);
  auto process = begin_on(folder, {intel, "FAKE_XPUS=@xpus"}, "xpu:0,xpu:1,xpu:2", "1000",
                          "--faults 30=device_lost");
  ASSERT_TRUE(eventually([&] { return lines_of(read_file(folder / "seen")).size() >= 3; }));
  write_file(folder / "xpus", others);
  const auto events = [&] { return journal(folder / "run"); };
  const auto starts_on_the_lost = [&] {
    return std::ranges::count_if(events(), [](const auto& event) {
      return event["event"] == "started" && event["device"] == "xpu:0";
    });
  };
  ASSERT_TRUE(eventually([&] { return masks_seen(folder)["xpu:2"].size() == 2; }));
  const auto is_quarantined = [&] {
    return std::ranges::any_of(events(), [](const auto& event) {
      return event["event"] == "quarantined" && event["device"] == "xpu:0";
    });
  };
  ASSERT_TRUE(eventually(is_quarantined)) << "it was missing twice in a row";
  const auto before = starts_on_the_lost();
  auto masks = masks_seen(folder);
  EXPECT_THAT(masks["xpu:0"], ElementsAre("0"));
  EXPECT_THAT(masks["xpu:1"], ElementsAre("1", "0"));
  EXPECT_THAT(masks["xpu:2"], ElementsAre("2", "1"));

  write_file(folder / "xpus", "name=A,bus=3;" + others);
  ASSERT_TRUE(eventually([&] { return masks_seen(folder)["xpu:2"].size() == 3; }));
  ASSERT_TRUE(eventually([&] { return starts_on_the_lost() > before; }));
  process.signal(SIGTERM);
  const auto ended = process.wait();
  masks = masks_seen(folder);
  EXPECT_THAT(masks["xpu:0"], ElementsAre("0"));
  EXPECT_THAT(masks["xpu:1"], ElementsAre("1", "0", "1"));
  EXPECT_THAT(masks["xpu:2"], ElementsAre("2", "1", "2"));
  EXPECT_THAT(ended.out, HasSubstr("xpu:0 gets no further trial: its driver no longer lists it\n"));
  EXPECT_THAT(ended.out, HasSubstr("xpu:0 gets trials again\n"));
  EXPECT_EQ(count(events(), "devices"), 0) << "the run's devices are the same";
  const std::string anew = "the driver has renumbered its devices; the run keeps its own numbers";
  EXPECT_EQ(std::ranges::count(lines_of(ended.out), anew), 2) << "when it went, and when it came";
}

// Its numbers are not those that the slots have, and nobody can say which they are now.
TEST(DeviceFileOfGpus, WaitForTheirNewNumbersWhereADriverThatHasLostACardIsSilent) {
  Folder folder;
  const std::string others = "name=B,bus=4;name=C,bus=5\n";
  write_file(folder / "xpus", "name=A,bus=3;" + others);
  write_file(folder / "init", "");
  auto process = begin_on(folder, {intel, "FAKE_XPUS=@xpus", "FAKE_XPU_INIT=@init"},
                          "xpu:0,xpu:1,xpu:2", "1000", "--faults 30=device_lost");
  ASSERT_TRUE(eventually([&] { return lines_of(read_file(folder / "seen")).size() >= 3; }));
  write_file(folder / "init", "crash");
  write_file(folder / "xpus", others);
  const auto started = [&] { return count(journal(folder / "run"), "started"); };
  ASSERT_TRUE(eventually([&] { return count(journal(folder / "run"), "failed") == 1; }));
  std::this_thread::sleep_for(std::chrono::seconds(4));
  const int before = started();
  std::this_thread::sleep_for(std::chrono::seconds(1));
  EXPECT_EQ(started(), before);
  EXPECT_EQ(count(journal(folder / "run"), "quarantined"), 0) << "it may answer yet";
  write_file(folder / "init", "");
  ASSERT_TRUE(eventually([&] { return masks_seen(folder)["xpu:2"].size() == 2; }));
  process.signal(SIGTERM);
  process.wait();
  auto masks = masks_seen(folder);
  EXPECT_THAT(masks["xpu:1"], ElementsAre("1", "0"));
  EXPECT_THAT(masks["xpu:2"], ElementsAre("2", "1"));
}

// One card goes, and the last one is found out of order when the drivers are asked for their new
// numbers.
TEST(DeviceFileOfGpus, OfWhichOneIsOutOfOrderWhenTheyAreNumberedAnewGoOnOnTheOthers) {
  Folder folder;
  write_file(folder / "xpus", "name=A,bus=3;name=B,bus=4;name=C,bus=5\n");
  auto process = begin_on(folder, {intel, "FAKE_XPUS=@xpus"}, "xpu:0,xpu:1,xpu:2", "1000",
                          "--faults 30=device_lost");
  ASSERT_TRUE(eventually([&] { return lines_of(read_file(folder / "seen")).size() >= 3; }));
  write_file(folder / "xpus", "name=B,bus=4;name=C,bus=5,wedged\n");
  ASSERT_TRUE(eventually([&] { return masks_seen(folder)["xpu:1"].size() == 2; }));
  EXPECT_THAT(masks_seen(folder)["xpu:1"], ElementsAre("1", "0"));
  process.signal(SIGTERM);
  EXPECT_THAT(process.wait().out, Not(HasSubstr("nothing changes")));
}

TEST_F(DeviceFile, EndsTheIdleWorkerOfADeviceThatGoes) {
  write_after(2, "npu:1\n");
  const auto worker_of = [&](const std::string& device) {
    int pid = 0;
    for (const auto& line : lines_of(read_file(folder_ / "log")))
      if (line.find(" " + device + " ") != line.npos) pid = std::stoi(line);
    return pid;
  };
  EXPECT_TRUE(eventually([&] { return count(events(), "devices") == 1; }));
  const int pid = worker_of("npu:0");
  ASSERT_GT(pid, 0);
  EXPECT_TRUE(eventually([&] { return !alive(pid); }));
  EXPECT_LT(count(events(), "completed"), 40) << "while the run goes on";
  EXPECT_EQ(process_.wait().code, 0);
}

}  // namespace
}  // namespace evolve::test
