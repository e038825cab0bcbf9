// --launcher: what workers are started by, as real processes.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include "process.hpp"

namespace evolve::test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

const std::string path = "PATH=" EVOLVE_SOURCE_DIR "/tests/end_to_end:/usr/bin:/bin";

/// evolve in an environment with these variables.
std::vector<std::string> command_with(const std::vector<std::string>& variables,
                                      const std::vector<std::string>& arguments) {
  std::vector<std::string> command = {"/usr/bin/env",        "-u", "CUDA_VISIBLE_DEVICES", "-u",
                                      "SLURM_CPUS_PER_TASK", "-u", "SLURM_JOB_ID",         path};
  command.insert(command.end(), variables.begin(), variables.end());
  for (const auto& word : evolve_command(arguments)) command.push_back(word);
  return command;
}

Ended run(const Folder& folder, const std::vector<std::string>& variables,
          const std::vector<std::string>& more) {
  std::vector<std::string> arguments = {"--output", "run",           "--population",
                                        "8",        "--generations", "1"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return Process(command_with(variables, arguments), folder.path()).wait();
}

/// With the fake trainer, which leaves what it sees.
std::vector<std::string> with_fake_trainer(const Folder& folder, std::vector<std::string> more) {
  more.insert(more.end(), {"--trainer-command",
                           fake_trainer("--sleep 50 --seen " + (folder / "seen").string())});
  return more;
}

/// A variable of what trained on a device; "-" when it had none.
std::string variable_of(const Folder& folder, const std::string& device,
                        const std::string& variable) {
  for (const auto& trial : seen(folder))
    if (trial["device"] == device) return trial["environment"].value(variable, "-");
  return "no trial";
}

const std::vector<std::string> job = {"SLURM_JOB_ID=7", "SLURM_NNODES=2"};

std::vector<std::string> job_with(const std::string& variable) {
  auto all = job;
  all.push_back(variable);
  return all;
}

TEST(Launcher, OfSlurmMakesEachWorkerAStepOnItsNode) {
  Folder folder;
  const auto ended = run(folder, job_with("FAKE_MASK=0,1"),
                         with_fake_trainer(folder, {"--launcher", "slurm", "--devices", "slurm"}));
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(journal(folder / "run")[0]["slots"],
            (std::vector<std::string>{"cuda:0", "cuda:1", "cuda:2", "cuda:3"}));
  EXPECT_THAT(ended.out, HasSubstr("slurm: cuda:0 to cuda:1 on node n1, cores each: 2 of 4\n"
                                   "slurm: cuda:2 to cuda:3 on node n2, cores each: 2 of 4\n"));
  auto steps = lines_of(read_file(folder / "srun.log"));
  ASSERT_EQ(steps.size(), 5u);
  EXPECT_EQ(steps[0], " --overlap --input=none -N2 -n2 --ntasks-per-node=1 --mem=0 --export=ALL");
  steps.erase(steps.begin());
  const auto step = [](const std::string& node) {
    return " --exact -N1 -n1 -c2 --nodelist=" + node +
           " --gpus=1 --gpus-per-node=1 --gpus-per-task=1 --mem=0 --export=ALL";
  };
  EXPECT_THAT(steps, UnorderedElementsAre(step("n1"), step("n1"), step("n2"), step("n2")));
  EXPECT_EQ(variable_of(folder, "cuda:1", "SLURMD_NODENAME"), "n1");
  EXPECT_EQ(variable_of(folder, "cuda:2", "SLURMD_NODENAME"), "n2");
  EXPECT_EQ(variable_of(folder, "cuda:2", "OMP_NUM_THREADS"), "2");
}

TEST(Launcher, OfSlurmTakesTheAllocationHoweverThatIsWritten) {
  for (const std::string spec : {"SLURM", "Auto"}) {
    Folder folder;
    const auto planned =
        run(folder, job_with("FAKE_MASK=0,1"),
            with_fake_trainer(folder, {"--launcher", "slurm", "--devices", spec, "--dry-run"}));
    EXPECT_THAT(planned.out, HasSubstr("slurm: cuda:0 to cuda:1 on node n1")) << planned.err;
  }
}

TEST(Launcher, OfSlurmSaysWhereEvolveIsAStepItself) {
  const auto said_in = [](const std::string& step) {
    Folder folder;
    return run(folder, job_with("SLURM_STEP_ID=" + step),
               with_fake_trainer(folder, {"--launcher", "slurm", "--dry-run"}))
        .out;
  };
  EXPECT_THAT(said_in("0"),
              HasSubstr("slurm: this is step 0 of the job, and its own steps wait for "
                        "the cores and GPUs that it holds; start evolve by itself, "
                        "without srun, if no worker gets ready\n"));
  EXPECT_THAT(said_in("4294967291"), testing::Not(HasSubstr("this is step")));  // sbatch's script
}

TEST(Launcher, SaysThatARunWithoutItLeavesTheJobsOtherNodesIdle) {
  Folder folder;
  const auto ended =
      run(folder, job, with_fake_trainer(folder, {"--devices", "cpu:0", "--dry-run"}));
  EXPECT_THAT(ended.out, HasSubstr("slurm: the job has 2 nodes, and this run is on one of them; "
                                   "--launcher slurm takes all\n"));
  const auto step = run(folder, job_with("SLURM_STEP_ID=0"),
                        with_fake_trainer(folder, {"--devices", "cpu:0", "--dry-run"}));
  EXPECT_THAT(step.out, testing::Not(HasSubstr("takes all"))) << "each may have a run of its own";
}

TEST(Launcher, OfSlurmStartsNoStepOfAsManyTasksAsTheJobHasForEachGpu) {
  Folder folder;
  const auto ended = run(folder, job_with("SLURM_NTASKS_PER_GPU=1"),
                         with_fake_trainer(folder, {"--launcher", "slurm"}));
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(variable_of(folder, "cpu:0", "SLURM_NTASKS_PER_GPU"), "-");
}

TEST(Launcher, OfSlurmLeavesTheMaskToTheStep) {
  Folder folder;
  auto variables = job_with("FAKE_MASK=0,1");
  variables.push_back("CUDA_VISIBLE_DEVICES=0,1");  // as sbatch sets it
  const auto ended = run(folder, variables, with_fake_trainer(folder, {"--launcher", "slurm"}));
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(variable_of(folder, "cuda:3", "CUDA_VISIBLE_DEVICES"), "step");
  EXPECT_EQ(variable_of(folder, "cuda:3", "EVOLVE_INDEX"), "-");
}

// As it does where its configuration does not say whose GPUs they are.
TEST(Launcher, OfSlurmTakesGpusForNvidiasWhereTheirDriverIsThoughItSetsTheMasksOfAllKinds) {
  const auto slots_with = [](const std::string& driver) {
    Folder folder;
    auto variables = job_with("FAKE_MASK=0,1");
    variables.insert(variables.end(), {"FAKE_ZE_MASK=0,1", "FAKE_NVIDIACTL=" + driver});
    const auto ended = run(folder, variables, with_fake_trainer(folder, {"--launcher", "slurm"}));
    EXPECT_EQ(ended.code, 0) << ended.err;
    return journal(folder / "run")[0]["slots"];
  };
  EXPECT_EQ(slots_with("/dev/null"),
            (std::vector<std::string>{"cuda:0", "cuda:1", "cuda:2", "cuda:3"}));
  EXPECT_EQ(slots_with("/nowhere"), (std::vector<std::string>{"xpu:0", "xpu:1", "xpu:2", "xpu:3"}));
}

TEST(Launcher, OfSlurmTakesCoresWhereThereIsNoGpu) {
  Folder folder;
  auto variables = job_with("FAKE_CPUS=2");
  variables.push_back("SLURM_CPUS_PER_TASK=1");
  const auto ended = run(folder, variables, with_fake_trainer(folder, {"--launcher", "slurm"}));
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(journal(folder / "run")[0]["slots"],
            (std::vector<std::string>{"cpu:0", "cpu:1", "cpu:2", "cpu:3"}));
  EXPECT_EQ(variable_of(folder, "cpu:3", "SLURMD_NODENAME"), "n2");
  EXPECT_THAT(
      lines_of(read_file(folder / "srun.log")),
      Contains(
          " --exact -N1 -n1 -c1 --nodelist=n1 --gpus=0 --gpus-per-node=0 --mem=0 --export=ALL"));
}

TEST(Launcher, OfSlurmTakesADeviceOutOfTheRunAndPutsItBackOnItsNode) {
  Folder folder;
  auto variables = job_with("FAKE_CPUS=2");
  variables.push_back("SLURM_CPUS_PER_TASK=1");
  Process process(command_with(variables, with_fake_trainer(folder, {"--output", "run", "--trials",
                                                                     "600", "--search", "classic",
                                                                     "--launcher", "slurm"})),
                  folder.path());
  const auto changes = [&] {
    std::vector<nlohmann::json> all;
    for (const auto& event : journal(folder / "run"))
      if (event["event"] == "devices") all.push_back(event["slots"]);
    return all;
  };
  ASSERT_TRUE(eventually([&] { return count(journal(folder / "run"), "completed") > 0; }));
  write_file(folder / "run/devices", "cpu:0\ncpu:1\ncpu:2\n");
  ASSERT_TRUE(eventually([&] { return changes().size() == 1; }));
  ASSERT_TRUE(eventually([&] { return lines_of(read_file(folder / "srun.log")).size() == 5; }));
  std::filesystem::remove(folder / "srun.log");
  write_file(folder / "run/devices", "cpu:0\ncpu:1\ncpu:2\ncpu:3\n");
  const auto ended = process.wait();
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(changes(), (std::vector<nlohmann::json>{{"cpu:0", "cpu:1", "cpu:2"},
                                                    {"cpu:0", "cpu:1", "cpu:2", "cpu:3"}}));
  EXPECT_THAT(
      lines_of(read_file(folder / "srun.log")),
      ElementsAre(
          " --exact -N1 -n1 -c1 --nodelist=n2 --gpus=0 --gpus-per-node=0 --mem=0 --export=ALL"));
}

TEST(Launcher, OfSlurmStartsNamedDevicesAsStepsToo) {
  Folder folder;
  const auto ended =
      run(folder, job, with_fake_trainer(folder, {"--launcher", "slurm", "--devices", "cpu:0"}));
  ASSERT_EQ(ended.code, 0) << ended.err;
  const auto steps = lines_of(read_file(folder / "srun.log"));
  ASSERT_EQ(steps.size(), 1u);
  EXPECT_THAT(steps[0],
              testing::MatchesRegex(
                  " --exact -N1 -n1 -c[0-9]+ --gpus=0 --gpus-per-node=0 --mem=0 --export=ALL"));
}

// Slurm ends a step whose srun is told to end, and lets it go on when its srun is killed.
TEST(Launcher, OfSlurmIsToldToEndItsStepsWhenEvolveIsKilled) {
  Folder folder;
  Process process(command_with(job_with("FAKE_REMOTE=1"),
                               {"--output", "run", "--launcher", "slurm", "--devices",
                                "cpu:0,cpu:1", "--trainer-command", fake_trainer("--sleep 60000")}),
                  folder.path());
  const auto steps_in = [&](const std::string& file) {
    return std::filesystem::exists(folder / file) ? lines_of(read_file(folder / file)).size() : 0;
  };
  ASSERT_TRUE(eventually([&] { return steps_in("srun.begun") == 2; }));
  process.signal(SIGKILL);
  process.wait();
  EXPECT_TRUE(eventually([&] { return steps_in("srun.told") == 2; }));
}

TEST(Launcher, MayBeACommand) {
  Folder folder;
  const auto ended =
      run(folder, {},
          with_fake_trainer(folder, {"--launcher", "env 'LAUNCHED=as {device} ({index})'",
                                     "--devices", "cpu:1,gcu:3"}));
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(variable_of(folder, "cpu:1", "LAUNCHED"), "as cpu:1 (1)");
  EXPECT_NE(variable_of(folder, "cpu:1", "EVOLVE_CORES"), "-") << "it is on this machine";
  EXPECT_EQ(variable_of(folder, "gcu:3", "LAUNCHED"), "as gcu:3 (3)");
}

TEST(Launcher, ThatHandsOnNoEnvironmentGetsItAsWords) {
  Folder folder;
  const auto ended =
      run(folder, {}, with_fake_trainer(folder, {"--launcher", "env -i", "--devices", "gcu:3"}));
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(variable_of(folder, "gcu:3", "TOPS_VISIBLE_DEVICES"), "3");
  EXPECT_EQ(variable_of(folder, "gcu:3", "EVOLVE_DEVICE"), "gcu:3");
  EXPECT_EQ(variable_of(folder, "gcu:3", "PATH"), "-");
}

TEST(Launcher, StartsTheWorkerOfACommandPerTrial) {
  Folder folder;
  const std::string trainer = "python3 '" EVOLVE_SOURCE_DIR "/tests/end_to_end/one_shot.py' ";
  const auto ended =
      run(folder, job_with("FAKE_MASK=0"),
          {"--launcher", "slurm", "--trainer-exec", trainer + "yolov5 {hyp} {dir} {device}"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  const auto first = seen(folder).at(0);
  EXPECT_EQ(first["words"], (std::vector<std::string>{"cuda:0"}));
  EXPECT_EQ(first["CUDA_VISIBLE_DEVICES"], "step");
}

// ssh joins the words with blanks, and a shell at the other end splits them again.
TEST(Launcher, QuotesTheWordsForTheShellAtTheOtherEndOfSsh) {
  Folder folder;
  write_file(folder / "ssh", "#!/bin/sh\nshift\nexec sh -c \"$*\"\n");
  std::filesystem::permissions(folder / "ssh", std::filesystem::perms::owner_all);
  const auto file = folder / "two words; $HOME";
  const auto ended =
      run(folder, {},
          {"--trainer-command", fake_trainer("--seen '" + file.string() + "'"), "--devices", "cpu",
           "--launcher", (folder / "ssh").string() + " host", "--trials", "1"});
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(lines_of(read_file(file)).size(), 1u);
}

TEST(Launcher, TellsNoOtherHostThisOnesCoresAndLeavesASlotOnItsOwnAllOfThatHosts) {
  for (const std::string host : {"host", "host{index}"}) {
    Folder folder;
    write_file(folder / "ssh", "#!/bin/sh\nshift\nexec env -i sh -c \"$*\"\n");
    std::filesystem::permissions(folder / "ssh", std::filesystem::perms::owner_all);
    const auto launcher = (folder / "ssh").string() + " " + host;
    const auto ended =
        run(folder, {},
            with_fake_trainer(folder, {"--launcher", launcher, "--devices", "cpu:0,cpu:1,npu:0"}));
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_EQ(variable_of(folder, "cpu:1", "EVOLVE_DEVICE"), "cpu:1");
    EXPECT_EQ(variable_of(folder, "cpu:1", "EVOLVE_CORES"), "-");
    for (const auto* device : {"cpu:1", "npu:0"})
      EXPECT_EQ(variable_of(folder, device, "OMP_NUM_THREADS") == "-", host == "host{index}");
  }
}

std::string refusal(const std::vector<std::string>& variables,
                    const std::vector<std::string>& more) {
  Folder folder;
  const auto said = refusal_of(run(folder, variables, with_fake_trainer(folder, more)));
  EXPECT_FALSE(std::filesystem::exists(folder / "run")) << "the corrected command makes it";
  return said;
}

TEST(Launcher, IsLookedOverBeforeAnythingRuns) {
  EXPECT_THAT(
      refusal({}, {"--launcher", "slurm"}),
      HasSubstr("--launcher slurm: this is no Slurm job; start evolve in salloc or sbatch"));
  EXPECT_THAT(refusal({"SLURM_JOB_ID=7", "PATH=/nowhere"}, {"--launcher", "slurm"}),
              HasSubstr("--launcher slurm: srun: No such file or directory; try srun by hand"));
  EXPECT_THAT(
      refusal({"SLURM_JOB_ID=7", "LD_LIBRARY_PATH=" FAKE_NVML_FOLDER,
               "FAKE_GPUS=name=A,uuid=GPU-1,bus=1"},
              {"--launcher", "slurm", "--devices", "cuda:0*2"}),
      HasSubstr("--launcher slurm: each job step has a GPU of its own, cuda:0 cannot be for "
                "several trials; name each device once"));
  EXPECT_THAT(refusal({}, {"--launcher", "ssh {host}"}),
              HasSubstr("--launcher: {host} stands for nothing; choose among {device} {index}"));
  EXPECT_THAT(refusal({}, {"--launcher", " "}), HasSubstr("--launcher: it is empty"));
  EXPECT_THAT(refusal({"LD_LIBRARY_PATH=" FAKE_NVML_FOLDER, "FAKE_GPUS=name=A,uuid=GPU-1,bus=1"},
                      {"--launcher", "ssh node{index}", "--devices", "cuda:0"}),
              HasSubstr("--launcher ssh node{index}: cuda:0 is a GPU of this machine, not of "
                        "another; name CPU slots, or use --launcher slurm"));
  for (const std::string launcher : {"there-is-no-such-launcher", "there-is-no-such-{device}"})
    EXPECT_THAT(refusal({}, {"--launcher", launcher, "--devices", "npu:0"}),
                HasSubstr("--launcher: 'there-is-no-such-" +
                          std::string(launcher.ends_with('}') ? "npu:0" : "launcher") +
                          "' cannot be started (No such file or directory); name a program that "
                          "exists"));
}

TEST(Launcher, MayBeAProgramOfItsOwnForEachDevice) {
  Folder folder;
  std::filesystem::create_symlink("/usr/bin/env", folder / "on-npu:0");
  const auto ended = run(
      folder, {},
      with_fake_trainer(folder, {"--launcher", (folder / "on-{device}").string() + " LAUNCHED=so",
                                 "--devices", "npu:0"}));
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(variable_of(folder, "npu:0", "LAUNCHED"), "so");
}

}  // namespace
}  // namespace evolve::test
