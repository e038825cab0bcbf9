#include "results/earlier_run.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <fstream>

#include "hyp/run_space.hpp"
#include "hyp/space_file.hpp"
#include "results/evolve_csv.hpp"
#include "results/journal.hpp"
#include "results/known/known.hpp"
#include "tests/results/folder.hpp"

namespace evolve::results {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const hyp::Space space = hyp::parse_space(
    "lr0: [0, 1]\n"
    "momentum: {low: 0.6, high: 0.98, evolve: false}\n"
    "optimizer: {choices: [SGD, Adam]}\n",
    "s");
const hyp::Fitness fitness("mAP50");

Started started(int trial, double lr0, const char* optimizer = "SGD") {
  return {.trial = trial,
          .hyp = {{"lr0", lr0}, {"momentum", 0.5}, {"optimizer", optimizer}, {"other", 1.0}}};
}

hyp::Outcome completed(int trial, double map50, int repeat = 0) {
  return {.trial = trial, .repeat = repeat, .result = hyp::Completed{{.map50 = map50}, 0.9}};
}

EarlierTrial trial(double lr0, const char* optimizer, std::optional<double> had) {
  return {{{"lr0", lr0}, {"optimizer", optimizer}}, had};
}

std::string refused(const std::filesystem::path& path) {
  return refusal([&] { read_earlier_run(path, space, fitness); });
}

TEST(KnownRuns, LieWithinYolov5sBounds) {
  hyp::Space all = hyp::default_space();
  hyp::select_evolved(all, "all");
  const auto runs = known_runs(all, fitness);
  const auto tables = known_tables();
  ASSERT_EQ(runs.size(), tables.size());
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const Table table = parse_table(tables[i].csv, "known");
    EXPECT_EQ(table.names.size(), 29U);
    EXPECT_GE(table.rows.size(), 50U);
    EXPECT_EQ(runs[i].run, tables[i].name);
    EXPECT_EQ(runs[i].trials.size(), table.rows.size());
  }
}

TEST(KnownRuns, AreNoneWhereNotAllHyperparametersEvolve) {
  EXPECT_THAT(known_runs(hyp::default_space(), fitness), ElementsAre());
  EXPECT_THAT(known_runs(space, fitness), ElementsAre());
}

TEST(EarlierRun, OfAJournalIsWhatEndedInsideTheSpace) {
  const Folder folder;
  auto journal = Journal::create(folder / "journal.jsonl", {.seed = 1});
  const auto failed = [](bool final) { return hyp::Failed{.message = "no", .final = final}; };
  const std::vector<Event> events = {started(0, 0.5),
                                     completed(0, 0.25),
                                     started(1, 2),
                                     completed(1, 0.75),  // beyond the bounds
                                     started(2, 0.1, "Adam"),
                                     hyp::Outcome{.trial = 2, .result = failed(false)},
                                     hyp::Outcome{.trial = 2, .result = failed(true)},
                                     started(3, 0.2),
                                     hyp::Outcome{.trial = 3, .result = hyp::Stopped{1, {}, 0.1}},
                                     started(4, 0.3, "Lion"),
                                     completed(4, 0.5),
                                     completed(0, 0.375, 1),
                                     hyp::Outcome{.trial = 0, .repeat = 2, .result = failed(true)},
                                     started(5, -0.5),
                                     completed(5, 0.75),  // below them
                                     started(6, 0.4)};
  for (const auto& event : events) journal.append(event);
  journal.commit();
  const auto run = read_earlier_run(folder.path(), space, fitness);
  EXPECT_EQ(run.run, folder.path().string());
  EXPECT_THAT(run.trials, ElementsAre(trial(0.5, "SGD", 0.25), trial(0.1, "Adam", std::nullopt),
                                      trial(0.5, "SGD", 0.375)));
  EXPECT_EQ(run.outside, 3);
  const auto copy = folder / "journal.jsonl.bak";
  std::filesystem::copy_file(folder / "journal.jsonl", copy);
  EXPECT_EQ(read_earlier_run(copy, space, fitness).trials, run.trials);
}

