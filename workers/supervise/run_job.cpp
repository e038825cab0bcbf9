#include "workers/supervise/run_job.hpp"

#include <memory>
#include <system_error>

#include "core/error.hpp"
#include "core/spawn.hpp"
#include "core/utf8.hpp"
#include "workers/supervise/supervised_process.hpp"

namespace evolve::workers {
namespace {

class JobRun {
 public:
  JobRun(const JobSettings& settings, const core::Slot& slot, const Job& job,
         const JobEvents& events, const core::StopSource& stop)
      : events_(events),
        supervisor_(stop),
        process_(supervisor_, settings.command, slot,
                 {.line = [this](std::string_view line) { return receive(line); },
                  .log = [this](std::string_view bytes) { events_.log(bytes); },
                  .gone = [this](const Ending& failure) { gone(failure); }}) {
    process_.assign(line_of(job), {.hang = settings.hang_timeout, .in_all = {}});
  }
  ~JobRun() { supervisor_.end_all(); }
  JobRun(const JobRun&) = delete;
  JobRun& operator=(const JobRun&) = delete;

  JobEnd wait() {
    const auto ended = [&] { return done_ || end_.failure || supervisor_.stop_requested(); };
    while (!ended()) supervisor_.step(Clock::now() + std::chrono::minutes(1));
    if (end_.failure && supervisor_.stop_follows()) end_.failure.reset();
    end_.stopped = !done_ && !end_.failure && supervisor_.stop_requested();
    return end_;
  }

 private:
  Sense receive(std::string_view line) {
    if (done_) return Sense::some;
    const auto report = parse_report(line);
    if (report) std::visit([&](const auto& message) { on(message, *report); }, *report);
    return report ? Sense::some : Sense::none;
  }
  void on(const Ready& ready, const JobReport&) { process_.on(ready); }
  void on(const Alive& alive, const JobReport& report) {
    process_.on(alive);
    events_.report(report);
  }
  void on(const Failure& failure, const JobReport&) {
    process_.fail(failure.kind, core::excerpt(failure.message, 1000));
  }
  void on(const BatchReport&, const JobReport& report) { events_.report(report); }
  void on(const EpochReport&, const JobReport& report) { events_.report(report); }
  void on(const TrainingReport&, const JobReport& report) { finish(report); }
  void on(const ValidationReport&, const JobReport& report) { finish(report); }

  void finish(const JobReport& report) {
    done_ = true;
    process_.rest();
    events_.report(report);
  }
  void gone(const Ending& failure) {
    if (!done_) end_.failure = failure;
  }

  const JobEvents& events_;
  JobEnd end_;
  bool done_ = false;
  Supervisor supervisor_;
  SupervisedProcess process_;
};

std::unique_ptr<JobRun> started(const JobSettings& settings, const core::Slot& slot, const Job& job,
                                const JobEvents& events, const core::StopSource& stop) try {
  return std::make_unique<JobRun>(settings, slot, job, events, stop);
} catch (const std::system_error& error) {
  throw run_failed(core::cannot_start(settings.command.front(), error),
                   "build it (cmake --preset release) or install the package evolve-worker");
}

}  // namespace

JobEnd run_job(const JobSettings& settings, const core::Slot& slot, const Job& job,
               const JobEvents& events, const core::StopSource& stop) {
  return started(settings, slot, job, events, stop)->wait();
}

}  // namespace evolve::workers
