// Devices that are lost, full or never ready: who is blamed, and what becomes of the run.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>

#include "process.hpp"

namespace evolve::test {
namespace {

using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using Events = std::vector<nlohmann::json>;

const std::string two_gpus = "name=RTX 4090,uuid=GPU-11aa,bus=1;name=RTX 3090,uuid=GPU-22bb,bus=2";

/// The command `evolve ARGUMENTS` on fake NVIDIA GPUs with this trainer.
std::vector<std::string> command(const std::string& gpus, const std::string& trainer,
                                 const std::vector<std::string>& arguments) {
  std::vector<std::string> words = {"/usr/bin/env", "-u", "CUDA_VISIBLE_DEVICES",
                                    "LD_LIBRARY_PATH=" FAKE_NVML_FOLDER, "FAKE_GPUS=" + gpus};
  auto all = arguments;
  if (std::ranges::count(all, "--resume") == 0)
    all.insert(all.end(), {"--trainer-command", DEVICE_TRAINER " " + trainer, "--output", "run"});
  for (const auto& word : evolve_command(all)) words.push_back(word);
  return words;
}

Ended run(const Folder& folder, const std::string& gpus, const std::string& trainer,
          const std::vector<std::string>& arguments) {
  return Process(command(gpus, trainer, arguments), folder.path()).wait();
}

/// "DEVICE REASON" of the events of a kind.
std::vector<std::string> told(const Events& events, const std::string& kind) {
  std::vector<std::string> texts;
  for (const auto& event : events)
    if (event["event"] == kind)
      texts.push_back(event["device"].get<std::string>() + " " + event.value("reason", ""));
  return texts;
}

/// The devices of the events of a kind, in order.
std::vector<std::string> devices(const Events& events, const std::string& kind) {
  std::vector<std::string> names;
  for (const auto& event : events)
    if (event["event"] == kind) names.push_back(event["device"]);
  return names;
}

/// Every quarantine and every end of one, in order.
Events quarantines(const Events& events) {
  Events all;
  for (const auto& event : events)
    if (event["event"] == "quarantined" || event["event"] == "brought_back") all.push_back(event);
  return all;
}

/// The device is quarantined for just this reason; and where the run outlasts the rest (on a slow
/// machine), once more each time that it was brought back. No other device ever is.
void expect_quarantined(const Events& events, const std::string& device,
                        const testing::Matcher<std::string>& reason) {
  const auto all = quarantines(events);
  EXPECT_GE(all.size(), 1);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const bool begins = i % 2 == 0;
    EXPECT_EQ(all[i]["device"], device);
    EXPECT_EQ(all[i]["event"], begins ? "quarantined" : "brought_back");
    EXPECT_THAT(all[i].value("reason", ""), begins ? reason : testing::Matcher<std::string>(""));
  }
}

/// The most trials that were under way at a time on one device.
int most_at_a_time(const Events& events, const std::string& device, int after = 0) {
  int now = 0, most = 0;
  for (int i = 0; i < std::ssize(events); ++i) {
    const auto& event = events[static_cast<std::size_t>(i)];
    if (event.value("device", "") != device) continue;
    if (event["event"] == "started") ++now;
    if (event["event"] == "completed" || event["event"] == "failed") --now;
    if (i > after) most = std::max(most, now);
  }
  return most;
}

TEST(ALostDevice, GetsNoFurtherTrialAfterTwoInARowAndTheOtherOneGoesOn) {
  Folder folder;
  write_file(folder / "lost", "");
  const auto ended =
      run(folder, two_gpus, "--sleep 100 --lost-while cuda:0 " + (folder / "lost").string(),
          {"--devices", "cuda:0,cuda:1", "--trials", "20"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  const auto events = journal(folder / "run");
  EXPECT_EQ(count(events, "completed"), 20);
  EXPECT_THAT(devices(events, "completed"), Each("cuda:1"));
  EXPECT_THAT(devices(events, "failed"), Each("cuda:0"));
  EXPECT_EQ(count(events, "failed"), 1 + count(events, "quarantined"))
      << "two at first, one each time that it was brought back";
  EXPECT_THAT(told(events, "blamed"),
              ElementsAre("cuda:0 it was lost: UR_RESULT_ERROR_DEVICE_LOST"));
  expect_quarantined(events, "cuda:0", "it was lost: UR_RESULT_ERROR_DEVICE_LOST");
  EXPECT_THAT(ended.out, HasSubstr("cuda:0 gets no further trial: it was lost"));
}

TEST(ALostDevice, ThatIsTheLastOneEndsTheRunWhichGoesOnOnceItIsMended) {
  Folder folder;
  write_file(folder / "lost", "");
  const auto ended = run(folder, two_gpus, "--lost-while cuda:0 " + (folder / "lost").string(),
                         {"--devices", "cuda:0", "--trials", "4"});
  EXPECT_EQ(ended.code, 1);
  EXPECT_EQ(
      ended.err,
      "evolve: cuda:0 gets no further trial: it was lost: UR_RESULT_ERROR_DEVICE_LOST, and no "
      "other device is left; mend it and go on with: evolve --resume run\n");
  EXPECT_EQ(count(journal(folder / "run"), "failed"), 2);
  std::filesystem::remove(folder / "lost");
  const auto resumed = run(folder, two_gpus, "", {"--resume", "run"});
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_EQ(count(journal(folder / "run"), "completed"), 4);
}

TEST(ALostDevice, ThatIsTheOnlyOneEndsTheRunThoughTrialsHaveEndedWellOnIt) {
  Folder folder;
  const auto lost = folder / "lost";
  Process process(command(two_gpus, "--sleep 200 --lost-while cuda:0 " + lost.string(),
                          {"--devices", "cuda:0", "--lag", "1", "--trials", "20"}),
                  folder.path());
  ASSERT_TRUE(eventually([&] { return count(journal(folder / "run"), "completed") >= 3; }));
  write_file(lost, "");
  const auto ended = process.wait();
  EXPECT_EQ(ended.code, 1);
  EXPECT_THAT(ended.err, HasSubstr("cuda:0 gets no further trial: it was lost"));
  EXPECT_EQ(count(journal(folder / "run"), "failed"), 1) << "and a completed one once more";
  std::filesystem::remove(lost);
  EXPECT_EQ(run(folder, two_gpus, "", {"--resume", "run"}).code, 0);
  EXPECT_EQ(count(journal(folder / "run"), "completed"), 20);
}

/// Device 0 of this kind is lost, and later works again.
void expect_back(const std::string& kind) {
  Folder folder;
  write_file(folder / "lost", "");
  const auto device = kind + ":0";
  Process process(
      command(two_gpus, "--sleep 50 --lost-while " + device + " " + (folder / "lost").string(),
              {"--devices", device + "," + kind + ":1", "--trials", "100000"}),
      folder.path());
  const auto events = [&] { return journal(folder / "run"); };
  ASSERT_TRUE(eventually([&] { return count(events(), "quarantined") == 1; }));
  std::filesystem::remove(folder / "lost");
  ASSERT_TRUE(eventually(
      [&] { return std::ranges::count(devices(events(), "completed"), device) > 0; }, 60));
  process.signal(SIGINT);
  EXPECT_EQ(process.wait().code, 130);
  EXPECT_THAT(devices(events(), "brought_back"), ElementsAre(device));
}

TEST(ALostDevice, IsBackWhenItsDriverSaysLaterThatItWorks) {
  expect_back("cuda");
}

TEST(ALostDevice, OfAKindWithoutADriverIsTriedAgainLater) {
  expect_back("npu");
}

TEST(ADevice, WhoseWorkerIsNeverReadyIsQuarantined) {
  Folder folder;
  const auto ended = run(folder, two_gpus, "--sleep 100 --mute-on cuda:1",
                         {"--devices", "cuda:0,cuda:1", "--trials", "20"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  const auto events = journal(folder / "run");
  EXPECT_EQ(count(events, "completed"), 20);
  expect_quarantined(events, "cuda:1", "worker never became ready: exit code 5: no driver here");
}

TEST(ADevice, OnWhichTrialsFailThatEndWellElsewhereIsQuarantined) {
  Folder folder;
  const auto ended =
      Process(
          [&] {
            auto words = command(two_gpus, "", {"--devices", "cuda:0,cuda:1", "--trials", "20"});
            std::ranges::replace(words, std::string(DEVICE_TRAINER " "),
                                 fake_trainer("--sleep 100 --crash-on cuda:0"));
            return words;
          }(),
          folder.path())
          .wait();
  ASSERT_EQ(ended.code, 0) << ended.err;
  const auto events = journal(folder / "run");
  EXPECT_EQ(count(events, "completed"), 20);
  EXPECT_THAT(devices(events, "completed"), Each("cuda:1"));
  expect_quarantined(
      events, "cuda:0",
      testing::MatchesRegex("trial [0-9]+ failed on it and then ended well on cuda:1"));
}

TEST(ACpu, IsNeverQuarantined) {
  Folder folder;
  const auto ended =
      evolve(folder.path(), {"--devices", "cpu:0,cpu:1", "--trials", "6", "--output", "run",
                             "--trainer-command", fake_trainer("--sleep 20 --crash-on cpu:0")});
  ASSERT_EQ(ended.code, 0) << ended.err;
  const auto events = journal(folder / "run");
  EXPECT_EQ(count(events, "completed"), 6);
  EXPECT_GE(count(events, "failed"), 2);
  EXPECT_EQ(count(events, "blamed") + count(events, "quarantined"), 0);
}

TEST(ATrainer, ThatIsNeverReadyEndsTheRunBeforeAllItsTrialsHaveFailed) {
  Folder folder;
  const auto ended = evolve(folder.path(), {"--devices", "cpu:0", "--output", "run",
                                            "--trainer-command", "/bin/sh -c 'exit 5'"});
  EXPECT_EQ(ended.code, 1);
  EXPECT_EQ(ended.err,
            "evolve: no worker became ready in 5 attempts in a row: worker never became ready: "
            "exit code 5; mend it and go on with: evolve --resume run\n");
  const auto events = journal(folder / "run");
  EXPECT_EQ(count(events, "failed"), 5);
  for (const auto& event : events) EXPECT_FALSE(event.value("final", false));
}

TEST(DeviceStats, AreInTheJournal) {
  Folder folder;
  const auto ended =
      run(folder, "name=RTX 4090,uuid=GPU-11aa,bus=1,memory=24,free=20,load=7,celsius=51,watts=90",
          "", {"--devices", "cuda:0", "--trials", "2"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  auto events = journal(folder / "run");
  const auto stats = std::ranges::find_if(
      events, [](const auto& event) { return event["event"] == "device_stats"; });
  ASSERT_NE(stats, events.end());
  EXPECT_THAT(stats->at("time").get<std::string>(), testing::MatchesRegex("20.*T.*Z"));
  stats->erase("time");
  EXPECT_EQ(*stats, (nlohmann::json{{"event", "device_stats"},
                                    {"device", "cuda:0"},
                                    {"state", "ok"},
                                    {"memory_total_bytes", 24LL << 30},
                                    {"memory_free_bytes", 20LL << 30},
                                    {"load_percent", 7},
                                    {"temperature_celsius", 51},
                                    {"power_watts", 90}}));
}

TEST(AFullDevice, GetsATrialOnceItHasRoom) {
  Folder folder;
  const auto gpu = [](const std::string& free) {
    return "name=RTX 4090,uuid=GPU-11aa,bus=1,memory=24,free=" + free;
  };
  write_file(folder / "gpus", gpu("1"));
  Process process(
      command("@" + (folder / "gpus").string(), "", {"--devices", "cuda:0", "--trials", "2"}),
      folder.path());
  ASSERT_TRUE(eventually([&] { return count(journal(folder / "run"), "full") == 1; }));
  EXPECT_EQ(count(journal(folder / "run"), "started"), 0);
  write_file(folder / "gpus", gpu("22"));
  const auto ended = process.wait();
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("cuda:0 is full (1.0 of 24.0 GiB free): it waits for room\n"));
  EXPECT_EQ(count(journal(folder / "run"), "completed"), 2);
}

/// Trials on cuda:0*2 of 24 GiB, each of which needs `gib`.
Events two_at_a_time(const Folder& folder, const std::string& gib) {
  const auto held = (folder / "held").string();
  std::filesystem::create_directory(held);
  const auto ended =
      run(folder, "name=RTX 4090,uuid=GPU-11aa,bus=1,memory=24,free=24,held=" + held,
          "--sleep 300 --hold " + held + " " + gib, {"--devices", "cuda:0*2", "--trials", "10"});
  EXPECT_EQ(ended.code, 0) << ended.err;
  const auto events = journal(folder / "run");
  EXPECT_EQ(count(events, "completed"), 10);
  EXPECT_EQ(count(events, "failed"), 0);
  return events;
}

TEST(TwoTrialsAtATime, RunWhereBothFit) {
  Folder folder;
  EXPECT_EQ(most_at_a_time(two_at_a_time(folder, "10"), "cuda:0"), 2);
}

TEST(TwoTrialsAtATime, DoNotWhereTheyDoNotFit) {
  Folder folder;
  EXPECT_EQ(most_at_a_time(two_at_a_time(folder, "14"), "cuda:0"), 1);
}

TEST(TwoTrialsAtATime, AreOneOnceTheyWereOutOfMemory) {
  Folder folder;
  const auto held = (folder / "held").string();
  std::filesystem::create_directory(held);
  // The driver tells nothing of memory.
  const auto ended = run(folder, "name=RTX 4090,uuid=GPU-11aa,bus=1,secret",
                         "--sleep 100 --room-for 0 --hold " + held + " 20",
                         {"--devices", "cuda:0*2", "--trials", "8"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  const auto events = journal(folder / "run");
  EXPECT_EQ(count(events, "completed"), 8);
  ASSERT_EQ(count(events, "limited"), 1);
  EXPECT_EQ(count(events, "blamed"), 0);
  const auto limited =
      std::ranges::find_if(events, [](const auto& event) { return event["event"] == "limited"; });
  EXPECT_EQ((*limited)["device"], "cuda:0");
  EXPECT_EQ((*limited)["trials"], 1);
  EXPECT_EQ(most_at_a_time(events, "cuda:0", static_cast<int>(limited - events.begin())), 1);
  EXPECT_THAT(ended.out,
              HasSubstr("cuda:0 has no memory for 2 trials at a time: it gets 1 from now on\n"));
}

}  // namespace
}  // namespace evolve::test
