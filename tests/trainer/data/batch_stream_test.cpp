#include "trainer/data/batch_stream.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <system_error>

#include "trainer/data/batch.hpp"

namespace evolve::data {
namespace {

Batch numbered(int number) {
  Batch batch;
  batch.size = number;
  return batch;
}

TEST(BatchStream, HandsOutBatchesInOrder) {
  for (const int workers : {0, 1, 3}) {
    BatchStream stream(50, workers, numbered);
    for (int i = 0; i < 50; ++i) EXPECT_EQ(stream.next().value().size, i);
    EXPECT_FALSE(stream.next());
    EXPECT_FALSE(stream.next());
  }
}

TEST(BatchStream, IsEmptyWithoutBatches) {
  for (const int workers : {0, 2}) EXPECT_FALSE(BatchStream(0, workers, numbered).next());
}

TEST(BatchStream, StaysAtMostTwoBatchesPerWorkerAhead) {
  std::atomic<int> begun = 0;
  BatchStream stream(100, 2, [&](int i) {
    ++begun;
    return numbered(i);
  });
  for (int i = 0; i < 20; ++i) {
    stream.next();
    EXPECT_LE(begun, i + 1 + 4);
  }
}

TEST(BatchStream, ThrowsWhatABatchThrew) {
  for (const int workers : {0, 2}) {
    BatchStream stream(5, workers, [](int i) {
      if (i == 1) throw std::runtime_error("batch 1");
      return numbered(i);
    });
    EXPECT_EQ(stream.next()->size, 0);
    EXPECT_THROW(stream.next(), std::runtime_error);
    EXPECT_EQ(stream.next()->size, 2);
  }
}

TEST(BatchStream, MayEndEarly) {
  BatchStream stream(1000, 2, numbered);
  EXPECT_EQ(stream.next()->size, 0);
}

TEST(BatchStream, ThrowsWhereItGetsNoFurtherThread) {
  // Root is under no limit, and of a user with other processes too few threads would be left.
  constexpr uid_t user_without_processes = 65533;
  if (::seteuid(user_without_processes) != 0)
    GTEST_SKIP() << "needs root, to be a user without processes: " << std::strerror(errno);
  ASSERT_EQ(::seteuid(0), 0);
  // Some threads it gets: those must not be waited for until they are told to end.
  const auto begin_with_few_threads = [] {
    constexpr rlimit few{3, 3};
    if (::setuid(user_without_processes) != 0) ::_exit(1);
    ::setrlimit(RLIMIT_NPROC, &few);
    ::alarm(60);
    try {
      BatchStream stream(1000, 8, numbered);
    } catch (const std::system_error&) {
      ::_exit(0);
    }
    ::_exit(1);
  };
  EXPECT_EXIT(begin_with_few_threads(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace evolve::data
