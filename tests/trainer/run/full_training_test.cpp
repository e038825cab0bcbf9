#include "trainer/run/full_training.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <filesystem>

#include "hyp/fitness.hpp"
#include "hyp/space.hpp"
#include "tests/files.hpp"
#include "tests/refusal.hpp"
#include "tests/temporary_folder.hpp"
#include "tests/trainer/state_dict.hpp"
#include "trainer/checkpoint/checkpoint.hpp"
#include "trainer/data/embedded/shapes.hpp"
#include "trainer/optim/schedule.hpp"
#include "trainer/run/trainer.hpp"

namespace evolve::trainer {
namespace {

namespace fs = std::filesystem;
using test::expect_equal;
using test::read_file;
using ::testing::HasSubstr;

/// A training on the embedded data set in a folder that goes away.
class FullTrainingTest : public ::testing::Test {
 protected:
  /// One for all: images are decoded once.
  static void SetUpTestSuite() { trainer = std::make_unique<Trainer>("cpu", 1); }
  static void TearDownTestSuite() { trainer.reset(); }

  workers::TrainingJob job(const std::string& name, int epochs = 3) const {
    workers::TrainingJob job{.seed = 1, .dir = (folder / name).string()};
    for (const auto& gene : hyp::default_space().genes) {
      if (gene.name != "anchors") job.hyp.set(gene.name, gene.start);
    }
    job.hyp.set("lr0", 0.005);
    job.options = to_json(
        TrainOptions{.cfg = "yolov5p.yaml", .epochs = epochs, .imgsz = 64, .optimizer = "Adam"});
    return job;
  }

  /// One that does worse in each epoch after the first few, and ends then.
  workers::TrainingJob ruinous(const std::string& name) const {
    auto ruinous = job(name, 9);
    ruinous.hyp.set("lr0", 0.02);
    ruinous.hyp.set("warmup_bias_lr", 0.02);
    ruinous.options["weights"] = "shapes-base";
    ruinous.options["amp"] = false;  // bfloat16 rounds a platform's ruin into another's progress
    ruinous.options["patience"] = 1;
    return ruinous;
  }

  /// Runs a job to its end, or until after `epochs` reports of new epochs.
  std::vector<workers::EpochReport> run(const workers::TrainingJob& job, int epochs = 100) {
    struct Cut {};
    std::vector<workers::EpochReport> reports;
    try {
      result = trainer->full_training(job, [&](const workers::JobReport& report) {
        const auto* epoch = std::get_if<workers::EpochReport>(&report);
        if (!epoch) return;
        reports.push_back(*epoch);
        if (!epoch->past && --epochs == 0) throw Cut();
      });
    } catch (const Cut&) {
    }
    return reports;
  }

  /// A training "a" on the same images in files, cut after its first epoch, to be resumed.
  workers::TrainingJob cut_on_files() {
    data::write_embedded("shapes", folder / "shapes");
    auto cut = job("a");
    cut.options["data"] = yaml.string();
    run(cut, 1);
    cut.resume = true;
    return cut;
  }

  /// Why that is not resumed. The data set is read again.
  static std::string refusal_of(const workers::TrainingJob& job) {
    Trainer later("cpu", 1);
    return test::refusal([&] { later.full_training(job, [](const auto&) {}); });
  }

  Checkpoint weights(const std::string& name, const std::string& which) const {
    return read_checkpoint((folder / name / "weights" / which).string());
  }

