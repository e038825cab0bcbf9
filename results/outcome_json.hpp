// How a trial's end is a line of the journal. Nobody outside this folder needs it.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "hyp/outcome.hpp"

namespace evolve::results {

/// Whether an event of this name is an end: "completed", "stopped", "paused" or "failed", of a
/// repeat "repeated" or "repeat_failed".
bool is_outcome(const std::string& event);

nlohmann::ordered_json json_of(const hyp::Outcome& outcome);
/// The inverse, for an event of this name. Throws std::exception that says which key is missing or
/// wrong.
hyp::Outcome outcome_from_json(const nlohmann::ordered_json& json, const std::string& event);

}  // namespace evolve::results
