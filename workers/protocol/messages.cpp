#include "workers/protocol/messages.hpp"

#include <limits>
#include <stdexcept>

#include "workers/protocol/text.hpp"

namespace evolve::workers {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const Ready& m) {
  Json json = {{"type", "ready"}, {"protocol", m.protocol}, {"device", m.device}};
  if (!m.uuid.empty()) json["uuid"] = m.uuid;
  if (!m.pci.empty()) json["pci"] = m.pci;
  return json;
}

Json json_of(const Epoch& m) {
  return {
      {"type", "epoch"}, {"trial", m.trial}, {"epoch", m.epoch}, {"metrics", to_json(m.metrics)}};
}

Json json_of(const Result& m) {
  Json json = {{"type", "result"}, {"trial", m.trial}, {"metrics", to_json(m.metrics)}};
  if (m.stopped) json["stopped"] = true;
  return json;
}

Json json_of(const Failure& m) {
  return {{"type", "error"}, {"trial", m.trial}, {"kind", name_of(m.kind)}, {"message", m.message}};
}

Json json_of(const Alive& m) {
  Json json = {{"type", "alive"}};
  if (m.trial) json["trial"] = *m.trial;
  return json;
}

Json json_of(const Train& m) {
  return {{"type", "train"},    {"trial", m.trial},   {"hyp", to_json(m.hyp)},
          {"epochs", m.epochs}, {"device", m.device}, {"seed", m.seed},
          {"dir", m.dir},       {"rungs", m.rungs},   {"options", m.options}};
}

Json json_of(const Continue& m) {
  return {{"type", "continue"}, {"trial", m.trial}};
}

Json json_of(const Stop& m) {
  return {{"type", "stop"}, {"trial", m.trial}};
}

Json json_of(const Shutdown&) {
  return Json::object({{"type", "shutdown"}});
}

std::string line_of_json(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

/// A message and how to speak of its keys.
class Fields {
 public:
  Fields(std::string type, const Json& json) : type_(std::move(type)), json_(json) {}

  const Json& at(const std::string& key) const {
    const auto found = json_.find(key);
    if (found == json_.end())
      throw std::invalid_argument("its " + type_ + " lacks \"" + key + "\"");
    return *found;
  }

  int whole(const std::string& key) const {
    const auto& value = at(key);
    if (!value.is_number_integer() || value < 0 || value > std::numeric_limits<int>::max())
      throw wrong(key, "no whole number");
    return value.get<int>();
  }

  std::optional<int> whole_if_any(const std::string& key) const {
    if (!json_.contains(key)) return {};
    return whole(key);
  }

  std::uint64_t seed(const std::string& key) const {
    const auto& value = at(key);
    if (!value.is_number_unsigned()) throw wrong(key, "no whole number");
    return value.get<std::uint64_t>();
  }

  std::string text(const std::string& key) const {
    const auto& value = at(key);
    if (!value.is_string()) throw wrong(key, "no text");
    return value.get<std::string>();
  }

  std::string text_or(const std::string& key, const std::string& absent) const {
    return json_.contains(key) && !json_.at(key).is_null() ? text(key) : absent;
  }

  bool flag(const std::string& key) const {
    if (!json_.contains(key)) return false;
    const auto& value = at(key);
    if (!value.is_boolean()) throw wrong(key, "neither true nor false");
    return value.get<bool>();
  }

  std::invalid_argument wrong(const std::string& key, const std::string& what) const {
    return std::invalid_argument("the \"" + key + "\" of its " + type_ + " is " + what);
  }

 private:
  std::string type_;
  const Json& json_;
};

/// The metrics; the reason of a failure says which message they came in.
hyp::Metrics metrics_of(const Fields& fields) {
  const auto& json = fields.at("metrics");
  if (!json.is_object()) throw fields.wrong("metrics", "no object");
  return hyp::metrics_from_json(json);
}

hyp::Hyperparameters hyp_of(const Fields& fields) {
  try {
    return hyp::hyperparameters_from_json(fields.at("hyp"));
  } catch (const Json::exception&) {
    throw fields.wrong("hyp", "no object of numbers and texts");
  }
}

std::vector<int> rungs_of(const Fields& fields) {
  try {
    return fields.at("rungs").get<std::vector<int>>();
  } catch (const Json::exception&) {
    throw fields.wrong("rungs", "no list of whole numbers");
  }
}

/// The JSON object in a line; null for a blank line.
Json object_in(std::string_view line) {
  if (line.find_first_not_of(" \t\r\n") == line.npos) return nullptr;
  auto json = Json::parse(line, nullptr, false);
  if (!json.is_object())
    throw std::invalid_argument("it wrote a line that is no JSON object: " + printable(line));
  return json;
}

}  // namespace

std::string line_of(const FromWorker& message) {
  return line_of_json(std::visit([](const auto& m) { return json_of(m); }, message));
}

std::string line_of(const FromEngine& message) {
  return line_of_json(std::visit([](const auto& m) { return json_of(m); }, message));
}

std::optional<FromWorker> parse_from_worker(std::string_view line) {
  const auto json = object_in(line);
  if (json.is_null()) return {};
  const auto type = Fields("message", json).text("type");
  const Fields fields(type, json);
  if (type == "ready")
    return Ready{fields.whole("protocol"), fields.text_or("device", ""), fields.text_or("uuid", ""),
                 fields.text_or("pci", "")};
  if (type == "epoch")
    return Epoch{fields.whole("trial"), fields.whole("epoch"), metrics_of(fields)};
  if (type == "result")
    return Result{fields.whole("trial"), metrics_of(fields), fields.flag("stopped")};
  if (type == "error")
    return Failure{fields.whole("trial"), hyp::failure_kind(fields.text_or("kind", "other")),
                   fields.text_or("message", "")};
  if (type == "alive") return Alive{fields.whole_if_any("trial")};
  return {};
}

std::optional<FromEngine> parse_from_engine(std::string_view line) {
  const auto json = object_in(line);
  if (json.is_null()) return {};
  const auto type = Fields("message", json).text("type");
  const Fields fields(type, json);
  if (type == "train")
    return Train{.trial = fields.whole("trial"),
                 .hyp = hyp_of(fields),
                 .epochs = fields.whole("epochs"),
                 .device = fields.text("device"),
                 .seed = fields.seed("seed"),
                 .dir = fields.text("dir"),
                 .rungs = json.contains("rungs") ? rungs_of(fields) : std::vector<int>(),
                 .options = json.value("options", Json::object())};
  if (type == "continue") return Continue{fields.whole("trial")};
  if (type == "stop") return Stop{fields.whole("trial")};
  if (type == "shutdown") return Shutdown{};
  return {};
}

}  // namespace evolve::workers
