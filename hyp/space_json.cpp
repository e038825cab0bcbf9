#include <nlohmann/json.hpp>
#include <stdexcept>

#include "hyp/space.hpp"

namespace evolve::hyp {

nlohmann::ordered_json to_json(const Space& space) {
  auto json = nlohmann::ordered_json::object();
  for (const Gene& gene : space.genes) {
    auto& entry = json[gene.name] = nlohmann::ordered_json::object();
    if (is_categorical(gene)) {
      entry["choices"] = gene.choices;
    } else {
      if (gene.kind == Gene::Kind::integer) entry["type"] = "int";
      entry["low"] = gene.low;
      entry["high"] = gene.high;
      if (gene.scale == Gene::Scale::log) entry["scale"] = "log";
    }
    if (!gene.evolve) entry["evolve"] = false;
    entry["start"] = gene.start;
  }
  return json;
}

Space space_from_json(const nlohmann::ordered_json& json) {
  Space space;
  for (const auto& [name, entry] : json.get_ref<const nlohmann::ordered_json::object_t&>()) {
    Gene gene{.name = name};
    if (entry.contains("choices")) {
      gene.kind = Gene::Kind::categorical;
      gene.choices = entry.at("choices").get<std::vector<std::string>>();
      gene.high = static_cast<double>(gene.choices.size()) - 1;
    } else {
      if (entry.value("type", "float") == "int") gene.kind = Gene::Kind::integer;
      gene.low = entry.at("low").get<double>();
      gene.high = entry.at("high").get<double>();
      if (entry.value("scale", "linear") == "log") gene.scale = Gene::Scale::log;
    }
    gene.evolve = entry.value("evolve", true);
    gene.start = entry.at("start").get<double>();
    if (!is_sound(gene)) throw std::invalid_argument("the bounds of " + name + " make no sense");
    space.genes.push_back(std::move(gene));
  }
  return space;
}

}  // namespace evolve::hyp
