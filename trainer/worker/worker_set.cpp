#include "trainer/worker/worker_set.hpp"

#include <signal.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <filesystem>
#include <system_error>

#include "hyp/error.hpp"
#include "hyp/trial_folder.hpp"
#include "trainer/worker/worker.hpp"

namespace evolve::worker {
namespace {

/// Writing to a worker that has died is that worker's failure, not our death.
class IgnoredBrokenPipes {
 public:
  IgnoredBrokenPipes() {
    struct sigaction ignore {};
    ignore.sa_handler = SIG_IGN;
    ::sigaction(SIGPIPE, &ignore, &before_);
  }
  ~IgnoredBrokenPipes() { ::sigaction(SIGPIPE, &before_, nullptr); }
  IgnoredBrokenPipes(const IgnoredBrokenPipes&) = delete;
  IgnoredBrokenPipes& operator=(const IgnoredBrokenPipes&) = delete;

 private:
  struct sigaction before_ {};
};

WorkerSettings checked(WorkerSettings settings) {
  settings.directory = std::filesystem::absolute(settings.directory).lexically_normal().string();
  return settings;
}

}  // namespace

struct WorkerSet::State {
  explicit State(WorkerSettings s) : settings(checked(std::move(s))) { listen(); }

  const WorkerSettings settings;
  IgnoredBrokenPipes ignored;
  /// Outlives the workers: its handlers refer to them, but are destroyed without being called.
  boost::asio::io_context io;
  boost::asio::signal_set signals{io, SIGINT, SIGTERM};
  std::vector<std::unique_ptr<Worker>> workers;
  std::vector<Ended> ended;
  int signal = 0;
  int signals_seen = 0;
  bool ever_started = false;

  void listen();
  void step(Clock::time_point until);
  template <class Condition>
  bool wait_for(Condition condition, Clock::time_point until);
  bool wait_until_gone(std::chrono::milliseconds patience);
  Worker* idle_worker(const std::string& slot);
  Worker* new_worker(const hyp::Slot& slot, std::string& reason);
  void forget_the_gone();
  void finish();
};

void WorkerSet::State::listen() {
  signals.async_wait([this](const boost::system::error_code& error, int number) {
    if (error) return;
    signal = number;
    ++signals_seen;
    listen();
  });
}

/// Waits for something to happen, until then at the latest, and sees to all of it.
void WorkerSet::State::step(Clock::time_point until) {
  for (const auto& worker : workers)
    if (const auto deadline = worker->deadline()) until = std::min(until, *deadline);
  io.restart();
  io.run_one_until(until);
  // What a worker has said counts before its silence does.
  io.poll();
  for (const auto& worker : workers) worker->tick(Clock::now());
}

template <class Condition>
bool WorkerSet::State::wait_for(Condition condition, Clock::time_point until) {
  step(Clock::now());
  while (!condition() && Clock::now() < until) step(until);
  return condition();
}

Worker* WorkerSet::State::idle_worker(const std::string& slot) {
  // One that is about to end must be gone before another has the slot's device.
  const auto ending = [&](const auto& worker) {
    return worker->slot() == slot && !worker->busy() && !worker->idle() && !worker->gone();
  };
  wait_for([&] { return std::ranges::none_of(workers, ending); }, Clock::now() + 3 * grace);
  forget_the_gone();
  const auto found = std::ranges::find_if(
      workers, [&](const auto& worker) { return worker->slot() == slot && worker->idle(); });
  return found == workers.end() ? nullptr : found->get();
}

/// Null with the reason when the command cannot be executed.
Worker* WorkerSet::State::new_worker(const hyp::Slot& slot, std::string& reason) {
  try {
    workers.push_back(std::make_unique<Worker>(
        io, settings, slot, [this](Ended end) { ended.push_back(std::move(end)); }));
    ever_started = true;
    return workers.back().get();
  } catch (const std::system_error& error) {
    reason =
        "'" + settings.command.front() + "' cannot be started (" + error.code().message() + ")";
    if (!ever_started)
      throw bad_argument("--trainer-command: " + reason, "name a program that exists");
    return nullptr;
  }
}

void WorkerSet::State::forget_the_gone() {
  std::erase_if(workers, [](const auto& worker) { return worker->gone(); });
}

bool WorkerSet::State::wait_until_gone(std::chrono::milliseconds patience) {
  const int seen = signals_seen;
  const auto all_gone = [&] {
    return std::ranges::all_of(workers, [](const auto& worker) { return worker->gone(); });
  };
  wait_for([&] { return all_gone() || signals_seen != seen; }, Clock::now() + patience);
  return all_gone();
}

void WorkerSet::State::finish() {
  using std::chrono::milliseconds;
  const auto send = [&](int number) {
    for (const auto& worker : workers) worker->signal(number);
  };
  const int seen = signals_seen;
  for (const auto& worker : workers) worker->dismiss();
  if (wait_until_gone(milliseconds(signal ? 1000 : 2000))) return;
  if (signals_seen == seen) {
    send(SIGTERM);
    if (wait_until_gone(milliseconds(500))) return;
  }
  send(SIGKILL);
  // Nothing survives this but a process stuck in its driver, for which nobody should wait.
  const auto deadline = Clock::now() + milliseconds(5000);
  while (Clock::now() < deadline)
    if (wait_until_gone(milliseconds(100))) return;
}

WorkerSet::WorkerSet(WorkerSettings settings)
    : state_(std::make_unique<State>(std::move(settings))) {}

WorkerSet::~WorkerSet() {
  try {
    state_->finish();
  } catch (const std::exception&) {
    // A log that cannot be written no longer matters; that nothing is left running does.
    for (const auto& worker : state_->workers) worker->signal(SIGKILL);
  }
}

void WorkerSet::start(const hyp::Trial& trial, int attempt, hyp::Lease lease) {
  Job job{.trial = trial, .attempt = attempt, .lease = std::move(lease)};
  std::string reason;
  auto* worker = state_->idle_worker(job.lease->name);
  if (!worker) worker = state_->new_worker(*job.lease, reason);
  if (worker) return worker->start(std::move(job));
  state_->ended.push_back({{.trial = trial.number,
                            .device = job.lease->name,
                            .attempt = attempt,
                            .seconds = 0,
                            .result = hyp::Failed{.kind = hyp::FailureKind::crash,
                                                  .message = reason,
                                                  .log = hyp::trial_log(trial.number)}},
                           std::move(job.lease)});
}

std::optional<std::vector<hyp::Outcome>> WorkerSet::wait_some(std::chrono::milliseconds patience) {
  auto& state = *state_;
  state.wait_for([&] { return !state.ended.empty() || state.signal; }, Clock::now() + patience);
  state.forget_the_gone();
  if (state.ended.empty() && state.signal) return {};
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

int WorkerSet::signal() const {
  return state_->signal;
}

}  // namespace evolve::worker
