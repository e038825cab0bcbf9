#include "results/report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <nlohmann/json.hpp>

#include "tests/results/folder.hpp"

namespace evolve::results {
namespace {

using Json = nlohmann::ordered_json;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

const hyp::Space space{{{.name = "lr0", .low = 1e-5, .high = 0.1, .start = 0.01},
                        {.name = "momentum", .evolve = false, .start = 0.9}}};

RunReport report_with(Timeline timeline) {
  RunReport report{.name = "run", .settings = {.space = space}, .timeline = std::move(timeline)};
  for (std::size_t i = 0; i < report.timeline.trials.size(); ++i) report.genes.push_back({1.0 / 3});
  return report;
}

/// The JSON in a page.
Json data_in(const std::string& page) {
  const std::string begin = R"(<script type="application/json" id="data">)";
  const auto at = page.find(begin) + begin.size();
  return Json::parse(page.substr(at, page.find("</script>", at) - at));
}

Json data_of(const RunReport& report) {
  return data_in(report_page({&report, 1}, core::Time{}))["runs"][0];
}

TEST(Report, HasTheExactFiguresOfATrial) {
  Timeline timeline;
  timeline.trials[0] = {.generation = 2,
                        .state = Timeline::State::completed,
                        .device = "cpu:0",
                        .epoch = 9,
                        .seconds = 0.1,
                        .metrics = hyp::Metrics{.precision = 0.1 + 0.2, .cls_loss = 1e-300},
                        .curve = {{3, 0.25}, {9, 2.0 / 3}}};
  const auto trials = data_of(report_with(timeline))["trials"];
  EXPECT_EQ(trials["trial"], Json::array({0}));
  EXPECT_EQ(trials["generation"], Json::array({2}));
  EXPECT_EQ(trials["state"], Json::array({"completed"}));
  EXPECT_EQ(trials["seconds"], Json::array({0.1}));
  EXPECT_EQ(trials["fitness"], Json::array({2.0 / 3}));
  EXPECT_EQ(trials["curve"], Json::parse("[[[3,0.25],[9,0.6666666666666666]]]"));
  EXPECT_EQ(trials["metrics"]["metrics/precision"], Json::array({0.1 + 0.2}));
  EXPECT_EQ(trials["metrics"]["val/cls_loss"], Json::array({1e-300}));
  EXPECT_EQ(trials["genes"].size(), 1U) << "what is fixed is said once";
  EXPECT_EQ(trials["genes"]["lr0"], Json::array({1.0 / 3}));
}

TEST(Report, OfATrialWithoutFiguresHasNone) {
  Timeline timeline;
  timeline.trials[0] = {.state = Timeline::State::failed};
  const auto trials = data_of(report_with(timeline))["trials"];
  EXPECT_EQ(trials["fitness"], Json::parse("[null]"));
  EXPECT_EQ(trials["metrics"]["metrics/recall"], Json::parse("[null]"));
}

TEST(Report, OfATrialThatFailedAfterARungHasNoFitnessButItsCurve) {
  Timeline timeline;
  timeline.trials[0] = {.state = Timeline::State::failed,
                        .epoch = 3,
                        .metrics = hyp::Metrics{.recall = 0.5},
                        .curve = {{3, 0.25}}};
  const auto trials = data_of(report_with(timeline))["trials"];
  EXPECT_EQ(trials["fitness"], Json::parse("[null]"));
  EXPECT_EQ(trials["metrics"]["metrics/recall"], Json::parse("[null]"));
  EXPECT_EQ(trials["curve"], Json::parse("[[[3,0.25]]]"));
}

TEST(Report, CountsSecondsFromTheRunsFirstEvent) {
  Timeline timeline;
  const core::Time begin{std::chrono::hours{24}};
  timeline.add(Started{.trial = 0, .device = "cpu:0"}, begin);
  timeline.add(hyp::Outcome{.trial = 0, .result = hyp::Completed{}},
               begin + std::chrono::milliseconds{1250});
  const auto data = data_of(report_with(timeline));
  EXPECT_EQ(data["began"], "1970-01-02T00:00:00.000Z");
  EXPECT_EQ(data["duration"], 1.25);
  EXPECT_EQ(data["trainings"]["begin"], Json::array({0.0}));
  EXPECT_EQ(data["trainings"]["end"], Json::array({1.25}));
}

TEST(Report, IsNotBrokenByWhatATextSpells) {
  const std::string evil = "</script><script>alert(1)</script><!-- \xff";
  Timeline timeline;
  timeline.add(Started{.trial = 0, .device = "cpu:0"}, {});
  timeline.add(hyp::Outcome{.trial = 0, .result = hyp::Failed{.message = evil}}, {});
  auto report = report_with(timeline);
  report.name = evil;
  report.settings.space.genes[0].name = evil;
  const auto page = report_page({&report, 1}, core::Time{});
  EXPECT_THAT(page, Not(HasSubstr("alert(1)</script>")));
  const auto data = data_in(page)["runs"][0];
  const std::string shown = "</script><script>alert(1)</script><!-- \xef\xbf\xbd";
  EXPECT_EQ(data["name"], shown);
  EXPECT_EQ(data["failures"][0]["message"], shown);
  EXPECT_TRUE(data["trials"]["genes"].contains(shown));
}

TEST(Report, IsCompleteInItself) {
  const auto report = report_with({});
  const auto page = report_page({&report, 1}, core::Time{});
  EXPECT_THAT(page, StartsWith("<!doctype html>"));
  EXPECT_THAT(page, HasSubstr("https://github.com/leeoniya/uPlot"));
  EXPECT_THAT(page, HasSubstr("Copyright (c) 2021 Leon Sorokin")) << "the library's licence";
  for (const auto* outside : {"src=", "href=", "@import", "fetch("})
    EXPECT_THAT(page, Not(HasSubstr(outside)));
}

TEST(Report, OfManySamplesOfADeviceKeepsSome) {
  Timeline timeline;
  const int samples = 2500;
  for (int i = 1; i <= samples; ++i)
    timeline.add(DeviceStats{.device = "xpu:0", .load_percent = i},
                 core::Time{} + std::chrono::seconds{i});
  const auto load = data_of(report_with(timeline))["devices"]["xpu:0"]["load_percent"];
  EXPECT_EQ(load.size(), most_samples);
  EXPECT_EQ(load.back(), samples) << "the latest is there";
}

TEST(Report, ReplacesTheFileAsAWhole) {
  const Folder folder;
  write_file(folder / "report.html", "the old one");
  const std::array runs = {report_with({}), report_with({})};
  write_report(folder / "report.html", runs);
  EXPECT_EQ(data_in(read_file(folder / "report.html"))["runs"].size(), 2U);
  const std::filesystem::directory_iterator files(folder.path());
  EXPECT_EQ(std::distance(begin(files), end(files)), 1) << "no temporary is left";
}

TEST(Report, LeavesALinkToIt) {
  const Folder folder;
  std::filesystem::create_symlink("page.html", folder / "report.html");
  write_report(folder / "report.html", std::array{report_with({})});
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "report.html"));
  EXPECT_EQ(data_in(read_file(folder / "page.html"))["runs"].size(), 1U);
}

}  // namespace
}  // namespace evolve::results
