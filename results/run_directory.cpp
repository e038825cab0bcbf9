#include "results/run_directory.hpp"

#include <fmt/format.h>

#include <boost/algorithm/string.hpp>
#include <fstream>
#include <optional>
#include <tuple>

#include "core/durable_file.hpp"
#include "core/error.hpp"
#include "core/path.hpp"

namespace evolve::results {

namespace fs = std::filesystem;

namespace {

/// mkdir -p, durable; throws `Error` with the reason.
void make_folders(const fs::path& folder) {
  std::error_code error;
  std::vector<fs::path> made;
  for (auto path = core::without_dots(fs::absolute(folder)); !fs::exists(path, error) && !error;
       path = path.parent_path())
    made.push_back(path);
  fs::create_directories(folder, error);
  for (const auto& one : made) core::sync_folder(one.parent_path());
  if (error || !fs::is_directory(folder)) {
    throw bad_input({folder.string()}, error ? error.message() : "this is no folder",
                    "choose another folder with --project or --output");
  }
}

const char* const name_a_run = "name the folder of a run, such as runs/evolve/exp";
const char* const name_a_training = "name the folder of a training: --resume runs/train/exp";

/// The run in `project` whose `mark` was written last, of those that `began`.
std::optional<RunDirectory> newest(const fs::path& project, fs::path (RunDirectory::*mark)() const,
                                   bool (*began)(const RunDirectory&)) {
  std::optional<RunDirectory> newest;
  fs::file_time_type newest_time;
  std::error_code ignored;
  for (fs::directory_iterator at(project, ignored), none; at != none; at.increment(ignored)) {
    const RunDirectory run{at->path()};
    std::error_code absent;
    const auto time = fs::last_write_time((run.*mark)(), absent);
    if (absent || !began(run)) continue;
    const auto order = [](const auto& when, const fs::path& root) {  // exp10 comes after exp9
      return std::tuple(when, root.native().size(), root);
    };
    if (!newest || order(time, run.root) > order(newest_time, newest->root)) {
      newest = run;
      newest_time = time;
    }
  }
  return newest;
}

/// Whether an opt.yaml is of a training by YOLOv5, which has a save_dir.
bool is_yolov5s(const fs::path& options) {
  std::ifstream lines(options);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("save_dir:")) return true;
  return false;
}

}  // namespace

bool holds_run(const RunDirectory& run) {
  std::error_code ignored;
  if (!fs::is_regular_file(run.journal(), ignored)) return false;  // who opens a pipe waits
  std::ifstream journal(run.journal());
  std::string first;
  return std::getline(journal, first) && !journal.eof();
}

bool holds_training(const RunDirectory& run) {
  std::error_code ignored;
  return fs::exists(run.hyp(), ignored);
}

bool has_own_options(const RunDirectory& run) {
  std::error_code ignored;
  return fs::exists(run.options(), ignored) && !is_yolov5s(run.options());
}

RunDirectory create_run(const fs::path& project, const std::string& name, bool exist_ok) {
  if (boost::trim_right_copy_if(name, boost::is_any_of("/")).empty())
    throw bad_argument("--name is empty", "write a name, such as exp");
  // --name . is the project's own folder: it is that one's name that is counted up.
  auto path = core::without_dots(project / name);
  if (path == "." || path.filename() == "..") path = core::without_dots(fs::absolute(path));
  const auto wanted = boost::trim_right_copy_if(path.string(), boost::is_any_of("/"));
  if (exist_ok) return create_run_at(wanted);
  make_folders(fs::path(wanted).has_parent_path() ? fs::path(wanted).parent_path() : ".");
  constexpr int last = 9999;
  for (int n = 1; n <= last; ++n) {
    const fs::path folder = n == 1 ? wanted : wanted + std::to_string(n);
    std::error_code error;
    // mkdir decides between two coordinators; looking first would not.
    if (fs::create_directory(folder, error)) {
      core::sync_folder(folder.parent_path());
      return {folder};
    }
    if (error && error != std::errc::file_exists) {
      throw bad_input({folder.string()}, error.message(), "choose another folder with --project");
    }
  }
  throw bad_argument(fmt::format("{0} to {0}{1} all exist", wanted, last), "choose another --name");
}

RunDirectory create_run_at(const fs::path& folder) {
  make_folders(folder);
  const RunDirectory run{folder};
  std::error_code ignored;
  if (fs::exists(run.journal(), ignored)) return run;
  for (const auto& file : {run.evolve_csv(), run.tune_results(), run.tune_results_csv()})
    if (fs::exists(file, ignored))
      throw bad_input({file.string()},
                      "this folder holds another program's evolution (there is no journal.jsonl)",
                      "choose another folder with --name or --output");
  return run;
}

RunDirectory open_run(const fs::path& folder) {
  const RunDirectory run{folder};
  std::error_code error, ignored;
  if (fs::is_regular_file(run.journal(), error)) return run;
  if (error && error != std::errc::not_a_directory && error != std::errc::no_such_file_or_directory)
    throw bad_input({folder.string()}, error.message(), "check its permissions");
  throw bad_input({folder.string()},
                  fs::is_regular_file(folder, ignored)
                      ? "this is a file"
                      : "there is no run in this folder (no journal.jsonl)",
                  name_a_run);
}

RunDirectory newest_run(const fs::path& project) {
  if (const auto run = newest(project, &RunDirectory::journal, holds_run)) return *run;
  throw bad_input({project.string()}, "there is no run in this folder to go on with", name_a_run);
}

RunDirectory open_training(const fs::path& folder_or_weights) {
  RunDirectory run{folder_or_weights};
  if (folder_or_weights.extension() == ".pt")
    run.root = fs::absolute(folder_or_weights).parent_path().parent_path();
  if (!holds_training(run)) {
    throw bad_input({folder_or_weights.string()},
                    "there is no training in this folder (no hyp.yaml)", name_a_training);
  }
  if (is_yolov5s(run.options()))
    throw bad_input({run.options().string()}, "this is a training by YOLOv5",
                    "start from what it has learnt: --weights " + run.last_weights().string());
  return run;
}

RunDirectory newest_training(const fs::path& project) {
  const auto is_ours = [](const RunDirectory& run) {
    return holds_training(run) && has_own_options(run);
  };
  if (const auto run = newest(project, &RunDirectory::log, is_ours)) return *run;
  throw bad_input({project.string()}, "there is no training in this folder to go on with",
                  name_a_training);
}

}  // namespace evolve::results
