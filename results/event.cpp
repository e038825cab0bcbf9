#include "results/event.hpp"

#include <limits>
#include <stdexcept>

namespace evolve::results {

namespace {

using Json = nlohmann::ordered_json;

const Json& value(const Json& json, const char* key) {
  const auto it = json.find(key);
  if (it == json.end()) throw std::invalid_argument(std::string("key ") + key + " is missing");
  return *it;
}

int integer(const Json& json, const char* key) {
  const Json& number = value(json, key);
  constexpr auto most = std::numeric_limits<int>::max();
  if (!number.is_number_integer() || number < -most || number > most)
    throw std::invalid_argument(std::string(key) + " is no whole number");
  return number.get<int>();
}

std::string text(const Json& json, const char* key) {
  const Json& string = value(json, key);
  if (!string.is_string()) throw std::invalid_argument(std::string(key) + " is no text");
  return string.get<std::string>();
}

/// JSON has no NaN: a fitness that isn't finite is null.
double number(const Json& json, const char* key) {
  const Json& number = value(json, key);
  if (number.is_null()) return std::numeric_limits<double>::quiet_NaN();
  if (!number.is_number()) throw std::invalid_argument(std::string(key) + " is no number");
  return number.get<double>();
}

/// An extension of a run has its new bounds.
void check_extended(const Json& json) {
  integer(json, "generations");
  if (!value(json, "trials").is_null()) integer(json, "trials");
  if (json.contains("repeats")) integer(json, "repeats");
}

Started started_from_json(const Json& json) {
  return {.trial = integer(json, "trial"),
          .generation = integer(json, "generation"),
          .hyp = hyp::hyperparameters_from_json(value(json, "hyp")),
          .device = text(json, "device"),
          .attempt = integer(json, "attempt")};
}

hyp::Rung rung_from_json(const Json& json) {
  return {.trial = integer(json, "trial"),
          .epoch = integer(json, "epoch"),
          .metrics = hyp::metrics_from_json(value(json, "metrics")),
          .fitness = number(json, "fitness"),
          .device = text(json, "device")};
}

hyp::Outcome outcome_from_json(const Json& json, const std::string& event) {
  hyp::Outcome outcome{.trial = integer(json, "trial"), .device = text(json, "device")};
  if (json.contains("attempt")) outcome.attempt = integer(json, "attempt");
  if (json.contains("seconds")) outcome.seconds = number(json, "seconds");
  outcome.repeat = event == "repeated" || event == "repeat_failed";
  if (event == "failed" || event == "repeat_failed") {
    const Json& final = value(json, "final");
    if (!final.is_boolean()) throw std::invalid_argument("final is neither true nor false");
    outcome.result = hyp::Failed{.kind = hyp::failure_kind(text(json, "kind")),
                                 .message = text(json, "message"),
                                 .log = text(json, "log"),
                                 .final = final.get<bool>(),
                                 .failed_before_ready = json.value("failed_before_ready", false)};
    return outcome;
  }
  const auto metrics = hyp::metrics_from_json(value(json, "metrics"));
  const double fitness = number(json, "fitness");
  if (event == "completed" || event == "repeated") {
    outcome.result = hyp::Completed{.metrics = metrics, .fitness = fitness};
  } else {
    outcome.result =
        hyp::Stopped{.epoch = integer(json, "epoch"), .metrics = metrics, .fitness = fitness};
  }
  return outcome;
}

}  // namespace

Json to_json(const Started& started) {
  return {{"event", "started"},
          {"trial", started.trial},
          {"generation", started.generation},
          {"hyp", hyp::to_json(started.hyp)},
          {"device", started.device},
          {"attempt", started.attempt}};
}

Json to_json(const Repeating& repeating) {
  return {{"event", "repeating"},
          {"trial", repeating.trial},
          {"seed", repeating.seed},
          {"device", repeating.device},
          {"attempt", repeating.attempt}};
}

Json to_json(const hyp::Rung& rung) {
  return {{"event", "rung"},         {"trial", rung.trial},
          {"epoch", rung.epoch},     {"metrics", hyp::to_json(rung.metrics)},
          {"fitness", rung.fitness}, {"device", rung.device}};
}

Json to_json(const hyp::Outcome& outcome) {
  Json json = {{"event", ""}, {"trial", outcome.trial}};
  if (const auto* failed = std::get_if<hyp::Failed>(&outcome.result)) {
    json["event"] = outcome.repeat ? "repeat_failed" : "failed";
    json["kind"] = hyp::name_of(failed->kind);
    json["message"] = failed->message;
    json["log"] = failed->log;
    if (failed->failed_before_ready) json["failed_before_ready"] = true;
  } else if (const auto* stopped = std::get_if<hyp::Stopped>(&outcome.result)) {
    json["event"] = "stopped";
    json["epoch"] = stopped->epoch;
    json["metrics"] = hyp::to_json(stopped->metrics);
    json["fitness"] = stopped->fitness;
  } else {
    const auto& completed = std::get<hyp::Completed>(outcome.result);
    json["event"] = outcome.repeat ? "repeated" : "completed";
    json["metrics"] = hyp::to_json(completed.metrics);
    json["fitness"] = completed.fitness;
  }
  json["device"] = outcome.device;
  json["attempt"] = outcome.attempt;
  if (const auto* failed = std::get_if<hyp::Failed>(&outcome.result)) json["final"] = failed->final;
  json["seconds"] = outcome.seconds;
  return json;
}

Event event_from_json(const Json& json) {
  if (!json.is_object()) throw std::invalid_argument("this is no JSON object");
  const std::string event = text(json, "event");
  if (event == "started") return started_from_json(json);
  if (event == "rung") return rung_from_json(json);
  if (event == "completed" || event == "stopped" || event == "failed" || event == "repeated" ||
      event == "repeat_failed") {
    return outcome_from_json(json, event);
  }
  if (event == "extended") check_extended(json);
  return Other{json};
}

}  // namespace evolve::results
