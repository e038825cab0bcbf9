#include "workers/exec/exec_worker.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <span>
#include <system_error>
#include <utility>

#include "core/child.hpp"
#include "core/device_kind.hpp"
#include "core/environment.hpp"
#include "core/error.hpp"
#include "core/file_descriptor.hpp"
#include "core/placeholders.hpp"
#include "core/slot_environment.hpp"
#include "core/spawn.hpp"
#include "core/split.hpp"
#include "core/text_file.hpp"
#include "hyp/hyp_file.hpp"
#include "workers/exec/results_csv.hpp"
#include "workers/exec/subprocess.hpp"
#include "workers/protocol/messages.hpp"

namespace evolve::workers {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using hyp::FailureKind;

/// What the command must leave in the trial's folder.
constexpr auto results_file = "results.csv";

/// How long a look at results.csv may be put off.
constexpr int look_milliseconds = 200;
/// How often output and rows are passed on as a sign of life: a message of its own, which says
/// nothing but that there was something. `alive` would promise the next one within a minute.
constexpr std::chrono::milliseconds sign_of_life{500};  // --hang-timeout is a second at least

/// Nobody reads any more: nothing is left to be done.
void write(int file, std::string_view bytes) {
  if (core::write_all(file, bytes) != 0) std::_Exit(1);
}

void send(const FromWorker& message) {
  write(STDOUT_FILENO, line_of(message));
}

/// What evolve says, line by line.
class Orders {
 public:
  /// Reads what is there; waits for it when nothing is.
  void read() {
    std::string bytes(1 << 16, '\0');
    const auto count = ::read(STDIN_FILENO, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) return;
    ended_ = count <= 0;
    if (!ended_) unread_.append(bytes, 0, static_cast<std::size_t>(count));
  }

  /// The next message that has been read; at the end of the stream, `Shutdown`.
  std::optional<FromEngine> next() {
    while (const auto line = core::take_line(unread_))
      if (const auto message = parse_from_engine(*line)) return message;
    return ended_ ? std::optional<FromEngine>(Shutdown{}) : std::nullopt;
  }

 private:
  std::string unread_;
  bool ended_ = false;
};

/// Nobody waits for the trial any more.
struct ShutdownReceived {};

/// The command cannot or did not train; the process could take the next trial.
struct TrainingFailed {
  FailureKind kind;
  std::string message;
};

Subprocess started(const std::vector<std::string>& command,
                   const std::vector<std::string>& unset) try {
  return Subprocess(command, unset);
} catch (const std::system_error& error) {
  throw TrainingFailed{FailureKind::other, core::cannot_start(command.front(), error)};
}

/// One training by the command.
class Training {
 public:
  Training(const Train& order, Orders& orders, const std::vector<std::string>& command,
           const std::vector<std::string>& unset)
      : order_(order),
        orders_(orders),
        results_((fs::path(order.dir) / results_file).string()),
        command_(started(command, unset)) {}

  /// Its end; nothing when the command did not end with exit code 0: see status().
  std::optional<Result> run() {
    // Rungs are told in their order however fast the command is: decisions depend on no timing.
    for (bool ended = false; !stopped_ && (at_rung_ || !ended);) {
      if (at_rung_ || !command_.status()) wait();
      pass_on_output();
      listen();
      ended = command_.status().has_value();
      report_epochs();
    }
    if (stopped_) return Result{.trial = order_.trial, .metrics = *at_rung_, .stopped = true};
    while (pass_on_output()) {
    }
    if (status() != 0) return {};
    return Result{.trial = order_.trial, .metrics = last_metrics()};
  }

  int status() { return *command_.status(); }

 private:
  void wait() {
    std::array<pollfd, 2> files = {{{STDIN_FILENO, POLLIN, 0}, {command_.output(), POLLIN, 0}}};
    ::poll(files.data(), output_ended_ ? 1 : 2, look_milliseconds);
    if (files[0].revents) orders_.read();
    output_ended_ = output_ended_ || files[1].revents == POLLHUP;
  }