  static inline std::unique_ptr<Trainer> trainer;
  test::TemporaryFolder folder;
  const fs::path yaml = folder / "shapes/shapes.yaml";
  workers::TrainingReport result;
};

TEST_F(FullTrainingTest, LeavesTheBestAndTheLastWeightsAndImages) {
  const auto epochs = run(job("a"));
  ASSERT_EQ(epochs.size(), 3u);
  EXPECT_EQ(epochs[2].training.epoch, 3);
  EXPECT_EQ(epochs[2].training.batch, epochs[2].training.batches);
  EXPECT_GT(epochs[2].training.losses.box, 0);
  EXPECT_LT(epochs[2].training.losses.box, epochs[0].training.losses.box);
  const auto batches = epochs[2].training.batches;
  EXPECT_EQ(epochs[2].learning_rates,
            schedule_of(job("a").hyp, {.epochs = 3}, batches).at(3 * batches - 1).learning_rate);
  EXPECT_EQ(result.epochs, 3);
  EXPECT_FALSE(result.stopped_early);
  EXPECT_EQ(result.validation.images, 100);
  EXPECT_EQ(result.validation.classes.size(), 3u);
  for (const char* file : {"val_batch0_labels.jpg", "val_batch0_pred.jpg"}) {
    EXPECT_TRUE(fs::exists(folder / "a" / file)) << file;
  }
  const auto last = weights("a", "last.pt");
  EXPECT_EQ(last.state.size(), 349u);
  EXPECT_EQ(last.state.front().second.scalar_type(), torch::kHalf);
  EXPECT_TRUE(last.training.empty()) << "a finished file holds the weights alone";
  EXPECT_EQ(last.about.at("nc"), 3);
  EXPECT_EQ(last.about.at("epoch"), 2);
}

TEST_F(FullTrainingTest, CallsTheLastEpochOfGreatestFitnessTheBest) {
  const auto epochs = run(job("a", 4));
  const hyp::Fitness fitness;
  double best = -1;
  int best_epoch = 0;
  for (const auto& epoch : epochs) {
    EXPECT_EQ(epoch.best, fitness(epoch.metrics) >= best);
    if (epoch.best) best = fitness(epoch.metrics), best_epoch = epoch.training.epoch;
  }
  EXPECT_EQ(result.best_epoch, best_epoch);
  EXPECT_EQ(weights("a", "best.pt").about.at("epoch"), best_epoch - 1);
  // Half precision moves a metric in the fourth digit.
  EXPECT_NEAR(fitness(result.validation.metrics), best, 2e-3);
}

TEST_F(FullTrainingTest, GoesOnAfterACutAsIfThereHadBeenNone) {
  const auto whole = run(job("whole"));
  const auto expected = result;
  EXPECT_EQ(run(job("cut"), 2).size(), 2u);
  EXPECT_FALSE(weights("cut", "last.pt").training.empty());
  auto rest = job("cut");
  rest.resume = true;
  auto resumed = run(rest);
  ASSERT_EQ(resumed.size(), whole.size());
  for (std::size_t i = 0; i < whole.size(); ++i) {
    EXPECT_EQ(resumed[i].past, i < 2);
    resumed[i].past = false;
    resumed[i].seconds = whole[i].seconds;
    EXPECT_EQ(resumed[i], whole[i]) << i;
  }
  EXPECT_EQ(result.validation.metrics, expected.validation.metrics);
  expect_equal(weights("cut", "last.pt").state, weights("whole", "last.pt").state);
  expect_equal(weights("cut", "best.pt").state, weights("whole", "best.pt").state);
}

TEST_F(FullTrainingTest, GoesOnThoughTheTableAndTheWeightsItStartedFromAreGone) {
  run(job("start", 1));
  const auto table = folder / "table.yaml", start = folder / "start/weights/best.pt";
  test::write_file(table, to_json(read_model_table("yolov5p.yaml")).dump());
  auto cut = job("cut", 2);
  cut.options["cfg"] = table.string();
  cut.options["weights"] = start.string();
  EXPECT_EQ(run(cut, 1).size(), 1u);
  fs::remove(table);
  fs::remove(start);
  cut.resume = true;
  EXPECT_EQ(run(cut).size(), 2u);
  EXPECT_EQ(result.epochs, 2);
}

TEST_F(FullTrainingTest, OnlyReportsWhatWasWhenItHasEnded) {
  const auto first = run(job("a", 2));
  const auto ended = result;
  const auto before = read_file(folder / "a/weights/last.pt");
  auto again = job("a", 2);
  again.resume = true;
  const auto second = run(again);
  ASSERT_EQ(second.size(), 2u);
  EXPECT_TRUE(second[1].past);
  EXPECT_EQ(second[1].metrics, first[1].metrics);
  EXPECT_EQ(result, ended);
  EXPECT_EQ(read_file(folder / "a/weights/last.pt"), before);
}

TEST_F(FullTrainingTest, RefusesToGoOnWithOtherSettings) {
  run(job("a"), 1);
  auto other = job("a");
  other.resume = true;
  other.hyp.set("lr0", 0.02);
  EXPECT_THAT(test::refusal([&] { run(other); }),
              HasSubstr("last.pt: the training began with other values of lr0; bring back its "
                        "opt.yaml and hyp.yaml as they were, or start a new run"));
  other.hyp.set("anchors", 3.0);
  other.seed = 2;
  other.options["batch_size"] = 8;
  EXPECT_THAT(test::refusal([&] { run(other); }),
              HasSubstr("other values of anchors, batch_size, lr0, seed; "));
  auto more_workers = job("a");
  more_workers.resume = true;
  more_workers.options["workers"] = 3;
  EXPECT_EQ(run(more_workers).size(), 3u);
}

TEST_F(FullTrainingTest, RefusesToGoOnWithOtherClasses) {
  const auto job = cut_on_files();
  const auto names = read_file(yaml);
  const auto refusal_with = [&](const std::string& text) {
    test::write_file(yaml, text);
    return refusal_of(job);
  };
  const auto last = (folder / "a/weights/last.pt").string();
  const auto remedy = "; bring back the data set as it was, or start a new run";
  EXPECT_EQ(refusal_with(names + "  3: star\n"),
            last + ": its training began with 3 classes, " + yaml.string() + " has 4 now" + remedy);
  auto other_names = names;
  other_names.replace(other_names.find("square"), 6, "star");
  EXPECT_EQ(refusal_with(other_names), last + ": class 1 was square when its training began, in " +
                                           yaml.string() + " it is star now" + remedy);
}

TEST_F(FullTrainingTest, RefusesToGoOnWithFewerImages) {
  const auto job = cut_on_files();
  const auto images = folder / "shapes/images/train";
  const auto count = std::distance(std::filesystem::directory_iterator(images),
                                   std::filesystem::directory_iterator());
  std::filesystem::remove(*std::filesystem::directory_iterator(images));
  EXPECT_THAT(refusal_of(job),
              testing::AllOf(
                  HasSubstr("last.pt: " + yaml.string() + " has " + std::to_string(count - 1) +
                            " train images with "),
                  HasSubstr(" labels, its training began with " + std::to_string(count) + " with "),
                  HasSubstr("; bring back the data set as it was, or start a new run")));
}

TEST_F(FullTrainingTest, GoesOnWhereItBeganWithoutAnOptionThatIsNewerThanIt) {
  auto older = job("a");
  for (const auto* option : {"skip_bad", "folder"}) older.options.erase(option);
  run(older, 1);
  auto now = job("a");
  now.resume = true;
  now.options["folder"] = "/where/it/goes/on";
  ASSERT_TRUE(now.options.contains("skip_bad"));
  EXPECT_EQ(run(now).size(), 3u);
}

TEST_F(FullTrainingTest, BringsBackTheBestWeightsWhereACutCameBeforeThem) {
  run(ruinous("whole"));
  const int best = result.best_epoch;
  run(ruinous("cut"), best);
  fs::remove(folder / "cut/weights/best.pt");
  auto rest = ruinous("cut");
  rest.resume = true;
  run(rest);
  EXPECT_EQ(result.best_epoch, best);
  EXPECT_EQ(weights("cut", "best.pt").about, weights("whole", "best.pt").about);
  expect_equal(weights("cut", "best.pt").state, weights("whole", "best.pt").state);
}

TEST_F(FullTrainingTest, RefusesToGoOnWhereTheBestWeightsAreGone) {
  run(ruinous("whole"));
  const int best = result.best_epoch;
  auto endless = ruinous("cut");
  endless.options["patience"] = 0;
  run(endless, best + 1);
  fs::remove(folder / "cut/weights/best.pt");
  endless.resume = true;
  EXPECT_EQ(test::refusal([&] { run(endless); }),
            (folder / "cut/weights/last.pt").string() + ": the weights of its best epoch, " +
                std::to_string(best - 1) +
                ", are gone; bring back best.pt, or start a new run with --weights");
}

TEST_F(FullTrainingTest, EndsWhenPatienceRunsOut) {
  auto ruinous = this->ruinous("a");
  const auto epochs = run(ruinous);
  EXPECT_LT(epochs.size(), 9u);
  EXPECT_TRUE(result.stopped_early);
  EXPECT_EQ(result.epochs, static_cast<int>(epochs.size()));
  EXPECT_EQ(result.best_epoch, result.epochs - 1);
  // Ended is ended, whatever else is said of patience.
  ruinous.resume = true;
  ruinous.options["patience"] = 5;
  EXPECT_EQ(run(ruinous).size(), epochs.size());
}

TEST(Patience, RunsOutSoManyEpochsAfterTheLastThatWasAsGoodAsAnyBefore) {
  EXPECT_FALSE(out_of_patience({}, 2));
  EXPECT_FALSE(out_of_patience({.3, .2}, 2));
  EXPECT_TRUE(out_of_patience({.3, .2, .25}, 2));
  EXPECT_FALSE(out_of_patience({.3, .2, .3, .1}, 2));
  EXPECT_FALSE(out_of_patience({0, 0, 0, 0, 0}, 2)) << "nothing is found yet";
}

TEST(Patience, IsEndlessAt0) {
  EXPECT_FALSE(out_of_patience({.3, .2, .1, 0}, 0));
}

TEST_F(FullTrainingTest, DrawsDifferentImagesByTheirWeightsAndSizesByChance) {
  const auto usual = run(job("usual", 1));
  auto weighted = job("weighted", 1);
  weighted.options["image_weights"] = true;
  EXPECT_NE(run(weighted)[0].training.losses, usual[0].training.losses);
  auto scaled = job("scaled", 1);
  scaled.options["multi_scale"] = true;
  const auto sizes = run(scaled)[0].training;
  EXPECT_NE(sizes.losses, usual[0].training.losses);
  EXPECT_EQ(sizes.imgsz % 32, 0);
  EXPECT_GE(sizes.imgsz, 32);
  EXPECT_LE(sizes.imgsz, 96);
}

TEST_F(FullTrainingTest, TakesTheMeanApForThatOfAClassWithoutLabels) {
  data::write_embedded("shapes", folder / "shapes");
  test::write_file(yaml, read_file(yaml) + "  3: star\n");
  auto with_stars = job("a", 2);
  with_stars.options["data"] = yaml.string();
  with_stars.options["weights"] = "shapes-base";
  const double mean = run(with_stars).back().metrics.map50_95;
  ASSERT_GT(mean, 0);
  const auto saved = weights("a", "last.pt");
  const auto ap = saved.about.at("training").at("class_ap").get<std::vector<double>>();
  ASSERT_EQ(ap.size(), 4u);
  EXPECT_NEAR((ap[0] + ap[1] + ap[2]) / 3, mean, 1e-12);
  EXPECT_EQ(ap[3], mean);
}

}  // namespace
}  // namespace evolve::trainer
