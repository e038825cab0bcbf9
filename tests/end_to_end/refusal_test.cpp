// Bad input: exit code 2 (or 1 where the run failed), one line that says where and what, and
// nothing lost.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "process.hpp"

namespace evolve::test {
namespace {

using testing::EndsWith;
using testing::Eq;
using testing::HasSubstr;

/// Expects that these arguments are refused with one line that has all of these parts, and no run
/// directory.
void expect_refusal(const Folder& folder, std::vector<std::string> arguments,
                    const std::vector<std::string>& parts) {
  arguments.insert(arguments.end(), {"--trainer-command", fake_trainer(), "--output", "run"});
  const auto said = refusal_of(evolve(folder.path(), arguments));
  for (const auto& part : parts) EXPECT_THAT(said, HasSubstr(part));
  EXPECT_FALSE(std::filesystem::exists(folder / "run"));
}

TEST(Evolve, RefusesASpaceWithCrossedBounds) {
  Folder folder;
  write_file(folder / "space.yaml", "lr0: {low: 0.1, high: 0.5}\nhsv_h: [0.2, 0.1]\n");
  expect_refusal(folder, {"--space", "space.yaml"}, {"space.yaml:2: ", "hsv_h"});
}

TEST(Evolve, RefusesAStartOutsideItsBounds) {
  Folder folder;
  write_file(folder / "space.yaml", "hsv_h: [0.0, 0.1]\n");
  write_file(folder / "hyp.yaml", "# start\nhsv_h: 0.5\n");
  expect_refusal(folder, {"--space", "space.yaml", "--hyp", "hyp.yaml"}, {"hyp.yaml:2: ", "hsv_h"});
}

TEST(Evolve, RefusesASpaceInWhichNothingEvolves) {
  Folder folder;
  write_file(folder / "space.yaml", "lr0: {low: 0.001, high: 0.1, evolve: false}\n");
  expect_refusal(folder, {"--space", "space.yaml"}, {"space.yaml: no gene evolves; "});
}

TEST(Evolve, RefusesAPlotWithoutARow) {
  Folder folder;
  finish_trials(folder, 1);
  const auto header = lines_of(read_file(folder / "run/evolve.csv")).front();
  write_file(folder / "mine.csv", header + "\n");
  const auto ended = evolve(folder.path(), {"plot", "mine.csv"});
  EXPECT_EQ(ended.code, 2);
  EXPECT_EQ(ended.err, "evolve: mine.csv: no trial has completed; draw it once one has\n");
}

TEST(Evolve, RefusesAnOutputInAFolderThatIsNotThere) {
  Folder folder;
  finish_trials(folder, 1);
  const auto missing = (folder / "no").string();
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"plot", "run/evolve.csv", "-o", "no/it.png"},
        {"explain", "run", "-o", "no/it.png"},
        {"report", "run", "-o", "no/it.html"}}) {
    const auto ended = evolve(folder.path(), command);
    EXPECT_EQ(ended.code, 2);
    EXPECT_EQ(ended.err, "evolve: " + command.back() + ": there is no folder " + missing +
                             "; make it, or name another file\n");
  }
}

TEST(Evolve, RefusesToWriteIntoAFolderOfSomethingElse) {
  Folder folder;
  const auto refused = [&](const std::string& name) {
    const auto ended = evolve(folder.path(), {"--output", name, "--dry-run"});
    EXPECT_EQ(ended.code, 2) << ended.out;
    return ended.err;
  };
  const auto line = [&](const std::string& what) {
    return "evolve: " + folder.path().string() + "/" + what + "\n";
  };
  const std::string remedy = "choose another folder with --name or --output";
  std::filesystem::create_directories(folder / "a/trials/000001");
  EXPECT_EQ(refused("a"),
            line("a/trials: this is not of a run of evolve, and would be written into; " + remedy));
  for (const std::string file :
       {"opt.yaml", "hyp_evolved.yaml", "evolve_population.yaml", "evolve.png", "repeats.csv",
        "report.html", "metrics.prom", "devices"}) {
    std::filesystem::create_directory(folder / "b");
    write_file(folder / "b" / file, "theirs");
    EXPECT_EQ(refused("b"),
              line("b/" + file +
                   ": this file is not of a run of evolve, and would be overwritten; " + remedy));
    std::filesystem::remove_all(folder / "b");
  }
  std::filesystem::create_directory(folder / "c");
  ASSERT_EQ(::mkfifo((folder / "c/journal.jsonl").c_str(), 0600), 0);
  EXPECT_EQ(refused("c"), line("c/journal.jsonl: this is no file; choose another folder"));
}

