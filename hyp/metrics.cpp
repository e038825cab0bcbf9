#include "hyp/metrics.hpp"

#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "core/json.hpp"

namespace evolve::hyp {

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

std::optional<std::size_t> first_not_finite(const Metrics& metrics) {
  const auto values = metrics.values();
  for (std::size_t i = 0; i < values.size(); ++i)
    if (!std::isfinite(values[i])) return i;
  return {};
}

bool is_finite(const Metrics& metrics) {
  return !first_not_finite(metrics);
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
    if (core::is_quoted_nan(value))
      throw std::invalid_argument("metric " + name + " is not finite");
    if (!value.is_number()) throw std::invalid_argument("metric " + name + " is no number");
    values[i] = value.get<double>();
    if (!std::isfinite(values[i])) throw std::invalid_argument("metric " + name + " is not finite");
  }
  return Metrics::from_values(values);
}

}  // namespace evolve::hyp
