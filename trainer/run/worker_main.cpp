// The program `evolve-worker`: trains what `evolve` sends it on standard input, on the device that
// it sees, and answers on standard output (workers/protocol/messages.hpp). Where its slot has
// several devices it is rank 0, on the first of them, and starts a process of its own for each
// other one (trainer/ranks).

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <stop_token>
#include <string>
#include <system_error>
#include <thread>

#include "core/device_kind.hpp"
#include "core/environment.hpp"
#include "core/error.hpp"
#include "core/file_descriptor.hpp"
#include "core/number.hpp"
#include "core/slot_environment.hpp"
#include "core/split.hpp"
#include "devices/discovery.hpp"
#include "devices/machine.hpp"
#include "hyp/trial_folder.hpp"
#include "trainer/device/device_kinds.hpp"
#include "trainer/ranks/start_ranks.hpp"
#include "trainer/run/kept_memory.hpp"
#include "trainer/run/run.hpp"
#include "trainer/training_failed.hpp"
#include "workers/protocol/jobs.hpp"
#include "workers/protocol/messages.hpp"
#include "workers/protocol/text.hpp"

namespace evolve::trainer {
namespace {

/// Where answers go. Standard output itself becomes standard error, so that a library's print
/// cannot break the stream.
class Answers {
 public:
  Answers() : descriptor_(::dup(STDOUT_FILENO)) {
    if (!descriptor_.is_open() || ::dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
      throw std::system_error(errno, std::generic_category(), "standard output");
  }

  /// Safe to call from several threads.
  template <class Message>
  void send(const Message& message) {
    const std::lock_guard lock(mutex_);
    // Nobody reads any more: nothing is left to be done.
    if (core::write_all(descriptor_.number(), workers::line_of(message)) != 0) std::_Exit(1);
  }

 private:
  std::mutex mutex_;
  core::FileDescriptor descriptor_;
};

/// The slot's share of the CPU, no more than the cores that this process is bound to.
int threads() {
  const auto cores = static_cast<int>(devices::allowed_cores().size());
  const auto share = core::parse_integer<int>(core::environment_variable("OMP_NUM_THREADS"));
  return std::clamp(share.value_or(cores), 1, cores);
}

/// The cores of all slots, for what one worker does while the others wait; none where this one is
/// bound to none.
std::vector<int> cores_of_all() {
  std::vector<int> cores;
  for (const auto& word : core::split(core::environment_variable(core::cores_variable), ','))
    cores.push_back(core::parse_integer<int>(word).value());
  return cores;
}

std::string slot_name() {
  const auto slot = core::environment_variable(core::device_variable);
  return slot.empty() ? "cpu" : slot;
}

/// A process sees one device only, and inside the mask it is number 0.
std::string inner_device() {
  const auto kind = core::kind_of(slot_name());
  return core::is_cpu(kind) ? kind : kind + ":0";
}

/// The first message, with what the driver reports of the device that this process sees.
workers::Ready ready_message(const std::string& device) {
  if (core::is_cpu(device)) return {.device = "cpu:0", .can_pause = true};
  const auto* kind = core::find_device_kind(core::kind_of(device));
  if (kind && !kind->has_driver) return {.device = device, .can_pause = true};
  const auto found = devices::discover(core::kind_of(device), devices::device_environment());
  if (found.devices.empty())
    throw run_failed("no " + device + " is visible here: " + found.remark, "check its driver");
  const auto& mine = found.devices.front();
  return {.device = device, .identity = {mine.uuid, mine.pci}, .can_pause = true};
}

/// What `work` answers, or the failure that it ends in. Of a trial the log has it too; of a job
/// evolve says it, and of another rank the first one does.
template <class Answer, class Work>
Answer answer_of(std::optional<int> trial, Work work) {
  const auto failure = [&](hyp::FailureKind kind, const std::string& why) {
    if (trial) fmt::print(stderr, "trial {} failed ({}): {}\n", *trial, hyp::name_of(kind), why);
    return workers::Failure{.trial = trial, .kind = kind, .message = why};
  };
  try {
    return work();
  } catch (const TrainingFailed& failed) {
    return failure(failed.kind, failed.what());
  } catch (const Error& error) {
    // What cannot be written or opened is not the data's fault.
    const bool input = error.fault() == Error::Fault::input;
    return failure(input ? hyp::FailureKind::data : hyp::FailureKind::other, error.what());
  } catch (const std::bad_alloc&) {
    return failure(hyp::FailureKind::oom, "out of memory on the host");
  } catch (const std::exception& error) {
    // Torch's messages go on with a stack trace: the log has all of it, the journal the first line.
    fmt::print(stderr, "{}\n", error.what());
    const std::string text = error.what();
    return failure(workers::kind_in(text, hyp::FailureKind::other), core::first_line(text));
  }
}

/// Evolve has told this process to end.
struct ShutDown {};

/// Waits for evolve's decision on a trial at a rung.
hyp::Decision decision_on(int trial) {
  for (std::string line; std::getline(std::cin, line);) {
    const auto message = workers::parse_from_engine(line);
    if (message == workers::FromEngine(workers::Continue{trial})) return hyp::Decision::go_on;
    if (message == workers::FromEngine(workers::Stop{trial})) return hyp::Decision::stop;
    if (message == workers::FromEngine(workers::Pause{trial})) return hyp::Decision::pause;
    if (message == workers::FromEngine(workers::Shutdown{})) break;
  }
  throw ShutDown{};
}

TrainOptions options_of(const workers::Train& message) {
  auto options = train_options_from_json(message.options);
  options.epochs = message.epochs;
  return options;
}

Rungs rungs_of(const workers::Train& message) {
  return {.epochs = message.rungs,
          .decide = [trial = message.trial](int) { return decision_on(trial); },
          .kept = (std::filesystem::path(message.dir) / hyp::kept_training).string(),
          .start_epoch = message.start_epoch};
}

/// Where the seconds of a trial went, in words; bench/trial reads them.
std::string spent(const Timing& t) {
  const auto& p = t.phases;
  return fmt::format(
      "{} images trained in {:.4f} s (images {:.4f}, forward {:.4f}, loss {:.4f}, backward {:.4f}, "
      "optimizer {:.4f}, average {:.4f}; first step after {:.4f}), {} validated in {:.4f} s "
      "(forward "
      "{:.4f}, NMS {:.4f}, AP {:.4f}), everything else {:.4f} s",
      t.trained, t.training, p.images, p.forward, p.loss, p.backward, p.optimizer, p.average,
      t.first_step, t.validated, t.validation, t.inference, t.nms, t.ap,
      t.total - t.training - t.validation);
}

workers::Result train(Trainer& trainer, const workers::Train& message, Answers& answers) {
  const auto result = trainer.train(
      options_of(message), message.hyp, message.seed,
      [&](int epoch, const hyp::Metrics& metrics) {
        answers.send(workers::FromWorker(workers::Epoch{message.trial, epoch, metrics}));
      },
      rungs_of(message));
  fmt::print(stderr, "trial {}: {}\n", message.trial, spent(result.timing));
  return {.trial = message.trial,
          .metrics = result.metrics,
          .stopped = result.obeyed == hyp::Decision::stop,
          .paused = result.obeyed == hyp::Decision::pause};
}

void work(Trainer& trainer, const workers::Train& message, Answers& answers) {
  answers.send(answer_of<workers::FromWorker>(message.trial,
                                              [&] { return train(trainer, message, answers); }));
}

void work(Trainer& trainer, const workers::Job& job, Answers& answers) {
  const auto send = [&](const workers::JobReport& report) { answers.send(report); };
  send(answer_of<workers::JobReport>({}, [&]() -> workers::JobReport {
    if (const auto* validate = std::get_if<workers::ValidationJob>(&job)) {
      return trainer.validate(*validate);
    }
    return trainer.full_training(std::get<workers::TrainingJob>(job), send);
  }));
}

/// The terminal's Ctrl-C is for evolve, which ends its workers; a file that would be too large for
/// a limit cannot be written, which is said.
void ignore_signals() {
  signal(SIGINT, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);
}

/// Ends the process. What it says last is what evolve says: of torch's errors, which go on with a
/// stack trace, the first line.
[[noreturn]] void give_up(const std::exception& error) {
  const std::string text = error.what();
  fmt::print(stderr, "evolve-worker: {}\n", text);
  if (text.find('\n') != text.npos)
    fmt::print(stderr, "evolve-worker: {}\n", core::first_line(text));
  std::_Exit(1);
}

/// Looks at the other ranks while no order is there: without one of them this process is worth
/// nothing, and had better be gone before it is given the next.
class IdleWatch {
 public:
  explicit IdleWatch(const std::shared_ptr<Ranks>& ranks) {
    if (ranks->count() > 1)
      thread_ = std::jthread([this, ranks](const std::stop_token& stop) { watch(*ranks, stop); });
  }
  void idle(bool idle) {
    const std::lock_guard lock(mutex_);
    idle_ = idle;
  }

