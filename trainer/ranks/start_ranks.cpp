#include "trainer/ranks/start_ranks.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <system_error>

#include "core/child.hpp"
#include "core/core_mask.hpp"
#include "core/device_kind.hpp"
#include "core/error.hpp"
#include "core/spawn.hpp"
#include "core/split.hpp"

namespace evolve::trainer {
namespace {

/// Part `index` of so many equal ones; all cores where there are fewer than parts.
std::vector<int> part_of(const std::vector<int>& cores, std::size_t index, std::size_t parts) {
  const auto size = cores.size() / parts;
  if (size == 0) return cores;
  const auto begin = cores.begin() + static_cast<std::ptrdiff_t>(index * size);
  return {begin, begin + static_cast<std::ptrdiff_t>(size)};
}

std::string name_of(std::size_t rank, const std::string& device) {
  return fmt::format("rank {} ({})", rank, device);
}

}  // namespace

std::vector<RankShare> rank_shares(const std::string& slot, const devices::Environment& environment,
                                   const std::vector<int>& cores) {
  const auto names = core::members_of(slot);
  const auto* kind = core::find_device_kind(core::kind_of(slot));
  const bool masked = names.size() > 1 && kind && !kind->mask.empty();
  const auto visible =
      masked ? core::split_and_trim(devices::value_in(environment, kind->mask), ',') : names;
  if (visible.size() != names.size())
    throw run_failed(fmt::format("{} shows {} devices, {} has {}", kind->mask, visible.size(), slot,
                                 names.size()),
                     "let evolve set the mask");
  std::vector<RankShare> shares;
  for (std::size_t i = 0; i < names.size(); ++i) {
    RankShare share{.device = names[i], .mask = {}, .cores = {}};
    if (masked) {
      share.mask = {{kind->mask, visible[i]}};
    } else if (names.size() > 1) {
      share.cores = part_of(cores, i, names.size());
    }
    shares.push_back(std::move(share));
  }
  return shares;
}

void confine(const RankShare& share) {
  for (const auto& [name, value] : share.mask) ::setenv(name.c_str(), value.c_str(), 1);
  if (!share.cores.empty() && !core::CoreMask(share.cores).bind_this_thread())
    throw std::system_error(errno, std::system_category(), "the cores of " + share.device);
}

std::shared_ptr<Ranks> start_ranks(const std::vector<RankShare>& shares,
                                   std::function<void()> on_alive) {
  if (shares.size() == 1) return std::make_shared<Ranks>();
  core::FileDescriptor memory(::memfd_create("evolve-ranks", MFD_CLOEXEC));
  if (!memory.is_open())
    throw std::system_error(errno, std::system_category(), "memory that the ranks share");
  const auto program = core::this_program().string();
  std::vector<Peer> others;
  for (std::size_t rank = 1; rank < shares.size(); ++rank) {
    const auto& share = shares[rank];
    auto line = core::make_socket_pair();
    const auto child = core::spawn({.words = {program, rank_option, std::to_string(rank)},
                                    .set = share.mask,
                                    .input = line.reader.number(),
                                    .output = memory.number(),
                                    .errors = STDERR_FILENO,
                                    .cores = share.cores,
                                    .in_child = core::die_with_us()});
    others.push_back(
        {.name = name_of(rank, share.device), .process = child, .line = std::move(line.writer)});
  }
  return std::make_shared<Ranks>(std::move(others), std::move(memory), std::move(on_alive));
}

std::shared_ptr<Ranks> join_ranks(int rank, int count) {
  core::FileDescriptor line(::dup(STDIN_FILENO)), memory(::dup(STDOUT_FILENO));
  ::dup2(STDERR_FILENO, STDOUT_FILENO);
  return std::make_shared<Ranks>(rank, count, Peer{.name = "rank 0", .line = std::move(line)},
                                 std::move(memory));
}

}  // namespace evolve::trainer
