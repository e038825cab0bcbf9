#include "results/outcome_json.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "results/keys.hpp"

namespace evolve::results {
namespace {

using Json = nlohmann::ordered_json;

std::string event_of(const hyp::Outcome& outcome) {
  const bool is_repeat = outcome.repeat != 0;
  if (std::holds_alternative<hyp::Failed>(outcome.result))
    return is_repeat ? "repeat_failed" : "failed";
  if (std::holds_alternative<hyp::Stopped>(outcome.result)) return "stopped";
  if (std::holds_alternative<hyp::Paused>(outcome.result)) return "paused";
  return is_repeat ? "repeated" : "completed";
}

/// What a failure may be besides, by its name in the journal, where false is left out.
constexpr std::pair<const char*, bool hyp::Failed::*> flags[] = {
    {"failed_before_ready", &hyp::Failed::failed_before_ready},
    {"not_started", &hyp::Failed::not_started},
    {"surroundings", &hyp::Failed::of_surroundings},
    {"excused", &hyp::Failed::excused},
    {"unconfirmed", &hyp::Failed::unconfirmed}};

void add_result(Json& json, const hyp::Failed& failed) {
  json["kind"] = hyp::name_of(failed.kind);
  json["message"] = failed.message;
  json["log"] = failed.log;
  for (const auto& [name, flag] : flags)
    if (failed.*flag) json[name] = true;
  if (failed.epoch > 0) json["epoch"] = failed.epoch;
}

void add_result(Json& json, const auto& trained) {
  if constexpr (requires { trained.epoch; }) json["epoch"] = trained.epoch;
  json["metrics"] = hyp::to_json(trained.metrics);
  json["fitness"] = trained.fitness;
}

hyp::Failed failed_from_json(const Json& json) {
  const bool final = keys::flag(json, "final");
  hyp::Failed failed{.kind = hyp::failure_kind(keys::text(json, "kind")),
                     .message = keys::text(json, "message"),
                     .log = keys::text(json, "log"),
                     .final = final,
                     // The names that version 0.1 wrote.
                     .failed_before_ready = json.value("never_ready", false),
                     .excused = json.value("taken_away", false),
                     .epoch = json.contains("epoch") ? keys::integer(json, "epoch") : 0};
  for (const auto& [name, flag] : flags) failed.*flag = json.value(name, failed.*flag);
  return failed;
}

}  // namespace

bool is_outcome(const std::string& event) {
  constexpr std::array events = {"completed", "stopped",  "paused",
                                 "failed",    "repeated", "repeat_failed"};
  return std::ranges::find(events, event) != events.end();
}

Json json_of(const hyp::Outcome& outcome) {
  Json json = {{"event", event_of(outcome)}, {"trial", outcome.trial}};
  if (outcome.repeat > 0) json["repeat"] = outcome.repeat;
  std::visit([&](const auto& result) { add_result(json, result); }, outcome.result);
  json["device"] = outcome.device;
  json["attempt"] = outcome.attempt;
  if (const auto* failed = std::get_if<hyp::Failed>(&outcome.result)) json["final"] = failed->final;
  json["seconds"] = outcome.seconds;
  if (outcome.prepared > 0) json["prepared"] = outcome.prepared;
  const auto& [uuid, pci] = outcome.identity;
  if (!uuid.empty()) json["uuid"] = uuid;
  if (!pci.empty()) json["pci"] = pci;
  return json;
}

hyp::Outcome outcome_from_json(const Json& json, const std::string& event) {
  hyp::Outcome outcome{.trial = keys::integer(json, "trial"), .device = keys::text(json, "device")};
  if (json.contains("attempt")) outcome.attempt = keys::integer(json, "attempt");
  if (json.contains("seconds")) outcome.seconds = keys::number(json, "seconds");
  if (json.contains("prepared")) outcome.prepared = keys::number(json, "prepared");
  if (json.contains("uuid")) outcome.identity.uuid = keys::text(json, "uuid");
  if (json.contains("pci")) outcome.identity.pci = keys::text(json, "pci");
  const bool is_repeat = event == "repeated" || event == "repeat_failed";
  outcome.repeat = is_repeat ? json.value("repeat", 1) : 0;
  if (event == "failed" || event == "repeat_failed") {
    outcome.result = failed_from_json(json);
    return outcome;
  }
  const auto metrics = hyp::metrics_from_json(keys::value(json, "metrics"));
  const double fitness = keys::number(json, "fitness");
  if (event == "completed" || event == "repeated") {
    outcome.result = hyp::Completed{.metrics = metrics, .fitness = fitness};
  } else if (event == "paused") {
    outcome.result =
        hyp::Paused{.epoch = keys::integer(json, "epoch"), .metrics = metrics, .fitness = fitness};
  } else {
    outcome.result =
        hyp::Stopped{.epoch = keys::integer(json, "epoch"), .metrics = metrics, .fitness = fitness};
  }
  return outcome;
}

}  // namespace evolve::results
