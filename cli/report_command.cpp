#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "cli/commands.hpp"
#include "cli/options/destination.hpp"
#include "cli/recorded_run.hpp"
#include "cli/screen/text.hpp"
#include "core/error.hpp"
#include "engine/explanation.hpp"
#include "engine/report.hpp"
#include "results/results.hpp"
#include "results/run_file.hpp"

namespace evolve::cli {
namespace {

results::RunReport report_of(const results::RunDirectory& directory) {
  const bool going_on = results::is_locked(directory.journal());
  const auto [contents, state] = recorded_run(directory);
  auto report = engine::report_of(state, contents.run, results::timeline_of(contents),
                                  display_path(directory.root), going_on);
  report.explanation = engine::explanation_if_any(state);
  return report;
}

int report(const std::vector<std::string>& runs, const std::string& page) {
  if (!page.empty() && std::filesystem::path(page).extension() != ".html")
    throw bad_argument("-o " + page + ": a report is a page", "write a name that ends in .html");
  const auto own = runs.size() == 1 ? results::open_run(runs.front()).report() : "report.html";
  const auto target = page.empty() ? own : std::filesystem::path(page);
  check_output(target);
  std::vector<results::RunReport> reports;
  for (const auto& run : runs) reports.push_back(report_of(results::open_run(run)));
  results::write_report(target, reports);
  fmt::print("{}\n", display_path(target));
  return 0;
}

}  // namespace

Command report_command(CLI::App& app) {
  struct Arguments {
    std::vector<std::string> runs;
    std::string page;
  };
  const auto given = std::make_shared<Arguments>();
  auto* command = app.add_subcommand(
      "report", "Show a run, or several beside each other, as a page for a browser");
  command->add_option("RUN", given->runs, "Folders of runs, which may still be going on")
      ->required();
  command->add_option("-o,--output", given->page,
                      "Page to write: .html; default: RUN/report.html, for several runs "
                      "report.html in the current folder");
  return {command, [given] { return printed(report(given->runs, given->page)); }};
}

}  // namespace evolve::cli
