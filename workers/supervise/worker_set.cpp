#include "workers/supervise/worker_set.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <map>
#include <system_error>
#include <unordered_map>

#include "core/spawn.hpp"
#include "workers/supervise/worker.hpp"

namespace evolve::workers {
namespace {

/// An event, and with a trial's end the slot that was lent to it.
struct Report {
  WorkerEvent event;
  core::Lease lease;
};

/// What a worker may take to end.
constexpr auto longest_end = grace + last_grace;

/// A trial that could not begin: its worker exited, or an earlier one is not gone yet.
struct Waiting {
  Assignment assignment;
  core::Lease lease;
  /// Nobody waits longer for the earlier worker.
  Clock::time_point until = Clock::now() + longest_end;
};

/// Where there are too few processes, files or bytes, or a file server is away, a later start may
/// go well.
bool is_no_program(const std::system_error& error) {
  constexpr std::array of_the_moment = {EAGAIN,  ENOMEM, EMFILE, ENFILE,
                                        ETXTBSY, EIO,    ENOSPC, ESTALE};
  return std::ranges::count(of_the_moment, error.code().value()) == 0;
}

}  // namespace

struct WorkerSet::State {
  State(WorkerSettings s, const core::StopSource& stop)
      : settings(std::move(s)), supervisor(stop) {}

  const WorkerSettings settings;
  Supervisor supervisor;
  std::vector<std::unique_ptr<Worker>> workers;
  std::unordered_map<std::string, std::vector<Worker*>> by_slot;
  /// Where there may be fewer than there were.
  std::map<std::string, int> most;
  std::vector<Report> reports;
  std::vector<Waiting> waiting;
  bool ever_started = false;
  bool ended = false;
  std::optional<bool> can_pause;

