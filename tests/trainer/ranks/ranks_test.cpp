#include "trainer/ranks/ranks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <thread>

#include "core/spawn.hpp"
#include "tests/refusal.hpp"
#include "tests/trainer/ranks/pair.hpp"
#include "trainer/ranks/start_ranks.hpp"
#include "trainer/run/trainer.hpp"
#include "trainer/training_failed.hpp"

namespace evolve::trainer {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

/// Does `work` in each rank at once, in threads.
template <class Work>
void in_each(const std::vector<std::shared_ptr<Ranks>>& ranks, const Work& work) {
  std::vector<std::jthread> threads;
  for (const auto& each : ranks) threads.emplace_back([&] { work(*each); });
}

TEST(Ranks, AddUpInTheirOrder) {
  const auto ranks = test::joined_ranks(3);
  // Of another order the sums would be 0, 0 and 1.
  std::vector<std::vector<float>> numbers = {{1e8F, 1}, {-1e8F, 1e8F}, {1, -1e8F}};
  in_each(ranks, [&](Ranks& own) {
    own.reserve(2);
    own.sum(numbers[static_cast<std::size_t>(own.rank())]);
  });
  for (const auto& sum : numbers) EXPECT_THAT(sum, ElementsAre(1.0F, 0.0F));
}

TEST(Ranks, AddUpAgainAndAgainAndMoreThanBefore) {
  const auto ranks = test::joined_ranks(2);
  in_each(ranks, [&](Ranks& own) {
    for (std::size_t size = 1; size < 3000; size = 3 * size + 1) {
      own.reserve(size);
      std::vector<float> numbers(size);
      for (int round = 1; round <= 3; ++round) {
        for (std::size_t i = 0; i < size; ++i)
          numbers[i] = static_cast<float>(round * (own.rank() + 1)) + static_cast<float>(i);
        own.sum(numbers);
        for (std::size_t i = 0; i < size; ++i)
          ASSERT_EQ(numbers[i], static_cast<float>(3 * round) + 2 * static_cast<float>(i));
      }
    }
  });
}

TEST(Ranks, SayYesWhenOneDoes) {
  const auto ranks = test::joined_ranks(3);
  in_each(ranks, [&](Ranks& own) {
    EXPECT_FALSE(own.any(false));
    for (int one = 0; one < 3; ++one) EXPECT_TRUE(own.any(own.rank() == one));
    EXPECT_FALSE(own.any(false));
  });
}

TEST(Ranks, TellRank0TheirDevicesWhereAllMeet) {
  const auto ranks = test::joined_ranks(3);
  in_each(ranks, [&](Ranks& own) {
    const auto uuid = "GPU-" + std::to_string(own.rank());
    if (own.rank() > 0) own.report(workers::Ready{.identity = {.uuid = uuid}});
    own.meet();
  });
  EXPECT_THAT(ranks[0]->devices_of_others(),
              ElementsAre(core::DeviceIdentity{"GPU-1"}, core::DeviceIdentity{"GPU-2"}));
}

TEST(Ranks, OfOneProcessAddNothing) {
  Ranks alone;
  std::vector<float> numbers = {1, 2};
  alone.reserve(2);
  alone.sum(numbers);
  alone.check();
  EXPECT_THAT(numbers, ElementsAre(1.0F, 2.0F));
  EXPECT_TRUE(alone.any(true));
  EXPECT_FALSE(alone.any(false));
}

TEST(Ranks, HearTheLinesOfRank0UntilItIsGone) {
  auto ranks = test::joined_ranks(2);
  ranks[0]->tell("one");
  ranks[0]->tell("two");
  EXPECT_EQ(ranks[1]->next_line(), "one");
  EXPECT_EQ(ranks[1]->next_line(), "two");
  ranks[0].reset();
  EXPECT_EQ(ranks[1]->next_line(), std::nullopt);
  EXPECT_THROW(ranks[1]->meet(), std::runtime_error);
}

/// The failure that `work` ends in: "oom: …".
template <class Work>
std::string failure_of(const Work& work) {
  try {
    work();
  } catch (const TrainingFailed& failed) {
    return hyp::name_of(failed.kind) + ": " + failed.what();
  }
  return "none";
}

TEST(Ranks, ThatFailFailRank0WithTheirWords) {
  const auto ranks = test::joined_ranks(2);
  ranks[1]->report(workers::Failure{.kind = hyp::FailureKind::oom, .message = "XPU out of memory"});
  EXPECT_EQ(failure_of([&] { ranks[0]->meet(); }), "oom: rank 1 (cpu:1): XPU out of memory");
}

// Several threads look.
TEST(Ranks, ThatHaveFailedFailRank0WithTheirWordsHoweverOftenItLooks) {
  auto ranks = test::joined_ranks(2);
  ranks[1]->report(workers::Failure{.kind = hyp::FailureKind::oom, .message = "XPU out of memory"});
  EXPECT_EQ(failure_of([&] { ranks[0]->meet(); }), "oom: rank 1 (cpu:1): XPU out of memory");
  ranks[1].reset();
  EXPECT_EQ(failure_of([&] { ranks[0]->meet(); }), "oom: rank 1 (cpu:1): XPU out of memory");
}

TEST(Ranks, ThatDieFailRank0WhereItWaitsAndWhereItDoesNot) {
  for (const bool waits : {false, true}) {
    auto line = core::make_socket_pair();
    const auto child = core::spawn({.words = {"sleep", "1000"}, .input = line.reader.number()});
    line.reader.close();
    std::vector<Peer> others;
    others.push_back({.name = "rank 1 (xpu:1)", .process = child, .line = std::move(line.writer)});
    Ranks first(std::move(others), core::FileDescriptor(), [] {});
    first.check();
    ::kill(child, SIGKILL);
    EXPECT_EQ(failure_of([&] {
                if (waits) first.meet();
                while (true) {
                  first.check();
                  std::this_thread::sleep_for(std::chrono::milliseconds(10));
                }
              }),
              "crash: rank 1 (xpu:1) died: killed by signal 9 (SIGKILL)");
  }
}

TEST(RankShares, OfGpusSeeOneEachInTheirOrder) {
  const auto shares = rank_shares("xpu:1+xpu:0", {{"ZE_AFFINITY_MASK", "7,4"}}, {0, 1});
  ASSERT_EQ(shares.size(), 2u);
  EXPECT_EQ(shares[0].device, "xpu:1");
  EXPECT_THAT(shares[0].mask, ElementsAre(Pair("ZE_AFFINITY_MASK", "7")));
  EXPECT_EQ(shares[1].device, "xpu:0");
  EXPECT_THAT(shares[1].mask, ElementsAre(Pair("ZE_AFFINITY_MASK", "4")));
  EXPECT_TRUE(shares[0].cores.empty());
}

TEST(RankShares, OfCpusAreEqualPartsOfTheCores) {
  const auto shares = rank_shares("cpu:0+cpu:1", {}, {2, 3, 5, 7, 9});
  EXPECT_THAT(shares[0].cores, ElementsAre(2, 3));
  EXPECT_THAT(shares[1].cores, ElementsAre(5, 7));
  EXPECT_THAT(rank_shares("cpu:0+cpu:1", {}, {4})[1].cores, ElementsAre(4));
}

TEST(RankShares, OfOneDeviceAreAllThatItHas) {
  for (const std::string slot : {"cpu", "cpu:1", "xpu:1"}) {
    const auto shares = rank_shares(slot, {{"ZE_AFFINITY_MASK", "7"}}, {0, 1});
    ASSERT_EQ(shares.size(), 1u);
    EXPECT_TRUE(shares[0].mask.empty());
    EXPECT_TRUE(shares[0].cores.empty());
  }
}

TEST(RankShares, NeedAMaskThatShowsAllOfThem) {
  EXPECT_EQ(test::run_failure([&] {
              rank_shares("cuda:0+cuda:1", {{"CUDA_VISIBLE_DEVICES", "GPU-a"}}, {0});
            }),
            "CUDA_VISIBLE_DEVICES shows 1 devices, cuda:0+cuda:1 has 2; let evolve set the "
            "mask");
}

}  // namespace
}  // namespace evolve::trainer
