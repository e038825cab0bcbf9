// report.html: what it has is what the journal has, at any time.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <map>

#include "process.hpp"

namespace evolve::test {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

/// The runs of a page.
nlohmann::json runs_in(const std::string& page) {
  const std::string begin = R"(<script type="application/json" id="data">)";
  const auto at = page.find(begin) + begin.size();
  return nlohmann::json::parse(page.substr(at, page.find("</script>", at) - at)).at("runs");
}

nlohmann::json report_of(const std::filesystem::path& run) {
  return runs_in(read_file(run / "report.html")).at(0);
}

Ended run_of_all_kinds(const Folder& folder, const std::string& name) {
  return evolve(folder.path(),
                {"--trainer-command", fake_trainer("--rungs --faults 3=diverged,5=abort"),
                 "--devices", "cpu:0,cpu:1", "--trials", "24", "--population", "8", "--epochs", "9",
                 "--search", "classic", "--output", name});
}

/// Expects that each trial of a report has the figures that the journal has.
void expect_figures(const nlohmann::json& report, const std::vector<nlohmann::json>& events) {
  const auto& trials = report["trials"];
  std::map<int, std::size_t> row;
  for (std::size_t i = 0; i < trials["trial"].size(); ++i) row[trials["trial"][i]] = i;
  EXPECT_EQ(row.size(), 24U);
  int compared = 0;
  for (const auto& event : events) {
    const std::string kind = event["event"];
    if (!event.contains("trial") || kind == "rung") continue;
    const auto at = row.at(event["trial"]);
    if (kind == "started") {
      for (const auto& [name, values] : trials["genes"].items())
        EXPECT_EQ(values[at], event["hyp"][name]) << name;
    }
    if (kind != "completed" && kind != "stopped") continue;
    ++compared;
    EXPECT_EQ(trials["state"][at], kind);
    EXPECT_EQ(trials["fitness"][at], event["fitness"]);
    EXPECT_EQ(trials["device"][at], event["device"]);
    EXPECT_EQ(trials["curve"][at].back()[1], event["fitness"]);
    for (const auto& [name, values] : trials["metrics"].items())
      EXPECT_EQ(values[at], event["metrics"][name]) << name;
  }
  EXPECT_EQ(compared, 22);
}

TEST(Report, OfARunHasTheJournalsFigures) {
  Folder folder;
  ASSERT_EQ(run_of_all_kinds(folder, "run").code, 0);
  const auto events = journal(folder / "run");
  const auto report = report_of(folder / "run");
  EXPECT_EQ(report["finished"], true);
  EXPECT_EQ(report["name"], "run");
  expect_figures(report, events);
  EXPECT_EQ(static_cast<int>(report["failures"].size()), count(events, "failed"));
  EXPECT_EQ(static_cast<int>(report["trainings"]["trial"].size()), count(events, "started"));
  for (std::size_t i = 1; i < events.size(); ++i) EXPECT_TRUE(events[i].contains("time")) << i;
}

TEST(Report, TellsWhatEachTrainingOfTheRecommendedSetGave) {
  Folder folder;
  ASSERT_EQ(evolve(folder.path(), {"--trainer-command", fake_trainer(), "--devices", "cpu:0",
                                   "--trials", "10", "--repeats", "4", "--output", "run"})
                .code,
            0);
  const auto recommended = report_of(folder / "run")["recommended"];
  const auto events = journal(folder / "run");
  std::map<int, nlohmann::json> hyps;
  for (const auto& event : events)
    if (event["event"] == "started") hyps[event["trial"]] = event["hyp"];
  std::vector<double> gave;
  for (const auto& event : events)
    if ((event["event"] == "completed" || event["event"] == "repeated") &&
        hyps[event["trial"]] == hyps[recommended["trial"]])
      gave.push_back(event["fitness"]);
  EXPECT_GT(gave.size(), 1U);
  EXPECT_EQ(recommended["trainings"], gave);
  EXPECT_EQ(recommended["failed"], 0);
}

TEST(Report, IsMadeAgainByACommandAndComparesRuns) {
  Folder folder;
  ASSERT_EQ(run_of_all_kinds(folder, "a").code, 0);
  const auto of_the_run = report_of(folder / "a");
  std::filesystem::remove(folder / "a/report.html");
  const auto again = evolve(folder.path(), {"report", "a"});
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_EQ(again.out, "a/report.html\n");
  auto made = report_of(folder / "a");
  EXPECT_EQ(made["importance"]["genes"].size(), 13U) << "short runs do not take the time for that";
  made["importance"] = nullptr;
  EXPECT_EQ(made, of_the_run);

  std::filesystem::copy(folder / "a", folder / "b");
  const auto both = evolve(folder.path(), {"report", "a", "b", "-o", "both.html"});
  EXPECT_EQ(both.code, 0) << both.err;
  const auto runs = runs_in(read_file(folder / "both.html"));
  ASSERT_EQ(runs.size(), 2U);
  EXPECT_EQ(runs[0]["name"], "a");
  EXPECT_EQ(runs[1]["trials"], runs[0]["trials"]);
}

TEST(Report, HasTheBoundsOfARunThatWasExtended) {
  Folder folder;
  const auto run = [&](std::vector<std::string> arguments) {
    const auto ended = evolve(folder.path(), arguments);
    EXPECT_EQ(ended.code, 0) << ended.err;
    return report_of(folder / "run")["options"];
  };
  const auto first = run({"--trainer-command", fake_trainer(), "--devices", "cpu:0", "--trials",
                          "4", "--output", "run"});
  EXPECT_EQ(first["trials"], 4);
  EXPECT_EQ(first["repeats"], 0);
  const auto extended = run({"--resume", "run", "--trials", "7", "--repeats", "2"});
  EXPECT_EQ(extended["trials"], 7);
  EXPECT_EQ(extended["repeats"], 2);
}

TEST(Report, OfARunThatGoesOnIsWrittenWholeByItAndByOthers) {
  Folder folder;
  Process process(
      evolve_command({"--trainer-command", fake_trainer("--sleep 300"), "--devices", "cpu:0,cpu:1",
                      "--trials", "1000", "--search", "classic", "--output", "run"}),
      folder.path());
  ASSERT_TRUE(eventually([&] { return std::filesystem::exists(folder / "run/report.html"); }));
  EXPECT_THAT(read_file(folder / "run/report.html"), EndsWith("</script>\n"));
  EXPECT_EQ(report_of(folder / "run")["finished"], false);
  const auto other = evolve(folder.path(), {"report", "run", "-o", "other.html"});
  EXPECT_EQ(other.code, 0) << other.err;
  const auto seen = runs_in(read_file(folder / "other.html"))[0];
  EXPECT_EQ(seen["finished"], false);
  EXPECT_EQ(seen["going_on"], true);
  process.signal(SIGINT);
  EXPECT_EQ(process.wait().code, 130);
  const auto report = report_of(folder / "run");
  EXPECT_EQ(evolve(folder.path(), {"report", "run", "-o", "other.html"}).code, 0);
  for (const auto& ended : {report, runs_in(read_file(folder / "other.html"))[0]}) {
    EXPECT_EQ(ended["going_on"], false);
    EXPECT_EQ(ended["trials"]["state"].back(), "waiting");
    EXPECT_EQ(ended["trainings"]["state"].back(), "interrupted");
  }
  EXPECT_EQ(static_cast<int>(report["trials"]["trial"].size()),
            count(journal(folder / "run"), "started"))
      << "it is complete when the run ends";
}

TEST(Metrics, OfARunAreThereWhileItGoesOnAndSayWhenItDoesNot) {
  Folder folder;
  Process process(
      evolve_command({"--trainer-command", fake_trainer("--sleep 30"), "--devices", "cpu:0",
                      "--trials", "1000", "--search", "classic", "--output", "run"}),
      folder.path());
  const auto metrics = [&] { return prometheus(folder / "run"); };
  const std::string running = "evolve_trials{run=\"run\",state=\"running\"} 1\n";
  ASSERT_TRUE(eventually([&] { return metrics().find(running) != std::string::npos; }));
  EXPECT_THAT(metrics(),
              AllOf(HasSubstr("evolve_trials_planned{run=\"run\"} 1000\n"),
                    HasSubstr("evolve_device_trainings{run=\"run\",device=\"cpu:0\"} 1\n"),
                    HasSubstr("evolve_going_on{run=\"run\"} 1\n")));
  process.signal(SIGINT);
  EXPECT_EQ(process.wait().code, 130);
  EXPECT_THAT(metrics(),
              AllOf(HasSubstr("evolve_device_trainings{run=\"run\",device=\"cpu:0\"} 0\n"),
                    HasSubstr("evolve_going_on{run=\"run\"} 0\n"),
                    HasSubstr("evolve_finished{run=\"run\"} 0\n")));
}

TEST(Metrics, HaveOneLabelWhereverTheirRunIsResumedFrom) {
  Folder folder;
  const auto label = "{run=\"" + (folder / "run").string() + "\"";
  finish_trials(folder, 2);
  EXPECT_THAT(read_file(folder / "run/metrics.prom"), HasSubstr("evolve_finished" + label));
  ASSERT_EQ(evolve("/", {"--resume", (folder / "run").string(), "--trials", "3"}).code, 0);
  EXPECT_THAT(read_file(folder / "run/metrics.prom"), HasSubstr("evolve_finished" + label));
}

TEST(Report, OfARunInWhichNothingHasStartedYet) {
  Folder folder;
  ASSERT_EQ(run_of_all_kinds(folder, "whole").code, 0);
  const auto journal = lines_of(read_file(folder / "whole/journal.jsonl"));
  std::filesystem::create_directory(folder / "empty");
  write_file(folder / "empty/journal.jsonl", journal[0] + "\n");
  EXPECT_EQ(evolve(folder.path(), {"report", "empty"}).code, 0);
  const auto report = report_of(folder / "empty");
  EXPECT_EQ(report["trials"]["trial"].size(), 0U);
  EXPECT_TRUE(report["recommended"].is_null());
  EXPECT_TRUE(report["importance"].is_null());
}

TEST(Report, OfARunInWhichEveryTrialFailedSaysWhy) {
  Folder folder;
  EXPECT_EQ(
      evolve(folder.path(), {"--trainer-command", fake_trainer("--faults 0=diverged,1=diverged"),
                             "--devices", "cpu:0", "--trials", "2", "--output", "run"})
          .code,
      1);
  const auto report = report_of(folder / "run");
  EXPECT_EQ(report["trials"]["state"], (nlohmann::json{"failed", "failed"}));
  EXPECT_EQ(report["failures"][1]["kind"], "diverged");
  EXPECT_EQ(report["failures"][1]["message"], "as told");
  EXPECT_TRUE(report["recommended"].is_null());
}

TEST(Report, OfWhatIsNoRunIsRefused) {
  Folder folder;
  const auto ended = evolve(folder.path(), {"report", "nowhere"});
  EXPECT_EQ(ended.code, 2);
  EXPECT_THAT(ended.err, HasSubstr("nowhere"));
}

TEST(Report, ShowsTheJournalsFiguresInABrowserAndCanBeSortedAndBrushed) {
  Folder folder;
  const std::string scripts = EVOLVE_SOURCE_DIR "/tests/report";
  const auto python = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"/usr/bin/env", "python3"});
    return Process(arguments, folder.path()).wait(240);
  };
  const auto made = python({scripts + "/make_run.py", "run", "150"});
  ASSERT_EQ(made.code, 0) << made.err;
  const auto report = evolve(folder.path(), {"report", "run"});
  ASSERT_EQ(report.code, 0) << report.err;
  const auto looked = python({scripts + "/look.py", "run/report.html", "run/journal.jsonl"});
  if (looked.code == 77) GTEST_SKIP() << looked.out;
  EXPECT_EQ(looked.code, 0) << looked.out << looked.err;
}

}  // namespace
}  // namespace evolve::test
