#include "results/run_settings.hpp"

#include "core/json.hpp"
#include "results/keys.hpp"

namespace evolve::results {

using Json = nlohmann::ordered_json;

namespace {

Json to_json(const EarlierRun& earlier) {
  auto trials = Json::array();
  for (const auto& trial : earlier.trials)
    trials.push_back(
        {{"hyp", hyp::to_json(trial.hyp)}, {"fitness", core::json_or_null(trial.fitness)}});
  return {{"run", earlier.run},
          {"trials", trials},
          {"outside", earlier.outside},
          {"unnamed", earlier.unnamed}};
}

EarlierRun earlier_run_from_json(const Json& json) {
  EarlierRun earlier{.run = keys::text(json, "run"),
                     .outside = json.value("outside", 0),
                     .unnamed = json.value("unnamed", 0)};
  for (const auto& trial : keys::value(json, "trials")) {
    earlier.trials.push_back({hyp::hyperparameters_from_json(keys::value(trial, "hyp")),
                              core::value_or_nothing<double>(keys::value(trial, "fitness"))});
  }
  return earlier;
}

}  // namespace

Json to_json(const RunSettings& settings) {
  auto options = settings.options;
  options["population"] = settings.population;
  options["generations"] = settings.generations;
  options["trials"] = core::json_or_null(settings.trials);
  options["max_epochs"] = core::json_or_null(settings.max_epochs);
  options["epochs"] = settings.epochs;
  options["early_stop"] = settings.early_stop;
  options["repeats"] = settings.repeats;
  options["fitness"] = settings.fitness;
  options["lag"] = core::json_or_null(settings.lag);
  auto initial = Json::array();
  for (const auto& set : settings.initial) initial.push_back(hyp::to_json(set));
  auto earlier = Json::array();
  for (const auto& run : settings.earlier) earlier.push_back(to_json(run));
  // With one slot every earlier outcome is known.
  const auto lag =
      settings.slots.size() == 1 ? std::optional(settings.lag.value_or(1)) : settings.lag;
  Json json{{"seed", settings.seed},
            {"search", settings.search},
            {"lag", core::json_or_null(lag)},
            {"slots", settings.slots},
            {"options", options},
            {"space", hyp::to_json(settings.space)},
            {"start", hyp::to_json(hyp::start_of(settings.space))},
            {"initial", initial},
            {"from", earlier},
            {"inputs", settings.inputs}};
  if (!settings.identities.empty()) json["identities"] = settings.identities;
  return json;
}

RunSettings run_settings_from_json(const Json& json) {
  const Json& options = keys::value(json, "options");
  RunSettings settings{.seed = keys::natural(json, "seed"),
                       .search = keys::text(json, "search"),
                       .lag = keys::integer_or_null(options, "lag"),
                       .population = keys::integer(options, "population"),
                       .generations = keys::integer(options, "generations"),
                       .trials = keys::integer_or_null(options, "trials"),
                       .max_epochs = keys::optional<int>(options, "max_epochs"),
                       .repeats = options.value("repeats", 0),
                       .epochs = options.value("epochs", 1),
                       .early_stop = options.value("early_stop", true),
                       .fitness = keys::text(options, "fitness"),
                       .slots = keys::value(json, "slots").get<std::vector<std::string>>(),
                       .identities = json.value("identities", std::vector<std::string>()),
                       .space = hyp::space_from_json(keys::value(json, "space")),
                       .inputs = json.value("inputs", Json()),
                       .options = options};
  for (const auto& set : keys::value(json, "initial"))
    settings.initial.push_back(hyp::hyperparameters_from_json(set));
  for (const auto& run : json.value("from", Json::array()))
    settings.earlier.push_back(earlier_run_from_json(run));
  return settings;
}

}  // namespace evolve::results
