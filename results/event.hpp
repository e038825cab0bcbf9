// What the journal records, as values and as JSON. The keys are a contract with scripts that read
// it.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <variant>

#include "hyp/rung.hpp"
#include "hyp/trial.hpp"

namespace evolve::results {

/// An attempt at a trial began.
struct Started {
  int trial = 0;
  int generation = 0;
  hyp::Hyperparameters hyp = {};
  /// Name of the slot: "cpu:0".
  std::string device = {};
  /// From 1.
  int attempt = 1;

  bool operator==(const Started&) const = default;
};

/// An attempt at a repeat of a completed trial began. Resuming needs nothing of it: read back, it
/// is an `Other`.
struct Repeating {
  int trial = 0;
  std::uint64_t seed = 0;
  std::string device = {};
  /// From 1.
  int attempt = 1;
};

/// An event of a name that this version doesn't know.
struct Other {
  nlohmann::ordered_json json;
};

/// Anything after the first line.
using Event = std::variant<Started, hyp::Rung, hyp::Outcome, Other>;

/// {"event":"started","trial":17,"generation":1,"hyp":{…},"device":"cpu:0","attempt":1}
nlohmann::ordered_json to_json(const Started& started);
/// {"event":"repeating","trial":17,"seed":123,"device":"cpu:0","attempt":1}
nlohmann::ordered_json to_json(const Repeating& repeating);
/// {"event":"rung","trial":17,"epoch":3,"metrics":{…},"fitness":0.2,"device":"cpu:0"}. A fitness
/// that isn't finite becomes null.
nlohmann::ordered_json to_json(const hyp::Rung& rung);
/// {"event":"completed" | "stopped" | "failed", "trial":17, …}, of a repeat "repeated" or
/// "repeat_failed". A fitness that isn't finite becomes null.
nlohmann::ordered_json to_json(const hyp::Outcome& outcome);
/// The inverse of all. Throws std::exception that says which key is missing or wrong.
Event event_from_json(const nlohmann::ordered_json& json);

}  // namespace evolve::results
