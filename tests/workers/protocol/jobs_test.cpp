#include "workers/protocol/jobs.hpp"

#include <gtest/gtest.h>

namespace evolve::workers {
namespace {

constexpr hyp::Metrics metrics{.precision = .1,
                               .recall = .2,
                               .map50 = .3,
                               .map50_95 = 1. / 3,
                               .box_loss = .5,
                               .obj_loss = .6,
                               .cls_loss = .7};

TEST(Jobs, SurviveTheTripThroughALine) {
  const Job train = TrainingJob{.hyp = {{"lr0", 0.01}, {"optimizer", std::string("Adam")}},
                                .seed = 18446744073709551615U,
                                .dir = "runs/train/exp 2",
                                .resume = true,
                                .options = {{"epochs", 3}}};
  EXPECT_EQ(parse_job(line_of(train)), train);
  const Job validate =
      ValidationJob{.split = "test", .dir = "", .rect = false, .options = {{"weights", "best.pt"}}};
  EXPECT_EQ(parse_job(line_of(validate)), validate);
}

TEST(Jobs, ReportsSurviveTheTripThroughALine) {
  const BatchReport batch{.epoch = 2,
                          .batch = 3,
                          .batches = 13,
                          .losses = {.box = .1, .obj = .02, .cls = .003},
                          .labels = 40,
                          .imgsz = 160,
                          .memory_bytes = 5'000'000'000};
  const ValidationReport validation{.metrics = metrics,
                                    .images = 87,
                                    .labels = 1137,
                                    .classes = {{.name = "RBC",
                                                 .labels = 967,
                                                 .precision = .8,
                                                 .recall = .7,
                                                 .map50 = .6,
                                                 .map50_95 = .5}},
                                    .inference_ms = 1.5,
                                    .nms_ms = .25};
  for (const JobReport& report :
       {JobReport(Ready{.device = "cpu:0"}),
        JobReport(Failure{.kind = hyp::FailureKind::oom, .message = "m"}), JobReport(batch),
        JobReport(EpochReport{.training = batch,
        .metrics = metrics,
        .learning_rates = {.1, .2, .3},
        .seconds = 4,
        .best = true,
        .past = true}),
        JobReport(TrainingReport{
            .epochs = 9, .best_epoch = 7, .stopped_early = true, .validation = validation}),
        JobReport(validation)}) {
    EXPECT_EQ(parse_report(line_of(report)), report) << line_of(report);
  }
}

TEST(Jobs, AreNothingInABlankLineOrOneOfAnotherType) {
  EXPECT_FALSE(parse_job("\n"));
  EXPECT_FALSE(parse_job(R"({"type":"shutdown"})"));
  EXPECT_FALSE(parse_report(R"({"type":"result","trial":0})"));
  EXPECT_FALSE(parse_report(R"({"type":"weather"})"));
}

TEST(Jobs, RefuseWhatTheyCannotUse) {
  EXPECT_THROW(parse_job("nonsense"), std::invalid_argument);
  EXPECT_THROW(parse_job(R"({"type":"validate","split":"val"})"), std::invalid_argument);
  EXPECT_THROW(parse_report(R"({"type":"batch","epoch":"one"})"), std::invalid_argument);
  EXPECT_THROW(parse_report(R"({"type":7})"), std::invalid_argument);
}

}  // namespace
}  // namespace evolve::workers
