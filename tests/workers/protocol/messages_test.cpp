#include "workers/protocol/messages.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

#include "tests/refusal.hpp"

namespace evolve::workers {
namespace {

const hyp::Metrics metrics{.precision = 0.5,
                           .recall = 0.25,
                           .map50 = 0.75,
                           .map50_95 = 0.125,
                           .box_loss = 0.1,
                           .obj_loss = 0.2,
                           .cls_loss = 0.3};
const std::string metrics_text =
    R"({"metrics/precision":0.5,"metrics/recall":0.25,"metrics/mAP_0.5":0.75,)"
    R"("metrics/mAP_0.5:0.95":0.125,"val/box_loss":0.1,"val/obj_loss":0.2,"val/cls_loss":0.3})";

std::string replaced(std::string text, const std::string& part, const std::string& by) {
  return text.replace(text.find(part), part.size(), by);
}

/// Why a line of a worker is refused.
std::string refused(const std::string& line) {
  return test::refusal<std::invalid_argument>([&] { parse_from_worker(line); });
}

TEST(Messages, OfAWorkerAreWrittenInOneLineEach) {
  EXPECT_EQ(line_of(FromWorker(Ready{.device = "cpu:0"})),
            R"({"type":"ready","protocol":1,"device":"cpu:0"})"
            "\n");
  EXPECT_EQ(line_of(FromWorker(Ready{.device = "xpu:0",
                                     .identity = {.uuid = "aa", .pci = "0000:03:00.0"},
                                     .ranks = {{.uuid = "bb"}, {}}})),
            R"({"type":"ready","protocol":1,"device":"xpu:0","uuid":"aa","pci":"0000:03:00.0",)"
            R"("ranks":[{"uuid":"bb"},{}]})"
            "\n");
  EXPECT_EQ(line_of(FromWorker(Epoch{17, 3, metrics})),
            R"({"type":"epoch","trial":17,"epoch":3,"metrics":)" + metrics_text + "}\n");
  EXPECT_EQ(line_of(FromWorker(Result{17, metrics})),
            R"({"type":"result","trial":17,"metrics":)" + metrics_text + "}\n");
  EXPECT_EQ(line_of(FromWorker(Result{17, metrics, true})),
            R"({"type":"result","trial":17,"metrics":)" + metrics_text + ",\"stopped\":true}\n");
  EXPECT_EQ(line_of(FromWorker(Failure{17, hyp::FailureKind::oom, "no\nroom"})),
            R"({"type":"error","trial":17,"kind":"oom","message":"no\nroom"})"
            "\n");
  EXPECT_EQ(line_of(FromWorker(Alive{17})), "{\"type\":\"alive\",\"trial\":17}\n");
  EXPECT_EQ(line_of(FromWorker(Alive{})), "{\"type\":\"alive\"}\n");
  EXPECT_EQ(line_of(FromWorker(Alive{17, "images 7/20"})),
            "{\"type\":\"alive\",\"trial\":17,\"preparing\":\"images 7/20\"}\n");
}

TEST(Messages, OfTheEngineAreWrittenInOneLineEach) {
  EXPECT_EQ(
      line_of(FromEngine(Train{.trial = 17,
                               .hyp = {{"lr0", 0.01}, {"optimizer", "Adam"}},
                               .epochs = 10,
                               .device = "xpu:1",
                               .seed = 18446744073709551615ULL,
                               .dir = "/r/trials/000017",
                               .rungs = {3, 6},
                               .options = {{"imgsz", 64}}})),
      R"({"type":"train","trial":17,"hyp":{"lr0":0.01,"optimizer":"Adam"},"epochs":10,)"
      R"("device":"xpu:1","seed":18446744073709551615,"dir":"/r/trials/000017","rungs":[3,6],)"
      R"("options":{"imgsz":64}})"
      "\n");
  EXPECT_EQ(line_of(FromEngine(Continue{17})), "{\"type\":\"continue\",\"trial\":17}\n");
  EXPECT_EQ(line_of(FromEngine(Stop{17})), "{\"type\":\"stop\",\"trial\":17}\n");
  EXPECT_EQ(line_of(FromEngine(Pause{17})), "{\"type\":\"pause\",\"trial\":17}\n");
  EXPECT_EQ(line_of(FromEngine(Shutdown{})), "{\"type\":\"shutdown\"}\n");
}

TEST(Messages, OfAWorkerComeBackAsTheyWere) {
  for (const FromWorker& message :
       {FromWorker(Ready{1, "xpu:0"}), FromWorker(Ready{.device = "cpu:0", .can_pause = true}),
        FromWorker(Ready{.device = "xpu:0", .ranks = {{.uuid = "bb"}, {.pci = "0000:03:00.0"}}}),
        FromWorker(Epoch{17, 3, metrics}), FromWorker(Result{17, metrics}),
        FromWorker(Result{17, metrics, true}), FromWorker(Result{17, metrics, false, true}),
        FromWorker(Failure{17, hyp::FailureKind::device_lost, "gone"}), FromWorker(Alive{17}),
        FromWorker(Alive{}), FromWorker(Alive{17, "images"})})
    EXPECT_EQ(parse_from_worker(line_of(message)), message);
}

TEST(Messages, OfTheEngineComeBackAsTheyWere) {
  for (const FromEngine& message :
       {FromEngine(Train{.trial = 17,
       .hyp = {{"lr0", 1.0 / 3}, {"anchors", 3.0}, {"optimizer", "Adam"}},
       .epochs = 10,
       .device = "cpu:0",
       .seed = 18446744073709551615ULL,
       .dir = "/a folder",
       .rungs = {3},
       .start_epoch = 2,
       .options = {{"data", "shapes"}}}),
        FromEngine(Continue{17}), FromEngine(Stop{17}), FromEngine(Pause{17}),
        FromEngine(Shutdown{})})
    EXPECT_EQ(parse_from_engine(line_of(message)), message);
}

TEST(Messages, MayLackWhatHasADefault) {
  EXPECT_EQ(parse_from_worker(R"({"type":"ready","protocol":1})"), FromWorker(Ready{}));
  EXPECT_EQ(parse_from_worker(R"({"type":"error","trial":1,"message":"x"})"),
            FromWorker(Failure{1, hyp::FailureKind::other, "x"}));
  const auto train = parse_from_engine(
      R"({"type":"train","trial":1,"hyp":{},"epochs":1,"device":"cpu","seed":0,"dir":"d"})");
  EXPECT_EQ(train,
            FromEngine(Train{
                .trial = 1, .hyp = {}, .epochs = 1, .device = "cpu", .dir = "d", .rungs = {}}));
}

TEST(Messages, OfAnUnknownKindOfFailureAreOfKindOther) {
  EXPECT_EQ(parse_from_worker(R"({"type":"error","trial":1,"kind":"flood","message":""})"),
            FromWorker(Failure{1, hyp::FailureKind::other, ""}));
}

TEST(Messages, OfUnknownTypesAndUnknownKeysAreIgnored) {
  EXPECT_EQ(parse_from_worker(R"({"type":"weather","trial":99})"), std::nullopt);
  EXPECT_EQ(parse_from_engine(R"({"type":"weather"})"), std::nullopt);
  EXPECT_EQ(parse_from_worker(" \r\n"), std::nullopt);
  EXPECT_EQ(parse_from_engine(R"({"type":"stop","trial":2,"why":"rung"})"), FromEngine(Stop{2}));
}

TEST(Messages, MayHaveWholeNumbersAsFloatsAndAnyDevice) {
  EXPECT_EQ(parse_from_worker(R"({"type":"alive","trial":3.0})"), FromWorker(Alive{3}));
  EXPECT_EQ(parse_from_worker(R"({"type":"ready","protocol":1.0,"device":0})"),
            FromWorker(Ready{.protocol = 1, .device = "0"}));
}

TEST(Messages, ThatAreNoJsonShowTheirBeginning) {
  EXPECT_EQ(refused("Epoch 1/3"), "it wrote a line that is no JSON object: Epoch 1/3");
  EXPECT_EQ(refused("17"), "it wrote a line that is no JSON object: 17");
  EXPECT_EQ(refused("[\"type\"]"), "it wrote a line that is no JSON object: [\"type\"]");
  EXPECT_EQ(refused("null"), "it wrote a line that is no JSON object: null");
  EXPECT_EQ(refused(R"({"type":"ready")"),
            R"(it wrote a line that is no JSON object: {"type":"ready")");
  EXPECT_EQ(refused("\xff"), "it wrote a line that is no JSON object: \uFFFD");
  EXPECT_EQ(refused(std::string(1000, 'x')),
            "it wrote a line that is no JSON object: " + std::string(200, 'x') + "…");
}

TEST(Messages, WithMetricsThatAreNoNumbersAreRefused) {
  const auto result = line_of(FromWorker(Result{17, metrics}));
  for (const auto* none : {"NaN", "Infinity", "-Infinity", "1e999", "-1e999"})
    EXPECT_EQ(refused(replaced(result, "0.125", none)),
              "metric metrics/mAP_0.5:0.95 is not finite");
  EXPECT_EQ(refused(replaced(result, "0.125", "null")), "metric metrics/mAP_0.5:0.95 is no number");
  EXPECT_EQ(refused(replaced(result, "\"val/obj_loss\":0.2,", "")),
            "metric val/obj_loss is missing");
  EXPECT_EQ(refused(R"({"type":"epoch","trial":1,"epoch":1,"metrics":[]})"),
            "the \"metrics\" of its epoch is no object");
  EXPECT_EQ(refused(R"({"type":"result","trial":1})"), "its result lacks \"metrics\"");
}

TEST(Messages, WithKeysOfAnotherTypeAreRefused) {
  EXPECT_EQ(refused("{}"), "its message lacks \"type\"");
  EXPECT_EQ(refused(R"({"type":1})"), "the \"type\" of its message is no text");
  EXPECT_EQ(refused(R"({"type":"ready"})"), "its ready lacks \"protocol\"");
  for (const std::string trial : {"1.5", "-1", "\"1\"", "[]", "4294967296"})
    EXPECT_EQ(refused(R"({"type":"error","message":"","trial":)" + trial + "}"),
              "the \"trial\" of its error is no whole number from 0 to 2147483647");
  EXPECT_EQ(refused(R"({"type":"alive","trial":"one"})"),
            "the \"trial\" of its alive is no whole number from 0 to 2147483647");
  EXPECT_EQ(refused(R"({"type":"result","trial":1,"stopped":1,"metrics":)" + metrics_text + "}"),
            "the \"stopped\" of its result is neither true nor false");
}

TEST(Messages, MayBeNestedAsDeeplyAsALineIsLong) {
  constexpr std::size_t depth = 500000;
  const std::string deep = std::string(depth, '[') + std::string(depth, ']');
  EXPECT_EQ(parse_from_worker(R"({"type":"weather","sun":)" + deep + "}"), std::nullopt);
  EXPECT_THROW(parse_from_worker(deep), std::invalid_argument);
}

}  // namespace
}  // namespace evolve::workers