TEST(Evolve, RefusesBrokenYaml) {
  Folder folder;
  write_file(folder / "hyp.yaml", "lr0: 0.01\nmomentum: [0.9\n");
  expect_refusal(folder, {"--hyp", "hyp.yaml"}, {"hyp.yaml:"});
}

TEST(Evolve, RefusesAMissingFile) {
  Folder folder;
  expect_refusal(folder, {"--hyp", "nowhere.yaml"}, {"nowhere.yaml"});
}

TEST(Evolve, SaysWhereYolov5sHypFilesAre) {
  Folder folder;
  const auto refused = [&](std::vector<std::string> arguments) {
    return refusal_of(evolve(folder.path(), std::move(arguments)));
  };
  const std::string said =
      "evolve: hyp.scratch-med.yaml: there is no such file, and evolve brings none of YOLOv5's; "
      "write its path in YOLOv5's data/hyps, or leave --hyp out: hyp.scratch-low is the default\n";
  EXPECT_EQ(refused({"--hyp", "hyp.scratch-med.yaml", "--trials", "1"}), said);
  EXPECT_EQ(refused({"train", "--hyp", "hyp.scratch-med.yaml", "--epochs", "1"}), said);
  EXPECT_THAT(refused({"--hyp", "hyp.yaml", "--trials", "1"}),
              HasSubstr("hyp.yaml: No such file or directory"));
}

// Its loss gains are a hundred times YOLOv5's of the same names.
TEST(Evolve, RefusesUltralyticsHyperparametersForATrainerThatHasYolov5s) {
  Folder folder;
  const std::string remedy =
      "name a hyp file of YOLOv5's, or evolve these with --trainer ultralytics\n";
  for (const std::vector<std::string>& command : {std::vector<std::string>{}, {"train"}}) {
    const auto refused = [&](const std::string& file, const std::string& text) {
      auto arguments = command;
      arguments.insert(arguments.end(), {"--hyp", file, "--epochs", "1"});
      write_file(folder / file, text);
      return refusal_of(evolve(folder.path(), arguments));
    };
    EXPECT_THAT(
        refused("best_hyperparameters.yaml", "lr0: 0.01\nbox: 7.5\ndfl: 1.5\n"),
        EndsWith("best_hyperparameters.yaml:3: dfl is Ultralytics', whose box and cls are no "
                 "gains of YOLOv5's; " +
                 remedy));
    EXPECT_THAT(refused("args.yaml", "task: detect\nmode: train\ntime: null\nbox: 7.5\n"),
                EndsWith("args.yaml: this is a whole configuration of Ultralytics'; " + remedy));
  }
  EXPECT_FALSE(std::filesystem::exists(folder / "runs"));
}

TEST(Evolve, RefusesUnknownAndAbsentDevices) {
  Folder folder;
  expect_refusal(folder, {"--devices", "cpu:99999"}, {"cpu:99999", "cpu:0"});
  expect_refusal(folder, {"--devices", "xpu:0"}, {"xpu:0", "cpu:0"});
  expect_refusal(folder, {"--devices", "cpu:0,cpu:0"}, {"cpu:0"});
  expect_refusal(folder, {"--devices", ""}, {"--devices"});
}

