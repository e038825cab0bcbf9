#include "workers/protocol/messages.hpp"

#include "workers/protocol/fields.hpp"

namespace evolve::workers {

std::string line_of(const FromWorker& message) {
  return fields::line_of(message);
}

std::string line_of(const FromEngine& message) {
  return fields::line_of(message);
}

Heading heading_of(std::string_view line) {
  Heading heading;
  try {
    const auto json = core::json_in(line);
    const auto has = [&](const char* key) { return json.is_object() && json.contains(key); };
    if (has("type") && json["type"].is_string()) heading.type = json["type"];
    if (has("trial") && json["trial"].is_number_integer()) heading.trial = json["trial"];
  } catch (const std::length_error&) {
  }
  return heading;
}

std::optional<FromWorker> parse_from_worker(std::string_view line) {
  return fields::parse<FromWorker>(line);
}

std::optional<FromEngine> parse_from_engine(std::string_view line) {
  return fields::parse<FromEngine>(line);
}

}  // namespace evolve::workers
