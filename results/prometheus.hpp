// metrics.prom: how a run stands, for Prometheus.
//
// In its text format, so that node_exporter's textfile collector can hand it on: no server of our
// own, and no port.
#pragma once

#include <filesystem>
#include <string>

#include "results/report.hpp"

namespace evolve::results {

/// The figures of a run (docs/export.md has a list), each labelled with its name.
std::string prometheus_text(const RunReport& run);

/// Replaces `file` by that text, atomically. Throws `Error` when it cannot be written.
void write_prometheus(const std::filesystem::path& file, const RunReport& run);

}  // namespace evolve::results