TEST(Evolve, RefusesNumbersThatMakeNoSense) {
  Folder folder;
  expect_refusal(folder, {"--population", "0"}, {"--population"});
  expect_refusal(folder, {"--generations", "-3"}, {"--generations"});
  expect_refusal(folder, {"--trials", "many"}, {"--trials"});
  expect_refusal(folder, {"--lag", "0"}, {"--lag"});
  expect_refusal(folder, {"--time-limit", "soon"}, {"--time-limit", "12h"});
  expect_refusal(folder, {"--search", "magic"}, {"magic", "classic"});
  expect_refusal(folder, {"--evolve-genes", "lr0,foo"}, {"foo"});
  expect_refusal(folder, {"--fitness", "0.5*mAP51"}, {"mAP51"});
  expect_refusal(folder, {"--seed", "-1"}, {"--seed", "-1 is no whole number from 0 to "});
  expect_refusal(folder, {"--seed", "99999999999999999999"}, {"--seed", "99999999999999999999"});
  expect_refusal(folder, {"--trials", "2.5"},
                 {"--trials 2.5: not a number that this option takes; see evolve --help"});
  expect_refusal(folder, {"--devices", "cpu:0\ncpu:1"}, {"'cpu:0 cpu:1' is no device"});
  expect_refusal(folder, {"--fitness", "0.1*mAP50 + 0.9*mAP50-95"},
                 {"mAP50-95 is mAP50 less 95, the metric is mAP50_95"});
  expect_refusal(folder, {"--workers", "-1"}, {"--workers", "-1 is no whole number from 0"});
  expect_refusal(folder, {"--freeze", "-1"}, {"--freeze"});
  expect_refusal(folder, {"--label-smoothing", "nan"}, {"nan is no number from 0 to 1"});
  expect_refusal(folder, {"--no-such-option"}, {"--no-such-option"});
}

TEST(Evolve, RefusesATrainerThatIsNotThere) {
  Folder folder;
  const auto ended = evolve(folder.path(), {"--trainer-command", "/nowhere/trainer --fast",
                                            "--devices", "cpu:0", "--output", "run"});
  EXPECT_EQ(ended.code, 2) << ended.out;
  EXPECT_THAT(ended.err, HasSubstr("--trainer-command: '/nowhere/trainer' cannot be started"));
  EXPECT_FALSE(std::filesystem::exists(folder / "run"));
}

TEST(Evolve, RefusesATrainerThatIsAFolder) {
  Folder folder;
  const auto ended =
      evolve(folder.path(), {"--trainer-command", "/usr", "--devices", "cpu:0", "--output", "run"});
  EXPECT_EQ(ended.code, 2) << ended.out;
  EXPECT_THAT(ended.err,
              HasSubstr("--trainer-command: '/usr' cannot be started (Permission denied)"));
  EXPECT_FALSE(std::filesystem::exists(folder / "run"));
}

TEST(Evolve, RefusesAPathThatCannotBeLookedAt) {
  Folder folder;
  std::filesystem::create_symlink("loop", folder / "loop");
  expect_refusal(folder, {"--from", "loop"},
                 {"loop: Too many levels of symbolic links; check the path and its permissions"});
}

TEST(Evolve, SaysWhereANameStandsThatTheTrainerDoesNotKnow) {
  Folder folder;
  write_file(folder / "space.yaml", "lr0: [0.0, 0.1]\nmine: [0.0, 0.1]\n");
  write_file(folder / "hyp.yaml", "lr0: 0.01\nfoo: 1\n");
  const auto refused = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--devices", "cpu:0", "--output", "run"});
    return evolve(folder.path(), arguments).err;
  };
  EXPECT_THAT(refused({"--space", "space.yaml"}), HasSubstr("space.yaml:2: 'mine' means nothing"));
  EXPECT_THAT(refused({"--hyp", "hyp.yaml"}), HasSubstr("hyp.yaml:2: 'foo' means nothing"));
  write_file(folder / "space.yaml", "lr0: [0.0, 0.1]\n");
  EXPECT_THAT(refused({"--space", "space.yaml", "--hyp", "hyp.yaml"}),
              HasSubstr("hyp.yaml:2: 'foo' means nothing"));
}

