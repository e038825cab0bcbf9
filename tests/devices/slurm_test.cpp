#include "devices/slurm.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/algorithm/string/join.hpp>
#include <stdexcept>
#include <utility>

#include "tests/refusal.hpp"

namespace evolve::devices {
namespace {

using testing::ElementsAre;
using testing::Pair;

TEST(SlurmNodes, AreAskedByAllTasksWhereGpusBelongToTheseElseByOneThatSeesAllOfItsNode) {
  const auto step = [](const std::string& gpus_per_task, const std::string& tasks) {
    auto command = step_on_all_nodes(
        {{"SLURM_NNODES", "2"}, {"SLURM_NTASKS", tasks}, {"SLURM_GPUS_PER_TASK", gpus_per_task}});
    command.words.resize(command.words.size() - 3);  // without sh -c and its script
    return std::pair(boost::join(command.words, " "), boost::join(command.unset, " "));
  };
  const std::string srun = "timeout 60 srun --overlap --input=none -N2 ";
  const std::string unset = "SLURM_GPUS SLURM_GPUS_PER_NODE";
  for (const auto* gpus : {"1", "a100:1", "a100:1,h100:2"})
    EXPECT_THAT(step(gpus, "8"), Pair(srun + "-n8 --mem=0 --export=ALL", unset)) << gpus;
  for (const auto* gpus : {"", "0", "a100:0"})
    EXPECT_THAT(step(gpus, "8"), Pair(srun + "-n2 --ntasks-per-node=1 --mem=0 --export=ALL",
                                      unset + " SLURM_GPUS_PER_TASK"))
        << gpus;
  EXPECT_THAT(step("a100:1", "1"), Pair(srun + "-n2 --ntasks-per-node=1 --mem=0 --export=ALL",
                                        unset + " SLURM_GPUS_PER_TASK"));
}

TEST(SlurmNodes, AreReadInTheJobsOrderWhateverElseIsSaid) {
  EXPECT_THAT(nodes_in("srun: something\n"
                       "evolve-node|1|n2|8|2|1||0\n"
                       "evolve-node|0|n1|16|||0,1,3|\n"
                       "evolve-node|2|n3|4|||NoDevFiles|\n"),
              ElementsAre(Node{.name = "n1", .cpus = 16, .kind = "cuda", .gpus = 3},
                          Node{.name = "n2",
                               .cpus = 8,
                               .used_threads = 1,
                               .cpus_per_task = 2,
                               .kind = "xpu",
                               .gpus = 1},
                          Node{.name = "n3", .cpus = 4}));
}

TEST(SlurmNodes, HaveTheGpusOfAllTheirTasks) {
  EXPECT_THAT(
      nodes_in("evolve-node|0|n1|2|1||0|\nevolve-node|0|n1|2|1||1|\n"
               "evolve-node|1|n2|2|1||0,1|\nevolve-node|1|n2|2|1||0,1|\n"),
      ElementsAre(Node{.name = "n1", .cpus = 2, .cpus_per_task = 1, .kind = "cuda", .gpus = 2},
                  Node{.name = "n2", .cpus = 2, .cpus_per_task = 1, .kind = "cuda", .gpus = 2}));
}

TEST(SlurmNodes, HaveCoresOfAsManyThreadsAsSlurmSays) {
  std::vector<Node> nodes = {{.name = "n1", .cpus = 12}, {.name = "n2", .cpus = 8}};
  EXPECT_EQ(boost::join(threads_of(nodes).words, " "),
            "timeout 60 sinfo --all --Node --noheader --nodes=n1,n2 --format=%N %c %X %Y");
  // A line for each partition; the cores of n2 may have threads too, but Slurm counts cores.
  take_threads(nodes, "n2 8 2 4\nn1 12 1 6\nn1 12 1 6\n");
  EXPECT_EQ(nodes[0].threads_per_core, 2);
  EXPECT_EQ(nodes[1].threads_per_core, 1);
  take_threads(nodes, "sinfo: error: no such thing\nn2 + + +\nn1 2\n");
  EXPECT_EQ(nodes[0].threads_per_core, 2);
  EXPECT_EQ(nodes[1].threads_per_core, 1);
}

TEST(SlurmNodes, AreMissedWithWhatSrunSaid) {
  EXPECT_EQ(test::refusal<std::invalid_argument>(
                [&] { nodes_in("srun: error: Unable to create step\n"); }),
            "srun reached no node (srun: error: Unable to create step)");
}

TEST(SlurmSteps, ShareTheCoresOfTheirNode) {
  const auto choice =
      steps_on({{.name = "n1", .cpus = 9, .kind = "cuda", .gpus = 2},
                {.name = "n2", .cpus = 8, .cpus_per_task = 3, .kind = "cuda", .gpus = 1},
                {.name = "n3", .cpus = 2}});
  ASSERT_EQ(choice.slots.size(), 5u);
  EXPECT_THAT(choice.notes, ElementsAre("slurm: cuda:0 to cuda:1 on node n1, cores each: 4 of 9",
                                        "slurm: cuda:2 on node n2, cores each: 3 of 8",
                                        "slurm: cpu:0 to cpu:1 on node n3, cores each: 1 of 2"));
  EXPECT_EQ(choice.slots[2].name, "cuda:2");
  EXPECT_THAT(choice.slots[2].launcher,
              ElementsAre("srun", "--exact", "-N1", "-n1", "-c3", "--nodelist=n2", "--gpus=1",
                          "--gpus-per-node=1", "--gpus-per-task=1", "--mem=0", "--export=ALL"));
  EXPECT_THAT(
      choice.slots[4].launcher,
      ElementsAre("srun", "--exact", "-N1", "-n1", "-c1", "--nodelist=n3", "--gpus=0",
                  "--gpus-per-node=0", "--mem=0", "--export=ALL", "env", "CUDA_VISIBLE_DEVICES=-1",
                  "ONEAPI_DEVICE_SELECTOR=*:cpu", "HIP_VISIBLE_DEVICES=-1"));
}

// A step that asks for one of a core's threads gets the core.
TEST(SlurmSteps, GetWholeCoresWhereThoseHaveSeveralThreads) {
  const auto node = [](int cpus, int gpus, int used) {
    return Node{.name = "n1",
                .cpus = cpus,
                .threads_per_core = 2,
                .used_threads = used,
                .kind = gpus > 0 ? "cuda" : "cpu",
                .gpus = gpus};
  };
  const auto steps = [](const Node& on) {
    const auto choice = steps_on({on});
    return std::pair(choice.slots.size(), choice.slots[0].launcher[4]);
  };
  EXPECT_THAT(steps(node(12, 4, 0)), Pair(4, "-c2"));
  EXPECT_THAT(steps(node(12, 3, 0)), Pair(3, "-c4"));
  EXPECT_THAT(steps(node(6, 2, 0)), Pair(2, "-c2"));
  EXPECT_THAT(steps(node(8, 4, 1)), Pair(4, "-c1"));
  EXPECT_THAT(steps(node(12, 4, 1)), Pair(4, "-c1"));
  EXPECT_THAT(steps(node(12, 0, 0)), Pair(6, "-c2"));
  EXPECT_THAT(steps(node(2, 2, 0)), Pair(1, "-c2"));
  EXPECT_THAT(
      steps_on({node(2, 2, 0)}).notes,
      ElementsAre("slurm: cuda:0 on node n1, threads each: 2 of 2",
                  "slurm: node n1 has 1 core of the job for 2 GPUs: 1 stay idle, ask for more "
                  "cores (--cpus-per-gpu; 2 threads are a core)"));
}

TEST(SlurmSteps, HaveNothingOfThisMachinesDevice) {
  const auto step = as_step({.name = "xpu:1",
                             .environment = {{"EVOLVE_DEVICE", "xpu:1"},
                                             {"OMP_NUM_THREADS", "4"},
                                             {"CUDA_VISIBLE_DEVICES", "-1"},
                                             {"ZE_AFFINITY_MASK", "1"},
                                             {"ZE_FLAT_DEVICE_HIERARCHY", "FLAT"},
                                             {"EVOLVE_UNSET", "ZE_AFFINITY_MASK"},
                                             {"EVOLVE_INDEX", "1"}},
                             .cores = {0, 1},
                             .identities = {{"1234", "0000:03:00.0"}}},
                            "");
  EXPECT_THAT(step.environment,
              ElementsAre(Pair("EVOLVE_DEVICE", "xpu:1"), Pair("OMP_NUM_THREADS", "4"),
                          Pair("CUDA_VISIBLE_DEVICES", "-1")));
  EXPECT_TRUE(step.cores.empty());
  EXPECT_TRUE(step.identities.empty());
}

TEST(SlurmSteps, HaveAsManyCoresAsThreadsAndNoneOfThisMachinesNumbers) {
  const auto step = as_step({.name = "cpu:1",
                             .environment = {{"EVOLVE_DEVICE", "cpu:1"},
                                             {"OMP_NUM_THREADS", "2"},
                                             {"EVOLVE_CORES", "0,1,4,5"}},
                             .cores = {4, 5}},
                            "");
  EXPECT_THAT(step.environment,
              ElementsAre(Pair("EVOLVE_DEVICE", "cpu:1"), Pair("OMP_NUM_THREADS", "2")));
  EXPECT_THAT(step.launcher, ElementsAre("srun", "--exact", "-N1", "-n1", "-c2", "--gpus=0",
                                         "--gpus-per-node=0", "--mem=0", "--export=ALL"));
}

TEST(SlurmSteps, SaySoWhereTheySeeFewerGpusThanTheJobHas) {
  const std::vector<Node> nodes = {{.name = "n1", .kind = "cuda", .gpus = 4},
                                   {.name = "n2", .kind = "cuda", .gpus = 1}};
  const auto note = [&](const std::string& gpus) {
    return note_on_fewer_gpus(nodes, {{"SLURM_GPUS", gpus}}).value_or("");
  };
  EXPECT_EQ(note("a100:8"),
            "slurm: the job has 8 GPUs, its steps see 5: ask for them with --gpus-per-node");
  for (const auto* gpus : {"5", "2", ""}) EXPECT_EQ(note(gpus), "") << gpus;
}

TEST(SlurmSteps, AreNoMoreThanTheCoresOfANodeAndSaySo) {
  const auto choice = steps_on({{.name = "n1", .cpus = 1, .kind = "cuda", .gpus = 4},
                                {.name = "n2", .cpus = 8, .kind = "cuda", .gpus = 2}});
  ASSERT_EQ(choice.slots.size(), 3u) << "a second step on n1 would wait until it fails";
  EXPECT_THAT(choice.notes,
              testing::Contains("slurm: node n1 has 1 core of the job for 4 GPUs: 3 stay idle, "
                                "ask for more cores (--cpus-per-gpu)"));
}

}  // namespace
}  // namespace evolve::devices