  const std::vector<Worker*>& at(const std::string& slot) { return by_slot[slot]; }
  /// A worker that is about to end must be gone before another has its device.
  bool can_start(const Waiting& trial);
  Worker* idle_worker(const std::string& slot);
  /// Ends workers without a trial that were shown another device, or other cores, than this slot
  /// has now.
  void end_outdated(const core::Slot& slot);
  void start(Waiting trial);
  /// Throws std::system_error when the command cannot be executed.
  Worker* new_worker(const core::Slot& slot);
  /// Whether the first one that is ready may be told to pause; nothing while none is.
  std::optional<bool> reported_can_pause() const;
  void erase_exited();
  /// Ends workers without a trial, where there are too many.
  void end_surplus();
  /// Who stops us may stop our workers as well, as systemd does: that is no failure of theirs.
  void forget_stopped();
};

bool WorkerSet::State::can_start(const Waiting& trial) {
  const auto ending = [](const Worker* worker) {
    return !worker->busy() && !worker->idle() && !worker->gone();
  };
  return std::ranges::none_of(at(trial.lease->name), ending) || Clock::now() >= trial.until;
}

Worker* WorkerSet::State::idle_worker(const std::string& slot) {
  erase_exited();
  const auto found = std::ranges::find_if(at(slot), &Worker::idle);
  return found == at(slot).end() ? nullptr : *found;
}

void WorkerSet::State::end_outdated(const core::Slot& slot) {
  for (auto* worker : at(slot.name))
    if (worker->idle() && worker->slot() != slot) worker->take_away();
}

Worker* WorkerSet::State::new_worker(const core::Slot& slot) {
  workers.push_back(std::make_unique<Worker>(
      supervisor, settings, slot,
      [this](WorkerEvent event, core::Lease lease) {
        reports.push_back({std::move(event), std::move(lease)});
      },
      [this](Assignment assignment, core::Lease lease) {
        waiting.push_back({std::move(assignment), std::move(lease)});
      }));
  by_slot[slot.name].push_back(workers.back().get());
  ever_started = true;
  return workers.back().get();
}

std::optional<bool> WorkerSet::State::reported_can_pause() const {
  const auto ready = std::ranges::find_if(
      workers, [](const auto& worker) { return worker->can_pause().has_value(); });
  return ready == workers.end() ? std::nullopt : (*ready)->can_pause();
}

void WorkerSet::State::erase_exited() {
  for (const auto& worker : workers)
    if (worker->gone()) std::erase(by_slot[worker->slot().name], worker.get());
  std::erase_if(workers, [](const auto& worker) { return worker->gone(); });
}

void WorkerSet::State::end_surplus() {
  for (const auto& [slot, limit] : most) {
    auto surplus =
        std::ranges::count_if(
            at(slot), [](const Worker* worker) { return worker->busy() || worker->idle(); }) -
        limit;
    for (auto* worker : at(slot)) {
      if (surplus <= 0) break;
      if (!worker->idle()) continue;
      worker->take_away();
      --surplus;
    }
  }
}

void WorkerSet::State::start(Waiting trial) {
  end_outdated(*trial.lease);
  // When a stop is requested, nothing is begun any more.
  if (!can_start(trial) || supervisor.stop_requested()) return waiting.push_back(std::move(trial));
  auto& [assignment, lease, until] = trial;
  auto* worker = idle_worker(lease->name);
  try {
    if (!worker) worker = new_worker(*lease);
  } catch (const std::system_error& error) {
    const auto& words = lease->launcher.empty() ? settings.command : lease->launcher;
    reports.push_back({NotTrained{.trial = assignment.order.trial,
                                  .kind = hyp::FailureKind::other,
                                  .message = core::cannot_start(words.front(), error),
                                  .failed_before_ready = true,
                                  .not_started = true,
                                  .no_program = is_no_program(error),
                                  .device = lease->name},
                       std::move(lease)});
    return;
  }
  worker->start(std::move(assignment), std::move(lease));
}

void WorkerSet::State::forget_stopped() {
  const auto has_failed = [](const Report& report) {
    return std::holds_alternative<NotTrained>(report.event);
  };
  if (std::ranges::none_of(reports, has_failed)) return;
  if (supervisor.stop_follows()) std::erase_if(reports, has_failed);
}

WorkerSet::WorkerSet(WorkerSettings settings, const core::StopSource& stop)
    : state_(std::make_unique<State>(std::move(settings), stop)) {}

WorkerSet::~WorkerSet() {
  end();
}

void WorkerSet::end() noexcept {
  if (!std::exchange(state_->ended, true)) state_->supervisor.end_all();
}

void WorkerSet::start(Assignment assignment, core::Lease lease) {
  state_->start({std::move(assignment), std::move(lease)});
}

void WorkerSet::warm_up(const core::Slot& slot) try {
  if (state_->at(slot.name).empty() && !state_->supervisor.stop_requested())
    state_->new_worker(slot);
} catch (const std::system_error&) {
}

void WorkerSet::limit(const std::string& slot, int most, bool at_once) {
  state_->most[slot] = most;
  if (!at_once) return;
  for (auto* worker : state_->at(slot))
    if (worker->busy()) worker->take_away();
  const auto taken = std::ranges::stable_partition(
      state_->waiting, [&](const Waiting& trial) { return trial.lease->name != slot; });
  for (auto& trial : taken)
    state_->reports.push_back({NotTrained{.trial = trial.assignment.order.trial,
                                          .kind = hyp::FailureKind::device_lost,
                                          .message = taken_away,
                                          .excused = true,
                                          .device = slot},
                               std::move(trial.lease)});
  state_->waiting.erase(taken.begin(), taken.end());
}

bool WorkerSet::waits_at_rung(int trial) const {
  return std::ranges::any_of(state_->workers,
                             [&](const auto& worker) { return worker->waits_at_rung(trial); });
}

void WorkerSet::decide(int trial, hyp::Decision decision) {
  for (const auto& worker : state_->workers)
    if (worker->waits_at_rung(trial)) return worker->decide(decision);
}

std::optional<std::vector<WorkerEvent>> WorkerSet::wait(std::chrono::milliseconds timeout) {
  auto& state = *state_;
  const auto can_start = [&](const Waiting& trial) { return state.can_start(trial); };
  const auto news = [&] {
    return !state.reports.empty() || std::ranges::any_of(state.waiting, can_start) ||
           state.supervisor.stop_requested() || (!state.can_pause && state.reported_can_pause());
  };
  state.supervisor.wait_for(news, Clock::now() + timeout);
  if (!state.can_pause) state.can_pause = state.reported_can_pause();
  state.erase_exited();
  state.end_surplus();
  state.forget_stopped();
  if (state.reports.empty() && state.supervisor.stop_requested()) return {};
  for (auto& trial : std::exchange(state.waiting, {})) state.start(std::move(trial));
  std::vector<WorkerEvent> events;
  for (auto& report : std::exchange(state.reports, {})) events.push_back(std::move(report.event));
  return events;
}

int WorkerSet::busy() const {
  const auto at_work =
      std::ranges::count_if(state_->workers, [](const auto& worker) { return worker->busy(); });
  const auto ended = std::ranges::count_if(
      state_->reports, [](const auto& report) { return report.lease != nullptr; });
  return static_cast<int>(at_work + ended + std::ssize(state_->waiting));
}

std::vector<Progress> WorkerSet::progress() const {
  std::vector<Progress> all;
  for (const auto& worker : state_->workers)
    if (auto progress = worker->progress()) all.push_back(std::move(*progress));
  return all;
}

core::WorkerCount WorkerSet::count(const std::string& slot) const {
  core::WorkerCount count;
  for (const auto* worker : state_->at(slot)) {
    if (worker->gone()) continue;
    ++count.alive;
    if (worker->idle()) ++count.idle;
    count.grown = count.grown && worker->grown();
  }
  // Each of these will have an idle one, or a new one.
  for (const auto& trial : state_->waiting) {
    if (trial.lease->name != slot) continue;
    if (count.idle > 0) {
      --count.idle;
    } else {
      ++count.alive;
      count.grown = false;
    }
  }
  return count;
}

bool WorkerSet::ever_started() const {
  return state_->ever_started;
}

std::optional<bool> WorkerSet::can_pause() const {
  return state_->can_pause;
}

}  // namespace evolve::workers