TEST(Evolve, SaysWhereAValueStandsThatTheTrainerCannotTake) {
  Folder folder;
  const auto refused = [&](const std::string& option, const std::string& text) {
    write_file(folder / "file.yaml", text);
    return evolve(folder.path(), {option, "file.yaml", "--devices", "cpu:0", "--output", "run"})
        .err;
  };
  EXPECT_THAT(
      refused("--space", "lr0: [0.001, 0.1]\noptimizer: {choices: [SGD, adam]}\n"),
      HasSubstr("file.yaml:2: optimizer: adam cannot be trained with; optimizer is SGD, Adam or"));
  EXPECT_THAT(refused("--space", "lr0: {choices: [low, high]}\n"),
              HasSubstr("file.yaml:1: lr0: low cannot be trained with; lr0 is a number"));
  EXPECT_THAT(
      refused("--space", "lr0: [0.001, 0.1]\ncopy_paste: [0.0, 2.0]\n"),
      HasSubstr("file.yaml:2: copy_paste: 2 cannot be trained with; copy_paste is a share"));
  EXPECT_THAT(refused("--space", "lr0: [-0.001, 0.1]\n"),
              HasSubstr("file.yaml:1: lr0: -0.001 cannot be trained with; lr0 is 0 or more"));
  EXPECT_THAT(refused("--space", "momentum: [-0.5, 0.9]\n"),
              HasSubstr("file.yaml:1: momentum: -0.5 cannot be trained with; momentum"));
  EXPECT_THAT(refused("--space", "anchor_t: [0.5, 8.0]\n"),
              HasSubstr("file.yaml:1: anchor_t: 0.5 cannot be trained with; anchor_t"));
  EXPECT_THAT(refused("--hyp", "lr0: 0.01\noptimizer: foo\n"),
              HasSubstr("file.yaml:2: optimizer: foo cannot be trained with"));
  const auto refused_beside = [&](const std::string& start, const std::string& space) {
    write_file(folder / "hyp.yaml", start);
    write_file(folder / "space.yaml", space);
    return evolve(folder.path(), {"--hyp", "hyp.yaml", "--space", "space.yaml"}).err;
  };
  EXPECT_THAT(refused_beside("copy_paste: 0.5\n", "copy_paste: [0.0, 2.0]\n"),
              HasSubstr("space.yaml:1: copy_paste: 2 cannot be trained with"));
  EXPECT_THAT(refused_beside("copy_paste: 2\n", "copy_paste: [0.0, 3.0]\n"),
              HasSubstr("hyp.yaml:1: copy_paste: 2 cannot be trained with"));
  EXPECT_THAT(refused_beside("optimizer: SGD\n", "optimizer: {choices: [SGD, adam]}\n"),
              HasSubstr("space.yaml:1: optimizer: adam cannot be trained with"));
  EXPECT_FALSE(std::filesystem::exists(folder / "run"));
}

TEST(Evolve, TakesBoundsThatNoTrialCanHaveWhateverTheTrainerCanDoWithThem) {
  Folder folder;
  const auto refusal = [&](const std::string& gene, std::vector<std::string> more) {
    write_file(folder / "space.yaml", "lr0: [0.001, 0.1]\n" + gene + "\n");
    more.insert(more.end(), {"--space", "space.yaml", "--devices", "cpu:0", "--dry-run"});
    return evolve(folder.path(), more).err;
  };
  // Nothing, or that the built-in trainer was not built.
  const auto taken = Eq(refusal("copy_paste: [0, 1]", {}));
  EXPECT_THAT(refusal("copy_paste: {low: 0, high: 2, evolve: false}", {}), taken);
  EXPECT_THAT(refusal("copy_paste: [false, 0, 2]", {}), taken);
  EXPECT_THAT(refusal("optimizer: {choices: [SGD, adam], evolve: false}", {}), taken);
  EXPECT_THAT(refusal("copy_paste: [0, 2]", {"--evolve-genes", "lr0"}), taken);
  EXPECT_THAT(refusal("copy_paste: [false, 0, 2]", {"--evolve-genes", "all"}),
              HasSubstr("space.yaml:2: copy_paste: 2 cannot be trained with"));
}

TEST(Evolve, SaysWhereAGivenSetStandsThatItRefuses) {
  Folder folder;
  write_file(folder / "space.yaml", "lr0: [0.0, 0.1]\nopt: {choices: [SGD, Adam]}\n");
  write_file(folder / "population.yaml", "gen0number0:\n  lr0: 0.01\n  opt: Foo\n");
  std::filesystem::create_directory(folder / "hyps");
  write_file(folder / "hyps/a.yaml", "opt: 7\n");
  expect_refusal(folder, {"--space", "space.yaml", "--resume_evolve", "population.yaml"},
                 {"population.yaml:3: opt is 'Foo'; choose among SGD, Adam"});
  expect_refusal(folder, {"--space", "space.yaml", "--evolve_population", "hyps"},
                 {"hyps/a.yaml:1: opt is '7'; choose among SGD, Adam"});
}

