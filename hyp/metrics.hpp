// The seven numbers that a training is judged by.
#pragma once

#include <array>
#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

namespace evolve::hyp {

/// The seven numbers of a training's last epoch, in the order of evolve.csv's columns.
struct Metrics {
  double precision = 0;
  double recall = 0;
  double map50 = 0;
  double map50_95 = 0;
  double box_loss = 0;
  double obj_loss = 0;
  double cls_loss = 0;

  static constexpr std::size_t count = 7;
  /// Column names: "metrics/precision", … "val/cls_loss".
  static const std::array<std::string, count>& names();
  std::array<double, count> values() const;
  static Metrics from_values(const std::array<double, count>& values);
  bool operator==(const Metrics&) const = default;
};

/// Whether all seven are finite.
bool is_finite(const Metrics& metrics);
/// The place of the first that is not; nothing: all are.
std::optional<std::size_t> first_not_finite(const Metrics& metrics);
/// {"metrics/precision": 0.5, …}
nlohmann::ordered_json to_json(const Metrics& metrics);
/// Throws std::invalid_argument that names the metric which is missing, no number or not finite.
Metrics metrics_from_json(const nlohmann::ordered_json& json);

}  // namespace evolve::hyp
