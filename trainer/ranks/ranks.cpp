#include "trainer/ranks/ranks.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <stdexcept>
#include <utility>

#include "core/spawn.hpp"
#include "core/split.hpp"

namespace evolve::trainer {
namespace {

using std::chrono::milliseconds;

/// Between two looks of check(), and while waiting: how often everything is looked at again.
constexpr milliseconds between_checks{200}, patience{1000};

/// A rank's answer in any(), and what rank 0 makes of all of them.
constexpr std::string_view yes = "yes", no = "no";

void send_line(const Peer& peer, std::string_view line) {
  const auto text = std::string(line) + "\n";
  for (std::size_t sent = 0; sent < text.size();) {
    const auto count =
        ::send(peer.line.number(), text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return;  // it is gone, which whoever waits for it finds out
    sent += static_cast<std::size_t>(count);
  }
}

/// Whether there was anything; false at the end.
bool read_some(Peer& peer) {
  std::array<char, 1 << 14> bytes;
  ssize_t count = 0;
  do {
    count = ::recv(peer.line.number(), bytes.data(), bytes.size(), 0);
  } while (count < 0 && errno == EINTR);
  if (count > 0) peer.received.append(bytes.data(), static_cast<std::size_t>(count));
  return count > 0;
}

[[noreturn]] void fail_for_death(const Peer& peer) {
  const int status = peer.process < 0 ? -1 : core::wait_status(peer.process);
  throw TrainingFailed(hyp::FailureKind::crash,
                       fmt::format("{} died: {}", peer.name, core::ending_text(status)));
}

}  // namespace

Ranks::Ranks(std::vector<Peer> others, core::FileDescriptor memory, std::function<void()> on_alive)
    : count_(static_cast<int>(others.size()) + 1),
      peers_(std::move(others)),
      shared_(std::move(memory), count_),
      on_alive_(std::move(on_alive)) {}

Ranks::Ranks(int rank, int count, Peer first, core::FileDescriptor memory)
    : rank_(rank), count_(count), shared_(std::move(memory), count) {
  peers_.push_back(std::move(first));
}

void Ranks::tell(std::string_view line) {
  for (const auto& peer : peers_) send_line(peer, line);
}

std::optional<std::string> Ranks::next_line() {
  auto& first = peers_.front();
  while (true) {
    if (auto line = core::take_line(first.received)) return line;
    if (!read_some(first)) return {};
  }
}

void Ranks::report(const workers::FromWorker& message) {
  auto line = workers::line_of(message);
  line.pop_back();
  send_line(peers_.front(), line);
}

bool Ranks::any(bool mine) {
  if (alone()) return mine;
  if (rank_ > 0) {
    send_line(peers_.front(), mine ? yes : no);
    const auto line = next_line();
    if (!line) throw std::runtime_error("rank 0 is gone");
    return *line == yes;
  }
  const std::lock_guard lock(mutex_);
  const auto answered = [](const Peer& peer) { return peer.answer.has_value(); };
  while (!std::ranges::all_of(peers_, answered)) receive(patience);
  for (auto& peer : peers_) mine = *std::exchange(peer.answer, {}) || mine;
  tell(mine ? yes : no);
  return mine;
}

std::vector<core::DeviceIdentity> Ranks::devices_of_others() const {
  std::vector<core::DeviceIdentity> devices;
  for (const auto& peer : peers_) devices.push_back(peer.device);
  return devices;
}

void Ranks::reserve(std::size_t numbers) {
  if (alone() || numbers <= shared_.size()) return;
  if (rank_ == 0) shared_.grow(numbers);
  meet();
  shared_.map(numbers);
}

void Ranks::sum(std::span<float> numbers) {
  if (alone()) return;
  std::ranges::copy(numbers, shared_.row(rank_).begin());
  meet();
  shared_.add(rank_, numbers.size());
  // After this nobody reads the rows. The sums are read until all meet again, in the next sum.
  meet();
  std::ranges::copy(shared_.sums().first(numbers.size()), numbers.begin());
}

void Ranks::check() {
  if (alone() || rank_ > 0) return;
  const std::unique_lock lock(mutex_, std::try_to_lock);
  const auto now = std::chrono::steady_clock::now();
  if (!lock || now < checked_ + between_checks) return;
  checked_ = now;
  receive(milliseconds(0));
}

void Ranks::receive(milliseconds patience) {
  std::vector<pollfd> lines;
  for (const auto& peer : peers_) lines.push_back({peer.line.number(), POLLIN, 0});
  if (::poll(lines.data(), lines.size(), static_cast<int>(patience.count())) <= 0) return;
  for (std::size_t i = 0; i < peers_.size(); ++i)
    if (lines[i].revents != 0) receive(peers_[i]);
}

void Ranks::receive(Peer& peer) {
  if (peer.failure) throw *peer.failure;
  if (!read_some(peer)) fail_for_death(peer);
  while (const auto line = core::take_line(peer.received)) take(peer, *line);
}

void Ranks::take(Peer& peer, std::string_view line) {
  if (line == yes || line == no) {
    peer.answer = line == yes;
    return;
  }
  const auto message = workers::parse_from_worker(line);
  if (const auto* failure = message ? std::get_if<workers::Failure>(&*message) : nullptr)
    // What is wrong with the data is none of its doing, and evolve looks at the file that it names.
    throw peer.failure.emplace(failure->kind, failure->kind == hyp::FailureKind::data
                                                  ? failure->message
                                                  : peer.name + ": " + failure->message);
  if (const auto* ready = message ? std::get_if<workers::Ready>(&*message) : nullptr)
    peer.device = ready->identity;
  if (on_alive_) on_alive_();
}

}  // namespace evolve::trainer