TEST(EarlierRun, IsReadFromNoPipe) {
  const Folder folder;
  const auto pipe = folder / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_THAT(refused(pipe), HasSubstr("pipe: this is neither a file nor a folder"));
}

TEST(EarlierRun, OfAnEvolveCsvHasItsColumnsAndElseTheStart) {
  const Folder folder;
  const auto file = folder / "evolve.csv";
  append_row(file, {"momentum", "lr0"}, {.metrics = {.map50 = 0.25}, .values = {0.1, 0.5}});
  append_row(file, {"momentum", "lr0"}, {.metrics = {.map50 = 0.5}, .values = {0.1, 1.5}});
  append_row(file, {"momentum", "lr0"}, {.metrics = {.map50 = NAN}, .values = {0.1, 1}});
  const auto expected = ElementsAre(trial(0.5, "SGD", 0.25), trial(1, "SGD", std::nullopt));
  EXPECT_THAT(read_earlier_run(file, space, fitness).trials, expected);
  EXPECT_THAT(read_earlier_run(folder.path(), space, fitness).trials, expected) << "its folder";
  EXPECT_EQ(read_earlier_run(file, space, fitness).outside, 1);
  EXPECT_EQ(read_earlier_run(file, space, fitness).unnamed, 1) << "optimizer";
}

TEST(EarlierRun, OfAJournalSaysHowManyGenesItsSpaceHadNot) {
  const Folder folder;
  auto journal = Journal::create(folder / "journal.jsonl",
                                 {.space = hyp::parse_space("lr0: [0, 1]\nbox: [0, 1]\n", "s")});
  for (const Event& event : {Event(started(0, 0.5)), Event(completed(0, 0.25))})
    journal.append(event);
  journal.commit();
  EXPECT_EQ(read_earlier_run(folder.path(), space, fitness).unnamed, 1) << "optimizer";
}

TEST(EarlierRun, OfUltralyticsTunerHasTheTunersOwnFitness) {
  const Folder folder;
  const auto file = folder / "tune_results.ndjson";
  std::ofstream(file)
      << R"({"iteration":1,"fitness":0.25,"hyperparameters":{"lr0":0.5,"dfl":1.5},"datasets":{"my":{"val/box_loss":NaN}}})"
         "\n"
         R"({"iteration":2,"fitness":NaN,"hyperparameters":{"lr0":1}})"
         "\n  \n"
         R"({"iteration":3,"fitness":0.5,"hyperparameters":{"lr0":1.5}})"
         "\n"
         R"({"iteration":4,"fitness":0.125,"hyperparameters":{"lr0":0.25},"datasets":{"my":{"fitness":0.25},"other":{"fitness":0.0}},"failed_datasets":["other"]})"
         "\n"
         R"({"iteration":5,"fitness":0.125,"hyperparameters":{"lr0":0.125},"failed_datasets":[]})"
         "\n";
  auto run = read_earlier_run(folder.path(), space, fitness);
  EXPECT_THAT(run.trials,
              ElementsAre(trial(0.5, "SGD", 0.25), trial(1, "SGD", std::nullopt),
                          trial(0.25, "SGD", std::nullopt), trial(0.125, "SGD", 0.125)));
  EXPECT_EQ(run.outside, 1);
  EXPECT_EQ(run.unnamed, 1) << "optimizer";
  EXPECT_EQ(read_earlier_run(file, space, fitness).trials, run.trials) << "named by its file";

  std::ofstream(file, std::ios::app) << "{\"fitness\": 1}\n";
  EXPECT_THAT(refused(file), HasSubstr("ndjson:7: this line is no training of Ultralytics' tuner; "
                                       "mend or delete the line"));

  const Folder before;
  std::ofstream(before / "tune_results.csv")
      << "fitness,lr0,dfl\n0.25,0.5,1.5\n0,1,1.5\n0.5,1.5,1.5\n";
  run = read_earlier_run(before.path(), space, fitness);
  EXPECT_THAT(run.trials, ElementsAre(trial(0.5, "SGD", 0.25), trial(1, "SGD", 0)));
  EXPECT_EQ(run.outside, 1);
}

