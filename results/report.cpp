#include "results/report.hpp"

#include "core/embedded_file.hpp"
#include "core/json.hpp"
#include "results/run_file.hpp"

EVOLVE_EMBEDDED_FILE(report_page)
EVOLVE_EMBEDDED_FILE(report_style)
EVOLVE_EMBEDDED_FILE(report_uplot)
EVOLVE_EMBEDDED_FILE(report_uplot_style)
EVOLVE_EMBEDDED_FILE(report_uplot_license)
EVOLVE_EMBEDDED_FILE(report_run)
EVOLVE_EMBEDDED_FILE(report_charts)
EVOLVE_EMBEDDED_FILE(report_slots)
EVOLVE_EMBEDDED_FILE(report_parallel)
EVOLVE_EMBEDDED_FILE(report_table)
EVOLVE_EMBEDDED_FILE(report_main)

namespace evolve::results {
namespace {

using Json = nlohmann::ordered_json;

/// JSON inside a script element: whatever a text has, no `</script>` or `<!--` is in it.
std::string embedded(const Json& json) {
  const auto text = core::json_text(json);
  std::string escaped;
  escaped.reserve(text.size());
  for (const char c : text) {
    if (c == '<') {
      escaped += "\\u003c";
    } else {
      escaped += c;
    }
  }
  return escaped;
}

}  // namespace

std::string report_page(std::span<const RunReport> runs, core::Time written) {
  Json data = {{"written", core::text_of(written)}, {"runs", Json::array()}};
  for (const auto& run : runs) data["runs"].push_back(to_json(run));
  std::string page(report_page_file());
  for (const auto part : {report_uplot_style_file(), report_style_file()}) {
    page += "<style>\n";
    page += part;
    page += "</style>\n";
  }
  page += "<script type=\"application/json\" id=\"data\">" + embedded(data) + "</script>\n";
  page += "<script>\n/*\n";
  page += report_uplot_license_file();
  page += "*/\n";
  page += report_uplot_file();
  page += "</script>\n";
  for (const auto part : {report_run_file(), report_charts_file(), report_slots_file(),
                          report_parallel_file(), report_table_file(), report_main_file()}) {
    page += "<script>\n";
    page += part;
    page += "</script>\n";
  }
  return page;
}

void write_report(const std::filesystem::path& file, std::span<const RunReport> runs) {
  write_output(file, report_page(runs, core::now()));
}

}  // namespace evolve::results
