#include "cli/options/destination.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "core/error.hpp"
#include "results/run_file.hpp"

namespace evolve::cli {

void declare(CLI::App& app, Destination& d, const char* group, const std::string& replaced) {
  app.add_option("--project", d.project, "Folder of runs")->group(group)->capture_default_str();
  app.add_option("--name", d.name, "Name of the run in it: exp, exp2, …")
      ->group(group)
      ->capture_default_str();
  app.add_flag("--exist-ok", d.exist_ok, "Use the folder even if it exists (" + replaced + ")")
      ->group(group);
  app.add_option("--output", d.output, "Exactly this folder, instead of --project and --name")
      ->group(group);
}

std::optional<results::RunDirectory> given_folder(const Destination& d) {
  if (!d.output.empty()) return results::RunDirectory{d.output};
  if (d.exist_ok) return results::RunDirectory{std::filesystem::path(d.project) / d.name};
  return {};
}

results::RunDirectory create(const Destination& d) {
  return d.output.empty() ? results::create_run(d.project, d.name, d.exist_ok)
                          : results::create_run_at(d.output);
}

void check_stays(const Given& given, const std::string& resumed) {
  for (const auto* key : {"output", "name", "project"})
    if (const auto it = given.find(key);
        it != given.end() && (key != std::string_view("project") || !resumed.empty()))
      throw bad_argument(it->second + ": a run that goes on stays where it is",
                         "leave it out: --resume DIR names the run");
}

void check_output(const std::string& file, const std::string& option) {
  namespace fs = std::filesystem;
  if (file.empty()) return;
  std::error_code ignored;
  if (fs::is_directory(file, ignored)) throw bad_input({file}, "is a folder", "name a file in it");
  const auto folder = fs::absolute(results::followed(file)).parent_path();
  if (!fs::is_directory(folder, ignored))
    throw bad_input({file}, "there is no folder " + folder.string(),
                    "make it, or name another file");
  // What is there and no plain file, such as /dev/stdout, is written to where it is.
  const auto status = fs::status(file, ignored);
  if (fs::exists(status) && !fs::is_regular_file(status)) return;
  if (::access(folder.c_str(), W_OK | X_OK) != 0)
    throw bad_input({file}, fmt::format("cannot write there ({})", std::strerror(errno)),
                    fmt::format("write elsewhere with {} FILE", option));
}

}  // namespace evolve::cli