TEST(EarlierRun, IsToldApartByItsFolder) {
  for (const std::string file : {"journal.jsonl", "evolve.csv", "tune_results.ndjson"})
    EXPECT_EQ(run_of("runs/exp/" + file), "runs/exp");
  EXPECT_EQ(run_of("runs/exp"), "runs/exp");
  EXPECT_EQ(run_of("old/first.csv"), "old/first.csv");
}

TEST(EarlierRun, MayHaveHadOtherChoicesOfWhatDoesNotEvolveHere) {
  const Folder folder;
  auto journal = Journal::create(folder / "journal.jsonl", {.seed = 1});
  journal.append(started(0, 0.5, "Lion"));
  journal.append(completed(0, 0.25));
  journal.commit();
  const auto fixed =
      hyp::parse_space("lr0: [0, 1]\noptimizer: {choices: [SGD, Adam], evolve: false}\n", "s");
  EXPECT_THAT(read_earlier_run(folder.path(), fixed, fitness).trials,
              ElementsAre(EarlierTrial{{{"lr0", 0.5}}, 0.25}));
}

TEST(EarlierRun, HasNoChoiceWhereItsTableHasAnotherNumberThanAnIndex) {
  const Folder folder;
  const auto file = folder / "evolve.csv";
  append_row(file, {"lr0", "optimizer"}, {.metrics = {.map50 = 0.25}, .values = {0.5, 1}});
  append_row(file, {"lr0", "optimizer"}, {.metrics = {.map50 = 0.5}, .values = {0.5, 0.7}});
  const auto run = read_earlier_run(file, space, fitness);
  EXPECT_THAT(run.trials, ElementsAre(trial(0.5, "Adam", 0.25)));
  EXPECT_EQ(run.outside, 1);
}

TEST(EarlierRun, OfATableHasTheChoicesOfTheRunInWhoseFolderItLies) {
  const Folder folder;
  const auto file = folder / "evolve.csv";
  append_row(file, {"lr0", "optimizer"}, {.metrics = {.map50 = 0.25}, .values = {0.5, 0}});
  append_row(file, {"lr0", "optimizer"}, {.metrics = {.map50 = 0.5}, .values = {0.5, 2}});
  append_row(file, {"lr0", "optimizer"}, {.metrics = {.map50 = 0.75}, .values = {0.5, 1}});
  Journal::create(
      folder / "journal.jsonl",
      {.space = hyp::parse_space("lr0: [0, 1]\noptimizer: {choices: [Adam, Lion, SGD]}\n", "s")});
  const auto run = read_earlier_run(file, space, fitness);
  EXPECT_THAT(run.trials, ElementsAre(trial(0.5, "Adam", 0.25), trial(0.5, "SGD", 0.5)));
  EXPECT_EQ(run.outside, 1);
}

TEST(EarlierRun, OfATableHasTheChoicesOfItsRunWhereTheyAreNumbersHere) {
  const Folder folder;
  const auto file = folder / "evolve.csv";
  append_row(file, {"batch"}, {.metrics = {.map50 = 0.25}, .values = {0}});
  append_row(file, {"batch"}, {.metrics = {.map50 = 0.5}, .values = {2}});
  Journal::create(folder / "journal.jsonl",
                  {.space = hyp::parse_space("batch: {choices: [4, 8, 16]}\n", "s")});
  std::ofstream(folder / "journal.jsonl", std::ios::app) << "damaged\n\n";
  const auto numbers = hyp::parse_space("batch: {low: 1, high: 64, type: int}\n", "s");
  EXPECT_THAT(
      read_earlier_run(file, numbers, fitness).trials,
      ElementsAre(EarlierTrial{{{"batch", 4.0}}, 0.25}, EarlierTrial{{{"batch", 16.0}}, 0.5}));
}

