#include "results/event.hpp"

#include <limits>
#include <stdexcept>

#include "core/json.hpp"

namespace evolve::results {

namespace {

using Json = nlohmann::ordered_json;

const Json& value(const Json& json, const char* key) {
  const auto it = json.find(key);
  if (it == json.end()) throw std::invalid_argument(std::string("key ") + key + " is missing");
  return *it;
}

bool has(const Json& json, const char* key) {
  const auto it = json.find(key);
  return it != json.end() && !it->is_null();
}

int integer(const Json& json, const char* key) {
  const Json& number = value(json, key);
  constexpr auto most = std::numeric_limits<int>::max();
  if (!number.is_number_integer() || number < -most || number > most)
    throw std::invalid_argument(std::string(key) + " is no whole number");
  return number.get<int>();
}

std::optional<int> integer_or_null(const Json& json, const char* key) {
  return value(json, key).is_null() ? std::nullopt : std::optional(integer(json, key));
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

bool flag(const Json& json, const char* key) {
  const Json& flag = value(json, key);
  if (!flag.is_boolean())
    throw std::invalid_argument(std::string(key) + " is neither true nor false");
  return flag.get<bool>();
}

template <class T>
std::optional<T> optional(const Json& json, const char* key) {
  return has(json, key) ? std::optional(value(json, key).get<T>()) : std::nullopt;
}

Started started_from_json(const Json& json) {
  return {.trial = integer(json, "trial"),
          .generation = integer(json, "generation"),
          .hyp = hyp::hyperparameters_from_json(value(json, "hyp")),
          .device = text(json, "device"),
          .attempt = integer(json, "attempt"),
          .start_epoch = json.contains("start_epoch") ? integer(json, "start_epoch") : 0,
          .pause_epoch = json.contains("pause_epoch") ? integer(json, "pause_epoch") : 0};
}

hyp::Rung rung_from_json(const Json& json) {
  return {.trial = integer(json, "trial"),
          .epoch = integer(json, "epoch"),
          .metrics = hyp::metrics_from_json(value(json, "metrics")),
          .fitness = number(json, "fitness"),
          .device = text(json, "device")};
}

hyp::Failed failed_from_json(const Json& json) {
  const bool final = flag(json, "final");
  // "never_ready" is what version 0.1 wrote.
  const bool failed_before_ready =
      json.value("failed_before_ready", json.value("never_ready", false));
  return {.kind = hyp::failure_kind(text(json, "kind")),
          .message = text(json, "message"),
          .log = text(json, "log"),
          .final = final,
          .failed_before_ready = failed_before_ready,
          .of_surroundings = json.value("surroundings", false),
          .unconfirmed = json.value("unconfirmed", false),
          .epoch = json.contains("epoch") ? integer(json, "epoch") : 0};
}

hyp::Outcome outcome_from_json(const Json& json, const std::string& event) {
  hyp::Outcome outcome{.trial = integer(json, "trial"), .device = text(json, "device")};
  if (json.contains("attempt")) outcome.attempt = integer(json, "attempt");
  if (json.contains("seconds")) outcome.seconds = number(json, "seconds");
  if (json.contains("uuid")) outcome.identity.uuid = text(json, "uuid");
  if (json.contains("pci")) outcome.identity.pci = text(json, "pci");
  const bool again = event == "repeated" || event == "repeat_failed";
  outcome.repeat = again ? json.value("repeat", 1) : 0;
  if (event == "failed" || event == "repeat_failed") {
    outcome.result = failed_from_json(json);
    return outcome;
  }
  const auto metrics = hyp::metrics_from_json(value(json, "metrics"));
  const double fitness = number(json, "fitness");
  if (event == "completed" || event == "repeated") {
    outcome.result = hyp::Completed{.metrics = metrics, .fitness = fitness};
  } else if (event == "paused") {
    outcome.result =
        hyp::Paused{.epoch = integer(json, "epoch"), .metrics = metrics, .fitness = fitness};
  } else {
    outcome.result =
        hyp::Stopped{.epoch = integer(json, "epoch"), .metrics = metrics, .fitness = fitness};
  }
  return outcome;
}

Extended extended_from_json(const Json& json) {
  Extended extended{.generations = integer(json, "generations"),
                    .trials = integer_or_null(json, "trials")};
  if (json.contains("repeats")) extended.repeats = integer(json, "repeats");
  if (json.contains("max_epochs")) extended.max_epochs = integer(json, "max_epochs");
  return extended;
}

DeviceStats stats_from_json(const Json& json) {
  return {.device = text(json, "device"),
          .state = text(json, "state"),
          .memory_total_bytes = optional<std::int64_t>(json, "memory_total_bytes"),
          .memory_free_bytes = optional<std::int64_t>(json, "memory_free_bytes"),
          .load_percent = optional<double>(json, "load_percent"),
          .temperature_celsius = optional<double>(json, "temperature_celsius"),
          .power_watts = optional<double>(json, "power_watts")};
}

Json json_of(const Started& started) {
  Json json = {{"event", "started"},
               {"trial", started.trial},
               {"generation", started.generation},
               {"hyp", hyp::to_json(started.hyp)},
               {"device", started.device},
               {"attempt", started.attempt}};
  if (started.start_epoch > 0) json["start_epoch"] = started.start_epoch;
  if (started.pause_epoch > 0) json["pause_epoch"] = started.pause_epoch;
  return json;
}

Json json_of(const Repeating& repeating) {
  return {{"event", "repeating"},   {"trial", repeating.trial},   {"repeat", repeating.repeat},
          {"seed", repeating.seed}, {"device", repeating.device}, {"attempt", repeating.attempt}};
}

Json json_of(const hyp::Rung& rung) {
  return {{"event", "rung"},         {"trial", rung.trial},
          {"epoch", rung.epoch},     {"metrics", hyp::to_json(rung.metrics)},
          {"fitness", rung.fitness}, {"device", rung.device}};
}

Json json_of(const hyp::Outcome& outcome) {
  Json json = {{"event", ""}, {"trial", outcome.trial}};
  if (outcome.repeat > 0) json["repeat"] = outcome.repeat;
  if (const auto* failed = std::get_if<hyp::Failed>(&outcome.result)) {
    json["event"] = outcome.repeat ? "repeat_failed" : "failed";
    json["kind"] = hyp::name_of(failed->kind);
    json["message"] = failed->message;
    json["log"] = failed->log;
    if (failed->failed_before_ready) json["failed_before_ready"] = true;
    if (failed->of_surroundings) json["surroundings"] = true;
    if (failed->unconfirmed) json["unconfirmed"] = true;
    if (failed->epoch > 0) json["epoch"] = failed->epoch;
  } else if (const auto* stopped = std::get_if<hyp::Stopped>(&outcome.result)) {
    json["event"] = "stopped";
    json["epoch"] = stopped->epoch;
    json["metrics"] = hyp::to_json(stopped->metrics);
    json["fitness"] = stopped->fitness;
  } else if (const auto* paused = std::get_if<hyp::Paused>(&outcome.result)) {
    json["event"] = "paused";
    json["epoch"] = paused->epoch;
    json["metrics"] = hyp::to_json(paused->metrics);
    json["fitness"] = paused->fitness;
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
  const auto& [uuid, pci] = outcome.identity;
  if (!uuid.empty()) json["uuid"] = uuid;
  if (!pci.empty()) json["pci"] = pci;
  return json;
}

Json json_of(const Bred& bred) {
  auto trials = Json::array();
  for (const auto& [trial, hyp] : bred.trials)
    trials.push_back({{"trial", trial}, {"hyp", hyp::to_json(hyp)}});
  return {{"event", "bred"}, {"trials", trials}};
}

Bred bred_from_json(const Json& json) {
  Bred bred;
  for (const auto& child : value(json, "trials"))
    bred.trials.push_back(
        {integer(child, "trial"), hyp::hyperparameters_from_json(value(child, "hyp"))});
  return bred;
}

Json json_of(const Extended& extended) {
  Json json = {{"event", "extended"},
               {"generations", extended.generations},
               {"trials", core::json_or_null(extended.trials)}};
  if (extended.repeats) json["repeats"] = *extended.repeats;
  if (extended.max_epochs) json["max_epochs"] = *extended.max_epochs;
  return json;
}

Json json_of(const CannotPause&) {
  return {{"event", "cannot_pause"}};
}

Json json_of(const Probed& probed) {
  return {{"event", "probed"},
          {"trial", probed.trial},
          {"device", probed.device},
          {"seconds", probed.seconds}};
}

Json json_of(const DeviceStats& stats) {
  return {{"event", "device_stats"},
          {"device", stats.device},
          {"state", stats.state},
          {"memory_total_bytes", core::json_or_null(stats.memory_total_bytes)},
          {"memory_free_bytes", core::json_or_null(stats.memory_free_bytes)},
          {"load_percent", core::json_or_null(stats.load_percent)},
          {"temperature_celsius", core::json_or_null(stats.temperature_celsius)},
          {"power_watts", core::json_or_null(stats.power_watts)}};
}

Json json_of(const DeviceLimited& limited) {
  return {{"event", "limited"}, {"device", limited.device}, {"trials", limited.trials}};
}

Json json_of(const DeviceFull& full) {
  return {{"event", "full"},
          {"device", full.device},
          {"memory_total_bytes", full.memory_total_bytes},
          {"memory_free_bytes", full.memory_free_bytes}};
}

Json json_of(const DeviceBlamed& blamed) {
  return {{"event", blamed.quarantined ? "quarantined" : "blamed"},
          {"device", blamed.device},
          {"reason", blamed.reason}};
}

Json json_of(const DeviceBroughtBack& back) {
  return {{"event", "brought_back"}, {"device", back.device}};
}

Json json_of(const DevicesChanged& changed) {
  return {{"event", "devices"}, {"slots", changed.slots}};
}

Json json_of(const UnknownEvent& unknown) {
  return unknown.json;
}

}  // namespace

Json to_json(const Event& event) {
  return std::visit([](const auto& e) { return json_of(e); }, event);
}

Event event_from_json(const Json& json) {
  if (!json.is_object()) throw std::invalid_argument("this is no JSON object");
  const std::string event = text(json, "event");
  if (event == "started") return started_from_json(json);
  if (event == "bred") return bred_from_json(json);
  if (event == "repeating")
    return Repeating{.trial = integer(json, "trial"),
                     .repeat = json.value("repeat", 1),
                     .seed = value(json, "seed").get<std::uint64_t>(),
                     .device = text(json, "device"),
                     .attempt = integer(json, "attempt")};
  if (event == "rung") return rung_from_json(json);
  if (event == "completed" || event == "stopped" || event == "paused" || event == "failed" ||
      event == "repeated" || event == "repeat_failed") {
    return outcome_from_json(json, event);
  }
  if (event == "extended") return extended_from_json(json);
  if (event == "cannot_pause") return CannotPause{};
  if (event == "probed")
    return Probed{.trial = integer(json, "trial"),
                  .device = text(json, "device"),
                  .seconds = number(json, "seconds")};
  if (event == "device_stats") return stats_from_json(json);
  if (event == "limited") return DeviceLimited{text(json, "device"), integer(json, "trials")};
  if (event == "full")
    return DeviceFull{text(json, "device"), value(json, "memory_total_bytes").get<std::int64_t>(),
                      value(json, "memory_free_bytes").get<std::int64_t>()};
  if (event == "blamed" || event == "quarantined")
    return DeviceBlamed{text(json, "device"), text(json, "reason"), event == "quarantined"};
  if (event == "brought_back") return DeviceBroughtBack{text(json, "device")};
  if (event == "devices")
    return DevicesChanged{value(json, "slots").get<std::vector<std::string>>()};
  return UnknownEvent{json};
}

namespace {

Json to_json(const EarlierRun& earlier) {
  auto trials = Json::array();
  for (const auto& trial : earlier.trials)
    trials.push_back(
        {{"hyp", hyp::to_json(trial.hyp)}, {"fitness", core::json_or_null(trial.fitness)}});
  return {{"run", earlier.run}, {"trials", trials}, {"outside", earlier.outside}};
}

EarlierRun earlier_run_from_json(const Json& json) {
  EarlierRun earlier{text(json, "run"), {}, json.value("outside", 0)};
  for (const auto& trial : value(json, "trials")) {
    const Json& fitness = value(trial, "fitness");
    earlier.trials.push_back(
        {hyp::hyperparameters_from_json(value(trial, "hyp")),
         fitness.is_null() ? std::nullopt : std::optional(fitness.get<double>())});
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
  return {{"seed", settings.seed},
          {"search", settings.search},
          {"lag", core::json_or_null(lag)},
          {"slots", settings.slots},
          {"options", options},
          {"space", hyp::to_json(settings.space)},
          {"start", hyp::to_json(hyp::start_of(settings.space))},
          {"initial", initial},
          {"from", earlier},
          {"inputs", settings.inputs}};
}

RunSettings run_settings_from_json(const Json& json) {
  const Json& options = value(json, "options");
  RunSettings settings{.seed = value(json, "seed").get<std::uint64_t>(),
                       .search = text(json, "search"),
                       .lag = integer_or_null(options, "lag"),
                       .population = integer(options, "population"),
                       .generations = integer(options, "generations"),
                       .trials = integer_or_null(options, "trials"),
                       .max_epochs = optional<int>(options, "max_epochs"),
                       .repeats = options.value("repeats", 0),
                       .epochs = options.value("epochs", 1),
                       .early_stop = options.value("early_stop", true),
                       .fitness = text(options, "fitness"),
                       .slots = value(json, "slots").get<std::vector<std::string>>(),
                       .space = hyp::space_from_json(value(json, "space")),
                       .inputs = json.value("inputs", Json()),
                       .options = options};
  for (const auto& set : value(json, "initial"))
    settings.initial.push_back(hyp::hyperparameters_from_json(set));
  for (const auto& run : json.value("from", Json::array()))
    settings.earlier.push_back(earlier_run_from_json(run));
  return settings;
}

}  // namespace evolve::results