 private:
  void watch(Ranks& ranks, const std::stop_token& stop) try {
    while (!stop.stop_requested()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      const std::lock_guard lock(mutex_);
      if (idle_) ranks.check();
    }
  } catch (const std::exception& error) {
    give_up(error);
  }

  std::mutex mutex_;
  bool idle_ = true;
  std::jthread thread_;
};

void run() {
  ignore_signals();
  const auto shares =
      rank_shares(slot_name(), devices::device_environment(), devices::allowed_cores());
  confine(shares.front());
  Answers answers;
  const auto device = inner_device();
  auto ready = ready_message(device);  // before torch has threads: it forks
  std::optional<int> trial;
  Heartbeat heartbeat([&](const std::string& preparing) {
    answers.send(workers::FromWorker(workers::Alive{trial, preparing}));
  });
  const auto ranks = start_ranks(shares, [&] { heartbeat(); });
  const auto beat = [&] {
    heartbeat();
    ranks->check();
  };
  const auto preparing = [&](int done, int all) {
    heartbeat.prepared(done, all);
    ranks->check();
  };
  Trainer trainer(device, threads(), beat, cores_of_all(), ranks, preparing);
  ranks->meet();
  ready.ranks = ranks->devices_of_others();
  answers.send(workers::FromWorker(ready));
  IdleWatch watch(ranks);
  const auto next = [&](std::string& line) {
    watch.idle(true);
    const bool there = static_cast<bool>(std::getline(std::cin, line));
    watch.idle(false);
    return there;
  };
  for (std::string line; next(line);) {
    if (const auto job = workers::parse_job(line)) {
      if (std::holds_alternative<workers::TrainingJob>(*job)) ranks->tell(line);
      work(trainer, *job, answers);
    }
    const auto message = workers::parse_from_engine(line);
    if (!message) continue;
    if (std::holds_alternative<workers::Shutdown>(*message)) break;
    const auto* order = std::get_if<workers::Train>(&*message);
    if (!order) continue;
    trial = order->trial;
    ranks->tell(line);
    work(trainer, *order, answers);
  }
}

/// Trains along with rank 0.
void follow(Trainer& trainer, const std::string& line) {
  if (const auto job = workers::parse_job(line)) {
    trainer.full_training(std::get<workers::TrainingJob>(*job), [](const auto&) {});
  } else if (const auto message = workers::parse_from_engine(line)) {
    const auto& order = std::get<workers::Train>(*message);
    trainer.train(options_of(order), order.hyp, order.seed, {}, rungs_of(order));
  }
}

/// What a rank other than 0 does until rank 0 is gone, or it fails.
void run_rank(int rank) {
  ignore_signals();
  const auto ranks = join_ranks(rank, static_cast<int>(core::members_of(slot_name()).size()));
  Heartbeat heartbeat([&](const auto&) { ranks->report(workers::Alive{}); });
  const auto failed = [&](const auto& work) {
    const auto answer = answer_of<workers::FromWorker>({}, [&]() -> workers::FromWorker {
      work();
      return workers::Alive{};
    });
    if (std::holds_alternative<workers::Failure>(answer)) ranks->report(answer);
    return std::holds_alternative<workers::Failure>(answer);
  };
  std::optional<Trainer> trainer;
  if (failed([&] {
        const auto device = inner_device();
        ranks->report(ready_message(device));  // before torch has threads: it forks
        trainer.emplace(
            device, threads(), [&] { heartbeat(); }, cores_of_all(), ranks);
        ranks->meet();
      }))
    return;
  while (const auto line = ranks->next_line())
    if (failed([&] { follow(*trainer, *line); })) return;
}

}  // namespace
}  // namespace evolve::trainer

int main(int argc, char** argv) {
  try {
    if (argc > 1 && std::string(argv[1]) == "--kinds") {  // asked by evolve
      fmt::print("{}\n", fmt::join(evolve::trainer::device_kinds(), " "));
      return 0;
    }
    evolve::trainer::keep_freed_memory();
    if (argc > 2 && std::string(argv[1]) == evolve::trainer::rank_option) {
      evolve::trainer::run_rank(evolve::core::parse_integer<int>(argv[2]).value());
    } else {
      evolve::trainer::run();
    }
  } catch (const evolve::trainer::ShutDown&) {
    // In the middle of a trial: nobody waits for its end.
  } catch (const std::exception& error) {
    evolve::trainer::give_up(error);
  }
  // Torch's threads and static objects need no orderly end, and some drivers hang in theirs.
  std::cerr.flush();
  std::_Exit(0);
}
