// One training by several processes, one for each device of a slot such as "xpu:0+xpu:1": its
// ranks, as in distributed data parallel training.
//
// Each rank holds the whole model and trains on its share of each batch; once per step the
// gradients of all are added up in rank order, so that every rank takes the same step. Rank 0 is
// the process that evolve started: it starts the others (start_ranks.hpp), gives them its orders,
// validates, and owns the moving average, the results and the checkpoints. A rank that fails or
// dies fails rank 0, and all end with it.
//
// What is here needs no torch.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/file_descriptor.hpp"
#include "trainer/ranks/shared_numbers.hpp"
#include "trainer/training_failed.hpp"
#include "workers/protocol/messages.hpp"

namespace evolve::trainer {

/// A rank as another one has it.
struct Peer {
  /// What a person calls it: "rank 1 (xpu:1)".
  std::string name;
  /// Our child; -1 where it is none.
  pid_t process = -1;
  /// A stream socket, its other end the peer's.
  core::FileDescriptor line = core::FileDescriptor();
  /// What the peer has sent of a line that is not complete.
  std::string received = {};
  /// What the peer answered where all ranks meet, once it has.
  std::optional<bool> answer = {};
  /// Its device, once it has told that.
  core::DeviceIdentity device = {};
  /// What it has failed with: why it is gone, whichever thread notices that.
  std::optional<TrainingFailed> failure = {};
};

/// The ranks of a training, as one of them sees them. All must call the same collective functions
/// (any, reserve, sum) in the same order; each waits for the others.
///
/// In rank 0 they throw `TrainingFailed` when another rank has failed (of its kind, with its words)
/// or died (`crash`); in another rank std::runtime_error when rank 0 is gone.
class Ranks {
 public:
  /// A training by a single process: nobody is asked or told anything.
  Ranks() = default;
  /// Rank 0. `memory` is an empty file in memory, which all share. `on_alive` is called whenever
  /// another rank says that it works while this one waits for it.
  Ranks(std::vector<Peer> others, core::FileDescriptor memory, std::function<void()> on_alive);
  /// Rank `rank`, from 1, of `count`.
  Ranks(int rank, int count, Peer first, core::FileDescriptor memory);

  int rank() const { return rank_; }
  int count() const { return count_; }
  bool alone() const { return count_ == 1; }

  /// Sends a line to the other ranks; to be called by rank 0. One that is gone misses it.
  void tell(std::string_view line);
  /// The next line of rank 0 (without its newline), nothing when it is gone; for the other ranks.
  std::optional<std::string> next_line();
  /// Says to rank 0 which device this rank has, that it works, or that it has failed.
  void report(const workers::FromWorker& message);

  /// Whether any rank says yes.
  bool any(bool mine);
  /// Waits for all ranks.
  void meet() { any(false); }
  /// In rank 0: the devices of the others, in their order, once all have met.
  std::vector<core::DeviceIdentity> devices_of_others() const;
  /// Makes room for so many numbers, the same in all ranks, to be added up.
  void reserve(std::size_t numbers);
  /// Replaces `numbers`, as many as were reserved or fewer, by the sum of those of all ranks, added
  /// in the order of the ranks: the same bits in each of them.
  void sum(std::span<float> numbers);

  /// In rank 0: throws as the collective functions do, and waits for nothing. Safe to call from
  /// several threads, as often as one likes.
  void check();

 private:
  /// Takes in what the other ranks have sent by then.
  void receive(std::chrono::milliseconds patience);
  void receive(Peer& peer);
  void take(Peer& peer, std::string_view line);

  int rank_ = 0, count_ = 1;
  /// All others in rank 0, rank 0 alone in another.
  std::vector<Peer> peers_;
  SharedNumbers shared_;
  std::function<void()> on_alive_;
  std::mutex mutex_;
  std::chrono::steady_clock::time_point checked_ = {};
};

}  // namespace evolve::trainer
