#include "results/run_directory.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <set>
#include <thread>
#include <vector>

#include "tests/results/folder.hpp"

namespace evolve::results {
namespace {

namespace fs = std::filesystem;

using testing::HasSubstr;

TEST(RunDirectory, KnowsEveryFileName) {
  const RunDirectory run{"runs/evolve/exp"};
  EXPECT_EQ(run.journal(), "runs/evolve/exp/journal.jsonl");
  EXPECT_EQ(run.evolve_csv(), "runs/evolve/exp/evolve.csv");
  EXPECT_EQ(run.hyp_evolved(), "runs/evolve/exp/hyp_evolved.yaml");
  EXPECT_EQ(run.population(), "runs/evolve/exp/evolve_population.yaml");
  EXPECT_EQ(run.plot(), "runs/evolve/exp/evolve.png");
  EXPECT_EQ(run.options(), "runs/evolve/exp/opt.yaml");
}

TEST(RunDirectory, KnowsTheFilesOfATraining) {
  const RunDirectory run{"runs/train/exp"};
  EXPECT_EQ(run.options(), "runs/train/exp/opt.yaml");
  EXPECT_EQ(run.hyp(), "runs/train/exp/hyp.yaml");
  EXPECT_EQ(run.log(), "runs/train/exp/log");
  EXPECT_EQ(run.results_csv(), "runs/train/exp/results.csv");
  EXPECT_EQ(run.results_plot(), "runs/train/exp/results.png");
  EXPECT_EQ(run.best_weights(), "runs/train/exp/weights/best.pt");
  EXPECT_EQ(run.last_weights(), "runs/train/exp/weights/last.pt");
}

TEST(RunDirectory, CountsUpAsYolov5Does) {
  const Folder folder;
  const auto project = folder / "runs/evolve";
  EXPECT_EQ(create_run(project, "exp", false).root, project / "exp");
  EXPECT_EQ(create_run(project, "exp", false).root, project / "exp2");
  fs::create_directory(project / "exp4");
  EXPECT_EQ(create_run(project, "exp", false).root, project / "exp3");
  EXPECT_EQ(create_run(project, "exp", false).root, project / "exp5");
  EXPECT_EQ(create_run(project, "exp/", false).root, project / "exp6");
  EXPECT_EQ(create_run(project, "exp", true).root, project / "exp");
  EXPECT_EQ(create_run(project, "other", true).root, project / "other");
  EXPECT_TRUE(fs::is_directory(project / "other"));
}

TEST(RunDirectory, ThatIsTheProjectsOwnIsCountedUpByThatName) {
  const Folder folder;
  const auto project = folder / "runs/mine";
  EXPECT_EQ(create_run(project, ".", false).root, project);
  EXPECT_EQ(create_run(project, ".", false).root, folder / "runs/mine2") << "no hidden mine/.2";
  EXPECT_EQ(create_run(project, ".", true).root, project);
  EXPECT_EQ(create_run(project, "../other", false).root, folder / "runs/other");
}

TEST(RunDirectory, ThatIsTheCurrentFolderIsCountedUpBesideIt) {
  const Folder folder;
  const auto here = fs::canonical(folder.path()) / "here";
  fs::create_directory(here);
  const auto before = fs::current_path();
  fs::current_path(here);
  const auto run = create_run(".", ".", false);
  fs::current_path(before);
  EXPECT_EQ(run.root, here.string() + "2");
}

TEST(RunDirectory, IsAnotherOneForEachCoordinator) {
  const Folder folder;
  std::vector<fs::path> roots(16);
  std::vector<std::jthread> coordinators;
  for (auto& root : roots) {
    coordinators.emplace_back([&] { root = create_run(folder / "runs", "exp", false).root; });
  }
  coordinators.clear();
  EXPECT_EQ(std::set<fs::path>(roots.begin(), roots.end()).size(), roots.size());
}

TEST(RunDirectory, IsExactlyTheOutputFolder) {
  const Folder folder;
  EXPECT_EQ(create_run_at(folder / "a/b").root, folder / "a/b");
  EXPECT_EQ(create_run_at(folder / "a/b").root, folder / "a/b");
  write_file(folder / "file", "");
  EXPECT_TRUE(refusal([&] {
                create_run_at(folder / "file");
              }).starts_with((folder / "file").string() + ": "));
  EXPECT_NE(refusal([&] { create_run(folder / "file", "exp", false); }), "accepted");
}

TEST(RunDirectory, IsNoEvolutionOfYolov5) {
  const Folder folder;
  fs::create_directories(folder / "runs/exp");
  write_file(folder / "runs/exp/evolve.csv", "theirs");
  const std::string line = (folder / "runs/exp/evolve.csv").string() +
                           ": this folder holds another program's evolution (there is no "
                           "journal.jsonl); choose another folder with --name or --output";
  EXPECT_EQ(refusal([&] { create_run_at(folder / "runs/exp"); }), line);
  EXPECT_EQ(refusal([&] { create_run(folder / "runs", "exp", true); }), line);
  EXPECT_EQ(create_run(folder / "runs", "exp", false).root, folder / "runs/exp2");
  write_file(folder / "runs/exp/journal.jsonl", "");
  EXPECT_EQ(create_run_at(folder / "runs/exp").root, folder / "runs/exp");
}

TEST(RunDirectory, IsNoTuningOfUltralytics) {
  for (const std::string name : {"tune_results.ndjson", "tune_results.csv"}) {
    const Folder folder;
    write_file(folder / name, "theirs");
    EXPECT_THAT(refusal([&] { create_run_at(folder.path()); }),
                HasSubstr(name + ": this folder holds another program's evolution"));
  }
}

TEST(RunDirectory, IsNoFolderWhoseJournalIsAPipe) {
  const Folder folder;
  fs::create_directory(folder / "exp");
  ASSERT_EQ(::mkfifo((folder / "exp/journal.jsonl").c_str(), 0600), 0);
  EXPECT_THAT(refusal([&] { newest_run(folder.path()); }), HasSubstr("there is no run"));
  EXPECT_THAT(refusal([&] { open_run(folder / "exp"); }), HasSubstr("there is no run"));
}

TEST(RunDirectory, ToGoOnWithIsTheOneWrittenLast) {
  const Folder folder;
  const auto now = fs::file_time_type::clock::now();
  int age = 0;
  for (const char* name : {"exp3", "exp", "exp2"}) {
    fs::create_directory(folder / name);
    write_file(folder / name / "journal.jsonl", "{}\n");
    fs::last_write_time(folder / name / "journal.jsonl", now - std::chrono::hours(age++));
  }
  fs::create_directory(folder / "exp4");  // without a journal
  fs::create_directory(folder / "exp5");  // the disk was full when it began
  write_file(folder / "exp5/journal.jsonl", "{\"event\":\"ru");
  EXPECT_EQ(newest_run(folder.path()).root, folder / "exp3");
  EXPECT_EQ(open_run(folder / "exp2").root, folder / "exp2");
}

TEST(RunDirectory, ToGoOnWithMustBeThere) {
  const Folder folder;
  const std::string remedy = "; name the folder of a run, such as runs/evolve/exp";
  EXPECT_EQ(refusal([&] { newest_run(folder.path()); }),
            folder.path().string() + ": there is no run in this folder to go on with" + remedy);
  EXPECT_EQ(refusal([&] { newest_run("/no/such"); }),
            "/no/such: there is no run in this folder to go on with" + remedy);
  EXPECT_EQ(refusal([&] { open_run("/no/such"); }),
            "/no/such: there is no run in this folder (no journal.jsonl)" + remedy);
  write_file(folder / "evolve.csv", "");
  EXPECT_EQ(refusal([&] { open_run(folder / "evolve.csv"); }),
            (folder / "evolve.csv").string() + ": this is a file" + remedy);
}

TEST(RunDirectory, OfATrainingIsNamedByItsFolderOrItsWeights) {
  const Folder folder;
  fs::create_directories(folder / "exp/weights");
  write_file(folder / "exp/hyp.yaml", "lr0: 0.01\n");
  EXPECT_EQ(open_training(folder / "exp").root, folder / "exp");
  EXPECT_EQ(open_training(folder / "exp/weights/last.pt").root, folder / "exp");
  const std::string remedy = "; name the folder of a training: --resume runs/train/exp";
  EXPECT_EQ(
      refusal([&] { open_training(folder / "exp2"); }),
      (folder / "exp2").string() + ": there is no training in this folder (no hyp.yaml)" + remedy);
  EXPECT_EQ(refusal([&] { newest_training("/no/such"); }),
            "/no/such: there is no training in this folder to go on with" + remedy);
}

TEST(RunDirectory, OfATrainingToGoOnWithIsTheOneWhoseLogWasWrittenLast) {
  const Folder folder;
  const auto now = fs::file_time_type::clock::now();
  int age = 0;
  for (const char* name : {"exp2", "exp", "exp3"}) {
    fs::create_directory(folder / name);
    write_file(folder / name / "log", "");
    for (const char* file : {"opt.yaml", "hyp.yaml"})
      write_file(folder / name / file, "lr0: 0.01\n");
    fs::last_write_time(folder / name / "log", now - std::chrono::hours(age++));
  }
  fs::create_directory(folder / "exp4");  // the disk was full when it began
  write_file(folder / "exp4/log", "");
  EXPECT_EQ(newest_training(folder.path()).root, folder / "exp2");
  write_file(folder / "exp2/opt.yaml", "save_dir: exp2\n");
  EXPECT_EQ(newest_training(folder.path()).root, folder / "exp") << "exp2 is YOLOv5's";
}

}  // namespace
}  // namespace evolve::results
