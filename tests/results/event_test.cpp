#include "results/event.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "hyp/space.hpp"
#include "tests/refusal.hpp"

namespace evolve::results {
namespace {

using Json = nlohmann::ordered_json;

const hyp::Metrics metrics{.precision = 0.5,
                           .recall = 0.25,
                           .map50 = 0.125,
                           .map50_95 = 1,
                           .box_loss = 2,
                           .obj_loss = 3,
                           .cls_loss = 4};
const std::string metrics_text =
    R"("metrics":{"metrics/precision":0.5,"metrics/recall":0.25,"metrics/mAP_0.5":0.125,"metrics/mAP_0.5:0.95":1.0,)"
    R"("val/box_loss":2.0,"val/obj_loss":3.0,"val/cls_loss":4.0})";

TEST(Event, OfAStartHasTheContractsKeys) {
  const Started started{
      .trial = 17, .generation = 1, .hyp = {{"lr0", 0.01}, {"anchors", 3.0}}, .device = "cpu:0"};
  EXPECT_EQ(
      to_json(started).dump(),
      R"({"event":"started","trial":17,"generation":1,"hyp":{"lr0":0.01,"anchors":3},"device":"cpu:0","attempt":1})");
  EXPECT_EQ(std::get<Started>(event_from_json(to_json(started))), started);
}

TEST(Event, OfAPauseHasTheContractsKeysAtBothEnds) {
  const hyp::Outcome paused{
      .trial = 17, .device = "cpu:0", .seconds = 2, .result = hyp::Paused{3, metrics, 0.25}};
  EXPECT_EQ(to_json(paused).dump(),
            R"({"event":"paused","trial":17,"epoch":3,)" + metrics_text +
                R"(,"fitness":0.25,"device":"cpu:0","attempt":1,"seconds":2.0})");
  EXPECT_EQ(std::get<hyp::Outcome>(event_from_json(to_json(paused))).result, paused.result);
  auto first = paused;
  first.prepared = 1.5;
  EXPECT_EQ(std::get<hyp::Outcome>(event_from_json(to_json(first))).prepared, 1.5);
  const Started started{.trial = 17, .device = "cpu:1", .start_epoch = 3, .pause_epoch = 6};
  EXPECT_EQ(
      to_json(started).dump(),
      R"({"event":"started","trial":17,"generation":0,"hyp":{},"device":"cpu:1","attempt":1,"start_epoch":3,"pause_epoch":6})");
  EXPECT_EQ(std::get<Started>(event_from_json(to_json(started))), started);
  EXPECT_TRUE(std::holds_alternative<CannotPause>(event_from_json(to_json(CannotPause{}))));
}

TEST(Event, OfAFailureSaysHowFarItCame) {
  const hyp::Outcome failed{.trial = 1, .result = hyp::Failed{.epoch = 4}};
  EXPECT_EQ(to_json(failed)["epoch"], 4);
  EXPECT_EQ(std::get<hyp::Outcome>(event_from_json(to_json(failed))).result, failed.result);
}

TEST(Event, OfARepeatIsNoneOfATrial) {
  EXPECT_EQ(to_json(Repeating{.trial = 17, .repeat = 3, .seed = 5, .device = "cpu:0", .attempt = 2})
                .dump(),
            R"({"event":"repeating","trial":17,"repeat":3,"seed":5,"device":"cpu:0","attempt":2})");
  const Repeating repeating{.trial = 17, .repeat = 3, .seed = 5, .device = "cpu:0", .attempt = 2};
  EXPECT_EQ(std::get<Repeating>(event_from_json(to_json(repeating))), repeating);
  const hyp::Outcome repeated{.trial = 17, .repeat = 2, .result = hyp::Completed{metrics, 0.5}};
  const hyp::Outcome failed{.trial = 17, .repeat = 2, .result = hyp::Failed{.final = false}};
  EXPECT_EQ(to_json(repeated)["event"], "repeated");
  EXPECT_EQ(to_json(failed)["event"], "repeat_failed");
  for (const auto& outcome : {repeated, failed}) {
    const auto back = std::get<hyp::Outcome>(event_from_json(to_json(outcome)));
    EXPECT_EQ(back.repeat, 2);
    EXPECT_EQ(back.result, outcome.result);
  }
}

TEST(Event, OfAnOutcomeSaysWhichDeviceTrained) {
  const hyp::Outcome outcome{.trial = 17,
                             .device = "cuda:0",
                             .result = hyp::Completed{metrics, 0.5},
                             .identity = {"GPU-ab-cd", "0000:03:00.0"}};
  const auto json = to_json(outcome);
  EXPECT_THAT(json.dump(), testing::EndsWith(R"("uuid":"GPU-ab-cd","pci":"0000:03:00.0"})"));
  const auto back = std::get<hyp::Outcome>(event_from_json(json));
  EXPECT_EQ(back.identity, outcome.identity);
}

TEST(Event, OfAnOutcomeHasTheContractsKeys) {
  const hyp::Outcome completed{
      .trial = 17, .device = "cpu:0", .seconds = 4.25, .result = hyp::Completed{metrics, 0.5}};
  EXPECT_EQ(to_json(completed).dump(),
            R"({"event":"completed","trial":17,)" + metrics_text +
                R"(,"fitness":0.5,"device":"cpu:0","attempt":1,"seconds":4.25})");
  const hyp::Outcome stopped{
      .trial = 18, .device = "cpu:1", .attempt = 2, .result = hyp::Stopped{3, metrics, 0.02}};
  EXPECT_EQ(to_json(stopped).dump(),
            R"({"event":"stopped","trial":18,"epoch":3,)" + metrics_text +
                R"(,"fitness":0.02,"device":"cpu:1","attempt":2,"seconds":0.0})");
  const hyp::Outcome failed{
      .trial = 19,
      .device = "cpu:0",
      .seconds = 1,
      .result = hyp::Failed{hyp::FailureKind::crash, "gone", "trials/000019/log", false}};
  EXPECT_EQ(
      to_json(failed).dump(),
      R"({"event":"failed","trial":19,"kind":"crash","message":"gone","log":"trials/000019/log",)"
      R"("device":"cpu:0","attempt":1,"final":false,"seconds":1.0})");
  for (const auto& outcome : {completed, stopped, failed}) {
    const auto back = std::get<hyp::Outcome>(event_from_json(to_json(outcome)));
    EXPECT_EQ(back.trial, outcome.trial);
    EXPECT_EQ(back.device, outcome.device);
    EXPECT_EQ(back.attempt, outcome.attempt);
    EXPECT_EQ(back.seconds, outcome.seconds);
    EXPECT_EQ(back.result, outcome.result);
  }
}

TEST(Event, OfADeviceHasTheContractsKeys) {
  const auto line = [](const Event& event) { return to_json(event).dump(); };
  EXPECT_EQ(
      line(DeviceStats{.device = "xpu:0", .memory_free_bytes = 1, .load_percent = 97.5}),
      R"({"event":"device_stats","device":"xpu:0","state":"ok","memory_total_bytes":null,"memory_free_bytes":1,)"
      R"("load_percent":97.5,"temperature_celsius":null,"power_watts":null})");
  EXPECT_EQ(line(DeviceLimited{.device = "xpu:0", .trials = 2}),
            R"({"event":"limited","device":"xpu:0","trials":2})");
  EXPECT_EQ(line(DeviceFull{.device = "xpu:0", .memory_total_bytes = 10, .memory_free_bytes = 1}),
            R"({"event":"full","device":"xpu:0","memory_total_bytes":10,"memory_free_bytes":1})");
  EXPECT_EQ(line(DeviceBlamed{.device = "xpu:0", .reason = "lost", .quarantined = true}),
            R"({"event":"quarantined","device":"xpu:0","reason":"lost"})");
  EXPECT_EQ(line(DeviceBroughtBack{.device = "xpu:0"}),
            R"({"event":"brought_back","device":"xpu:0"})");
  EXPECT_EQ(line(DevicesChanged{.slots = {"cpu:0", "npu:3"}}),
            R"({"event":"devices","slots":["cpu:0","npu:3"]})");
  EXPECT_EQ(line(DevicesChanged{.slots = {"cuda:0", "npu:3"}, .identities = {"GPU-1", ""}}),
            R"({"event":"devices","slots":["cuda:0","npu:3"],"identities":["GPU-1",""]})");
}

TEST(Event, OfMendedInputsHasThem) {
  const InputsMended mended{.inputs = {{"data", 7}}};
  EXPECT_EQ(to_json(mended).dump(), R"({"event":"inputs","inputs":{"data":7}})");
  EXPECT_EQ(std::get<InputsMended>(event_from_json(to_json(mended))), mended);
}

TEST(Event, OfOtherBoundsHasOnlyThoseThatAreGiven) {
  EXPECT_EQ(to_json(Extended{.generations = 9}).dump(),
            R"({"event":"extended","generations":9,"trials":null})");
  EXPECT_EQ(to_json(Extended{.generations = 9, .trials = 7, .repeats = 2, .max_epochs = 90}).dump(),
            R"({"event":"extended","generations":9,"trials":7,"repeats":2,"max_epochs":90})");
}

TEST(Event, OfARungHasItsFitnessAndPlace) {
  const hyp::Rung rung{
      .trial = 17, .epoch = 3, .metrics = metrics, .fitness = 0.25, .device = "cpu:0"};
  EXPECT_EQ(to_json(rung).dump(), R"({"event":"rung","trial":17,"epoch":3,)" + metrics_text +
                                      R"(,"fitness":0.25,"device":"cpu:0"})");
  EXPECT_EQ(std::get<hyp::Rung>(event_from_json(to_json(rung))), rung);
}

TEST(Event, MayHaveFurtherKeysAndLackOursThatTheContractHasNot) {
  const auto event =
      event_from_json(Json::parse(R"({"event":"stopped","trial":18,"epoch":3,)" + metrics_text +
                                  R"(,"fitness":0.02,"device":"cpu:1","uuid":"GPU-1"})"));
  EXPECT_EQ(std::get<hyp::Outcome>(event).attempt, 1);
}

TEST(Event, KeepsAFitnessThatIsNoNumber) {
  const hyp::Outcome outcome{.result = hyp::Completed{metrics, std::nan("")}};
  const auto line = to_json(outcome).dump();
  EXPECT_NE(line.find(R"("fitness":null)"), std::string::npos);
  const auto back = std::get<hyp::Outcome>(event_from_json(Json::parse(line)));
  EXPECT_TRUE(std::isnan(std::get<hyp::Completed>(back.result).fitness));
}

TEST(Event, OfEveryKindIsReadBackAsItWas) {
  const hyp::Failed gone{.kind = hyp::FailureKind::data,
                         .message = "gone",
                         .log = "log",
                         .final = false,
                         .failed_before_ready = true,
                         .not_started = true,
                         .of_surroundings = true,
                         .excused = true,
                         .unconfirmed = true};
  const auto back = event_from_json(to_json(hyp::Outcome{.trial = 1, .result = gone}));
  EXPECT_EQ(std::get<hyp::Failed>(std::get<hyp::Outcome>(back).result), gone);
  const std::vector<Event> events = {
      Extended{.generations = 9, .trials = {}, .repeats = 2},
      Extended{.generations = 9, .trials = 7, .repeats = {}},
      DeviceStats{.device = "xpu:0", .memory_free_bytes = 1, .load_percent = 97.5},
      DeviceLimited{.device = "xpu:0", .trials = 2},
      DeviceFull{.device = "xpu:0", .memory_total_bytes = 10, .memory_free_bytes = 1},
      DeviceBlamed{.device = "xpu:0", .reason = "lost"},
      DeviceBlamed{.device = "xpu:0", .reason = "lost", .quarantined = true},
      DeviceBroughtBack{.device = "xpu:0"},
      DevicesChanged{.slots = {"cpu:0", "npu:3"}},
      DevicesChanged{.slots = {"cuda:0"}, .identities = {"GPU-1"}},
      Bred{.trials = {{.trial = 17, .hyp = hyp::start_of(hyp::default_space())}, {.trial = 18}}}};
  for (const auto& event : events) {
    const auto json = to_json(event);
    EXPECT_EQ(to_json(event_from_json(json)), json);
    EXPECT_EQ(event_from_json(json).index(), event.index());
  }
}

TEST(Event, OfAnEarlierVersionSaysThatAWorkerWasNeverReady) {
  const auto event = event_from_json(Json::parse(
      R"({"event":"failed","trial":19,"kind":"hang","message":"not ready for 1 s","log":"trials/000019/log",)"
      R"("never_ready":true,"device":"cpu:0","attempt":1,"final":false,"seconds":1.0})"));
  EXPECT_TRUE(std::get<hyp::Failed>(std::get<hyp::Outcome>(event).result).failed_before_ready);
}

TEST(Event, OfAnUnknownNameIsKeptAsItIs) {
  const auto json = Json::parse(R"({"event":"weather","sun":true})");
  EXPECT_EQ(std::get<UnknownEvent>(event_from_json(json)).json, json);
}

TEST(Event, SaysWhatIsMissingOrWrong) {
  const auto refused = [](const std::string& text) {
    return test::refusal<std::exception>([&] { event_from_json(Json::parse(text)); });
  };
  EXPECT_EQ(refused("[]"), "this is no JSON object");
  EXPECT_EQ(refused("{}"), "key event is missing");
  EXPECT_EQ(refused(R"({"event":3})"), "event is no text");
  EXPECT_EQ(refused(R"({"event":"started"})"), "key trial is missing");
  EXPECT_EQ(refused(R"({"event":"started","trial":1.5})"), "trial is no whole number");
  EXPECT_EQ(refused(R"({"event":"completed","trial":1,"device":"cpu:0","metrics":{}})"),
            "metric metrics/precision is missing");
  EXPECT_EQ(refused(R"({"event":"failed","trial":1,"device":"cpu:0","final":1})"),
            "final is neither true nor false");
}

}  // namespace
}  // namespace evolve::results
