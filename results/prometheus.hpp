// metrics.prom: how a run stands, for Prometheus.
//
// In its text format, so that node_exporter's textfile collector can hand it on: no server of our
// own, and no port.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "results/report.hpp"

namespace evolve::results {

/// The figures of a run (docs/export.md has a list), each with the label `run`, which tells it from
/// others on the machine.
std::string prometheus_text(const RunReport& run, std::string_view label);

/// Replaces `file` by that text, atomically. Throws `Error` when it cannot be written.
void write_prometheus(const std::filesystem::path& file, const RunReport& run,
                      std::string_view label);

}  // namespace evolve::results
