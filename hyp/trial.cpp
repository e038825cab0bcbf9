#include "hyp/trial.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace evolve::hyp {

namespace {

const std::array<std::string, 9> failure_names = {
    "crash", "timeout", "hang", "protocol", "oom", "diverged", "device_lost", "data", "other"};

}  // namespace

const std::array<std::string, Metrics::count>& Metrics::names() {
  static const std::array<std::string, count> names = {
      "metrics/precision", "metrics/recall", "metrics/mAP_0.5", "metrics/mAP_0.5:0.95",
      "val/box_loss",      "val/obj_loss",   "val/cls_loss"};
  return names;
}

std::array<double, Metrics::count> Metrics::values() const {
  return {precision, recall, map50, map50_95, box_loss, obj_loss, cls_loss};
}

Metrics Metrics::from_values(const std::array<double, count>& values) {
  return {.precision = values[0],
          .recall = values[1],
          .map50 = values[2],
          .map50_95 = values[3],
          .box_loss = values[4],
          .obj_loss = values[5],
          .cls_loss = values[6]};
}

bool is_finite(const Metrics& metrics) {
  return std::ranges::all_of(metrics.values(), [](double value) { return std::isfinite(value); });
}

nlohmann::ordered_json to_json(const Metrics& metrics) {
  auto json = nlohmann::ordered_json::object();
  const auto values = metrics.values();
  for (std::size_t i = 0; i < Metrics::count; ++i) json[Metrics::names()[i]] = values[i];
  return json;
}

Metrics metrics_from_json(const nlohmann::ordered_json& json) {
  std::array<double, Metrics::count> values{};
  for (std::size_t i = 0; i < Metrics::count; ++i) {
    const auto& name = Metrics::names()[i];
    if (!json.is_object() || !json.contains(name)) {
      throw std::invalid_argument("metric " + name + " is missing");
    }
    const auto& value = json.at(name);
    if (value == "NaN" || value == "Infinity" || value == "-Infinity")
      throw std::invalid_argument("metric " + name + " is not finite");
    if (!value.is_number()) throw std::invalid_argument("metric " + name + " is no number");
    values[i] = value.get<double>();
    if (!std::isfinite(values[i])) throw std::invalid_argument("metric " + name + " is not finite");
  }
  return Metrics::from_values(values);
}

const std::string& name_of(FailureKind kind) {
  return failure_names.at(static_cast<std::size_t>(kind));
}

FailureKind failure_kind(const std::string& name) {
  const auto it = std::find(failure_names.begin(), failure_names.end(), name);
  if (it == failure_names.end()) return FailureKind::other;
  return static_cast<FailureKind>(it - failure_names.begin());
}

bool is_unexplained(FailureKind kind) {
  constexpr std::array kinds = {FailureKind::crash, FailureKind::timeout, FailureKind::hang,
                                FailureKind::protocol, FailureKind::other};
  return std::ranges::find(kinds, kind) != kinds.end();
}

bool ends_trial(const Outcome& outcome) {
  const auto* failed = std::get_if<Failed>(&outcome.result);
  return failed ? failed->final : !std::holds_alternative<Paused>(outcome.result);
}

int reached_epoch(const Outcome& outcome, int epochs) {
  if (const auto* stopped = std::get_if<Stopped>(&outcome.result)) return stopped->epoch;
  if (const auto* paused = std::get_if<Paused>(&outcome.result)) return paused->epoch;
  if (const auto* failed = std::get_if<Failed>(&outcome.result)) return failed->epoch;
  return epochs;
}

}  // namespace evolve::hyp
