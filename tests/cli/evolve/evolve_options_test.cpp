#include "cli/evolve/evolve_options.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <set>

#include "cli/evolve/search_space.hpp"
#include "cli/options/command_line.hpp"
#include "tests/refusal.hpp"
#include "tests/temporary_folder.hpp"

namespace evolve::cli {
namespace {

EvolveOptions parse(const std::string& arguments) {
  CLI::App app;
  EvolveOptions options;
  declare(app, options);
  app.parse(arguments);
  check_values(app);
  complete(app, options);
  return options;
}

/// A run that was begun with these arguments.
results::RunSettings run_of(const std::string& arguments) {
  return {.options = to_json(parse(arguments))};
}

std::string refused(const std::string& arguments) {
  return test::refusal([&] { parse(arguments); });
}

TEST(EvolveOptions, WithoutADataSetTrainASmallModelOnShapes) {
  const auto options = parse("");
  EXPECT_EQ(options.train.data, "shapes");
  EXPECT_EQ(options.train.cfg, "yolov5p.yaml");
  EXPECT_EQ(options.train.weights, "shapes-base");
  EXPECT_EQ(options.train.optimizer, "Adam");
  EXPECT_EQ(options.generations, 300);
  EXPECT_EQ(options.population, 50);
  EXPECT_EQ(options.limits.hang, std::chrono::minutes(10));
  EXPECT_FALSE(options.limits.trial);
  EXPECT_EQ(options.retries, 2);
}

TEST(EvolveOptions, AreKeptForWhoeverResumesOrTellWhichRunThatIs) {
  const std::set<std::string> of_this_command = {
      "help",        "dry_run", "resume",   "output",
      "project",     "name",    "exist_ok", "model",  // kept as cfg or weights
      "cos_restarts"};                                // as restart_epochs and restart_factor
  CLI::App app;
  EvolveOptions options;
  declare(app, options);
  const auto kept = to_json(options);
  for (const auto* option : app.get_options()) {
    auto key = option->get_lnames().front();
    std::ranges::replace(key, '-', '_');
    EXPECT_NE(kept.contains(key), of_this_command.contains(key)) << key;
  }
  for (const auto& key : how_it_runs) EXPECT_TRUE(kept.contains(key)) << key;
  for (const auto& key : input_files) EXPECT_TRUE(kept.contains(key)) << key;
}

TEST(EvolveOptions, ForShapesByNameAreThoseWithoutADataSet) {
  const auto options = parse("--data shapes --epochs 3");
  EXPECT_EQ(options.train.cfg, "yolov5p.yaml");
  EXPECT_EQ(options.train.imgsz, 96);
  EXPECT_EQ(options.train.epochs, 3);
  EXPECT_EQ(parse("--data mine.yaml").train.cfg, "yolov5s.yaml");
}

TEST(EvolveOptions, OfGenesKeepToTheSpaceFile) {
  const test::TemporaryFolder folder;
  const auto file = (folder.path() / "space.yaml").string();
  std::ofstream(file) << "lr0: [0.001, 0.1]\nmomentum: [0.6, 0.98]\n";
  const auto evolved = [&](const std::string& genes) {
    return hyp::evolved_genes(space_of(parse("--space " + file + " --evolve-genes " + genes)));
  };
  EXPECT_EQ(evolved("all").size(), 2U);
  EXPECT_EQ(evolved("momentum").front().name, "momentum");
  EXPECT_EQ(test::refusal([&] { evolved("hsv_h"); }),
            "--evolve-genes: there is no gene 'hsv_h'; choose among all, lr0, momentum");
}

TEST(EvolveOptions, OfAnOptimizerAreNotBesidesASpaceThatHasAnother) {
  const test::TemporaryFolder folder;
  const auto space = (folder.path() / "space.yaml").string();
  std::ofstream(space) << "lr0: [0.001, 0.1]\noptimizer: {choices: [SGD, Adam]}\n";
  const auto hyp = (folder.path() / "hyp.yaml").string();
  std::ofstream(hyp) << "optimizer: SGD\n";
  const auto fault = [&](const std::string& arguments) {
    const auto options = parse(arguments);
    return test::refusal([&] { check_one_optimizer(options, space_of(options)); });
  };
  EXPECT_EQ(fault("--space " + space + " --optimizer SGD"),
            "--optimizer SGD: the hyperparameters have one of their own, which would be used; "
            "leave out one of the two");
  EXPECT_NE(fault("--hyp " + hyp + " --optimizer Adam"), "accepted");
  EXPECT_EQ(fault("--hyp " + hyp + " --optimizer SGD"), "accepted");
  EXPECT_EQ(fault("--space " + space), "accepted");
  EXPECT_EQ(fault("--space " + space + " --optimizer SGD --trainer-command x"), "accepted");
}

TEST(EvolveOptions, OfASpaceSayWhatIsInTheMiddleOfItsRange) {
  const test::TemporaryFolder folder;
  const auto file = (folder.path() / "space.yaml").string();
  std::ofstream(file) << "lr0: [0.001, 0.1]\ndrop: [0, 1]\nema: {low: 0, high: 1, evolve: false}\n"
                         "depth: [2, 2]\n";
  const auto notes = [&](const std::string& more) {
    const auto options = parse("--trainer-command x --space " + file + more);
    return notes_on_start(options, space_of(options));
  };
  EXPECT_THAT(notes(""),
              testing::ElementsAre("drop starts in the middle of its range; --hyp says where else",
                                   "ema does not evolve, and stays in the middle of its range; "
                                   "--hyp says where else"));
  EXPECT_THAT(notes(" --evolve-genes lr0"),
              testing::ElementsAre("drop, ema do not evolve, and stay in the middle of their "
                                   "ranges; --hyp says where else"));
  const auto hyp = (folder.path() / "hyp.yaml").string();
  std::ofstream(hyp) << "drop: 0.5\nema: 0.5\n";
  EXPECT_THAT(notes(" --hyp " + hyp), testing::IsEmpty());
}

TEST(EvolveOptions, AreNotEmpty) {
  const auto refused_empty = [](const std::string& option) {
    CLI::App app;
    EvolveOptions options;
    declare(app, options);
    app.parse(std::vector<std::string>{"", option});  // in reverse
    return test::refusal([&] { check_values(app); });
  };
  for (const std::string option : {"--trials", "--output", "--time-limit", "--fitness", "--name"})
    EXPECT_EQ(refused_empty(option),
              option + " '': this is empty; give it a value, or leave it out");
  EXPECT_EQ(refused_empty("--weights"), "accepted");  // YOLOv5's word for random ones
  EXPECT_NO_THROW(parse("--evolve --resume"));
}

TEST(EvolveOptions, ThatAreListsCountAsTheyStandLast) {
  EXPECT_EQ(parse("--freeze 0 1 2 --epochs 5 --freeze 3").train.freeze,
            parse("--freeze 3").train.freeze);
}

TEST(EvolveOptions, AreNoValuesOfOthersNorOfAnotherBase) {
  const auto refused = [](std::vector<std::string> words) {
    return test::refusal([&] {
      CLI::App app;
      EvolveOptions options;
      declare(app, options);
      std::ranges::reverse(words);
      app.parse(std::move(words));
      check_values(app);
    });
  };
  EXPECT_EQ(refused({"--name", "--dry-run"}),
            "--name --dry-run: its value is missing; give it a value, or leave it out");
  EXPECT_EQ(refused({"--name", "--mine"}), "accepted");
  EXPECT_EQ(refused({"--trials", "010"}),
            "--trials 010: this begins with a 0; write a decimal number without it");
  EXPECT_EQ(refused({"--seed", "010"}),
            "--seed 010: this begins with a 0; write a decimal number without it");
  EXPECT_EQ(refused({"--epochs", "0x10"}),
            "--epochs 0x10: this begins with a 0; write a decimal number without it");
}

/// A current folder with folders that are called like the embedded data sets.
struct EmbeddedNames : testing::Test {
  const std::filesystem::path before = std::filesystem::current_path();
  test::TemporaryFolder folder;

