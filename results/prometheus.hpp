// metrics.prom: how a run stands, for Prometheus.
//
// In its text format, so that node_exporter's textfile collector can hand it on: no server of our
// own, and no port.
#pragma once

#include <filesystem>
#include <string>

#include "results/report.hpp"

namespace evolve::results {

/// The figures of a run (docs/export.md has a list), each labelled with its name. `going_on`:
/// evolve is at work on it; else nothing is being trained, whatever was under way when it ended.
std::string prometheus_text(const RunReport& run, bool going_on);

/// Replaces `file` by that text, atomically. Throws `Error` when it cannot be written.
void write_prometheus(const std::filesystem::path& file, const RunReport& run, bool going_on);

}  // namespace evolve::results