TEST(Evolve, RefusesAnOutputThatHasARunAlready) {
  Folder folder;
  const std::vector<std::string> arguments = {
      "--trainer-command", fake_trainer(), "--devices", "cpu:0", "--trials", "2",
      "--output",          "run"};
  ASSERT_EQ(evolve(folder.path(), arguments).code, 0);
  const auto journal_before = read_file(folder / "run/journal.jsonl");
  const auto ended = evolve(folder.path(), arguments);
  EXPECT_EQ(ended.code, 2);
  EXPECT_THAT(ended.err, HasSubstr("--resume"));
  EXPECT_EQ(read_file(folder / "run/journal.jsonl"), journal_before);
}

TEST(Evolve, RefusesNamesThatArePaths) {
  Folder folder;
  write_file(folder / "space.yaml", "lr0: [0.0, 0.1]\n../../up: [0.0, 0.1]\n");
  expect_refusal(folder, {"--space", "space.yaml"}, {"space.yaml:2: ", "../../up"});
  write_file(folder / "hyp.yaml", "lr0: 0.01\n/tmp/up: 1\n");
  expect_refusal(folder, {"--hyp", "hyp.yaml"}, {"hyp.yaml:2: ", "/tmp/up"});
}

TEST(Evolve, RefusesAJournalWhoseFirstLineMakesNoSense) {
  Folder folder;
  finish_trials(folder, 2);
  const auto text = read_file(folder / "run/journal.jsonl");
  const auto end = text.find('\n');
  auto first = nlohmann::json::parse(text.substr(0, end));
  first["space"]["lr0"]["low"] = 2;
  write_file(folder / "run/journal.jsonl", first.dump() + text.substr(end));
  for (const std::vector<std::string>& arguments : {std::vector<std::string>{"--resume", "run"},
                                                    {"explain", "run"},
                                                    {"plot", "run/evolve.csv"}}) {
    const auto ended = evolve(folder.path(), arguments);
    EXPECT_EQ(ended.code, 2) << arguments[0];
    EXPECT_EQ(ended.err,
              "evolve: run/journal.jsonl:1: the bounds of lr0 make no sense; restore the journal "
              "from a copy, or start a new run\n");
  }
}

TEST(Evolve, RefusesAFolderThatHoldsATraining) {
  Folder folder;
  std::filesystem::create_directory(folder / "train");
  write_file(folder / "train/results.csv", "epoch\n");
  const auto ended = evolve(folder.path(), {"--trainer-command", fake_trainer(), "--devices",
                                            "cpu:0", "--trials", "1", "--output", "train"});
  EXPECT_EQ(ended.code, 2) << ended.out;
  EXPECT_EQ(ended.err, "evolve: " + (folder / "train/results.csv").string() +
                           ": this folder holds a training; choose another folder with --name or "
                           "--output\n");
  EXPECT_EQ(read_file(folder / "train/results.csv"), "epoch\n");
}

TEST(Evolve, SaysThatWithItsExitCodeWhereNobodyCanReadIt) {
  Folder folder;
  auto words = evolve_command({"--resume", "nowhere"});
  EXPECT_EQ(
      Process({"/bin/sh", "-c", "exec \"$@\" 2>/dev/full", "sh", words[0], words[1], words[2]},
              folder.path())
          .wait()
          .code,
      2);
}

TEST(Evolve, SaysOfYolov5sOptionsThatItHasNoUseForThem) {
  Folder folder;
  expect_refusal(folder, {"--noval"}, {"--noval is YOLOv5's, and nothing that evolve needs"});
  expect_refusal(folder, {"--hf_token", "x"},
                 {"--hf_token is YOLOv5's, and nothing that evolve needs"});
  expect_refusal(folder, {"--patience", "100"},
                 {"--patience means nothing in a search: each trial may have all --epochs; leave"});
  EXPECT_EQ(
      refusal_of(evolve(folder.path(), {"--batch-size", "-1", "--trials", "1"})),
      "evolve: --batch-size -1: the built-in trainer has no AutoBatch; write a number, such as "
      "16\n");
  expect_refusal(folder, {"--adam"}, {"--adam is of an older YOLOv5", "write --optimizer Adam"});
  expect_refusal(folder, {"val", "--half"}, {"--half is YOLOv5's, and nothing that evolve needs"});
  expect_refusal(folder, {"val", "--save_txt"},
                 {"--save_txt is YOLOv5's, and evolve has nothing like it"});
}

