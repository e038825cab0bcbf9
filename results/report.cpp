#include "results/report.hpp"

#include <string_view>

#include "results/durable.hpp"

#define EVOLVE_REPORT_PART(name)                                       \
  extern "C" const char evolve_report_##name##_begin[];                \
  extern "C" const char evolve_report_##name##_end[];                  \
  static std::string_view name##_part() {                              \
    return {evolve_report_##name##_begin, evolve_report_##name##_end}; \
  }

EVOLVE_REPORT_PART(page)
EVOLVE_REPORT_PART(style)
EVOLVE_REPORT_PART(uplot)
EVOLVE_REPORT_PART(uplot_style)
EVOLVE_REPORT_PART(uplot_license)
EVOLVE_REPORT_PART(run)
EVOLVE_REPORT_PART(charts)
EVOLVE_REPORT_PART(slots)
EVOLVE_REPORT_PART(parallel)
EVOLVE_REPORT_PART(table)
EVOLVE_REPORT_PART(main)

namespace evolve::results {
namespace {

using Json = nlohmann::ordered_json;

/// JSON inside a script element: whatever a text has, no `</script>` or `<!--` is in it.
std::string embedded(const Json& json) {
  const auto text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
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
  std::string page(page_part());
  for (const auto part : {uplot_style_part(), style_part()}) {
    page += "<style>\n";
    page += part;
    page += "</style>\n";
  }
  page += "<script type=\"application/json\" id=\"data\">" + embedded(data) + "</script>\n";
  page += "<script>\n/*\n";
  page += uplot_license_part();
  page += "*/\n";
  page += uplot_part();
  page += "</script>\n";
  for (const auto part :
       {run_part(), charts_part(), slots_part(), parallel_part(), table_part(), main_part()}) {
    page += "<script>\n";
    page += part;
    page += "</script>\n";
  }
  return page;
}

void write_report(const std::filesystem::path& file, std::span<const RunReport> runs) {
  write_atomically(file, report_page(runs, core::now()));
}

}  // namespace evolve::results