TEST(EarlierRun, OfATableOfNumbersNeedsNoJournal) {
  const Folder folder;
  const auto file = folder / "evolve.csv";
  append_row(file, {"lr0"}, {.metrics = {.map50 = 0.25}, .values = {0.5}});
  std::ofstream(folder / "journal.jsonl") << "damaged\n";
  EXPECT_EQ(read_earlier_run(file, hyp::parse_space("lr0: [0, 1]\n", "s"), fitness).trials.size(),
            1u);
  EXPECT_THAT(refused(file), HasSubstr("journal.jsonl:1: the first line is no run event"))
      << "its choices are not known";
}

TEST(EarlierRun, OfManyTrialsIsTheBestHundredAndASampleOfTheOthers) {
  const Folder folder;
  const auto file = folder / "evolve.csv";
  Table table{.names = {"lr0"}, .rows = {}};
  for (int i = 0; i < 1000; ++i)
    table.rows.push_back({.metrics = {.map50 = i / 1000.0}, .values = {i / 1000.0}});
  write_table(file, table);
  const auto trials = read_earlier_run(file, space, fitness).trials;
  ASSERT_EQ(trials.size(), 200U);
  EXPECT_EQ(trials[0].fitness, 0);
  EXPECT_EQ(trials[1].fitness, 0.009);
  EXPECT_EQ(trials[100].fitness, 0.9);
  EXPECT_EQ(trials[199].fitness, 0.999);
}

TEST(EarlierRun, OfManyTrialsHasThoseThatCompletedBeforeThoseThatFailedThoughAllAreBelow0) {
  const Folder folder;
  const auto file = folder / "evolve.csv";
  Table table{.names = {"lr0"}, .rows = {}};
  for (int i = 0; i < 300; ++i)
    table.rows.push_back({.metrics = {.map50 = i % 3 == 0 ? 0.5 : NAN}, .values = {i / 300.0}});
  write_table(file, table);
  const auto trials = read_earlier_run(file, space, hyp::Fitness("mAP50 - 1")).trials;
  ASSERT_EQ(trials.size(), 200U);
  EXPECT_EQ(std::ranges::count(trials, std::optional(-0.5), &EarlierTrial::fitness), 100);
}

TEST(EarlierRun, ThatIsNotThereOrTellsNothingIsRefused) {
  const Folder folder;
  EXPECT_THAT(refused(folder / "exp9"), HasSubstr("exp9: no run is there; name the folder"));
  EXPECT_THAT(refused(folder.path()), HasSubstr("no run is there"));
  ASSERT_EQ(::mkfifo((folder / "journal.jsonl").c_str(), 0600), 0);
  EXPECT_THAT(refused(folder.path()), HasSubstr("no run is there")) << "nobody waits for a pipe";
  const auto file = folder / "evolve.csv";
  append_row(file, {"lr0"}, {.metrics = {.map50 = 0.25}, .values = {7}});
  EXPECT_THAT(refused(file), HasSubstr("no completed trial of it lies in this run's search space"));
  const auto diverged = folder / "diverged.csv";
  append_row(diverged, {"lr0"}, {.metrics = {.map50 = NAN}, .values = {0.5}});
  EXPECT_THAT(refused(diverged), HasSubstr("no trial of it has completed; leave it out of --from"));
  const auto same = folder / "same.csv";
  for (const double box : {0.1, 0.2})
    append_row(same, {"lr0", "box"}, {.metrics = {.map50 = box}, .values = {0.5, box}});
  EXPECT_THAT(refused(same),
              HasSubstr("none of the hyperparameters that evolve here varied in it"));
}

}  // namespace
}  // namespace evolve::results
