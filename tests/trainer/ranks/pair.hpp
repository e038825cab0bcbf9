// Ranks in one process, for threads.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "trainer/ranks/ranks.hpp"

namespace evolve::test {

/// So many ranks, joined as those of a worker are; the others are called "rank 1 (cpu:1)".
inline std::vector<std::shared_ptr<trainer::Ranks>> joined_ranks(int count) {
  core::FileDescriptor memory(::memfd_create("ranks", MFD_CLOEXEC));
  std::vector<std::shared_ptr<trainer::Ranks>> ranks(1);
  std::vector<trainer::Peer> others;
  for (int rank = 1; rank < count; ++rank) {
    auto line = core::make_socket_pair();
    const auto number = std::to_string(rank);
    others.push_back(
        {.name = "rank " + number + " (cpu:" + number + ")", .line = std::move(line.writer)});
    ranks.push_back(std::make_shared<trainer::Ranks>(
        rank, count, trainer::Peer{.name = "rank 0", .line = std::move(line.reader)},
        core::FileDescriptor(::dup(memory.number()))));
  }
  ranks[0] = std::make_shared<trainer::Ranks>(std::move(others), std::move(memory), [] {});
  return ranks;
}

}  // namespace evolve::test
