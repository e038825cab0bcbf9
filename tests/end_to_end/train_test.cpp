// `evolve train` and `evolve val` with the built-in trainer: real trainings, as short as they can
// be.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "process.hpp"

namespace evolve::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

/// `evolve train` on shapes, each epoch a second or less, into `run`.
std::vector<std::string> training(const std::string& run, int epochs) {
  return {"train",    "--imgsz", "64",       "--epochs", std::to_string(epochs), "--seed", "4",
          "--device", "cpu:0",   "--output", run};
}

/// A training that has come to its end.
Ended trained(const Folder& folder, const std::string& run, int epochs = 1) {
  auto ended = evolve(folder.path(), training(run, epochs));
  EXPECT_EQ(ended.code, 0) << ended.err << ended.out;
  return ended;
}

/// What `evolve val --json` says of weights.
nlohmann::json validated(const Folder& folder, const std::string& weights,
                         Ended* screen = nullptr) {
  const auto ended = evolve(folder.path(), {"val", "--weights", weights, "--imgsz", "64",
                                            "--device", "cpu:0", "--json", "val.json"});
  EXPECT_EQ(ended.code, 0) << ended.err << ended.out;
  if (screen) *screen = ended;
  return nlohmann::json::parse(read_file(folder / "val.json"));
}

/// Starts a training and sends it a signal in its second epoch.
Ended cut(const Folder& folder, const std::string& run, int signal) {
  Process evolve(evolve_command(training(run, 3)), folder.path());
  const auto csv = folder / (run + "/results.csv");
  EXPECT_TRUE(eventually([&] { return lines_of(read_file(csv)).size() >= 2; }, 60));
  evolve.signal(signal);
  return evolve.wait();
}

TEST(Train, LeavesWeightsResultsAndPictures) {
  const Folder folder;
  const auto ended = trained(folder, "run");
  for (const auto* file :
       {"weights/best.pt", "weights/last.pt", "results.csv", "results.png", "opt.yaml", "hyp.yaml",
        "log", "val_batch0_labels.jpg", "val_batch0_pred.jpg"})
    EXPECT_TRUE(fs::file_size(folder / ("run/" + std::string(file))) > 0) << file;
  EXPECT_EQ(lines_of(read_file(folder / "run/results.csv")).size(), 2u);
  EXPECT_THAT(ended.out, HasSubstr("Transferred "));
  EXPECT_THAT(ended.out, HasSubstr("        0/0        0G"));
}

TEST(Train, GoesOnAfterACutAsIfThereHadBeenNone) {
  const Folder folder;
  trained(folder, "whole", 3);
  const auto whole = validated(folder, "whole/weights/last.pt");
  for (const auto& [signal, code] : {std::pair(SIGKILL, 137), std::pair(SIGINT, 130)}) {
    const auto run = "cut" + std::to_string(signal);
    EXPECT_EQ(cut(folder, run, signal).code, code);
    EXPECT_LT(lines_of(read_file(folder / (run + "/results.csv"))).size(), 4u);
    const auto resumed = evolve(folder.path(), {"train", "--resume", run});
    ASSERT_EQ(resumed.code, 0) << resumed.err << resumed.out;
    for (const auto* file : {"/results.csv", "/weights/best.pt"})
      EXPECT_EQ(read_file(folder / (run + file)), read_file(folder / ("whole" + std::string(file))))
          << file;
    EXPECT_EQ(validated(folder, run + "/weights/last.pt"), whole);
  }
}

TEST(Train, ThatIsFinishedSaysSoOnResume) {
  const Folder folder;
  trained(folder, "run");
  const auto csv = read_file(folder / "run/results.csv");
  fs::remove(folder / "run/results.csv");
  const auto again = evolve(folder.path(), {"train", "--resume", "run/weights/last.pt"});
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_THAT(again.out, HasSubstr("run is finished, after 1 epoch\n"));
  EXPECT_EQ(read_file(folder / "run/results.csv"), csv);
}

TEST(Val, AgreesWithTheTrainingAndWithItsJson) {
  const Folder folder;
  const auto train = trained(folder, "run");
  Ended val;
  const auto json = validated(folder, "run/weights/best.pt", &val);
  const auto row = [](const std::string& name, const nlohmann::json& of) {
    return fmt::format("{:>22}{:>10}{:>10}{:>10.3g}{:>10.3g}{:>10.3g}{:>10.3g}\n", name, 100,
                       of["labels"].get<int>(), of["precision"].get<double>(),
                       of["recall"].get<double>(), of["mAP_0.5"].get<double>(),
                       of["mAP_0.5:0.95"].get<double>());
  };
  const auto all = row("all", json);
  for (const auto& [name, of] : json["classes"].items())
    EXPECT_THAT(val.out, HasSubstr(row(name, of)));
  EXPECT_GT(json["classes"].size(), 1u);
  EXPECT_THAT(val.out, HasSubstr(all));
  EXPECT_THAT(train.out, HasSubstr("weights/best.pt, of epoch"));
  EXPECT_THAT(train.out.substr(train.out.find("weights/best.pt, of")), HasSubstr(all));
  EXPECT_TRUE(fs::exists(folder / "runs/val/exp/val_batch0_pred.jpg"));
}

TEST(Val, NeedsWeightsThatAreWeights) {
  const Folder folder;
  write_file(folder / "a.pt", "no weights");
  const auto ended = evolve(folder.path(), {"val", "--weights", "a.pt"});
  EXPECT_EQ(ended.code, 2) << ended.out;
  EXPECT_THAT(ended.err, HasSubstr("/a.pt: "));
  EXPECT_EQ(lines_of(ended.err).size(), 1u);
}

}  // namespace
}  // namespace evolve::test
