// Runs the real `evolve` as a process, and looks at what it leaves.
#pragma once

#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "tests/files.hpp"
#include "tests/temporary_folder.hpp"

namespace evolve::test {

/// How a program ended, and all that it printed.
struct Ended {
  /// The exit code, or 128 + the signal that killed it.
  int code = 0;
  std::string out;
  std::string err;
};

/// The cache folder of what runs in a folder: beside it, so that it is no file of a run.
std::filesystem::path cache_of(const std::filesystem::path& folder);

/// A running program in a process group of its own.
class Process {
 public:
  /// `limit_file_bytes`: the largest file it may write (a full disk), 0 for none.
  Process(const std::vector<std::string>& command, const std::filesystem::path& folder,
          std::size_t limit_file_bytes = 0);
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  int pid() const { return pid_; }
  void signal(int number) const;
  /// Waits for its end; fails the test and kills it after `seconds`.
  Ended wait(double seconds = 120);

 private:
  int pid_ = -1;
  int out_ = -1, err_ = -1;
};

/// A folder that goes away with the test, and so does its cache.
class Folder : public TemporaryFolder {
 public:
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(cache_of(path()), ignored);
  }
};

/// Runs `evolve ARGUMENTS` in `folder` to its end.
Ended evolve(const std::filesystem::path& folder, std::vector<std::string> arguments,
             std::size_t limit_file_bytes = 0);
/// What evolve says as it refuses wrong input: one line, and exit code 2.
std::string refusal_of(const Ended& ended);
/// The command line of `evolve ARGUMENTS`.
std::vector<std::string> evolve_command(std::vector<std::string> arguments);
/// The command of the fake trainer with these options, for --trainer-command.
std::string fake_trainer(const std::string& options = "");
/// Runs so many trials of the fake trainer on cpu:0 to their end, in the folder's "run".
void finish_trials(const Folder& folder, int trials);

/// The number of a CPU core that this process may use. Tests that run at once mostly have
/// different ones.
std::string some_core();

std::vector<std::string> lines_of(const std::string& text);
/// The events of a run's journal.
std::vector<nlohmann::json> journal(const std::filesystem::path& run);
/// A run's metrics.prom, labelled "run" whatever folder it is in.
std::string prometheus(const std::filesystem::path& run);
/// The first event of a kind in the journal of the folder's "run".
nlohmann::json event(const Folder& folder, const std::string& kind);
/// How many events of a kind a journal has.
int count(const std::vector<nlohmann::json>& events, const std::string& kind);
/// The trials that a run has completed.
std::set<int> completed(const std::filesystem::path& run);
/// The lines of a run's evolve.csv, in an order that does not depend on which trial ended first.
std::vector<std::string> sorted_rows(const std::filesystem::path& run);
/// What trainers have left in the folder's file "seen", a line of JSON each.
std::vector<nlohmann::json> seen(const Folder& folder);
/// The processes in the fake trainer's log.
std::set<int> pids(const std::filesystem::path& log);
/// Waits until `condition` holds; false after `seconds`.
bool eventually(const std::function<bool()>& condition, double seconds = 120);
/// Runs `evolve ARGUMENTS`, whose run is the folder's `name`, and goes on with that run until it
/// ends by itself: each life is killed at a random moment, less than so many milliseconds after its
/// first event. How many were.
int killed_at_random(const Folder& folder, const std::string& name,
                     std::vector<std::string> arguments, unsigned milliseconds,
                     std::mt19937& random);
/// Whether a process of this id exists (and is not a zombie).
bool alive(int pid);

}  // namespace evolve::test