  void listen() {
    while (const auto order = orders_.next()) {
      if (std::holds_alternative<Shutdown>(*order)) throw ShutdownReceived{};
      if (!at_rung_) continue;
      if (order == FromEngine(Continue{order_.trial})) at_rung_.reset();
      if (order == FromEngine(Stop{order_.trial})) {
        stopped_ = true;
        return;
      }
    }
  }

  /// False when there was none.
  bool pass_on_output() {
    const auto bytes = command_.read();
    write(STDERR_FILENO, bytes);
    if (!bytes.empty()) show_life();
    return !bytes.empty();
  }

  void show_life() {
    if (Clock::now() < spoke_ + sign_of_life) return;
    spoke_ = Clock::now();
    send(Output{order_.trial});
  }

  /// Tells of each new row, up to a rung. One that is still being written is left for later, and so
  /// is one whose cells are no numbers, as long as no later one has them: the last row is judged
  /// when the command has ended.
  void report_epochs() try {
    std::error_code unreadable;
    if (at_rung_ || !fs::exists(results_, unreadable)) return;
    auto text = core::read_text_file(results_);
    text.erase(text.rfind('\n') + 1);
    if (text.empty()) return;
    auto rows = parse_results_csv(text, results_).epochs;
    // A trainer may add a row of its last validation: that is no epoch.
    rows.resize(std::min(rows.size(), static_cast<std::size_t>(order_.epochs)));
    while (!at_rung_ && reported_ < rows.size()) {
      const auto& metrics = rows[reported_];
      const bool is_whole = hyp::is_finite(metrics);
      const auto later = std::span(rows).subspan(reported_ + 1);
      if (!is_whole && std::ranges::none_of(later, hyp::is_finite)) {
        if (std::exchange(seen_, rows.size()) < rows.size()) show_life();
        return;
      }
      ++reported_;
      if (!is_whole) continue;
      const int epoch = static_cast<int>(reported_);
      send(Epoch{.trial = order_.trial, .epoch = epoch, .metrics = metrics});
      if (std::ranges::count(order_.rungs, epoch) > 0) at_rung_ = metrics;
    }
  } catch (const Error&) {
  }

  hyp::Metrics last_metrics() const try {
    std::error_code unreadable;
    if (!fs::exists(results_, unreadable) && !unreadable)
      throw without_result("the command ended without writing " + results_);
    const auto table = parse_results_csv(core::read_text_file(results_), results_);
    if (table.epochs.empty()) throw without_result(results_ + " has no row of numbers");
    const auto& last = table.epochs.back();
    if (const auto wrong = hyp::first_not_finite(last))
      throw TrainingFailed{FailureKind::diverged,
                           fmt::format("{}: {} is {} in the last row", results_,
                                       table.columns[*wrong], text_of(last.values()[*wrong]))};
    return last;
  } catch (const Error& error) {
    throw without_result(error.what());
  }

  /// Names a full disk, which the command need not have noticed when it wrote.
  TrainingFailed without_result(const std::string& why) const {
    struct statvfs disk {};
    const bool is_full =
        ::statvfs(order_.dir.c_str(), &disk) == 0 && disk.f_blocks > 0 && disk.f_bavail == 0;
    return {FailureKind::data, is_full ? fmt::format("{} ({})", why, std::strerror(ENOSPC)) : why};
  }

  static std::string text_of(double metric) {
    return std::isnan(metric) ? "nan or empty" : fmt::to_string(metric);
  }