  EmbeddedNames() {
    std::filesystem::create_directory(folder / "shapes");
    std::filesystem::create_directory(folder / "shapes-base");
    std::ofstream(folder / "shapes/shapes.yaml") << "names: [a]";
    std::filesystem::current_path(folder.path());
  }
  ~EmbeddedNames() override { std::filesystem::current_path(before); }
};

TEST_F(EmbeddedNames, AreNoPaths) {
  EXPECT_EQ(parse("").train.data, "shapes");
  EXPECT_EQ(parse("--data shapes").train.data, "shapes");
  EXPECT_EQ(parse("--weights shapes-base").train.weights, "shapes-base");
}

TEST_F(EmbeddedNames, CanBePartsOfPaths) {
  EXPECT_EQ(parse("--data ./shapes/shapes.yaml").train.data, folder / "shapes/shapes.yaml");
  EXPECT_EQ(parse("--data ./shapes").train.data, folder / "shapes");
}

TEST(EvolveOptions, WithADataSetHaveYolov5sDefaults) {
  const auto options = parse("--data my.yaml");
  EXPECT_EQ(options.train.cfg, "yolov5s.yaml");
  EXPECT_EQ(options.train.weights, "");
  EXPECT_EQ(options.train.epochs, 100);
  EXPECT_EQ(options.train.batch_size, 16);
  EXPECT_EQ(options.train.imgsz, 640);
  EXPECT_EQ(options.train.optimizer, "SGD");
}

TEST(EvolveOptions, LeaveTheModelToTheWeights) {
  const auto options = parse("--data my.yaml --weights my.pt");
  EXPECT_EQ(options.train.cfg, "");
  EXPECT_EQ(options.train.weights, "my.pt");
}

TEST(EvolveOptions, KeepWhatIsGivenOnShapes) {
  const auto options = parse("--epochs 7 --optimizer SGD");
  EXPECT_EQ(options.train.epochs, 7);
  EXPECT_EQ(options.train.optimizer, "SGD");
}

TEST(EvolveOptions, TakeYolov5sOtherNames) {
  const auto options = parse("--evolve 20 --img 96 --batch 4 --device cpu:0 --cache ram");
  EXPECT_EQ(options.train.batch_size, 4);
  EXPECT_EQ(options.generations, 20);
  EXPECT_EQ(options.train.imgsz, 96);
  EXPECT_EQ(options.devices, "cpu:0");
}

TEST(EvolveOptions, TakeABareEvolveAsYolov5Does) {
  const auto options = parse("--evolve --img 96");
  EXPECT_EQ(options.generations, 300);
  EXPECT_EQ(options.train.imgsz, 96);
  EXPECT_THROW(parse("--evolve often"), CLI::ParseError);
}

TEST(EvolveOptions, TakeEarlierRunsWhosePathsHaveCommas) {
  const test::TemporaryFolder folder;
  std::filesystem::create_directories(folder / "a,b/run");
  const auto with_comma = (folder / "a,b/run").string();
  EXPECT_THAT(earlier_runs(parse("--from '" + with_comma + ",old'")),
              testing::ElementsAre(with_comma, "old"));
}

TEST(EvolveOptions, TakeAModelAsUltralyticsWritesIt) {
  EXPECT_EQ(parse("--data my.yaml --model my.pt").train.weights, "my.pt");
  EXPECT_EQ(parse("--data my.yaml --model my.pt").train.cfg, "");
  EXPECT_EQ(parse("--data my.yaml --model yolov5n.yaml").train.cfg, "yolov5n.yaml");
  const auto options = parse("--trainer ultralytics --data my.yaml --model yolo11n.yaml");
  EXPECT_EQ(options.train.cfg, "yolo11n.yaml");
  EXPECT_EQ(options.train.optimizer, "AdamW");
}

TEST(EvolveOptions, KeepTheModelOfARun) {
  const auto run = run_of("--trainer ultralytics --data my.yaml --model yolo11n.yaml");
  EXPECT_EQ(python_trainer(resumed(parse("--resume x"), run).trainer)->name, "ultralytics");
  EXPECT_EQ(resumed(parse("--resume x"), run).keep_weights, 10);
  auto of_all = run;
  of_all.options.erase("keep_weights");  // a journal of before there was such an option
  EXPECT_EQ(resumed(parse("--resume x"), of_all).keep_weights, -1);
  EXPECT_EQ(resumed(parse("--resume x"), run).train.cfg, "yolo11n.yaml");
  EXPECT_THROW(resumed(parse("--resume x --model yolo11s.yaml"), run), Error);
  EXPECT_NO_THROW(resumed(parse("--resume x --model yolo11n.yaml"), run));
}

TEST(EvolveOptions, KeepImagesInMemoryUnlessTheDiskIsNamed) {
  EXPECT_EQ(parse("").train.cache, "");
  EXPECT_EQ(parse("--cache").train.cache, "ram");
  EXPECT_EQ(parse("--cache disk").train.cache, "disk");
  EXPECT_EQ(parse("--cache none").train.cache, "none");
  EXPECT_THROW(parse("--cache tape"), CLI::ValidationError);
}

TEST(EvolveOptions, TakeAShareOfTheImagesThatIsAboveNothingAndNoMoreThanAll) {
  EXPECT_EQ(parse("--fraction 0.25").train.fraction, 0.25);
  EXPECT_EQ(parse("--fraction 1").train.fraction, 1);
  for (const char* share : {"0", "1.5", "-0.1"})
    EXPECT_THROW(parse("--fraction " + std::string(share)), CLI::ValidationError) << share;
}

TEST(EvolveOptions, OfImagesAreRefusedWhereTheTrainerWouldNotBeToldOrDoesNotKnowThem) {
  EXPECT_EQ(refused("--trainer-exec 'x {hyp} {dir}' --fraction 0.5"),
            "--fraction: --trainer-exec does not pass this on to its command; write the command's "
            "own option for it into the command");
  EXPECT_EQ(refused("--trainer ultralytics --data my.yaml --model yolo11n.yaml --skip-bad"),
            "--skip-bad: ultralytics has no such option; leave it out");
}

TEST(EvolveOptions, LetAResumedRunKeepImagesElsewhere) {
  const auto run = run_of("--cache ram");
  EXPECT_EQ(resumed(parse("--resume x --cache disk"), run).train.cache, "disk");
  EXPECT_THROW(resumed(parse("--resume x --fraction 0.5"), run), Error);
}

TEST(EvolveOptions, ByWhichTheTrialsOfARunAreComparedDoNotChange) {
  const auto run = run_of("");
  for (const std::string other :
       {"--epochs 7", "--imgsz 128", "--batch-size 8", "--population 7", "--search classic",
        "--lag 3", "--fitness mAP50", "--evolve-genes lr0", "--optimizer SGD", "--cos-lr",
        "--label-smoothing 0.1", "--noautoanchor", "--single-cls", "--freeze 3"})
    EXPECT_THROW(resumed(parse("--resume x " + other), run), Error) << other;
}

TEST(EvolveOptions, LetAResumedRunFindItsTrainerElsewhere) {
  const std::string is = "train {hyp} {dir}", was = "/gone/train {hyp} {dir}";
  const auto exec = run_of("--trainer-exec '" + was + "'");
  EXPECT_EQ(resumed(parse("--resume x --trainer-exec '" + is + "'"), exec).trainer_texts.exec, is);
  EXPECT_THROW(resumed(parse("--resume x --trainer-command train"), exec), Error);
  const auto command = run_of("--trainer-command /gone/train");
  EXPECT_EQ(resumed(parse("--resume x --trainer-command train"), command).trainer_texts.command,
            "train");
  EXPECT_THROW(resumed(parse("--resume x --trainer-exec '" + is + "'"), command), Error);
  EXPECT_THROW(resumed(parse("--resume x --trainer-command train"), run_of("")), Error);
}

TEST(EvolveOptions, RefuseValuesThatMakeNoSense) {
  EXPECT_EQ(refused("--optimizer Magic"),
            "--optimizer Magic: there is no such optimizer; choose SGD, Adam or AdamW");
  EXPECT_EQ(refused("--epochs 0"), "--epochs 0; train for at least 1 epoch");
  EXPECT_EQ(refused("--epochs 100001"), "--epochs 100001: too many; write 100000 at most");
  EXPECT_EQ(refused("--weights a.pt --model b.pt"),
            "--model and --weights both name the weights; leave one of them out");
  EXPECT_EQ(refused("--model b.yaml --cfg a.yaml"),
            "--model and --cfg both name the model table; leave one of them out");
  EXPECT_EQ(refused("--imgsz 100"),
            "--imgsz 100: image sizes are multiples of 32 pixels, 64 at least; write 128");
  EXPECT_EQ(refused("--batch-size 0"), "--batch-size 0: too few; write 1 or more");
  EXPECT_EQ(refused("--retries -1"), "--retries -1: too few; write 0 or more");
  EXPECT_EQ(refused("--keep-weights -2"),
            "--keep-weights -2; a number of trials, or -1 for all of them");
  EXPECT_EQ(refused("--keep-weights 2"),
            "--keep-weights: evolve keeps the weights of trials only with --trainer; leave it out");
  EXPECT_EQ(refused("--hang-timeout never"),
            "--hang-timeout never: not a duration; write 90s, 15m, 12h, 1h30m or 2d");
  EXPECT_EQ(refused("--hang-timeout 1000000000h"),
            "--hang-timeout 1000000000h: not a duration; write 90s, 15m, 12h, 1h30m or 2d");
}

TEST(EvolveOptions, GoOnAsTheRunWasWithWhatMayChange) {
  const auto run = run_of("--seed 5 --population 7 --devices cpu:0");
  const auto options = resumed(parse("--resume x --trials 30 --devices cpu:0,cpu:1"), run);
  EXPECT_EQ(options.seed, 5u);
  EXPECT_EQ(options.population, 7);
  EXPECT_EQ(options.trials, 30);
  EXPECT_EQ(options.devices, "cpu:0,cpu:1");
  EXPECT_EQ(options.train.cfg, "yolov5p.yaml");
}

TEST(EvolveOptions, OfARunThatGoesOnDoNotMoveIt) {
  const std::string reason =
      ": a run that goes on stays where it is; leave it out: --resume DIR "
      "names the run";
  EXPECT_EQ(refused("--resume x --output y"), "--output" + reason);
  EXPECT_EQ(refused("--resume --name y"), "--name" + reason);
}

TEST(EvolveOptions, AllowTheRunsOwnValuesAgainOnResume) {
  const auto run = run_of("--seed 5 --epochs 2");
  EXPECT_EQ(resumed(parse("--resume x --seed 5 --epochs 2"), run).seed, 5u);
}

TEST(EvolveOptions, OfEarlierRunsNameEachOfThem) {
  const std::vector<std::string> both = {"a.csv", "b.csv"};
  EXPECT_EQ(earlier_runs(parse("--from a.csv,b.csv")), both);
  EXPECT_EQ(earlier_runs(parse("--from a.csv b.csv --seed 3")), both) << "as a shell writes a*";
  EXPECT_EQ(earlier_runs(parse("--from a.csv --from b.csv")), both);
  EXPECT_EQ(refused("--from a.csv,"),
            "--from a.csv,: a name is missing; write runs with commas between them");
  EXPECT_EQ(refused("--from none,a.csv"),
            "--from none,a.csv: none cannot stand beside an earlier run; leave it out, or name "
            "nothing else");
}

TEST(EvolveOptions, RefuseAnotherValueOnResume) {
  const auto run = run_of("--batch-size 8");
  const auto now = parse("--resume x --batch-size 16");
  EXPECT_EQ(test::refusal([&] { resumed(now, run); }),
            "--batch-size 16: the run to resume has 8; leave the option out, or start a new run");
  EXPECT_EQ(test::refusal([&] { resumed(parse("--resume x --hyp h.yaml"), run); }),
            "--hyp \"h.yaml\": the run to resume has none; leave the option out, or start a new "
            "run");
}

TEST(EvolveOptions, TakeAnotherPlaceOnResumeForTheFilesThatCanBeCompared) {
  auto run = run_of("--data /old/my.yaml --weights /old/my.pt");
  const auto now = parse("--resume x --data /new/my.yaml");
  EXPECT_THROW(resumed(now, run), Error);
  run.inputs = {{"train", {}}, {"val", {}}};
  EXPECT_EQ(resumed(now, run).train.data, "/new/my.yaml");
  EXPECT_THROW(resumed(parse("--resume x --weights /new/my.pt"), run), Error);
  run.inputs = {{"weights", 7}};
  EXPECT_EQ(resumed(parse("--resume x --weights /new/my.pt"), run).train.weights, "/new/my.pt");
  EXPECT_THROW(resumed(now, run), Error);
}

TEST(EvolveOptions, RefuseAnotherFlagOnResumeByTheNameThatWasTyped) {
  const auto run = run_of("");
  for (const std::string flag : {"--no-early-stop", "--rect", "--no-amp"}) {
    EXPECT_EQ(test::refusal([&] { resumed(parse("--resume x " + flag), run); }),
              flag +
                  ": the run to resume began otherwise; leave the option out, or start "
                  "a new run");
  }
}

TEST(EvolveOptions, OfTheTrainerAreTheOnesOfATraining) {
  const auto options = parse("--image-weights --multi-scale --cos-restarts 5,2 --no-amp");
  EXPECT_TRUE(options.train.image_weights);
  EXPECT_TRUE(options.train.multi_scale);
  EXPECT_EQ(options.train.restart_epochs, 5);
  EXPECT_EQ(options.train.restart_factor, 2);
  EXPECT_FALSE(options.train.amp);
  EXPECT_TRUE(parse("").train.amp);
  EXPECT_THROW(parse("--patience 3"), CLI::ParseError);
}

TEST(EvolveOptions, RefuseRestartsThatAreNotTwoWholeNumbers) {
  for (const std::string wrong : {"5", "5,", ",2", "0,2", "5,0", "5,1.5", "5,2,3", "five,two"}) {
    EXPECT_EQ(refused("--cos-restarts " + wrong),
              "--cos-restarts " + wrong +
                  ": not two whole numbers from 1; write T0,Tmult: 50,2 for cycles of 50, 100, "
                  "200, … epochs");
  }
}

TEST(EvolveOptions, NameTheOptionThatWasTypedWhenTheyRefuseItOnResume) {
  const auto run = run_of("--cos-restarts 5,2");
  EXPECT_NO_THROW(resumed(parse("--resume x --cos-restarts 5,2"), run));
  EXPECT_EQ(test::refusal([&] { resumed(parse("--resume x --cos-restarts 7,2"), run); }),
            "--cos-restarts 7: the run to resume has 5; leave the option out, or start a new "
            "run");
}

}  // namespace
}  // namespace evolve::cli
