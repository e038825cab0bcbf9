#include "cli/train/training_screen.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/utf8.hpp"

namespace evolve::cli {
namespace {

std::string class_line(const std::string& name, int images, int labels, double precision,
                       double recall, double map50, double map50_95) {
  return fmt::format("{:>20}{:>10}{:>10}{:>10.3g}{:>10.3g}{:>10.3g}{:>10.3g}", name, images, labels,
                     precision, recall, map50, map50_95);
}

nlohmann::ordered_json scores(double precision, double recall, double map50, double map50_95) {
  return {
      {"precision", precision}, {"recall", recall}, {"mAP_0.5", map50}, {"mAP_0.5:0.95", map50_95}};
}

/// The name, or with the first free number from 2 on: "cell (2)".
std::string free_key(const nlohmann::ordered_json& object, const std::string& name) {
  auto key = name;
  for (int number = 2; object.contains(key); ++number) key = fmt::format("{} ({})", name, number);
  return key;
}

}  // namespace

std::string clock_text(double seconds) {
  const auto s = std::lround(std::max(0.0, seconds));
  if (s >= 3600) return fmt::format("{}:{:02}:{:02}", s / 3600, s % 3600 / 60, s % 60);
  return fmt::format("{:02}:{:02}", s / 60, s % 60);
}

std::string epoch_header() {
  return fmt::format("{:>8}{:>8}{:>10}{:>10}{:>10}{:>10}{:>5}", "Epoch", "GPU_mem", "box_loss",
                     "obj_loss", "cls_loss", "Instances", "Size");
}

std::string epoch_text(const workers::BatchReport& batch, int epochs) {
  const auto& losses = batch.losses;
  return fmt::format("{:>8}{:>8}{:>10.4g}{:>10.4g}{:>10.4g}{:>10}{:>5}",
                     fmt::format("{}/{}", batch.epoch - 1, epochs - 1),
                     fmt::format("{:.3g}G", static_cast<double>(batch.memory_bytes) / 1e9),
                     losses.box, losses.obj, losses.cls, batch.labels, batch.imgsz);
}

std::string preparing_text(const workers::Alive& alive) {
  return alive.preparing.empty() ? "" : "preparing " + core::excerpt(alive.preparing);
}

std::string progress_text(int done, int of, double seconds) {
  return fmt::format("  {}/{} {}", done, of, clock_text(seconds));
}

std::string class_header() {
  return fmt::format("{:>20}{:>10}{:>10}{:>10}{:>10}{:>10}{:>10}", "Class", "Images", "Labels", "P",
                     "R", "mAP50", "mAP50-95");
}

std::string class_text(const hyp::Metrics& m, int images, int labels) {
  return class_line("all", images, labels, m.precision, m.recall, m.map50, m.map50_95);
}

std::vector<std::string> class_table(const workers::ValidationReport& validation) {
  std::vector<std::string> lines = {
      class_header(), class_text(validation.metrics, validation.images, validation.labels)};
  for (const auto& one : validation.classes)
    lines.push_back(class_line(one.name, validation.images, one.labels, one.precision, one.recall,
                               one.map50, one.map50_95));
  return lines;
}

nlohmann::ordered_json to_json(const workers::ValidationReport& validation) {
  const auto& m = validation.metrics;
  auto json = scores(m.precision, m.recall, m.map50, m.map50_95);
  json["images"] = validation.images;
  json["labels"] = validation.labels;
  auto classes = nlohmann::ordered_json::object();
  for (const auto& one : validation.classes) {
    auto& entry = classes[free_key(classes, one.name)];
    entry = scores(one.precision, one.recall, one.map50, one.map50_95);
    entry["labels"] = one.labels;
  }
  json["classes"] = std::move(classes);
  return json;
}

}  // namespace evolve::cli
