#include "workers/supervise/worker_set.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "core/error.hpp"
#include "hyp/trial_folder.hpp"
#include "workers/supervise/worker.hpp"

namespace evolve::workers {
namespace {

WorkerSettings checked(WorkerSettings settings) {
  settings.directory = std::filesystem::absolute(settings.directory).lexically_normal().string();
  return settings;
}

}  // namespace

struct WorkerSet::State {
  explicit State(WorkerSettings s) : settings(checked(std::move(s))) {}

  const WorkerSettings settings;
  Supervisor supervisor;
  std::vector<std::unique_ptr<Worker>> workers;
  std::vector<Ended> ended;
  bool ever_started = false;

  Worker* idle_worker(const std::string& slot);
  Worker* new_worker(const core::Slot& slot, std::string& reason);
  void forget_the_gone();
};

Worker* WorkerSet::State::idle_worker(const std::string& slot) {
  // One that is about to end must be gone before another has the slot's device.
  const auto ending = [&](const auto& worker) {
    return worker->slot() == slot && !worker->busy() && !worker->idle() && !worker->gone();
  };
  supervisor.wait_for([&] { return std::ranges::none_of(workers, ending); },
                      Clock::now() + 3 * grace);
  forget_the_gone();
  const auto found = std::ranges::find_if(
      workers, [&](const auto& worker) { return worker->slot() == slot && worker->idle(); });
  return found == workers.end() ? nullptr : found->get();
}

/// Null with the reason when the command cannot be executed.
Worker* WorkerSet::State::new_worker(const core::Slot& slot, std::string& reason) {
  try {
    workers.push_back(std::make_unique<Worker>(
        supervisor, settings, slot, [this](Ended end) { ended.push_back(std::move(end)); }));
    ever_started = true;
    return workers.back().get();
  } catch (const std::system_error& error) {
    const bool launched = !slot.launcher.empty();
    const auto& program = launched ? slot.launcher.front() : settings.command.front();
    reason = "'" + program + "' cannot be started (" + error.code().message() + ")";
    if (!ever_started)
      throw bad_argument((launched ? "--launcher: " : "--trainer-command: ") + reason,
                         "name a program that exists");
    return nullptr;
  }
}

void WorkerSet::State::forget_the_gone() {
  std::erase_if(workers, [](const auto& worker) { return worker->gone(); });
}

WorkerSet::WorkerSet(WorkerSettings settings)
    : state_(std::make_unique<State>(std::move(settings))) {}

WorkerSet::~WorkerSet() {
  state_->supervisor.end_all();
}

void WorkerSet::start(const hyp::Trial& trial, int attempt, core::Lease lease,
                      std::vector<int> rungs) {
  Assignment assignment{
      .trial = trial, .attempt = attempt, .lease = std::move(lease), .rungs = std::move(rungs)};
  std::string reason;
  auto* worker = state_->idle_worker(assignment.lease->name);
  if (!worker) worker = state_->new_worker(*assignment.lease, reason);
  if (worker) return worker->start(std::move(assignment));
  state_->ended.push_back(
      {{.trial = trial.number,
        .device = assignment.lease->name,
        .attempt = attempt,
        .repeat = trial.repeat,
        .result = hyp::Failed{.kind = hyp::FailureKind::crash,
                              .message = reason,
                              .log = hyp::trial_log(trial.number, trial.repeat)}},
       std::move(assignment.lease)});
}

std::optional<std::vector<hyp::Outcome>> WorkerSet::wait_some(std::chrono::milliseconds patience) {
  auto& state = *state_;
  const auto news = [&] { return !state.ended.empty() || state.supervisor.signal(); };
  state.supervisor.wait_for(news, Clock::now() + patience);
  state.forget_the_gone();
  if (state.ended.empty() && state.supervisor.signal()) return {};
  std::vector<hyp::Outcome> outcomes;
  for (auto& ended : std::exchange(state.ended, {})) outcomes.push_back(std::move(ended.outcome));
  return outcomes;
}

int WorkerSet::busy() const {
  const auto at_work =
      std::ranges::count_if(state_->workers, [](const auto& worker) { return worker->busy(); });
  return static_cast<int>(at_work) + static_cast<int>(state_->ended.size());
}

std::vector<Progress> WorkerSet::progress() const {
  std::vector<Progress> all;
  for (const auto& worker : state_->workers)
    if (auto progress = worker->progress()) all.push_back(std::move(*progress));
  return all;
}

core::WorkerCount WorkerSet::crew(const std::string& slot) const {
  core::WorkerCount crew;
  for (const auto& worker : state_->workers) {
    if (worker->slot() != slot || worker->gone()) continue;
    ++crew.alive;
    if (worker->idle()) ++crew.idle;
    crew.grown = crew.grown && worker->grown();
  }
  return crew;
}

int WorkerSet::signal() const {
  return state_->supervisor.signal();
}

}  // namespace evolve::workers