  const Train& order_;
  Orders& orders_;
  std::string results_;
  Subprocess command_;
  std::size_t reported_ = 0;
  /// Rows that were there when some waited for numbers.
  std::size_t seen_ = 0;
  /// The metrics of the rung at which the trial waits for a decision.
  std::optional<hyp::Metrics> at_rung_;
  bool stopped_ = false;
  bool output_ended_ = false;
  Clock::time_point spoke_{};
};

/// The slot's device as number 0 of its kind, or as the machine numbers it; of a group "cuda:0,1".
std::string device_of(const std::string& slot, const std::string& index) {
  const auto kind = core::kind_of(slot);
  if (core::is_cpu(kind)) return kind;
  std::string inner = "0";
  for (std::size_t i = 1; i < core::members_of(slot).size(); ++i) inner += fmt::format(",{}", i);
  return kind + ":" + (index.empty() ? inner : index);
}

/// Under the masks that evolve itself was started with the machine's number would be another
/// device's.
std::vector<std::string> variables_to_unset() {
  return core::split(core::environment_variable(core::unset_variable), ',');
}

FromWorker train(const Train& order, Orders& orders, const std::vector<std::string>& words) try {
  const fs::path folder = order.dir;
  const auto hyp = (folder / "trial_hyp.yaml").string();
  const auto asks_for_index =
      std::ranges::any_of(words, [](const auto& word) { return core::mentions(word, "{index}"); });
  const auto index = asks_for_index ? core::environment_variable(core::index_variable) : "";
  // A trainer that appends would add to an earlier attempt's rows.
  std::error_code stays;
  fs::remove(folder / results_file, stays);
  if (stays)
    throw TrainingFailed{FailureKind::other,
                         fmt::format("{}: an earlier attempt's results.csv cannot be removed ({})",
                                     order.dir, stays.message())};
  if (!(std::ofstream(hyp) << hyp::hyp_lines(order.hyp) << std::flush))
    throw TrainingFailed{FailureKind::other,
                         fmt::format("{} cannot be written ({})", hyp, std::strerror(errno))};
  const core::Replacements replacements = {{"{hyp}", hyp},
                                           {"{device}", device_of(order.device, index)},
                                           {"{index}", index},
                                           {"{epochs}", std::to_string(order.epochs)},
                                           {"{dir}", order.dir},
                                           {"{seed}", std::to_string(order.seed)},
                                           {"{trial}", std::to_string(order.trial)}};
  std::vector<std::string> command;
  for (const auto& word : words) command.push_back(core::filled(word, replacements));
  Training training(order, orders, command,
                    asks_for_index ? variables_to_unset() : std::vector<std::string>());
  if (const auto result = training.run()) return *result;
  core::end_like(training.status());
} catch (const TrainingFailed& failed) {
  return Failure{.trial = order.trial, .kind = failed.kind, .message = failed.message};
}

}  // namespace

std::vector<std::string> exec_words(const std::string& text) {
  const std::string option = "--trainer-exec";
  auto words = core::command_words(
      text, option, {"{hyp}", "{device}", "{index}", "{epochs}", "{dir}", "{seed}", "{trial}"});
  if (!core::mentions(text, "{hyp}") && !core::mentions(text, "{dir}"))
    throw bad_argument(option + ": the command does not get its hyperparameters",
                       "write {hyp}, the path of its hyp file, and {dir}, where it must leave "
                       "results.csv");
  return words;
}

std::vector<std::string> exec_worker_command_for(const std::vector<std::string>& words) {
  std::vector<std::string> command = {core::this_program().string(),
                                      std::string(exec_worker_command)};
  command.insert(command.end(), words.begin(), words.end());
  return command;
}

int exec_worker(const std::vector<std::string>& words) try {
  // It comes with the end of our input, which leaves the command time to end. (A signal that is
  // ignored would be ignored by the command, too.)
  std::signal(SIGTERM, [](int) {});
  send(Ready{.device = device_of(core::environment_variable(core::device_variable), "")});
  for (Orders orders;;) {
    while (const auto order = orders.next()) {
      if (std::holds_alternative<Shutdown>(*order)) return 0;
      if (const auto* trial = std::get_if<Train>(&*order)) send(train(*trial, orders, words));
    }
    orders.read();
  }
} catch (const ShutdownReceived&) {
  return 0;
}

}  // namespace evolve::workers
