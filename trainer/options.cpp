#include "trainer/options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "hyp/space.hpp"

namespace evolve::trainer {
namespace {

constexpr const char* inputs_key = "inputs";

/// Calls `visit(name, member)` for every option but `inputs`: the one list of their names.
template <class Options, class Visit>
void for_each_option(Options& options, Visit visit) {
  visit("data", options.data);
  visit("folder", options.folder);
  visit("cfg", options.cfg);
  visit("weights", options.weights);
  visit("epochs", options.epochs);
  visit("batch_size", options.batch_size);
  visit("imgsz", options.imgsz);
  visit("optimizer", options.optimizer);
  visit("cos_lr", options.cos_lr);
  visit("label_smoothing", options.label_smoothing);
  visit("single_cls", options.single_cls);
  visit("rect", options.rect);
  visit("noautoanchor", options.noautoanchor);
  visit("workers", options.workers);
  visit("freeze", options.freeze);
  visit("image_weights", options.image_weights);
  visit("multi_scale", options.multi_scale);
  visit("restart_epochs", options.restart_epochs);
  visit("restart_factor", options.restart_factor);
  visit("cache", options.cache);
  visit("fraction", options.fraction);
  visit("skip_bad", options.skip_bad);
  visit("amp", options.amp);
  visit("patience", options.patience);
  visit("conf", options.conf);
  visit("iou", options.iou);
  visit("save", options.save);
}

void write(nlohmann::ordered_json& json, const auto& value) {
  json = value;
}

void write(nlohmann::ordered_json& json, const std::vector<int>& layers) {
  if (layers.size() == 1)
    json = layers.front();
  else
    json = layers;
}

void read(const nlohmann::ordered_json& json, auto& value) {
  json.get_to(value);
}

void read(const nlohmann::ordered_json& json, std::vector<int>& layers) {
  if (json.is_number())
    layers = {json.get<int>()};
  else
    json.get_to(layers);
}

}  // namespace

nlohmann::ordered_json to_json(const TrainOptions& options) {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  for_each_option(options, [&](const char* name, const auto& value) { write(json[name], value); });
  if (!options.inputs.is_null()) json[inputs_key] = options.inputs;
  return json;
}

TrainOptions train_options_from_json(const nlohmann::ordered_json& json) {
  TrainOptions options;
  for_each_option(options, [&](const char* name, auto& value) {
    if (const auto it = json.find(name); it != json.end()) read(*it, value);
  });
  if (const auto it = json.find(inputs_key); it != json.end()) options.inputs = *it;
  return options;
}

bool is_frozen(const std::vector<int>& freeze, int layer) {
  return freeze.size() == 1 ? layer < freeze.front() : std::ranges::count(freeze, layer) > 0;
}

std::string optimizer_name(const TrainOptions& options, const hyp::Hyperparameters& hyp) {
  const hyp::Value* value = hyp.find("optimizer");
  return value ? std::get<std::string>(*value) : options.optimizer;
}

bool is_known(const std::string& hyperparameter) {
  return hyperparameter == "optimizer" || hyp::default_space().find(hyperparameter);
}

std::optional<std::string> fault_of(const std::string& hyperparameter, const hyp::Value& value) {
  const auto* number = std::get_if<double>(&value);
  if (hyperparameter == "optimizer") {
    const auto* name = std::get_if<std::string>(&value);
    if (name && std::ranges::count(optimizers, *name) > 0) return {};
    return std::string("optimizer is ") + optimizers_text;
  }
  if (!number) return hyperparameter + " is a number";
  const double count = std::nearbyint(*number);
  if (hyperparameter == "anchors" && !(count >= 0 && count <= most_anchors))
    return fmt::format("anchors are 1 to {}, or 0: the model's own", most_anchors);
  if ((hyperparameter == "lr0" || hyperparameter == "weight_decay") && !(*number >= 0))
    return hyperparameter + " is 0 or more";
  if (hyperparameter == "momentum" && !(*number >= 0 && *number <= 1))
    return "momentum (of Adam its first beta) is 0 to 1";
  if (hyperparameter == "anchor_t" && !(*number >= 1))
    return "anchor_t is a ratio of sides, 1 or more";
  if (hyperparameter == "copy_paste" && !(*number >= 0 && *number <= 1))
    return "copy_paste is a share of the objects, 0 to 1";
  return {};
}

}  // namespace evolve::trainer