// A script's variable is empty.
TEST(Evolve, TakesNotTheNextWordForTheValueOfAnOptionThatIsEmpty) {
  Folder folder;
  expect_refusal(folder, {"--devices=", "--trials", "1"},
                 {"--devices '': it is empty; choose among cpu, cpu:0"});
  expect_refusal(folder, {"devices", "--json=", "--data"}, {"--data: there is no such option"});
}

TEST(Evolve, SaysHowItWritesWhatUltralyticsCommandIsGiven) {
  Folder folder;
  expect_refusal(folder, {"tune", "data=coco8.yaml"},
                 {"data=coco8.yaml is how Ultralytics' command has it; write --data coco8.yaml\n"});
  expect_refusal(folder, {"iterations=30"},
                 {"iterations=30 is how Ultralytics' command has it; write --trials 30\n"});
  expect_refusal(folder, {"name=my run"}, {"write --name 'my run'\n"});
  expect_refusal(folder, {"cos_lr=True"}, {"write --cos-lr, or leave it out\n"});
  expect_refusal(folder, {"help=1"}, {"help=1: there is no such command"});
  expect_refusal(folder, {"train", "--iterations", "3"}, {"--iterations: there is no such option"});
  expect_refusal(folder, {"--iterations", "30"},
                 {"--iterations is Ultralytics'; write --trials\n"});
  expect_refusal(folder, {"tune"}, {"tune: there is no such command"});
}

TEST(Evolve, TakesAnEmptyVariableOfAScriptForNoOptionThatIsLeftOut) {
  Folder folder;
  for (const std::string option : {"--resume", "--evolve", "--cache"}) {
    const auto line = "evolve: " + option + " '': this is empty; give it a value, or leave it out";
    expect_refusal(folder, {option, "", "--trials", "5"}, {line});
    expect_refusal(folder, {option + "="}, {line});
  }
  expect_refusal(folder, {"train", "--resume", ""}, {"evolve: --resume '': this is empty"});
}

TEST(Evolve, SaysWhichOptionLacksItsValue) {
  Folder folder;
  expect_refusal(folder, {"--data", "--epochs", "10"}, {"--data --epochs: its value is missing"});
  expect_refusal(folder, {"--time-limit", "1h", "30m"}, {"30m: that is one argument too many"});
}

TEST(Evolve, SaysWhichCommandHasAnOptionThatItHasNot) {
  Folder folder;
  expect_refusal(folder, {"--conf", "0.1"},
                 {"--conf: there is no such option; evolve val has it; see evolve --help"});
  expect_refusal(folder, {"train", "--conf", "0.1"},
                 {"--conf: there is no such option; evolve val has it; see evolve train --help"});
  expect_refusal(folder, {"train", "--trials", "5"},
                 {"--trials: there is no such option; evolve has it; see evolve train --help"});
  expect_refusal(folder, {"--patience", "10", "train"},
                 {"--patience stands before train; write it after that"});
  expect_refusal(folder, {"devices", "--data", "x"},
                 {"--data: there is no such option; evolve has it; see evolve devices --help"});
}

TEST(Evolve, RefusesAPathThatIsNotUtf8) {
  Folder folder;
  expect_refusal(folder, {"--data", "caf\xe9.yaml"}, {"caf", "this is not UTF-8"});
}

TEST(Evolve, RefusesToWorkInAFolderWhoseNameIsNotUtf8) {
  Folder folder;
  std::filesystem::create_directory(folder / "caf\xe9");
  const auto ended = evolve(folder / "caf\xe9", {"--trials", "1"});
  EXPECT_EQ(ended.code, 2) << ended.out;
  EXPECT_THAT(ended.err, HasSubstr("caf\ufffd is not UTF-8; rename it, or work in another one\n"));
}

}  // namespace
}  // namespace evolve::test
